//! Operators that pick or place elements.

use crate::ir::Val;
use crate::tensor::{DType, Tensor};

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("NonZero", 9, "non_zero", 1),
    OpEntry::with("Compress", 9, 2..=2, compress),
    OpEntry::with("NonMaxSuppression", 10, 2..=5, non_max_suppression),
    OpEntry::with("Gather", 1, 2..=2, |node| gather(node, "gather")),
    OpEntry::with("GatherElements", 11, 2..=2, |node| gather(node, "gather_elements")),
    OpEntry::with("GatherND", 11, 2..=2, gather_nd),
    OpEntry::with("OneHot", 9, 3..=3, one_hot),
    OpEntry::with("ReverseSequence", 10, 2..=2, reverse_sequence),
    OpEntry::with("Scatter", 9, 3..=3, scatter_elements),
    OpEntry::with("ScatterElements", 11, 3..=3, scatter_elements),
    OpEntry::with("ScatterND", 11, 3..=3, scatter_nd),
    OpEntry::with("TensorScatter", 24, 2..=3, tensor_scatter),
    OpEntry::with("Trilu", 14, 1..=2, trilu),
];

fn gather<'c>(node: &NodeContext<'_, 'c>, op: &str) -> OpResult<Vec<Val<'c>>> {
    let axis = node.attributes.int_or("axis", 0)?;
    node.emitter.op(op, &node.all_inputs()?, &[("axis", axis.into())])
}

fn gather_nd<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let batch_dims = node.attributes.int_or("batch_dims", 0)?;
    node.emitter.op("gather_nd", &node.all_inputs()?, &[("batch_dims", batch_dims.into())])
}

const REDUCTIONS: [&str; 5] = ["none", "add", "mul", "min", "max"];

fn scatter_elements<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let attributes = [
        ("axis", node.attributes.int_or("axis", 0)?.into()),
        ("reduction", node.attributes.choice("reduction", &REDUCTIONS)?.into()),
    ];
    node.emitter.op("scatter_elements", &node.all_inputs()?, &attributes)
}

fn scatter_nd<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let reduction = node.attributes.choice("reduction", &REDUCTIONS)?;
    node.emitter.op("scatter_nd", &node.all_inputs()?, &[("reduction", reduction.into())])
}

fn compress<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axis = node.attributes.int("axis")?;
    let (x, condition) = (node.input(0, "input")?, node.input(1, "condition")?);
    // With a known condition this is a gather, whose shape is known, too.
    if let Some(flags) = node.emitter.known(condition).and_then(|tensor| tensor.to_i64()) {
        let picked: Vec<i64> =
            (0..).zip(&flags).filter(|(_, flag)| **flag != 0).map(|(index, _)| index).collect();
        let indices = node.i64s(&picked)?;
        let (x, axis) = match axis {
            Some(axis) => (x, axis),
            None => (node.reshape(x, &[-1])?, 0),
        };
        return node.emitter.op("gather", &[x, indices], &[("axis", axis.into())]);
    }
    let attributes: Vec<_> = axis.map(|axis| ("axis", axis.into())).into_iter().collect();
    node.emitter.op("compress", &[x, condition], &attributes)
}

fn non_max_suppression<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let centered = node.attributes.int_or("center_point_box", 0)? != 0;
    let operands = [
        Some(node.input(0, "boxes")?),
        Some(node.input(1, "scores")?),
        node.optional(2),
        node.optional(3),
        node.optional(4),
    ];
    node.emitter.op_with_optionals(
        "non_max_suppression",
        &operands,
        &[("center_point_box", centered.into())],
    )
}

fn one_hot<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axis = node.attributes.int_or("axis", -1)?;
    node.emitter.op("one_hot", &node.all_inputs()?, &[("axis", axis.into())])
}

fn reverse_sequence<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let attributes = [
        ("batch_axis", node.attributes.int_or("batch_axis", 1)?.into()),
        ("time_axis", node.attributes.int_or("time_axis", 0)?.into()),
    ];
    node.emitter.op("reverse_sequence", &node.all_inputs()?, &attributes)
}

fn trilu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let upper = node.attributes.bool_or("upper", true)?;
    let operands = [Some(node.input(0, "input")?), node.optional(1)];
    let operands: Vec<_> = operands.into_iter().flatten().collect();
    node.emitter.op("trilu", &operands, &[("upper", upper.into())])
}

/// Writes a piece of a sequence into a cache, for each sample at its own position: a scatter, which devices can do in
/// place.
fn tensor_scatter<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (cache, update) = (node.input(0, "past_cache")?, node.input(1, "update")?);
    let dims = node.static_dims(cache, "past_cache")?;
    let axis = node.axis(node.attributes.int_or("axis", -2)?, dims.len())?;
    let circular = node.attributes.choice("mode", &["linear", "circular"])? == "circular";
    if axis == 0 {
        return Err(OpError::Invalid("axis 0 is the batch, not the sequence".to_string()));
    }
    let length = node.static_dim(update, axis, "update")?;
    let (batch, room) = (dims[0], dims[axis]);
    if length < 1 || room < 1 {
        return Ok(vec![cache]);
    }
    let starts = match node.optional(2) {
        Some(starts) => node.cast(starts, DType::I64)?,
        None => node.constant(&Tensor::zeros(DType::I64, &[batch as usize])?)?,
    };
    // place[b][p]: where element p of the piece of sample b belongs.
    let positions: Vec<i64> = (0..length).collect();
    let positions = node.i64s(&positions)?;
    let starts = node.unsqueeze(starts, &[1])?;
    let mut place = node.binary("add", positions, starts)?;
    if circular {
        place = node.binary_with("mod", place, room as f64)?;
    }
    let mut shape = vec![1; dims.len()];
    (shape[0], shape[axis]) = (batch, length);
    let place = node.reshape(place, &shape)?;
    let full = node.i64s(&node.static_dims(update, "update")?)?;
    let place = node.op("expand", &[place, full], &[])?;
    node.emitter.op(
        "scatter_elements",
        &[cache, place, update],
        &[("axis", (axis as i64).into()), ("reduction", "none".into())],
    )
}
