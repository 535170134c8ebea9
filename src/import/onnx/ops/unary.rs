//! Operators of one operand that work element by element, and casts.

use melior::ir::ValueLike;

use crate::ir::{self, Val};
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("Abs", "abs", 1),
    OpEntry::same("Acos", "acos", 1),
    OpEntry::same("Acosh", "acosh", 1),
    OpEntry::same("Asin", "asin", 1),
    OpEntry::same("Asinh", "asinh", 1),
    OpEntry::same("Atan", "atan", 1),
    OpEntry::same("Atanh", "atanh", 1),
    OpEntry::same("BitwiseNot", "bitwise_not", 1),
    OpEntry::same("Ceil", "ceil", 1),
    OpEntry::same("Cos", "cos", 1),
    OpEntry::same("Cosh", "cosh", 1),
    OpEntry::same("Erf", "erf", 1),
    OpEntry::same("Exp", "exp", 1),
    OpEntry::same("Floor", "floor", 1),
    OpEntry::same("IsNaN", "is_nan", 1),
    OpEntry::same("Log", "log", 1),
    OpEntry::same("Neg", "neg", 1),
    OpEntry::same("Not", "not", 1),
    OpEntry::same("Reciprocal", "reciprocal", 1),
    OpEntry::same("Round", "round", 1),
    OpEntry::same("Sign", "sign", 1),
    OpEntry::same("Sin", "sin", 1),
    OpEntry::same("Sinh", "sinh", 1),
    OpEntry::same("Sqrt", "sqrt", 1),
    OpEntry::same("Tan", "tan", 1),
    OpEntry::same("Tanh", "tanh", 1),
    OpEntry::with("Cast", cast),
    OpEntry::with("CastLike", cast_like),
    OpEntry::with("Clip", clip),
    OpEntry::with("Dropout", dropout),
    OpEntry::with("Identity", identity),
    OpEntry::with("IsInf", is_inf),
];

/// Gives its operand, for which no operation is needed.
fn identity<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.expect_inputs(1, 1)?;
    Ok(vec![node.input(0, "input")?])
}

fn is_inf<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.expect_inputs(1, 1)?;
    let negative = node.attributes.bool_or("detect_negative", true)?;
    let positive = node.attributes.bool_or("detect_positive", true)?;
    let attributes = [("detect_negative", negative.into()), ("detect_positive", positive.into())];
    node.emitter.op("is_inf", &[node.input(0, "X")?], &attributes)
}

fn cast<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.expect_inputs(1, 1)?;
    let code = node.attributes.int("to")?.ok_or("the attribute `to` is missing")?;
    let saturate = node.attributes.bool_or("saturate", true)?;
    rounding(node)?;
    let x = node.input(0, "input")?;
    convert(node, x, node.element_type(code)?, saturate)
}

fn cast_like<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.expect_inputs(2, 2)?;
    let saturate = node.attributes.bool_or("saturate", true)?;
    rounding(node)?;
    let like = node.input(1, "target_type")?;
    convert(node, node.input(0, "input")?, ir::element_type(like.r#type()), saturate)
}

/// Only `float8e8m0` has a choice of rounding.
fn rounding(node: &NodeContext<'_, '_>) -> OpResult<()> {
    match node.attributes.string_or("round_mode", "up")? {
        "up" => Ok(()),
        other => Err(OpError::Unsupported(format!("round_mode \"{other}\" is not supported"))),
    }
}

fn convert<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    to: melior::ir::Type<'c>,
    saturate: bool,
) -> OpResult<Vec<Val<'c>>> {
    if ir::element_type(x.r#type()) == to {
        return Ok(vec![x]);
    }
    node.emitter.op("cast", &[x], &[("to", to.into()), ("saturate", saturate.into())])
}

/// Before operator set 11 the bounds are attributes.
fn clip<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    if node.opset >= 11 {
        node.expect_inputs(1, 3)?;
        let operands = [Some(node.input(0, "input")?), node.optional(1), node.optional(2)];
        return node.emitter.op_with_optionals("clip", &operands, &[]);
    }
    node.expect_inputs(1, 1)?;
    let x = node.input(0, "input")?;
    let bound = |name: &str| match node.attributes.float(name)? {
        Some(value) => node.scalar_like(x, f64::from(value)).map(Some),
        None => Ok(None),
    };
    node.emitter.op_with_optionals("clip", &[Some(x), bound("min")?, bound("max")?], &[])
}

/// In inference, the operand; and a mask that is true everywhere.
fn dropout<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.expect_inputs(1, 3)?;
    for name in ["ratio", "seed", "is_test", "consumed_inputs"] {
        node.attributes.ignore(name);
    }
    let x = node.input(0, "data")?;
    if let Some(training) = node.known(2, "training_mode")?
        && training.to_f64().iter().any(|flag| *flag != 0.0)
    {
        let ratio = node.known(1, "ratio")?.map_or(vec![0.5], |ratio| ratio.to_f64());
        if ratio.iter().any(|ratio| *ratio != 0.0) {
            let reason = "training mode drops random elements, which is not supported";
            return Err(OpError::Unsupported(reason.to_string()));
        }
    }
    if !node.wants(1) {
        return Ok(vec![x]);
    }
    // The mask was of the operand's type before operator set 10.
    let dtype = if node.opset >= 10 { DType::Bool } else { node.dtype(x)? };
    let one = node.scalar(dtype, 1.0)?;
    let shape = node.shape_of(x)?;
    Ok(vec![x, node.op("expand", &[one, shape], &[])?])
}
