//! `prepare-quantized`: rules that bring a graph with quantize and dequantize pairs to the form
//! that patterns of integer targets describe, without a change of its numbers.
//!
//! * Every use of dequantized numbers gets a dequantization of its own. A layer can then be taken
//!   with those of its inputs although another layer reads the same input.
//! * Reshapes and transposes between a layer and its quantization move behind it, and those between
//!   a dequantization and its layer before it: they move integers then.
//! * Numbers that are dequantized and quantized again with the same parameters stay as they are.
//! * A concatenation that is quantized is one of quantized numbers (`quantize-parts`): each part is
//!   quantized where it is computed.

use crate::{
    Result,
    ir::{
        self, Op, Val,
        constant::Elements,
        edit,
        graph::{self, DequantizeLinear, QuantizeLinear},
        rewrite::{Rewriter, Rule},
        types::with_element,
        view::OpView,
    },
};
use melior::ir::{Type, ValueLike};

/// A dequantization for each use.
pub const SEPARATE: Rule = Rule {
    name: "separate-dequantizations",
    root: DequantizeLinear::NAME,
    benefit: 2,
    apply: |r, op| DequantizeLinear::of(op).map_or(Ok(false), |op| separate(r, op)),
};

/// Pairs that change nothing.
pub const FOLD: Rule = quantization("fold-quantization", 3, fold_pair);

/// Reshapes behind quantizations.
pub const RAISE: Rule = quantization("raise-quantizations", 2, move_quantization_up);

/// Concatenations of quantized parts.
pub const PARTS: Rule = quantization("quantize-parts", 1, quantize_parts);

/// Reshapes before dequantizations.
pub const LOWER: Rule = Rule {
    name: "lower-dequantizations",
    root: DequantizeLinear::NAME,
    benefit: 1,
    apply: |r, op| DequantizeLinear::of(op).map_or(Ok(false), |op| move_dequantization_down(r, op)),
};

const fn quantization(
    name: &'static str,
    benefit: u16,
    apply: for<'c> fn(&mut Rewriter<'_, 'c>, Op<'c>) -> Result<bool>,
) -> Rule {
    Rule { name, root: QuantizeLinear::NAME, benefit, apply }
}

/// Operations that give the elements of their first operand other places.
const MOVES: &[&str] = &[
    graph::Reshape::NAME,
    graph::Flatten::NAME,
    graph::Transpose::NAME,
    graph::Squeeze::NAME,
    graph::Unsqueeze::NAME,
];

/// Copies a dequantization for all of its uses but one.
fn separate<'c>(r: &mut Rewriter<'_, 'c>, dequantize: DequantizeLinear<'c>) -> Result<bool> {
    let (op, value) = (dequantize.op(), dequantize.y());
    let users = ir::users_of(op);
    for user in users.iter().skip(1) {
        let index = ir::operands(*user).iter().position(|used| *used == value);
        let Some(index) = index else { continue };
        let copy = r.before(*user)?.insert_clone(op);
        r.set_operand(*user, index, ir::result0(copy)?)?;
    }
    Ok(users.len() > 1)
}

/// `quantize(dequantize(x))` with the same parameters is `x`.
fn fold_pair<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(quantize) = QuantizeLinear::of(op) else { return Ok(false) };
    let source = edit::defining_op(quantize.x());
    let Some(dequantize) = source.and_then(DequantizeLinear::of) else { return Ok(false) };
    let (from, to) = (ir::operands(dequantize.op()), ir::operands(quantize.op()));
    let result = quantize.y();
    let same = from.len() == to.len()
        && dequantize.x().r#type() == result.r#type()
        && (from[1..].iter().zip(&to[1..])).all(|(a, b)| is_same_number(*a, *b));
    // Of more bits than a float's fraction has, numbers do not come back.
    let is_exact = ir::integer_width(ir::element_type(result.r#type())).is_some_and(|w| w <= 16);
    if same && is_exact {
        r.replace(op, &[dequantize.x()])?;
    }
    Ok(same && is_exact)
}

/// True if two parameters are constants of one and the same element.
fn is_same_number(a: Val<'_>, b: Val<'_>) -> bool {
    let number = |value| {
        let elements = Elements::of_value(value)?;
        (elements.len() == 1).then(|| elements.float(0))
    };
    number(a).is_some() && number(a) == number(b)
}

/// True if one scale and zero point stand for all elements.
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
fn move_quantization_up<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(quantize) = QuantizeLinear::of(op) else { return Ok(false) };
    let (moved, result, quantize) = (quantize.x(), quantize.y(), quantize.op());
    let Some((mover, source)) = edit::defining_op(moved).and_then(moves) else {
        return Ok(false);
    };
    if !is_per_tensor(quantize) || ir::users(moved).len() != 1 {
        return Ok(false);
    }
    let integers = result.r#type();
    r.move_after(mover, quantize)?;
    r.retype_uses(result, moved);
    r.retype_operand(quantize, 0, source)?;
    r.retype_operand(mover, 0, result)?;
    r.set_type(result, retyped(source.r#type(), integers));
    r.set_type(moved, integers);
    Ok(true)
}

/// `quantize(concat(x, y))` becomes `concat(quantize(x), quantize(y))`.
fn quantize_parts<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(quantize) = QuantizeLinear::of(op) else { return Ok(false) };
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
        let copy = r.before(quantize)?.insert_clone(quantize);
        r.retype_operand(copy, 0, part)?;
        let integers = ir::result0(copy)?;
        r.set_type(integers, retyped(part.r#type(), result.r#type()));
        r.retype_operand(concat, index, integers)?;
    }
    r.move_after(concat, quantize)?;
    r.retype_uses(result, joined);
    r.set_type(joined, result.r#type());
    r.erase(quantize)?;
    Ok(true)
}

/// `move(dequantize(x))` becomes `dequantize(move(x))`.
fn move_dequantization_down<'c>(
    r: &mut Rewriter<'_, 'c>,
    dequantize: DequantizeLinear<'c>,
) -> Result<bool> {
    let (source, real, dequantize) = (dequantize.x(), dequantize.y(), dequantize.op());
    let users = ir::users(real);
    let [mover] = users[..] else { return Ok(false) };
    let moves_it = moves(mover).is_some_and(|(_, from)| from == real);
    if !moves_it || !is_per_tensor(dequantize) {
        return Ok(false);
    }
    let moved = ir::result0(mover)?;
    let reals = moved.r#type();
    r.move_after(dequantize, mover)?;
    r.retype_uses(moved, real);
    r.retype_operand(mover, 0, source)?;
    r.retype_operand(dequantize, 0, moved)?;
    r.set_type(moved, retyped(reals, source.r#type()));
    r.set_type(real, reals);
    Ok(true)
}

/// The shape of one tensor type with the element type of another.
fn retyped<'c>(shape: Type<'c>, elements: Type<'c>) -> Type<'c> {
    with_element(shape, ir::element_type(elements))
}
