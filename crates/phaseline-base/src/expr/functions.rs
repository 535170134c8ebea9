//! Functions of numbers in expressions; each works on lists element by element.

use super::{Val, arith::overflow};

/// Name, number of arguments, and whether the result is an integer.
pub const NUMERIC: [(&str, usize, bool); 8] = [
    ("quant_multiplier", 1, true),
    ("quant_shift", 1, true),
    ("pow2", 1, false),
    ("floor", 1, true),
    ("round", 1, true),
    ("sqrt", 1, false),
    ("exp", 1, false),
    ("abs", 1, false),
];

/// The longest list that [`repeat`] makes.
const MAX_REPEAT: usize = 1 << 16;

/// Applies a function of one number; none if there is no such function.
pub fn apply(name: &str, value: &Val) -> Option<Val> {
    if !NUMERIC.iter().any(|(known, ..)| *known == name) {
        return None;
    }
    Some(match value {
        Val::List(items) => Val::List(items.iter().filter_map(|item| apply(name, item)).collect()),
        Val::Absent | Val::Unknown(_) => value.clone(),
        Val::Int(number) if name == "abs" => {
            number.checked_abs().map_or_else(|| overflow(name), Val::Int)
        }
        _ => match value.as_f64() {
            Some(number) => of_number(name, number),
            None => Val::Unknown(format!("{name} of {value}, which is no number")),
        },
    })
}

/// A list of `count` elements: the list itself, or its only element so many times.
pub fn repeat(list: &Val, count: &Val) -> Val {
    match (list, count) {
        (Val::List(items), Val::Int(count)) => match (&items[..], usize::try_from(*count)) {
            (items, Ok(count)) if items.len() == count => list.clone(),
            ([only], Ok(count @ 1..=MAX_REPEAT)) => Val::List(vec![only.clone(); count]),
            _ => Val::Unknown(format!("{} elements for {count} places", items.len())),
        },
        (Val::List(_), other) | (other, _) => other.clone(),
    }
}

/// Elements of a list from `start` up to `end`, without it; numbers below zero count from the end,
/// and what is beyond the list is left out.
pub fn slice(list: &Val, start: &Val, end: &Val) -> Val {
    match (list, start, end) {
        (Val::List(items), Val::Int(start), Val::Int(end)) => {
            let length = items.len() as i64;
            let place = |at: i64| {
                let at = if at < 0 { at.saturating_add(length) } else { at };
                at.clamp(0, length) as usize
            };
            let part = items.get(place(*start)..place(*end)).unwrap_or_default();
            Val::List(part.to_vec())
        }
        (Val::List(_), Val::Int(_), other) | (Val::List(_), other, _) | (other, ..) => {
            other.clone()
        }
    }
}

/// One of two values; of lists for each condition of a list.
pub fn select(condition: &Val, yes: &Val, no: &Val) -> Val {
    let conditions = match condition {
        Val::Bool(true) => return yes.clone(),
        Val::Bool(false) | Val::Absent => return no.clone(),
        Val::List(conditions) => conditions,
        other => return other.clone(),
    };
    let count = conditions.len();
    let fits = |value: &Val| !matches!(value, Val::List(items) if items.len() != count);
    if !fits(yes) || !fits(no) {
        return Val::Unknown("the lists differ in length".to_owned());
    }
    let at = |value: &Val, index: usize| match value {
        Val::List(items) => items[index].clone(),
        one => one.clone(),
    };
    let each = conditions.iter().enumerate();
    Val::List(each.map(|(index, c)| select(c, &at(yes, index), &at(no, index))).collect())
}

/// Two lists as one.
pub fn join(first: &Val, second: &Val) -> Val {
    match (first, second) {
        (Val::List(a), Val::List(b)) => Val::List(a.iter().chain(b).cloned().collect()),
        (Val::List(_), other) | (other, _) => other.clone(),
    }
}

/// The integers from 0 up to `count`, without it.
pub fn range(count: &Val) -> Val {
    match count {
        Val::Int(count) if (0..=MAX_REPEAT as i64).contains(count) => {
            Val::List((0..*count).map(Val::Int).collect())
        }
        Val::Absent | Val::Unknown(_) => count.clone(),
        other => Val::Unknown(format!("range of {other}")),
    }
}

fn of_number(name: &str, number: f64) -> Val {
    let int = |value: f64| {
        if value.abs() < 9e18 { Val::Int(value as i64) } else { overflow(name) }
    };
    match name {
        "pow2" => Val::Float(number.exp2()),
        "floor" => int(number.floor()),
        "round" => int(number.round()),
        "sqrt" => Val::Float(number.sqrt()),
        "exp" => Val::Float(number.exp()),
        "abs" => Val::Float(number.abs()),
        _ => match quantize_multiplier(number) {
            Some((multiplier, _)) if name == "quant_multiplier" => Val::Int(multiplier),
            Some((_, shift)) => Val::Int(shift),
            None => Val::Unknown(format!("{number} has no fixed-point form")),
        },
    }
}

