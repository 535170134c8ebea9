//! Prototypes of the functions that move tiles.
//!
//! They are written as calls are, with `host` and `tile` for the two ends of a transfer, `kept` in
//! place of `host` for one that stays on the device. Numbers are expressions over `channel`,
//! `element` (bytes of one, `tile_element` in the tile), `rank`, and the arguments `given.NAME` of
//! patterns (not for a wait). Lists have an entry for each dimension that a transfer may have,
//! outermost first: `count`, and the strides in bytes `host_stride` and `tile_stride`. Dimensions
//! that a transfer lacks have count 1 and stride 0.

use crate::{
    error::suggestion,
    expr::{Expr, ExprKind, PatternError, PatternResult, Span, Val},
    graph::evaluate,
    pattern::{CallProto, Param},
};

use super::store::given_name;

/// A transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// The channel.
    pub channel: i64,
    /// Bytes of an element in the host's memory.
    pub element: i64,
    /// Bytes of an element in the tile, which has other elements where the device changes them.
    pub tile_element: i64,
    /// Dimensions, without those that are filled up.
    pub rank: i64,
    /// Elements of each dimension.
    pub count: Vec<i64>,
    /// Bytes from one to the next in the host's memory.
    pub host_stride: Vec<i64>,
    /// Bytes from one to the next in the tile.
    pub tile_stride: Vec<i64>,
}

const NAMES: [&str; 7] =
    ["channel", "element", "tile_element", "rank", "count", "host_stride", "tile_stride"];

/// The most dimensions that a transfer has.
pub const MAX_DIMS: usize = 4;

/// The value of an expression for a transfer.
pub fn value(expr: &Expr, transfer: &Transfer) -> Result<Val, String> {
    let list = |items: &[i64]| {
        let items = items.iter().map(|item| Expr { kind: ExprKind::Int(*item), span: expr.span });
        ExprKind::List(items.collect())
    };
    let closed = expr.replace(&mut |part| {
        let ExprKind::Name(name) = &part.kind else { return None };
        Some(match name.as_str() {
            "channel" => ExprKind::Int(transfer.channel),
            "element" => ExprKind::Int(transfer.element),
            "tile_element" => ExprKind::Int(transfer.tile_element),
            "rank" => ExprKind::Int(transfer.rank),
            "count" => list(&transfer.count),
            "host_stride" => list(&transfer.host_stride),
            "tile_stride" => list(&transfer.tile_stride),
            _ => return None,
        })
    });
    match evaluate(&closed) {
        Val::Unknown(reason) => Err(format!("`{expr}` has no value: {reason}")),
        value => Ok(value),
    }
}

/// Checks a prototype.
pub(super) fn check(text: &str, may_be_given: bool, ends: [&str; 2]) -> PatternResult<()> {
    let proto = CallProto::parse(text)?;
    let fault = |span: Span, message: String| Err(PatternError::new(text, span, message));
    let all = Span { start: 0, end: text.len() };
    for param in proto.params.iter().flat_map(Param::flat) {
        match param {
            Param::In { capture: name, .. } | Param::Out { name, .. } => {
                if !ends.contains(&name.as_str()) {
                    let [other, tile] = ends;
                    let message =
                        format!("a transfer is between '{other}' and '{tile}', not '{name}'");
                    return fault(all, message);
                }
            }
            Param::Scalar { value, .. } | Param::Value(value) => {
                expression(text, value, may_be_given)?;
            }
            Param::Const { values, .. } if may_be_given && given_name(values).is_some() => {}
            Param::Name(_) | Param::Device | Param::Struct { .. } => {}
            Param::Const { .. } | Param::Scratch { .. } => {
                return fault(all, format!("'{param}' cannot be passed to a transfer"));
            }
        }
    }
    Ok(())
}

/// Numbers for the function that shifts a tile: bytes from its start, and the bytes there that move to it.
const SHIFT: [&str; 2] = ["from", "bytes"];

/// Checks the prototype of what moves the end of a tile to its start.
pub(super) fn check_shift(text: &str) -> PatternResult<()> {
    let proto = CallProto::parse(text)?;
    let fault = |span: Span, message: String| Err(PatternError::new(text, span, message));
    let all = Span { start: 0, end: text.len() };
    let mut tiles = 0;
    for param in &proto.params {
        match param {
            Param::Out { name, layout: None, over: None } if name == "tile" => tiles += 1,
            Param::Device => {}
            Param::Scalar { value, .. } | Param::Value(value) => {
                shifted(value, (1, 1)).map_err(|e| PatternError::new(text, value.span, e))?;
            }
            other => {
                return fault(
                    all,
                    format!(
                        "'{other}' cannot be passed to a shift: it takes the device, `out tile` and numbers"
                    ),
                );
            }
        }
    }
    match tiles {
        1 => Ok(()),
        _ => fault(all, "a shift takes one tile: `out tile`".to_owned()),
    }
}

/// A number that a shift is told.
pub fn shifted(expr: &Expr, (from, bytes): (i64, i64)) -> Result<i64, String> {
    let mut unknown = None;
    let closed = expr.replace(&mut |part| {
        let ExprKind::Name(name) = &part.kind else { return None };
        match name.as_str() {
            "from" => Some(ExprKind::Int(from)),
            "bytes" => Some(ExprKind::Int(bytes)),
            _ => {
                let hint = suggestion(name, SHIFT);
                unknown =
                    Some(format!("shifts have no '{name}'{hint}: there are `from` and `bytes`"));
                None
            }
        }
    });
    match (unknown, evaluate(&closed)) {
        (Some(unknown), _) => Err(unknown),
        (None, Val::Int(number)) => Ok(number),
        (None, other) => Err(format!("`{expr}` is {other}, which is no integer")),
    }
}

fn expression(text: &str, expr: &Expr, may_be_given: bool) -> PatternResult<()> {
    let expr = &expr.replace(&mut |part| {
        (may_be_given && given_name(part).is_some()).then_some(ExprKind::Int(1))
    });
    let mut fault = None;
    expr.visit(&mut |part| {
        if let ExprKind::Name(name) = &part.kind
            && !NAMES.contains(&name.as_str())
        {
            let message =
                format!("transfers have no '{name}'{}", suggestion(name, NAMES.into_iter()));
            fault = Some(PatternError::new(text, part.span, message));
        }
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    let ones = vec![1; MAX_DIMS];
    let transfer = Transfer {
        element: 4,
        tile_element: 4,
        rank: 1,
        count: ones.clone(),
        host_stride: ones.clone(),
        tile_stride: ones,
        channel: 0,
    };
    value(expr, &transfer).map(|_| ()).map_err(|e| PatternError::new(text, expr.span, e))
}
