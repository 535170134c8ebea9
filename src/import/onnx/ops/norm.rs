//! Normalisation.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("BatchNormalization", 1, 5..=5, batch_norm),
    OpEntry::with("GroupNormalization", 18, 3..=3, group_norm),
    OpEntry::with("InstanceNormalization", 1, 3..=3, instance_norm),
    OpEntry::with("LRN", 1, 1..=1, lrn),
    OpEntry::with("LayerNormalization", 1, 2..=3, layer_norm),
    OpEntry::with("LpNormalization", 1, 1..=1, lp_norm),
    OpEntry::with("MeanVarianceNormalization", 1, 1..=1, mean_variance_norm),
    OpEntry::with("RMSNormalization", 23, 2..=2, rms_norm),
    // onnxruntime's name of it before the standard had it.
    OpEntry::with("SimplifiedLayerNormalization", 1, 2..=2, rms_norm),
];

fn batch_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    // Before operator set 7 this told whether statistics are updated; deployed models run with
    // the stored ones whichever it says.
    node.attributes.ignore("is_test");
    if !node.attributes.bool_or("spatial", true)? {
        let reason = "spatial = 0 (statistics per element) is not supported";
        return Err(OpError::Unsupported(reason.to_string()));
    }
    let epsilon = node.attributes.float_or("epsilon", 1e-5)?;
    let momentum = node.attributes.float_or("momentum", 0.9)?;
    let inputs = node.all_inputs()?;
    if node.opset >= 14 && node.attributes.bool_or("training_mode", false)? {
        return batch_norm_training(node, &inputs, epsilon, momentum);
    }
    node.emitter.op("batch_norm", &inputs, &[("epsilon", epsilon.into())])
}

/// Normalises with the statistics of this batch, and updates the running ones.
fn batch_norm_training<'c>(
    node: &NodeContext<'_, 'c>,
    inputs: &[Val<'c>],
    epsilon: f32,
    momentum: f32,
) -> OpResult<Vec<Val<'c>>> {
    let &[x, scale, bias, running_mean, running_var] = inputs else {
        return Err("an input is missing".into());
    };
    let rank = node.rank(x) as i64;
    let axes: Vec<i64> = std::iter::once(0).chain(2..rank).collect();
    // Sums over a batch overflow in half precision.
    let wide = node.cast(x, DType::F32)?;
    let mean = node.reduce("reduce_mean", wide, &axes, true)?;
    let centered = node.binary("sub", wide, mean)?;
    let square = node.binary("mul", centered, centered)?;
    let var = node.reduce("reduce_mean", square, &axes, false)?;
    let mean = node.reshape(mean, &[-1])?;
    let blend = |running: Val<'c>, current: Val<'c>| -> OpResult<Val<'c>> {
        let kept = node.binary_with("mul", running, f64::from(momentum))?;
        let current = node.cast_like(current, running)?;
        let added = node.binary_with("mul", current, 1.0 - f64::from(momentum))?;
        node.binary("add", kept, added)
    };
    let (new_mean, new_var) = (blend(running_mean, mean)?, blend(running_var, var)?);
    let (mean, var) = (node.cast_like(mean, running_mean)?, node.cast_like(var, running_var)?);
    let y = node.op("batch_norm", &[x, scale, bias, mean, var], &[("epsilon", epsilon.into())])?;
    Ok(vec![y, new_mean, new_var])
}

fn instance_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    let epsilon = node.attributes.float_or("epsilon", 1e-5)?;
    node.emitter.op("instance_norm", &node.all_inputs()?, &[("epsilon", epsilon.into())])
}

/// The first stage of these norms is computed in `f32`, which is also all that ONNX allows
/// exporters to choose in practice.
fn check_stash_type(node: &NodeContext<'_, '_>) -> OpResult<()> {
    match node.attributes.int_or("stash_type", 1)? {
        1 => Ok(()),
        other => Err(OpError::Unsupported(format!("stash_type {other} is not supported"))),
    }
}

fn layer_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    check_stash_type(node)?;
    let attributes = [
        ("axis", node.attributes.int_or("axis", -1)?.into()),
        ("epsilon", node.attributes.float_or("epsilon", 1e-5)?.into()),
    ];
    let operands = [Some(node.input(0, "X")?), Some(node.input(1, "Scale")?), node.optional(2)];
    let operands: Vec<_> = operands.into_iter().flatten().collect();
    let op = if node.wants(1) || node.wants(2) { "layer_norm_with_stats" } else { "layer_norm" };
    node.emitter.op(op, &operands, &attributes)
}

fn rms_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    check_stash_type(node)?;
    let attributes = [
        ("axis", node.attributes.int_or("axis", -1)?.into()),
        ("epsilon", node.attributes.float_or("epsilon", 1e-5)?.into()),
    ];
    node.emitter.op("rms_norm", &node.all_inputs()?, &attributes)
}

/// Before operator set 21, scale and bias were one per group, not one per channel.
fn group_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    check_stash_type(node)?;
    let groups =
        node.attributes.int("num_groups")?.ok_or("the attribute `num_groups` is missing")?;
    let (x, mut scale, mut bias) =
        (node.input(0, "X")?, node.input(1, "scale")?, node.input(2, "bias")?);
    if node.opset < 21 {
        let channels = node.static_dim(x, 1, "X")?;
        if groups < 1 || channels % groups != 0 {
            return Err(format!("num_groups {groups} does not divide {channels} channels").into());
        }
        let spread = |values: Val<'c>| -> OpResult<Val<'c>> {
            let column = node.reshape(values, &[groups, 1])?;
            let shape = node.i64s(&[groups, channels / groups])?;
            let matrix = node.op("expand", &[column, shape], &[])?;
            node.reshape(matrix, &[channels])
        };
        (scale, bias) = (spread(scale)?, spread(bias)?);
    }
    let epsilon = node.attributes.float_or("epsilon", 1e-5)?;
    let attributes = [("num_groups", groups.into()), ("epsilon", epsilon.into())];
    node.emitter.op("group_norm", &[x, scale, bias], &attributes)
}

fn lrn<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let size = node.attributes.int("size")?.ok_or("the attribute `size` is missing")?;
    let attributes = [
        ("size", size.into()),
        ("alpha", node.attributes.float_or("alpha", 1e-4)?.into()),
        ("beta", node.attributes.float_or("beta", 0.75)?.into()),
        ("bias", node.attributes.float_or("bias", 1.0)?.into()),
    ];
    node.emitter.op("lrn", &[node.input(0, "X")?], &attributes)
}

fn lp_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let attributes = [
        ("axis", node.attributes.int_or("axis", -1)?.into()),
        ("p", node.attributes.int_or("p", 2)?.into()),
    ];
    node.emitter.op("lp_norm", &[node.input(0, "input")?], &attributes)
}

fn mean_variance_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axes = node.attributes.ints("axes")?.unwrap_or(vec![0, 2, 3]);
    node.emitter.op("mean_variance_norm", &[node.input(0, "X")?], &[("axes", axes.into())])
}
