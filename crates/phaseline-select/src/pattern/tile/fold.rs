//! Expressions over a match and its tiles, with numbers for what the match alone decides.

use super::{Binder, Dim};
use crate::{
    expr::{Expr, ExprKind},
    tile::TileRef,
};

impl Binder<'_> {
    /// An expression with numbers for all but what differs from tile to tile; none if it depends on
    /// a part that the match does not have.
    pub(super) fn folded(&self, expr: &Expr) -> Result<Option<Expr>, String> {
        let mut unknown = None;
        let mut absent = false;
        let folded = expr.replace(&mut |part| {
            if let Some(reference) = TileRef::of(part) {
                return Some(self.reference(&reference).unwrap_or_else(|| part.kind.clone()));
            }
            if TileRef::is_in(part) {
                return None;
            }
            match self.eval(part).map(|value| value.literal()) {
                Ok(Some(literal)) => return Some(literal),
                Ok(None) => absent = true,
                Err(reason) => unknown = Some(reason),
            }
            Some(ExprKind::Int(0))
        });
        unknown.map_or(Ok((!absent).then_some(folded)), Err)
    }

    /// A reference to a dimension that no window slides over, in simpler words.
    fn reference(&self, reference: &TileRef) -> Option<ExprKind> {
        let (TileRef::Shape(name, dim) | TileRef::Pad(name, dim) | TileRef::PadEnd(name, dim)) =
            reference
        else {
            return None;
        };
        let place = self.tile.spec.tensors.iter().position(|(other, _)| other == name)?;
        let declared = self.tile.tensors[place].get(usize::try_from(*dim).ok()?)?;
        match (declared, reference) {
            (Dim::Window(..), _) => None,
            (Dim::Loop(place), TileRef::Shape(..)) => {
                let size = format!("tile.{}", self.plan.loops[*place].name);
                Expr::parse(&size).ok().map(|expr| expr.kind)
            }
            (Dim::Whole, TileRef::Shape(..)) => {
                let value = self.found.capture(name)?.value?;
                let size = self.facts.graph.value(value).ty.shape.get(*dim as usize)?;
                size.map(ExprKind::Int)
            }
            _ => Some(ExprKind::Int(0)),
        }
    }

    /// The stride of a tensor's dimension: the one that it has if all of the tensor is adjacent, and
    /// the reference by the dimensions of the call's layout. None if the match has no such tensor.
    pub(super) fn stride(&self, name: &str, dim: i64) -> Result<Option<(i64, String)>, String> {
        let Some(tensor) = self.plan.tensors.iter().find(|tensor| tensor.name == name) else {
            return Ok(None);
        };
        let (_, places) = self
            .layouts
            .iter()
            .find(|(other, _)| other == name)
            .ok_or_else(|| format!("'{name}' has no layout"))?;
        let places = places.as_ref().ok_or_else(|| {
            format!("'{name}' is in blocks, which have no strides by the dimensions of the graph")
        })?;
        let place = usize::try_from(dim).ok().and_then(|dim| places.get(dim)).copied();
        let place = place.ok_or_else(|| format!("'{name}' has no dimension {dim}"))?;
        let after = tensor.dims[place + 1..].iter();
        let stride = after.fold(1_i64, |all, dim| all.saturating_mul(dim.size));
        Ok(Some((stride, format!("tile.{name}.stride[{place}]"))))
    }
}
