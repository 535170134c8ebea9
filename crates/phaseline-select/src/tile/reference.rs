//! References of expressions to the tile that is computed.

use crate::expr::{Expr, ExprKind};

/// A part of an expression that differs from tile to tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileRef {
    /// `tile.oc`: positions of a loop.
    Size(String),
    /// `first(ic)`: whether it is the first piece of a loop.
    First(String),
    /// `last(ic)`: whether it is the last.
    Last(String),
    /// `tile.x.shape[2]`: positions of a dimension of a tensor.
    Shape(String, i64),
    /// `tile.x.pad[2]`: zeros before them.
    Pad(String, i64),
    /// `tile.x.pad_end[2]`: zeros after them.
    PadEnd(String, i64),
    /// `tile.x.stride[2]`: elements from one position of a dimension to the next, in the buffer that
    /// the tile is a part of.
    Stride(String, i64),
}

impl TileRef {
    /// Reads an expression; none if it is no reference.
    pub fn of(expr: &Expr) -> Option<Self> {
        match &expr.kind {
            ExprKind::Field(base, name) if is_tile(base) => Some(Self::Size(name.clone())),
            ExprKind::Call(function, args) => match (function.as_str(), args.as_slice()) {
                ("first", [arg]) => Some(Self::First(name_of(arg)?)),
                ("last", [arg]) => Some(Self::Last(name_of(arg)?)),
                _ => None,
            },
            ExprKind::Index(list, index) => {
                let (ExprKind::Field(tensor, list), dim) = (&list.kind, index.as_int()?) else {
                    return None;
                };
                let ExprKind::Field(base, tensor) = &tensor.kind else { return None };
                let tensor = is_tile(base).then(|| tensor.clone())?;
                match list.as_str() {
                    "shape" => Some(Self::Shape(tensor, dim)),
                    "pad" => Some(Self::Pad(tensor, dim)),
                    "pad_end" => Some(Self::PadEnd(tensor, dim)),
                    "stride" => Some(Self::Stride(tensor, dim)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// True if an expression has such a reference in it.
    pub fn is_in(expr: &Expr) -> bool {
        let mut found = false;
        expr.visit(&mut |part| found |= Self::of(part).is_some());
        found
    }
}

fn name_of(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}

fn is_tile(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if name == "tile")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_from_other_paths() {
        let of = |text: &str| TileRef::of(&Expr::parse(text).unwrap());
        assert_eq!(of("tile.oc"), Some(TileRef::Size("oc".into())));
        assert_eq!(of("first(ic)"), Some(TileRef::First("ic".into())));
        assert_eq!(of("tile.x.pad[2]"), Some(TileRef::Pad("x".into(), 2)));
        assert_eq!(of("tile.x.stride[0]"), Some(TileRef::Stride("x".into(), 0)));
        assert_eq!(of("x.shape[2]"), None);
        assert_eq!(of("tile.x.pad"), None);
        assert!(TileRef::is_in(&Expr::parse("select(last(k), x.rank, 0)").unwrap()));
    }
}
