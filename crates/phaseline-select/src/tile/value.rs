//! The values of arguments for one tile.

use super::{pieces::Piece, plan::Plan};
use crate::{
    expr::{Expr, ExprKind, Val},
    graph::evaluate,
    tile::TileRef,
};

/// The pieces of all loops whose tile is computed.
pub type Pieces<'a> = [&'a Piece];

/// The value of an expression for a tile; the error says what has no value.
pub fn value(plan: &Plan, pieces: &Pieces<'_>, expr: &Expr) -> Result<Val, String> {
    let mut lost = None;
    let closed = expr.replace(&mut |part| {
        let reference = TileRef::of(part)?;
        let found = of_reference(plan, pieces, &reference);
        if found.is_none() {
            lost = Some(part.to_string());
        }
        found
    });
    match (lost, evaluate(&closed)) {
        (Some(lost), _) => Err(format!("`{lost}` is nothing that the tile has")),
        (None, Val::Unknown(reason)) => Err(format!("`{expr}` has no value: {reason}")),
        (None, value) => Ok(value),
    }
}

fn of_reference(plan: &Plan, pieces: &Pieces<'_>, reference: &TileRef) -> Option<ExprKind> {
    let piece = |name: &str| pieces.get(plan.loop_named(name)?).copied();
    let reach = |tensor: &str, dim: i64| {
        let (place, window) = plan.window(tensor, dim)?;
        pieces.get(place)?.reaches.get(window)
    };
    Some(match reference {
        TileRef::Size(name) => ExprKind::Int(piece(name)?.size),
        TileRef::First(name) => ExprKind::Bool(piece(name)?.first),
        TileRef::Last(name) => ExprKind::Bool(piece(name)?.last),
        TileRef::Shape(tensor, dim) => ExprKind::Int(reach(tensor, *dim)?.size),
        TileRef::Pad(tensor, dim) => ExprKind::Int(reach(tensor, *dim)?.pad),
        TileRef::PadEnd(tensor, dim) => ExprKind::Int(reach(tensor, *dim)?.pad_end),
        // Only bufferization knows it.
        TileRef::Stride(..) => return None,
    })
}
