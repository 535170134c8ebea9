//! Neutral elements of a loop body: they leave what it accumulates as it was.

use super::generic::region_yield;
use crate::ir::{self, Op, Val, edit};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// Knowledge about a value in the body when one input is a certain number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// The accumulator of this number, as it was.
    Kept(usize),
    /// A number.
    Number(f64),
    /// Anything.
    Unknown,
}

/// True if the body of a `linalg.generic` gives back every accumulator as it was when input `input`
/// is `number`. That is 0 in a sum of products, and the least number where the greatest is looked
/// for. As elsewhere, nothing times 0 is taken to be 0.
pub fn is_neutral<'c>(generic: Op<'c>, inputs: usize, input: usize, number: f64) -> bool {
    let Some(body) = edit::entry_block(generic) else { return false };
    let arguments = edit::arguments(body);
    let mut known: HashMap<ir::Id, Known> = HashMap::new();
    for (index, argument) in arguments.iter().enumerate() {
        let what = match index.checked_sub(inputs) {
            Some(out) => Known::Kept(out),
            None if index == input => Known::Number(number),
            None => Known::Unknown,
        };
        known.insert(ir::id(*argument), what);
    }
    for op in ir::ops(body) {
        if op.regions().next().is_some() {
            return false;
        }
        let operands: Vec<_> = ir::operands(op)
            .into_iter()
            .map(|operand| known.get(&ir::id(operand)).copied().unwrap_or(constant(operand)))
            .collect();
        for result in ir::results(op) {
            let accumulators = arguments.get(inputs..).unwrap_or_default();
            known.insert(ir::id(result), evaluate(op, &operands, result, accumulators));
        }
    }
    let values = region_yield(body);
    !values.is_empty()
        && values
            .iter()
            .enumerate()
            .all(|(out, value)| known.get(&ir::id(*value)) == Some(&Known::Kept(out)))
}

/// The number that a scalar is everywhere.
pub fn number_of(value: Val<'_>) -> Option<f64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
    ir::attr_f64(op, "value").or_else(|| ir::attr_i64(op, "value").map(|value| value as f64))
}

fn constant(value: Val<'_>) -> Known {
    number_of(value).map_or(Known::Unknown, Known::Number)
}

fn evaluate<'c>(
    op: Op<'c>,
    operands: &[Known],
    result: Val<'c>,
    accumulators: &[Val<'c>],
) -> Known {
    use Known::{Kept, Number, Unknown};
    let name = ir::op_name(op);
    let ty = result.r#type();
    match (name.split_once('.').map_or(name, |(_, word)| word), operands) {
        ("constant", []) => constant(result),
        ("mulf" | "muli", [Number(a), Number(b)]) => Number(a * b),
        ("mulf" | "muli", [Number(zero), _] | [_, Number(zero)]) if *zero == 0.0 => Number(0.0),
        ("addf" | "addi", [Number(a), Number(b)]) => Number(a + b),
        ("addf" | "addi", [Number(zero), other] | [other, Number(zero)]) if *zero == 0.0 => *other,
        ("subf" | "subi", [Number(a), Number(b)]) => Number(a - b),
        ("subf" | "subi", [other, Number(zero)]) if *zero == 0.0 => *other,
        ("maximumf" | "maxnumf" | "maxsi", [Number(least), other] | [other, Number(least)])
            if *least == lowest(ty) =>
        {
            *other
        }
        ("minimumf" | "minnumf" | "minsi", [Number(most), other] | [other, Number(most)])
            if *most == highest(ty) =>
        {
            *other
        }
        ("maxui", [Number(zero), other] | [other, Number(zero)]) if *zero == 0.0 => *other,
        ("absf" | "absi", [Number(a)]) => Number(a.abs()),
        ("powf", [Number(zero), Number(power)]) if *zero == 0.0 && *power > 0.0 => Number(0.0),
        ("extf" | "extsi" | "sitofp" | "truncf", [Number(a)]) => Number(*a),
        ("extui" | "uitofp", [Number(a)]) if *a >= 0.0 => Number(*a),
        // Widening and narrowing again keeps a value.
        ("extf" | "extsi" | "extui", [Kept(out)]) => Kept(*out),
        ("truncf" | "trunci", [Kept(out)])
            if accumulators.get(*out).is_some_and(|value| value.r#type() == ty) =>
        {
            Kept(*out)
        }
        _ => Unknown,
    }
}

/// The least number of a type.
fn lowest(ty: melior::ir::Type<'_>) -> f64 {
    match ir::integer_width(ty) {
        Some(width) => -(2_f64.powi(width as i32 - 1)),
        None => f64::NEG_INFINITY,
    }
}

/// The greatest number of a type.
fn highest(ty: melior::ir::Type<'_>) -> f64 {
    match ir::integer_width(ty) {
        Some(width) => 2_f64.powi(width as i32 - 1) - 1.0,
        None => f64::INFINITY,
    }
}
