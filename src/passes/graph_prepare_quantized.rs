//! `graph-prepare-quantized`: brings a graph with quantize and dequantize pairs to the form that
//! patterns of integer targets describe, without a change of its numbers.
//!
//! - Every use of dequantized numbers gets a dequantization of its own, so that a layer can be
//!   taken together with those of its inputs although another layer reads the same input.
//! - Reshapes and transposes between a layer and its quantization move behind it, and those
//!   between a dequantization and its layer before it: they move integers then.
//! - Numbers that are dequantized and quantized again with the same parameters stay as they are.
//! - Constant bytes that are cast and multiplied with a scale are dequantized.
//! - With `joins`, a concatenation that is quantized is one of quantized numbers: each part is
//!   quantized where it is computed.

use crate::{
    host::stored::join_scale,
    ir::{
        self, Op, Val,
        constant::Elements,
        edit,
        graph::{self, DequantizeLinear, QuantizeLinear},
        types::with_element,
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Type, ValueLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-prepare-quantized",
    summary: "Separate quantized layers, and move reshapes out of them",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["graph"],
    run,
};

crate::pass_options! {
    /// Options of `graph-prepare-quantized`.
    pub struct Options {
        joins: bool = "false", "Join integers where what is joined is quantized";
    }
}

/// Operations that give the elements of their first operand other places.
const MOVES: &[&str] = &[
    graph::Reshape::NAME,
    graph::Flatten::NAME,
    graph::Transpose::NAME,
    graph::Squeeze::NAME,
    graph::Unsqueeze::NAME,
];

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    separate(function)?;
    // Each step moves a pair towards its neighbours, so this ends.
    while step_once(function, &options)? {}
    separate(function)?;
    Ok(())
}

/// Copies dequantizations for all of their uses but one.
fn separate(function: Op<'_>) -> crate::Result<()> {
    for op in edit::walk(function) {
        if DequantizeLinear::of(op).is_none() {
            continue;
        }
        let uses: Vec<_> = ir::users_of(op);
        for user in uses.iter().skip(1) {
            let value = ir::result0(op)?;
            let Some(index) = ir::operands(*user).iter().position(|used| *used == value) else {
                continue;
            };
            edit::set_operand(*user, index, ir::result0(edit::clone_before(op, *user))?)?;
        }
    }
    Ok(())
}

/// Makes one change at one operation; true if there was one to make.
fn step_once(function: Op<'_>, options: &Options) -> crate::Result<bool> {
    for op in edit::walk(function) {
        let changed = match (QuantizeLinear::of(op), DequantizeLinear::of(op)) {
            (Some(quantize), _) => {
                fold_pair(quantize)
                    || move_quantization_up(quantize)?
                    || (options.joins && quantize_parts(quantize)?)
            }
            (_, Some(dequantize)) => move_dequantization_down(dequantize)?,
            _ => join_scale(op)?,
        };
        if changed {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `quantize(dequantize(x))` with the same parameters is `x`.
fn fold_pair(quantize: QuantizeLinear<'_>) -> bool {
    let source = edit::defining_op(quantize.x());
    let Some(dequantize) = source.and_then(DequantizeLinear::of) else {
        return false;
    };
    let (from, to) = (ir::operands(dequantize.op()), ir::operands(quantize.op()));
    let result = quantize.y();
    let same = from.len() == to.len()
        && dequantize.x().r#type() == result.r#type()
        && (from[1..].iter().zip(&to[1..])).all(|(a, b)| is_same_number(*a, *b));
    // Of more bits than a float's fraction has, numbers do not come back.
    let is_exact = ir::integer_width(ir::element_type(result.r#type())).is_some_and(|w| w <= 16);
    if !same || !is_exact {
        return false;
    }
    edit::replace_uses(result, dequantize.x());
    edit::erase(quantize.op());
    if ir::users_of(dequantize.op()).is_empty() {
        edit::erase(dequantize.op());
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

/// An operation that only moves elements, and the tensor that it takes them from.
fn moves(op: Op<'_>) -> Option<(Op<'_>, Val<'_>)> {
    let from = MOVES.contains(&ir::op_name(op)).then(|| ir::operands(op).first().copied())?;
    Some((op, from?))
}

/// `quantize(move(x))` becomes `move(quantize(x))`.
fn move_quantization_up(quantize: QuantizeLinear<'_>) -> crate::Result<bool> {
    let (moved, result, quantize) = (quantize.x(), quantize.y(), quantize.op());
    let Some((mover, source)) = edit::defining_op(moved).and_then(moves) else {
        return Ok(false);
    };
    if !is_per_tensor(quantize) || ir::users(moved).len() != 1 {
        return Ok(false);
    }
    let integers = result.r#type();
    edit::move_after(mover, quantize);
    edit::replace_uses(result, moved);
    edit::set_operand(quantize, 0, source)?;
    edit::set_operand(mover, 0, result)?;
    edit::set_type(result, retyped(source.r#type(), integers));
    edit::set_type(moved, integers);
    Ok(true)
}

/// `quantize(concat(x, y))` becomes `concat(quantize(x), quantize(y))`.
fn quantize_parts(quantize: QuantizeLinear<'_>) -> crate::Result<bool> {
    let (joined, result, quantize) = (quantize.x(), quantize.y(), quantize.op());
    let Some(concat) = edit::defining_op(joined).filter(|op| graph::Concat::of(*op).is_some())
    else {
        return Ok(false);
    };
    let parts = ir::operands(concat);
    // The parts of a constant are quantized in each run.
    let constant = parts.iter().any(|part| Elements::of_value(*part).is_some());
    if constant || !is_per_tensor(quantize) || ir::users(joined).len() != 1 {
        return Ok(false);
    }
    for (index, part) in parts.into_iter().enumerate() {
        let copy = edit::clone_before(quantize, quantize);
        edit::set_operand(copy, 0, part)?;
        let integers = ir::result0(copy)?;
        edit::set_type(integers, retyped(part.r#type(), result.r#type()));
        edit::set_operand(concat, index, integers)?;
    }
    edit::move_after(concat, quantize);
    edit::replace_uses(result, joined);
    edit::set_type(joined, result.r#type());
    edit::erase(quantize);
    Ok(true)
}

/// `move(dequantize(x))` becomes `dequantize(move(x))`.
fn move_dequantization_down(dequantize: DequantizeLinear<'_>) -> crate::Result<bool> {
    let (source, real, dequantize) = (dequantize.x(), dequantize.y(), dequantize.op());
    let users = ir::users(real);
    let [mover] = users[..] else { return Ok(false) };
    let moves_it = moves(mover).is_some_and(|(_, from)| from == real);
    if !moves_it || !is_per_tensor(dequantize) {
        return Ok(false);
    }
    let moved = ir::result0(mover)?;
    let reals = moved.r#type();
    edit::move_after(dequantize, mover);
    edit::replace_uses(moved, real);
    edit::set_operand(mover, 0, source)?;
    edit::set_operand(dequantize, 0, moved)?;
    edit::set_type(moved, retyped(reals, source.r#type()));
    edit::set_type(real, reals);
    Ok(true)
}

/// The shape of one tensor type with the element type of another.
fn retyped<'c>(shape: Type<'c>, elements: Type<'c>) -> Type<'c> {
    with_element(shape, ir::element_type(elements))
}
