//! Pooling.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::{Attr, OpResult};
use super::OpEntry;
use super::conv::Window;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("GlobalAveragePool", 1, "global_average_pool", 1),
    OpEntry::same("GlobalMaxPool", 1, "global_max_pool", 1),
    OpEntry::with("AveragePool", 1, 1..=1, average_pool),
    OpEntry::with("GlobalLpPool", 1, 1..=1, global_lp_pool),
    OpEntry::with("LpPool", 1, 1..=1, lp_pool),
    OpEntry::with("MaxPool", 1, 1..=1, max_pool),
    OpEntry::with("MaxUnpool", 9, 2..=3, max_unpool),
];

/// The attributes that all pools share.
pub(super) fn pool_attributes<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
) -> OpResult<Vec<(&'static str, Attr<'c>)>> {
    let kernel =
        node.attributes.ints("kernel_shape")?.ok_or("the attribute `kernel_shape` is missing")?;
    if kernel.len() + 2 != node.rank(x) {
        return Err(format!(
            "kernel_shape has {} elements, which does not fit an input of rank {}",
            kernel.len(),
            node.rank(x)
        )
        .into());
    }
    let mut window = Window::read(node, kernel)?;
    window.resolve_auto_pad(node, x)?;
    let ceil_mode = node.attributes.bool_or("ceil_mode", false)?;
    Ok(vec![
        ("kernel_shape", window.kernel.into()),
        ("strides", window.strides.into()),
        ("pads", window.pads.into()),
        ("dilations", window.dilations.into()),
        ("ceil_mode", ceil_mode.into()),
    ])
}

fn average_pool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let mut attributes = pool_attributes(node, x)?;
    let include = node.attributes.bool_or("count_include_pad", false)?;
    attributes.push(("count_include_pad", include.into()));
    node.emitter.op("average_pool", &[x], &attributes)
}

fn lp_pool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let mut attributes = pool_attributes(node, x)?;
    attributes.push(("p", node.attributes.int_or("p", 2)?.into()));
    node.emitter.op("lp_pool", &[x], &attributes)
}

fn global_lp_pool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let p = node.attributes.int_or("p", 2)?;
    node.emitter.op("global_lp_pool", &[node.input(0, "X")?], &[("p", p.into())])
}

fn max_pool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let mut attributes = pool_attributes(node, x)?;
    let order = node.attributes.int_or("storage_order", 0)?;
    if !node.wants(1) {
        return node.emitter.op("max_pool", &[x], &attributes);
    }
    attributes.push(("storage_order", order.into()));
    node.emitter.op("max_pool_with_indices", &[x], &attributes)
}

/// Puts each element where its index says, in a tensor of zeros. Indices count in the image that was
/// pooled: that is `output_shape`, or without it the smallest image that pools to this one.
fn max_unpool<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, indices) = (node.input(0, "X")?, node.input(1, "I")?);
    let dims = node.static_dims(x, "X")?;
    let kernel =
        node.attributes.ints("kernel_shape")?.ok_or("the attribute `kernel_shape` is missing")?;
    if kernel.len() + 2 != dims.len() {
        return Err("kernel_shape does not fit the rank of the input".into());
    }
    let window = Window::read(node, kernel)?;
    let shape = match node.known_ints(2, "output_shape")? {
        Some(wanted) => wanted,
        None => smallest_pooled(&dims, &window),
    };
    if shape.len() != dims.len() || shape[..2] != dims[..2] || shape.iter().any(|dim| *dim < 0) {
        let reason = format!("the output would have the shape {shape:?}, the input has {dims:?}");
        return Err(reason.into());
    }
    let count = shape.iter().try_fold(1i64, |count, dim| count.checked_mul(*dim));
    let count = count.ok_or("the output is too large")?;
    let zeros = {
        let (zero, shape) = (node.scalar_like(x, 0.0)?, node.i64s(&[count])?);
        node.op("expand", &[zero, shape], &[])?
    };
    let (flat, places) = (node.reshape(x, &[-1])?, node.reshape(indices, &[-1])?);
    let filled = node.op("scatter_elements", &[zeros, places, flat], &[("axis", 0i64.into())])?;
    Ok(vec![node.reshape(filled, &shape)?])
}

/// The shape of the smallest images that windows make images of the shape `dims` of.
fn smallest_pooled(dims: &[i64], window: &Window) -> Vec<i64> {
    let rank = window.kernel.len();
    let mut shape = dims.to_vec();
    for axis in 0..rank {
        shape[axis + 2] = (dims[axis + 2] - 1) * window.strides[axis] + window.kernel[axis]
            - window.pads[axis]
            - window.pads[axis + rank];
    }
    shape
}
