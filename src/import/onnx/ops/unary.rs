//! Operators of one operand that work element by element, and casts.

use melior::ir::ValueLike;

use crate::ir::{self, Val};
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("Abs", 1, "abs", 1),
    OpEntry::same("Acos", 7, "acos", 1),
    OpEntry::same("Acosh", 9, "acosh", 1),
    OpEntry::same("Asin", 7, "asin", 1),
    OpEntry::same("Asinh", 9, "asinh", 1),
    OpEntry::same("Atan", 7, "atan", 1),
    OpEntry::same("Atanh", 9, "atanh", 1),
    OpEntry::same("BitwiseNot", 18, "bitwise_not", 1),
    OpEntry::same("Ceil", 1, "ceil", 1),
    OpEntry::same("Cos", 7, "cos", 1),
    OpEntry::same("Cosh", 9, "cosh", 1),
    OpEntry::same("Erf", 9, "erf", 1),
    OpEntry::same("Exp", 1, "exp", 1),
    OpEntry::same("Floor", 1, "floor", 1),
    OpEntry::same("IsNaN", 9, "is_nan", 1),
    OpEntry::same("Log", 1, "log", 1),
    OpEntry::same("Neg", 1, "neg", 1),
    OpEntry::same("Not", 1, "not", 1),
    OpEntry::same("Reciprocal", 1, "reciprocal", 1),
    OpEntry::same("Round", 11, "round", 1),
    OpEntry::same("Sign", 9, "sign", 1),
    OpEntry::same("Sin", 7, "sin", 1),
    OpEntry::same("Sinh", 9, "sinh", 1),
    OpEntry::same("Sqrt", 1, "sqrt", 1),
    OpEntry::same("Tan", 7, "tan", 1),
    OpEntry::same("Tanh", 1, "tanh", 1),
    OpEntry::with("BitCast", 26, 1..=1, bit_cast),
    OpEntry::with("Cast", 1, 1..=1, cast),
    OpEntry::with("CastLike", 15, 2..=2, cast_like),
    OpEntry::with("Clip", 1, 1..=3, clip),
    OpEntry::with("Dropout", 1, 1..=3, dropout),
    OpEntry::with("Identity", 1, 1..=1, identity),
    OpEntry::with("IsInf", 10, 1..=1, is_inf),
];

/// Gives its operand, for which no operation is needed.
fn identity<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    Ok(vec![node.input(0, "input")?])
}

fn is_inf<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let negative = node.attributes.bool_or("detect_negative", true)?;
    let positive = node.attributes.bool_or("detect_positive", true)?;
    let attributes = [("detect_negative", negative.into()), ("detect_positive", positive.into())];
    node.emitter.op("is_inf", &[node.input(0, "X")?], &attributes)
}

fn cast<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let code = node.attributes.int("to")?.ok_or("the attribute `to` is missing")?;
    let saturate = node.attributes.bool_or("saturate", true)?;
    rounding(node)?;
    let x = node.input(0, "input")?;
    convert(node, x, node.element_type(code)?, saturate)
}

fn bit_cast<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let code = node.attributes.int("to")?.ok_or("the attribute `to` is missing")?;
    let to = node.element_type(code)?;
    node.emitter.op("bitcast", &[node.input(0, "input")?], &[("to", to.into())])
}

fn cast_like<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
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
        node.expect_inputs(&(1..=3))?;
        let operands = [Some(node.input(0, "input")?), node.optional(1), node.optional(2)];
        return node.emitter.op_with_optionals("clip", &operands, &[]);
    }
    let x = node.input(0, "input")?;
    let bound = |name: &str| match node.attributes.float(name)? {
        Some(value) => node.scalar_like(x, f64::from(value)).map(Some),
        None => Ok(None),
    };
    node.emitter.op_with_optionals("clip", &[Some(x), bound("min")?, bound("max")?], &[])
}

/// In inference, the operand; and a mask that is true everywhere.
fn dropout<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
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