/// A real factor as `multiplier * 2^(shift - 31)` with a multiplier of 31 bits, rounded half away
/// from zero, as TensorFlow Lite's fixed-point kernels define it.
pub fn quantize_multiplier(real: f64) -> Option<(i64, i64)> {
    if !real.is_finite() || real < 0.0 {
        return None;
    }
    if real == 0.0 {
        return Some((0, 0));
    }
    // real = fraction * 2^exponent with fraction in [0.5, 1).
    let mut exponent = i64::from(real.log2().floor() as i32) + 1;
    let mut fraction = real / (exponent as f64).exp2();
    if fraction >= 1.0 {
        (fraction, exponent) = (fraction / 2.0, exponent + 1);
    } else if fraction < 0.5 {
        (fraction, exponent) = (fraction * 2.0, exponent - 1);
    }
    let mut multiplier = (fraction * 2f64.powi(31)).round() as i64;
    if multiplier == 1 << 31 {
        (multiplier, exponent) = (multiplier / 2, exponent + 1);
    }
    if exponent < -31 {
        return Some((0, 0));
    }
    (exponent <= 30).then_some((multiplier, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_are_those_of_the_reference() {
        assert_eq!(quantize_multiplier(0.5), Some((1 << 30, 0)));
        assert_eq!(quantize_multiplier(1.0), Some((1 << 30, 1)));
        assert_eq!(quantize_multiplier(0.25), Some((1 << 30, -1)));
        assert_eq!(quantize_multiplier(0.0), Some((0, 0)));
        assert_eq!(quantize_multiplier(-1.0), None);
    }

    #[test]
    fn one_element_stands_for_all() {
        let list = |items: &[i64]| Val::List(items.iter().map(|item| Val::Int(*item)).collect());
        assert_eq!(repeat(&list(&[7]), &Val::Int(3)), list(&[7, 7, 7]));
        assert_eq!(repeat(&list(&[1, 2]), &Val::Int(2)), list(&[1, 2]));
        assert!(matches!(repeat(&list(&[1, 2]), &Val::Int(3)), Val::Unknown(_)));
        assert!(matches!(repeat(&list(&[1]), &Val::Int(-3)), Val::Unknown(_)));
    }

    #[test]
    fn slices_are_parts_of_lists() {
        let list = |items: &[i64]| Val::List(items.iter().map(|item| Val::Int(*item)).collect());
        let part = |start, end| slice(&list(&[1, 2, 3, 4]), &Val::Int(start), &Val::Int(end));
        assert_eq!(part(1, 3), list(&[2, 3]));
        assert_eq!(part(-2, 4), list(&[3, 4]));
        assert_eq!(part(0, -1), list(&[1, 2, 3]));
        assert_eq!(part(2, 9), list(&[3, 4]));
        assert_eq!(part(3, 1), list(&[]));
        assert_eq!(part(i64::MIN, i64::MAX), list(&[1, 2, 3, 4]));
        assert_eq!(slice(&list(&[1]), &Val::Absent, &Val::Int(1)), Val::Absent);
    }

    #[test]
    fn lists_are_joined_in_order() {
        let list = |items: &[i64]| Val::List(items.iter().map(|item| Val::Int(*item)).collect());
        assert_eq!(join(&list(&[1]), &list(&[2, 3])), list(&[1, 2, 3]));
        assert_eq!(join(&list(&[1]), &Val::Absent), Val::Absent);
    }

    #[test]
    fn a_range_counts_up() {
        assert_eq!(range(&Val::Int(3)), Val::List((0..3).map(Val::Int).collect()));
        assert!(matches!(range(&Val::Int(-1)), Val::Unknown(_)));
        assert!(matches!(range(&Val::Int(1 << 20)), Val::Unknown(_)));
        assert_eq!(apply("exp", &Val::Int(0)), Some(Val::Float(1.0)));
    }

    #[test]
    fn a_multiplier_and_its_shift_give_the_number_back() {
        for real in [1e-9, 0.0003, 0.1, 0.49999999999, 0.7, 1.5, 123.456, 1e6] {
            let (multiplier, shift) = quantize_multiplier(real).expect("in range");
            let back = multiplier as f64 * ((shift - 31) as f64).exp2();
            assert!((back / real - 1.0).abs() < 1e-9, "{real} -> {back}");
        }
    }
}
