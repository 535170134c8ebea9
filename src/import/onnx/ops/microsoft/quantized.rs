//! Integer operators of the domain `com.microsoft`, which onnxruntime's quantizer writes beside
//! those of the standard. Each becomes the float operation between dequantizations of its inputs
//! and a quantization of its result, which is their definition.

use crate::ir::Val;

use super::super::super::context::NodeContext;
use super::super::super::emit::{Attr, Attrs, OpError, OpResult};
use super::super::pool::pool_attributes;
use super::super::{MANY, OpEntry, recurrent};

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("DynamicQuantizeLSTM", 1, 12..=12, recurrent::dynamic_lstm),
    OpEntry::with("QGemm", 1, 6..=9, gemm),
    OpEntry::with("QLinearAdd", 1, 7..=8, add),
    OpEntry::with("QLinearAveragePool", 1, 4..=5, average_pool),
    OpEntry::with("QLinearConcat", 1, 5..=MANY, concat),
    OpEntry::with("QLinearGlobalAveragePool", 1, 4..=5, global_average_pool),
    OpEntry::with("QLinearLeakyRelu", 1, 4..=5, leaky_relu),
    OpEntry::with("QLinearMul", 1, 7..=8, mul),
    OpEntry::with("QLinearSigmoid", 1, 4..=5, sigmoid),
    OpEntry::with("QLinearSoftmax", 1, 4..=5, softmax),
];

/// The real numbers that the input `index` stands for; scale and zero point follow it.
fn dequantized<'c>(node: &NodeContext<'_, 'c>, index: usize, axis: i64) -> OpResult<Val<'c>> {
    let operands = [
        Some(node.input(index, "tensor")?),
        Some(node.input(index + 1, "scale")?),
        node.optional(index + 2),
    ];
    let operands: Vec<_> = operands.into_iter().flatten().collect();
    node.op("dequantize_linear", &operands, &[("axis", axis.into())])
}

/// The integers for a result, whose scale is the input `index`, followed by the zero point.
fn quantized<'c>(node: &NodeContext<'_, 'c>, x: Val<'c>, index: usize) -> OpResult<Vec<Val<'c>>> {
    let operands = [Some(x), Some(node.input(index, "scale")?), node.optional(index + 1)];
    let operands: Vec<_> = operands.into_iter().flatten().collect();
    node.emitter.op("quantize_linear", &operands, &[])
}

/// An operation with one operand, which the inputs 0 to 2 are; 3 and 4 belong to the result.
fn unary<'c>(
    node: &NodeContext<'_, 'c>,
    name: &str,
    attributes: Attrs<'c, '_>,
) -> OpResult<Vec<Val<'c>>> {
    let y = node.op(name, &[dequantized(node, 0, 1)?], attributes)?;
    quantized(node, y, 3)
}

fn binary<'c>(node: &NodeContext<'_, 'c>, name: &str) -> OpResult<Vec<Val<'c>>> {
    let y = node.binary(name, dequantized(node, 0, 1)?, dequantized(node, 3, 1)?)?;
    quantized(node, y, 6)
}

fn add<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    binary(node, "add")
}

fn mul<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    binary(node, "mul")
}

fn sigmoid<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    unary(node, "sigmoid", &[])
}

fn leaky_relu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let alpha = node.attributes.float_or("alpha", 0.01)?;
    unary(node, "leaky_relu", &[("alpha", alpha.into())])
}

/// Softmax along one axis; before operator set 13 it was along all from there on.
fn softmax<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axis = node.attributes.int_or("axis", -1)?;
    let opset = node.attributes.int_or("opset", 13)?;
    let rank = node.rank(node.input(0, "X")?) as i64;
    if opset < 13 && axis != -1 && axis != rank - 1 {
        let reason = format!("softmax of operator set {opset} along the axis {axis}");
        return Err(OpError::Unsupported(reason));
    }
    unary(node, "softmax", &[("axis", axis.into())])
}

/// Refuses images with their channels last.
fn expect_channels_first(node: &NodeContext<'_, '_>) -> OpResult<()> {
    if node.attributes.bool_or("channels_last", false)? {
        return Err(OpError::Unsupported("channels_last = 1 is not supported".to_owned()));
    }
    Ok(())
}

fn average_pool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    expect_channels_first(node)?;
    let mut attributes = pool_attributes(node, node.input(0, "X")?)?;
    let include = node.attributes.bool_or("count_include_pad", false)?;
    attributes.push(("count_include_pad", include.into()));
    unary(node, "average_pool", &attributes)
}

fn global_average_pool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    expect_channels_first(node)?;
    unary(node, "global_average_pool", &[])
}

/// Scale and zero point of the result come first, then three inputs for each part.
fn concat<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let count = node.inputs.len();
    if count < 5 || count % 3 != 2 {
        return Err(format!("has {count} inputs, expected 2 and 3 for each part").into());
    }
    let axis = node.attributes.int("axis")?.ok_or("the attribute `axis` is missing")?;
    let parts = (2..count).step_by(3).map(|index| dequantized(node, index, 1));
    let parts = parts.collect::<OpResult<Vec<_>>>()?;
    let y = node.concat(&parts, axis)?;
    quantized(node, y, 0)
}

/// The third operand is i32 with the product of the others' scales as its own. Without a scale
/// for it the result is real.
fn gemm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let alpha = node.attributes.float_or("alpha", 1.0)?;
    let trans_b = node.attributes.int_or("transB", 0)? != 0;
    let attributes: [(&'static str, Attr<'c>); 4] = [
        ("alpha", alpha.into()),
        ("beta", 1f32.into()),
        ("trans_a", (node.attributes.int_or("transA", 0)? != 0).into()),
        ("trans_b", trans_b.into()),
    ];
    let columns = i64::from(!trans_b);
    let mut operands = vec![dequantized(node, 0, 1)?, dequantized(node, 3, columns)?];
    if let Some(c) = node.optional(6) {
        let scale = node.binary("mul", node.input(1, "a_scale")?, node.input(4, "b_scale")?)?;
        let scale = node.binary_with("mul", scale, f64::from(alpha))?;
        let axis = node.rank(c).max(1) as i64 - 1;
        operands.push(node.op("dequantize_linear", &[c, scale], &[("axis", axis.into())])?);
    }
    let y = node.op("gemm", &operands, &attributes)?;
    if node.optional(7).is_none() { Ok(vec![y]) } else { quantized(node, y, 7) }
}
