//! Activations, and softmax with its relatives.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::{Attr, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("HardSwish", 14, "hard_swish", 1),
    OpEntry::same("Mish", 18, "mish", 1),
    OpEntry::same("Relu", 1, "relu", 1),
    OpEntry::same("Sigmoid", 1, "sigmoid", 1),
    OpEntry::same("Softplus", 1, "softplus", 1),
    OpEntry::same("Softsign", 1, "softsign", 1),
    OpEntry::with("Celu", 12, 1..=1, |node| with_floats(node, "celu", &[("alpha", 1.0)])),
    OpEntry::with("Elu", 1, 1..=1, |node| with_floats(node, "elu", &[("alpha", 1.0)])),
    OpEntry::with("Gelu", 20, 1..=1, gelu),
    OpEntry::with("HardSigmoid", 1, 1..=1, |node| {
        with_floats(node, "hard_sigmoid", &[("alpha", 0.2), ("beta", 0.5)])
    }),
    OpEntry::with("Hardmax", 1, 1..=1, |node| along_axis(node, "hardmax")),
    OpEntry::with("LeakyRelu", 1, 1..=1, |node| {
        with_floats(node, "leaky_relu", &[("alpha", 0.01)])
    }),
    OpEntry::with("LogSoftmax", 1, 1..=1, |node| along_axis(node, "log_softmax")),
    OpEntry::with("PRelu", 1, 2..=2, prelu),
    OpEntry::with("Selu", 1, 1..=1, |node| {
        let defaults = [("alpha", 1.673_263_2), ("gamma", 1.050_701)];
        with_floats(node, "selu", &defaults)
    }),
    OpEntry::with("Shrink", 9, 1..=1, |node| {
        with_floats(node, "shrink", &[("bias", 0.0), ("lambd", 0.5)])
    }),
    OpEntry::with("Softmax", 1, 1..=1, |node| along_axis(node, "softmax")),
    OpEntry::with("SwiGLU", 28, 2..=2, swiglu),
    OpEntry::with("Swish", 24, 1..=1, |node| with_floats(node, "swish", &[("alpha", 1.0)])),
    OpEntry::with("ThresholdedRelu", 1, 1..=1, |node| {
        with_floats(node, "thresholded_relu", &[("alpha", 1.0)])
    }),
];

/// One operation with these float attributes and their defaults.
fn with_floats<'c>(
    node: &NodeContext<'_, 'c>,
    op: &str,
    defaults: &[(&'static str, f32)],
) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    let mut attributes: Vec<(&'static str, Attr<'c>)> = Vec::new();
    for (name, default) in defaults {
        attributes.push((name, node.attributes.float_or(name, *default)?.into()));
    }
    node.emitter.op(op, &[node.input(0, "X")?], &attributes)
}

fn gelu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let approximate = node.attributes.choice("approximate", &["none", "tanh"])?;
    node.emitter.op("gelu", &[node.input(0, "X")?], &[("approximate", approximate.into())])
}

/// Before operator set 7 the slopes of channels were a list, without the dimensions after them.
fn prelu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    let (x, mut slope) = (node.input(0, "X")?, node.input(1, "slope")?);
    let trailing = node.rank(x).saturating_sub(2) as i64;
    if node.opset < 7 && node.rank(slope) == 1 && node.dims(slope) != [1] && trailing > 0 {
        let axes: Vec<i64> = (1..=trailing).collect();
        slope = node.unsqueeze(slope, &axes)?;
    }
    node.emitter.op("prelu", &[x, slope], &[])
}

fn swiglu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let alpha = node.attributes.float_or("alpha", 1.0)?;
    let gate = node.op("swish", &[node.input(0, "A")?], &[("alpha", alpha.into())])?;
    Ok(vec![node.binary("mul", gate, node.input(1, "B")?)?])
}

/// Softmax and relatives. Before operator set 13 they worked on the operand flattened to a matrix
/// at `axis`.
fn along_axis<'c>(node: &NodeContext<'_, 'c>, op: &str) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "input")?;
    let rank = node.rank(x);
    if node.opset >= 13 {
        let axis = node.attributes.int_or("axis", -1)?;
        return node.emitter.op(op, &[x], &[("axis", axis.into())]);
    }
    let axis = node.axis(node.attributes.int_or("axis", 1)?, rank)?;
    if axis + 1 == rank {
        return node.emitter.op(op, &[x], &[("axis", (axis as i64).into())]);
    }
    let matrix = node.op("flatten", &[x], &[("axis", (axis as i64).into())])?;
    let y = node.op(op, &[matrix], &[("axis", 1i64.into())])?;
    let shape = node.shape_of(x)?;
    node.emitter.op("reshape", &[y, shape], &[("allowzero", true.into())])
}
