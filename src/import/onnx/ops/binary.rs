//! Operators of two or more operands that broadcast to one shape.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::OpResult;
use super::{MANY, OpEntry};

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("BitwiseAnd", 18, "bitwise_and", 2),
    OpEntry::same("BitwiseOr", 18, "bitwise_or", 2),
    OpEntry::same("BitwiseXor", 18, "bitwise_xor", 2),
    OpEntry::same("GreaterOrEqual", 12, "greater_or_equal", 2),
    OpEntry::same("LessOrEqual", 12, "less_or_equal", 2),
    OpEntry::same("Where", 9, "where", 3),
    OpEntry::with("Add", 1, 2..=2, |node| broadcasting(node, "add")),
    OpEntry::with("And", 1, 2..=2, |node| broadcasting(node, "and")),
    OpEntry::with("BitShift", 11, 2..=2, bit_shift),
    OpEntry::with("Div", 1, 2..=2, |node| broadcasting(node, "div")),
    OpEntry::with("Equal", 1, 2..=2, |node| broadcasting(node, "equal")),
    OpEntry::with("Greater", 1, 2..=2, |node| broadcasting(node, "greater")),
    OpEntry::with("Less", 1, 2..=2, |node| broadcasting(node, "less")),
    OpEntry::with("Max", 1, 1..=MANY, |node| chain(node, "max")),
    OpEntry::with("Mean", 1, 1..=MANY, mean),
    OpEntry::with("Min", 1, 1..=MANY, |node| chain(node, "min")),
    OpEntry::with("Mod", 10, 2..=2, modulo),
    OpEntry::with("Mul", 1, 2..=2, |node| broadcasting(node, "mul")),
    OpEntry::with("Or", 1, 2..=2, |node| broadcasting(node, "or")),
    OpEntry::with("Pow", 1, 2..=2, |node| broadcasting(node, "pow")),
    OpEntry::with("Sub", 1, 2..=2, |node| broadcasting(node, "sub")),
    OpEntry::with("Sum", 1, 1..=MANY, |node| chain(node, "add")),
    OpEntry::with("Xor", 1, 2..=2, |node| broadcasting(node, "xor")),
];

/// A binary operation. Before operator set 7 an operand broadcast only on demand, and its
/// dimensions were aligned with those of the first from `axis` on.
fn broadcasting<'c>(node: &NodeContext<'_, 'c>, op: &str) -> OpResult<Vec<Val<'c>>> {
    let (a, mut b) = (node.input(0, "A")?, node.input(1, "B")?);
    if node.opset < 7 {
        node.attributes.ignore("consumed_inputs");
        let broadcast = node.attributes.bool_or("broadcast", false)?;
        let axis = node.attributes.int("axis")?;
        if let (true, Some(axis)) = (broadcast, axis) {
            b = align(node, a, b, axis)?;
        }
    }
    node.emitter.op(op, &[a, b], &[])
}

/// `b` with dimensions of size 1 after its own, so that they stand below those of `a` from `axis`.
fn align<'c>(node: &NodeContext<'_, 'c>, a: Val<'c>, b: Val<'c>, axis: i64) -> OpResult<Val<'c>> {
    let (rank, own) = (node.rank(a), node.rank(b));
    let axis = node.axis(axis, rank.max(1))?;
    let Some(missing) = rank.checked_sub(axis + own) else {
        return Err(format!("an operand of rank {own} does not fit at axis {axis}").into());
    };
    if missing == 0 {
        return Ok(b);
    }
    let axes: Vec<i64> = (own as i64..(own + missing) as i64).collect();
    node.unsqueeze(b, &axes)
}

fn bit_shift<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let direction =
        node.attributes.string("direction")?.ok_or("the attribute `direction` is missing")?;
    let attributes = [("direction", direction.into())];
    let (x, by) = (node.input(0, "X")?, node.input(1, "Y")?);
    let signed = node.dtype(x)?;
    let Some(unsigned) = unsigned_of(signed) else {
        return node.emitter.op("bit_shift", &[x, by], &attributes);
    };
    // A negative amount becomes one that is too large, which shifts all bits out, too.
    let by = node.cast(by, unsigned)?;
    let bits = node.cast(x, unsigned)?;
    let shifted = node.op("bit_shift", &[bits, by], &attributes)?;
    let shifted = node.cast(shifted, signed)?;
    if direction != "RIGHT" {
        return Ok(vec![shifted]);
    }
    // Negative numbers are filled with ones from the left: as the complement of what their
    // complement, which is not negative, gives.
    let flipped = node.unary("bitwise_not", bits)?;
    let flipped = node.op("bit_shift", &[flipped, by], &attributes)?;
    let flipped = node.unary("bitwise_not", flipped)?;
    let flipped = node.cast(flipped, signed)?;
    let negative = node.binary_with("less", x, 0.0)?;
    Ok(vec![node.op("where", &[negative, flipped, shifted], &[])?])
}

/// The unsigned type with as many bits as a signed one.
fn unsigned_of(dtype: DType) -> Option<DType> {
    match dtype {
        DType::I8 => Some(DType::U8),
        DType::I16 => Some(DType::U16),
        DType::I32 => Some(DType::U32),
        DType::I64 => Some(DType::U64),
        _ => None,
    }
}

fn modulo<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let fmod = node.attributes.bool_or("fmod", false)?;
    let (a, b) = (node.input(0, "A")?, node.input(1, "B")?);
    if fmod || !node.dtype(a)?.is_float() {
        return node.emitter.op("mod", &[a, b], &[("fmod", fmod.into())]);
    }
    // The remainder with the sign of b, from that with the sign of a.
    let rest = node.op("mod", &[a, b], &[("fmod", true.into())])?;
    let negative = node.binary_with("less", rest, 0.0)?;
    let wanted = node.binary_with("less", b, 0.0)?;
    let differs = node.binary("xor", negative, wanted)?;
    let zero = node.binary_with("equal", rest, 0.0)?;
    let not_zero = node.unary("not", zero)?;
    let wrong = node.binary("and", differs, not_zero)?;
    let moved = node.binary("add", rest, b)?;
    Ok(vec![node.op("where", &[wrong, moved, rest], &[])?])
}

/// Any number of operands, as a chain of binary operations.
fn chain<'c>(node: &NodeContext<'_, 'c>, op: &str) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    Ok(vec![chained(node, op)?])
}

fn chained<'c>(node: &NodeContext<'_, 'c>, op: &str) -> OpResult<Val<'c>> {
    let inputs = node.all_inputs()?;
    inputs[1..].iter().try_fold(inputs[0], |sum, next| node.binary(op, sum, *next))
}

fn mean<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    let sum = chained(node, "add")?;
    Ok(vec![node.binary_with("div", sum, node.inputs.len() as f64)?])
}
