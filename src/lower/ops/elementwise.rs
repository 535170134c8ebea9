//! Elementwise ops: one `linalg.generic` over the result, operands broadcast by their maps.

use super::Table;
use crate::{
    Result,
    ir::{Op, Val},
    lower::{Lowering, scalar::emit_scalar},
};

fn lower<'c>(lowering: &Lowering<'c>, op: Op<'c>, inputs: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
    let unsigned = lowering.is_unsigned(0);
    let value = lowering.elementwise(inputs, lowering.result_type(0)?, |b, args| {
        emit_scalar(b, op, args, unsigned)
    })?;
    Ok(vec![value])
}

fn identity<'c>(_: &Lowering<'c>, _: Op<'c>, inputs: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
    Ok(inputs.to_vec())
}

/// This family.
pub const TABLE: Table = &[
    ("abs", lower),
    ("acos", lower),
    ("acosh", lower),
    ("add", lower),
    ("and", lower),
    ("asin", lower),
    ("asinh", lower),
    ("atan", lower),
    ("atanh", lower),
    ("bit_shift", lower),
    ("bitwise_and", lower),
    ("bitwise_not", lower),
    ("bitwise_or", lower),
    ("bitwise_xor", lower),
    ("cast", lower),
    ("ceil", lower),
    ("celu", lower),
    ("clip", lower),
    ("cos", lower),
    ("cosh", lower),
    ("div", lower),
    ("elu", lower),
    ("equal", lower),
    ("erf", lower),
    ("exp", lower),
    ("floor", lower),
    ("gelu", lower),
    ("greater", lower),
    ("greater_or_equal", lower),
    ("hard_sigmoid", lower),
    ("hard_swish", lower),
    ("identity", identity),
    ("is_inf", lower),
    ("is_nan", lower),
    ("leaky_relu", lower),
    ("less", lower),
    ("less_or_equal", lower),
    ("log", lower),
    ("max", lower),
    ("min", lower),
    ("mish", lower),
    ("mod", lower),
    ("mul", lower),
    ("neg", lower),
    ("not", lower),
    ("or", lower),
    ("pow", lower),
    ("prelu", lower),
    ("reciprocal", lower),
    ("relu", lower),
    ("round", lower),
    ("selu", lower),
    ("shrink", lower),
    ("sigmoid", lower),
    ("sign", lower),
    ("sin", lower),
    ("sinh", lower),
    ("softplus", lower),
    ("softsign", lower),
    ("sqrt", lower),
    ("sub", lower),
    ("swish", lower),
    ("tan", lower),
    ("tanh", lower),
    ("thresholded_relu", lower),
    ("where", lower),
    ("xor", lower),
];
