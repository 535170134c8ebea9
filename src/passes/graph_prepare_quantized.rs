//! `graph-prepare-quantized`: brings a graph with quantize and dequantize pairs to the form that
//! patterns of integer targets describe, without a change of its numbers.
//!
//! - Every use of dequantized numbers gets a dequantization of its own, so that a layer can be
//!   taken together with those of its inputs although another layer reads the same input.
//! - Reshapes and transposes between a layer and its quantization move behind it, and those
//!   between a dequantization and its layer before it: they move integers then.
//! - Numbers that are dequantized and quantized again with the same parameters stay as they are.

use crate::{
    ir::{self, Op, Val, edit},
    lower::{Elements, types::with_element},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Type, ValueLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-prepare-quantized",
    summary: "Separate quantized layers, and move reshapes out of them",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

const QUANTIZE: &str = "graph.quantize_linear";
const DEQUANTIZE: &str = "graph.dequantize_linear";

/// Operations that give the elements of their first operand other places.
const MOVES: &[&str] =
    &["graph.reshape", "graph.flatten", "graph.transpose", "graph.squeeze", "graph.unsqueeze"];

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    separate(function);
    // Each step moves a pair towards its neighbours, so this ends.
    while edit::walk(function).into_iter().any(step) {}
    separate(function);
    Ok(())
}

/// Copies dequantizations for all of their uses but one.
fn separate(function: Op<'_>) {
    for op in edit::walk(function) {
        if ir::op_name(op) != DEQUANTIZE {
            continue;
        }
        let uses: Vec<_> = ir::users(ir::result0(op));
        for user in uses.iter().skip(1) {
            let value = ir::result0(op);
            let Some(index) = ir::operands(*user).iter().position(|used| *used == value) else {
                continue;
            };
            edit::set_operand(*user, index, ir::result0(edit::clone_before(op, *user)));
        }
    }
}

/// Makes one change at this operation; true if there was one to make.
fn step(op: Op<'_>) -> bool {
    match ir::op_name(op) {
        QUANTIZE => fold_pair(op) || move_quantization_up(op),
        DEQUANTIZE => move_dequantization_down(op),
        _ => false,
    }
}

/// `quantize(dequantize(x))` with the same parameters is `x`.
fn fold_pair(quantize: Op<'_>) -> bool {
    let source = edit::defining_op(ir::operands(quantize)[0]);
    let Some(dequantize) = source.filter(|op| ir::op_name(*op) == DEQUANTIZE) else {
        return false;
    };
    let (from, to) = (ir::operands(dequantize), ir::operands(quantize));
    let result = ir::result0(quantize);
    let same = from.len() == to.len()
        && from[0].r#type() == result.r#type()
        && (from[1..].iter().zip(&to[1..])).all(|(a, b)| is_same_number(*a, *b));
    // Of more bits than a float's fraction has, numbers do not come back.
    let is_exact = ir::integer_width(ir::element_type(result.r#type())).is_some_and(|w| w <= 16);
    if !same || !is_exact {
        return false;
    }
    edit::replace_uses(result, from[0]);
    edit::erase(quantize);
    if ir::users(ir::result0(dequantize)).is_empty() {
        edit::erase(dequantize);
    }
    true
}

/// Whether two parameters are constants of one element, which is the same.
fn is_same_number(a: Val<'_>, b: Val<'_>) -> bool {
    let number = |value| {
        let elements = Elements::of_value(value)?;
        (elements.len() == 1).then(|| elements.float(0))
    };
    number(a).is_some() && number(a) == number(b)
}

/// Whether one scale and zero point stand for all elements.
fn is_per_tensor(op: Op<'_>) -> bool {
    let block = ir::attr_i64(op, "block_size").unwrap_or(0);
    let single = |value: &Val<'_>| ir::dims(value.r#type()).iter().all(|dim| *dim == 1);
    block == 0 && ir::operands(op)[1..].iter().all(single)
}

/// `quantize(move(x))` becomes `move(quantize(x))`.
fn move_quantization_up(quantize: Op<'_>) -> bool {
    let moved = ir::operands(quantize)[0];
    let Some(mover) = edit::defining_op(moved).filter(|op| MOVES.contains(&ir::op_name(*op)))
    else {
        return false;
    };
    if !is_per_tensor(quantize) || ir::users(moved).len() != 1 {
        return false;
    }
    let source = ir::operands(mover)[0];
    let (result, integers) = (ir::result0(quantize), ir::result0(quantize).r#type());
    edit::move_after(mover, quantize);
    edit::replace_uses(result, moved);
    edit::set_operand(quantize, 0, source);
    edit::set_operand(mover, 0, result);
    edit::set_type(result, retyped(source.r#type(), integers));
    edit::set_type(moved, integers);
    true
}

/// `move(dequantize(x))` becomes `dequantize(move(x))`.
fn move_dequantization_down(dequantize: Op<'_>) -> bool {
    let real = ir::result0(dequantize);
    let users = ir::users(real);
    let [mover] = users[..] else { return false };
    let moves_it = MOVES.contains(&ir::op_name(mover)) && ir::operands(mover)[0] == real;
    if !moves_it || !is_per_tensor(dequantize) {
        return false;
    }
    let source = ir::operands(dequantize)[0];
    let (moved, reals) = (ir::result0(mover), ir::result0(mover).r#type());
    edit::move_after(dequantize, mover);
    edit::replace_uses(moved, real);
    edit::set_operand(mover, 0, source);
    edit::set_operand(dequantize, 0, moved);
    edit::set_type(moved, retyped(reals, source.r#type()));
    edit::set_type(real, reals);
    true
}

/// The shape of one tensor type with the element type of another.
fn retyped<'c>(shape: Type<'c>, elements: Type<'c>) -> Type<'c> {
    with_element(shape, ir::element_type(elements))
}
