//! Logic, comparison and arithmetic on the values of predicates.

use super::{BinaryOp, CompareOp, Val};

/// `list[index]`; an index below zero counts from the end.
pub fn element(base: &str, list: Val, index: &Val) -> Val {
    let (items, index) = match (list, index) {
        (Val::List(items), Val::Int(index)) => (items, *index),
        (other @ (Val::Absent | Val::Unknown(_)), _) => return other,
        (_, other @ (Val::Absent | Val::Unknown(_))) => return other.clone(),
        _ => return Val::Unknown(format!("{base} is no list")),
    };
    let length = items.len() as i64;
    let place = if index < 0 { index.saturating_add(length) } else { index };
    let item = usize::try_from(place).ok().and_then(|place| items.get(place).cloned());
    item.unwrap_or_else(|| Val::Unknown(format!("{base} has {length} elements")))
}

/// `and` (decided by false) or `or` (decided by true) of two values.
pub fn join(decided: &Val, left: Val, right: Val) -> Val {
    match (left, right) {
        (left, right) if left == *decided || right == *decided => decided.clone(),
        (unknown @ Val::Unknown(_), _) | (_, unknown @ Val::Unknown(_)) => unknown,
        (Val::Absent, other) | (other, Val::Absent) => other,
        (left, _) => left,
    }
}

/// Applies `f` to elements when a side is a list; absent and unknown sides win.
fn lift(left: &Val, right: &Val, f: &impl Fn(&Val, &Val) -> Val) -> Val {
    match (left, right) {
        (Val::Absent, _) | (_, Val::Absent) => Val::Absent,
        (unknown @ Val::Unknown(_), _) | (_, unknown @ Val::Unknown(_)) => unknown.clone(),
        (Val::List(a), Val::List(b)) if a.len() == b.len() => {
            Val::List(a.iter().zip(b).map(|(a, b)| lift(a, b, f)).collect())
        }
        (Val::List(_), Val::List(_)) => Val::Unknown("the lists differ in length".to_owned()),
        (Val::List(items), scalar) => {
            Val::List(items.iter().map(|item| lift(item, scalar, f)).collect())
        }
        (scalar, Val::List(items)) => {
            Val::List(items.iter().map(|item| lift(scalar, item, f)).collect())
        }
        (left, right) => f(left, right),
    }
}

/// True if a comparison holds; of lists by element, but for equality.
pub fn compare(op: CompareOp, left: &Val, right: &Val) -> Val {
    if let (Val::List(a), Val::List(b), CompareOp::Eq | CompareOp::Ne) = (left, right, op) {
        let same = match a.len() == b.len() {
            true => a.iter().zip(b).fold(Val::Bool(true), |all, (a, b)| {
                join(&Val::Bool(false), all, compare(CompareOp::Eq, a, b))
            }),
            false => Val::Bool(false),
        };
        return match (op, same) {
            (CompareOp::Ne, Val::Bool(same)) => Val::Bool(!same),
            (_, same) => same,
        };
    }
    lift(left, right, &|left, right| {
        let order = match (left, right) {
            (Val::Int(a), Val::Int(b)) => Some(a.cmp(b)),
            (Val::Str(a), Val::Str(b)) => Some(a.cmp(b)),
            (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(b)),
            (Val::Type(a), Val::Type(b)) => Some(a.cmp(b)),
            _ => match (left.as_f64(), right.as_f64()) {
                (Some(a), Some(b)) => a.partial_cmp(&b),
                _ => None,
            },
        };
        Val::Bool(match op {
            CompareOp::Eq => order.is_some_and(|order| order.is_eq()),
            CompareOp::Ne => order.is_none_or(|order| order.is_ne()),
            CompareOp::Lt => order.is_some_and(|order| order.is_lt()),
            CompareOp::Le => order.is_some_and(|order| order.is_le()),
            CompareOp::Gt => order.is_some_and(|order| order.is_gt()),
            CompareOp::Ge => order.is_some_and(|order| order.is_ge()),
        })
    })
}

/// The lesser (`Lt`) or the greater (`Gt`) of two values, of lists element by element.
pub fn extreme(op: CompareOp, left: &Val, right: &Val) -> Val {
    lift(left, right, &|left, right| match compare(op, right, left) {
        Val::Bool(true) => right.clone(),
        Val::Bool(false) => left.clone(),
        other => other,
    })
}

pub(crate) fn overflow(what: &str) -> Val {
    Val::Unknown(format!("{what} leaves the range of 64 bits or divides by zero"))
}

/// The result of arithmetic, of lists element by element.
pub fn arithmetic(op: BinaryOp, left: &Val, right: &Val) -> Val {
    lift(left, right, &|left, right| {
        if let (Val::Int(a), Val::Int(b)) = (left, right) {
            let result = match op {
                BinaryOp::Add => a.checked_add(*b),
                BinaryOp::Sub => a.checked_sub(*b),
                BinaryOp::Mul => a.checked_mul(*b),
                BinaryOp::Div => floor_div(*a, *b),
                BinaryOp::Rem => floor_div(*a, *b)
                    .and_then(|quotient| quotient.checked_mul(*b))
                    .and_then(|product| a.checked_sub(product)),
                BinaryOp::And | BinaryOp::Or => None,
            };
            return result.map_or_else(|| overflow(op.text()), Val::Int);
        }
        match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => Val::Float(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                _ => a - b * (a / b).floor(),
            }),
            _ => Val::Unknown(format!("'{}' of something else than numbers", op.text())),
        }
    })
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let inexact = a.checked_rem(b)? != 0;
    Some(if inexact && ((a < 0) != (b < 0)) { quotient - 1 } else { quotient })
}
