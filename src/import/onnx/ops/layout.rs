//! Operators that change shapes or move whole blocks, and shapes as values.

use super::{
    super::{
        context::{Extent, NodeContext},
        emit::{OpError, OpResult},
    },
    MANY, OpEntry,
};
use crate::{io::onnx_tensor::Constant, ir::Val, tensor::Tensor};

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("Expand", 8, "expand", 2),
    OpEntry::same("Range", 11, "range", 3),
    OpEntry::same("Size", 1, "size", 1),
    OpEntry::with("CenterCropPad", 18, 2..=2, center_crop_pad),
    OpEntry::with("Concat", 1, 1..=MANY, concat),
    OpEntry::with("Constant", 1, 0..=0, constant),
    OpEntry::with("ConstantOfShape", 9, 1..=1, constant_of_shape),
    OpEntry::with("DepthToSpace", 1, 1..=1, depth_to_space),
    OpEntry::with("EyeLike", 9, 1..=1, eye_like),
    OpEntry::with("Flatten", 1, 1..=1, flatten),
    OpEntry::with("Pad", 1, 1..=4, pad),
    OpEntry::with("Reshape", 1, 1..=2, reshape),
    OpEntry::with("Shape", 1, 1..=1, shape),
    OpEntry::with("Slice", 1, 1..=5, slice),
    OpEntry::with("SpaceToDepth", 1, 1..=1, space_to_depth),
    OpEntry::with("Split", 1, 1..=2, split),
    OpEntry::with("Squeeze", 1, 1..=2, squeeze),
    OpEntry::with("Tile", 1, 2..=2, tile),
    OpEntry::with("Transpose", 1, 1..=1, transpose),
    OpEntry::with("Unsqueeze", 1, 1..=2, unsqueeze),
];

/// Each attribute form that the value of a `Constant` can have.
fn constant<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let attributes = &node.attributes;
    if let Some(proto) = attributes.tensor("value")? {
        let constant = node.model.constant(proto).map_err(|error| error.to_string())?;
        return Ok(vec![node.emitter.constant(&constant, node.name)?]);
    }
    let tensor = if let Some(proto) = attributes.sparse_tensor("sparse_value")? {
        node.model.sparse_tensor(proto).map_err(|error| error.to_string())?
    } else if let Some(value) = attributes.int("value_int")? {
        Tensor::scalar(value)?
    } else if let Some(value) = attributes.float("value_float")? {
        Tensor::scalar(value)?
    } else if let Some(values) = attributes.ints("value_ints")? {
        Tensor::from_slice(&[values.len()], &values)?
    } else if let Some(values) = attributes.floats("value_floats")? {
        Tensor::from_slice(&[values.len()], &values)?
    } else if attributes.has("value_string") || attributes.has("value_strings") {
        return Err(OpError::Unsupported("element type STRING is not supported".to_string()));
    } else {
        return Err("has no value".into());
    };
    Ok(vec![node.constant(&tensor)?])
}

fn constant_of_shape<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mut value: Constant = match node.attributes.tensor("value")? {
        Some(proto) => node.model.constant(proto).map_err(|error| error.to_string())?,
        None => Tensor::scalar(0f32)?.into(),
    };
    if value.tensor.len() != 1 {
        return Err(format!("`value` has {} elements, expected 1", value.tensor.len()).into());
    }
    value.tensor = value.tensor.reshaped(&[1])?;
    let value = node.emitter.elements(&value)?;
    node.emitter.op("constant_of_shape", &[node.input(0, "input")?], &[("value", value)])
}

/// A shape: an attribute before operator set 5, else an input.
fn reshape<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("consumed_inputs");
    let x = node.input(0, "data")?;
    let shape = match node.attributes.ints("shape")? {
        Some(shape) if node.opset < 5 => node.i64s(&shape)?,
        _ => node.input(1, "shape")?,
    };
    let allowzero = node.attributes.bool_or("allowzero", false)?;
    node.emitter.op("reshape", &[x, shape], &[("allowzero", allowzero.into())])
}

fn flatten<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axis = node.attributes.int_or("axis", 1)?;
    node.emitter.op("flatten", &[node.input(0, "input")?], &[("axis", axis.into())])
}

fn shape<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mut attributes = vec![("start", node.attributes.int_or("start", 0)?.into())];
    if let Some(end) = node.attributes.int("end")? {
        attributes.push(("end", end.into()));
    }
    node.emitter.op("shape", &[node.input(0, "data")?], &attributes)
}

fn transpose<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "data")?;
    let reversed = || (0..node.rank(x) as i64).rev().collect();
    let perm = node.attributes.ints("perm")?.unwrap_or_else(reversed);
    Ok(vec![node.transpose(x, &perm)?])
}

/// The axes of a node: an attribute before operator set 13, else an input.
fn axes(node: &NodeContext<'_, '_>) -> OpResult<Option<Vec<i64>>> {
    node.expect_inputs(&(1..=2))?;
    match node.attributes.ints("axes")? {
        Some(axes) => Ok(Some(axes)),
        None => node.known_ints(1, "axes"),
    }
}

fn squeeze<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "data")?;
    let axes = match axes(node)? {
        Some(axes) => axes,
        None => {
            let dims = node.static_dims(x, "data")?;
            (0..).zip(&dims).filter(|(_, dim)| **dim == 1).map(|(axis, _)| axis).collect()
        }
    };
    Ok(vec![node.squeeze(x, &axes)?])
}

fn unsqueeze<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axes = axes(node)?.ok_or("the axes are missing")?;
    Ok(vec![node.unsqueeze(node.input(0, "data")?, &axes)?])
}

fn tile<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.emitter.op("tile", &node.all_inputs()?, &[])
}

fn concat<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let axis = node.attributes.int("axis")?.ok_or("the attribute `axis` is missing")?;
    node.emitter.op("concat", &node.all_inputs()?, &[("axis", axis.into())])
}

/// Before operator set 13 the sizes are an attribute; without sizes, as many equal pieces as there
/// are outputs, the last of which may be smaller.
fn split<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "input")?;
    let axis = node.axis(node.attributes.int_or("axis", 0)?, node.rank(x))?;
    let count = node.attributes.int("num_outputs")?;
    let outputs = node.wanted.len() as i64;
    let sizes = match (node.attributes.ints("split")?, node.optional(1)) {
        (Some(sizes), _) => Some(sizes),
        (None, Some(sizes)) if node.emitter.known(sizes).is_none() => {
            if node.dims(sizes)[..] != [outputs] {
                return Err(OpError::Unsupported(
                    "the input split must be a constant, or have a size for each output"
                        .to_string(),
                ));
            }
            return split_by(node, (x, axis), sizes);
        }
        (None, _) => node.known_ints(1, "split")?,
    };
    let sizes = match sizes {
        Some(sizes) => sizes,
        None if count.is_some_and(|count| count != outputs) || outputs == 0 => {
            return Err(format!("num_outputs is not the number of outputs, {outputs}").into());
        }
        None if node.dims(x)[axis] < 0 => return split_open(node, (x, axis), outputs, count),
        None => {
            let size = node.static_dim(x, axis, "input")?;
            let piece = (size + outputs - 1) / outputs;
            (0..outputs).map(|index| (size - index * piece).clamp(0, piece)).collect()
        }
    };
    if sizes.len() as i64 != outputs {
        return Err(format!("{} sizes for {outputs} outputs", sizes.len()).into());
    }
    let attributes = [("axis", (axis as i64).into()), ("split", sizes.into())];
    node.emitter.op("split", &[x], &attributes)
}

/// Pieces whose sizes a list has that a run computes.
fn split_by<'c>(
    node: &NodeContext<'_, 'c>,
    (x, axis): (Val<'c>, usize),
    sizes: Val<'c>,
) -> OpResult<Vec<Val<'c>>> {
    let mut start = Extent::Known(0);
    let mut pieces = vec![];
    for place in 0..node.wanted.len() as i64 {
        let size = Extent::Open(node.slice(sizes, 0, place, place + 1)?);
        let end = if place == 0 { size } else { node.extent_op("add", start, size)? };
        pieces.push(node.slice_between(x, axis, (start, end))?);
        start = end;
    }
    Ok(pieces)
}

/// Pieces of an open size: equal ones, of which the last may be smaller where their number is an attribute.
fn split_open<'c>(
    node: &NodeContext<'_, 'c>,
    (x, axis): (Val<'c>, usize),
    outputs: i64,
    count: Option<i64>,
) -> OpResult<Vec<Val<'c>>> {
    let known = Extent::Known;
    if count.is_none() {
        let mut sizes =
            (0..node.rank(x)).map(|at| node.extent(x, at)).collect::<OpResult<Vec<_>>>()?;
        sizes.splice(axis..=axis, [known(outputs), known(-1)]);
        let parts = node.reshape_to(x, &sizes)?;
        let piece =
            |place: i64| node.squeeze(node.slice(parts, axis, place, place + 1)?, &[axis as i64]);
        return (0..outputs).map(piece).collect();
    }
    let size = node.extent_op("add", node.extent(x, axis)?, known(outputs - 1))?;
    let piece = node.extent_op("div", size, known(outputs))?;
    let bound = |place: i64| node.extent_op("mul", piece, known(place));
    let piece = |place: i64| node.slice_between(x, axis, (bound(place)?, bound(place + 1)?));
    (0..outputs).map(piece).collect()
}

/// Before operator set 10 bounds and axes are attributes.
fn slice<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "data")?;
    if node.opset >= 10 {
        node.expect_inputs(&(3..=5))?;
        let bounds = [Some(node.input(1, "starts")?), Some(node.input(2, "ends")?)];
        let operands = [Some(x), bounds[0], bounds[1], node.optional(3), node.optional(4)];
        return node.emitter.op_with_optionals("slice", &operands, &[]);
    }
    let list = |name: &str| -> OpResult<Val<'c>> {
        let values = node.attributes.ints(name)?;
        node.i64s(&values.ok_or_else(|| format!("the attribute `{name}` is missing"))?)
    };
    let (starts, ends) = (list("starts")?, list("ends")?);
    let axes = if node.attributes.has("axes") { Some(list("axes")?) } else { None };
    let operands = [Some(x), Some(starts), Some(ends), axes, None];
    node.emitter.op_with_optionals("slice", &operands, &[])
}

/// Before operator set 11 pads and value are attributes.
fn pad<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mode = node.attributes.choice("mode", &["constant", "reflect", "edge", "wrap"])?;
    let x = node.input(0, "data")?;
    let (pads, mut value, axes) = if node.opset >= 11 {
        node.expect_inputs(&(2..=4))?;
        (node.input(1, "pads")?, node.optional(2), node.optional(3))
    } else {
        node.expect_inputs(&(1..=1))?;
        let pads = node.attributes.ints("pads")?.ok_or("the attribute `pads` is missing")?;
        let value = node.attributes.float_or("value", 0.0)?;
        (node.i64s(&pads)?, Some(node.scalar_like(x, f64::from(value))?), None)
    };
    if let Some(list) = value.filter(|value| node.rank(*value) > 0) {
        value = Some(node.reshape(list, &[])?);
    }
    let operands = [Some(x), Some(pads), value, axes];
    node.emitter.op_with_optionals("pad", &operands, &[("mode", mode.into())])
}

fn depth_to_space<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let attributes = [
        ("blocksize", block_size(node)?.into()),
        ("mode", node.attributes.choice("mode", &["DCR", "CRD"])?.into()),
    ];
    node.emitter.op("depth_to_space", &[node.input(0, "input")?], &attributes)
}

fn space_to_depth<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, block) = (node.input(0, "input")?, block_size(node)?);
    if node.attributes.choice("mode", &["DCR", "CRD"])? == "DCR" {
        return node.emitter.op("space_to_depth", &[x], &[("blocksize", block.into())]);
    }
    if node.dims(x).len() == 4 && node.dims(x).contains(&crate::ir::DYNAMIC) {
        return open_space_to_depth(node, x, block);
    }
    let [n, c, h, w] = node.static_dims(x, "input")?[..] else {
        return Err("the input must have rank 4".into());
    };
    if block < 1 || h % block != 0 || w % block != 0 {
        return Err(format!("blocks of {block} do not tile {h}x{w}").into());
    }
    let blocks = node.reshape(x, &[n, c, h / block, block, w / block, block])?;
    let turned = node.transpose(blocks, &[0, 1, 3, 5, 2, 4])?;
    Ok(vec![node.reshape(turned, &[n, c * block * block, h / block, w / block])?])
}

/// Channels outermost, where sizes are open.
fn open_space_to_depth<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    block: i64,
) -> OpResult<Vec<Val<'c>>> {
    let size = Extent::Known(block.max(1));
    let [n, c, h, w] = [0, 1, 2, 3].map(|axis| node.extent(x, axis));
    let (n, c) = (n?, c?);
    let (h, w) = (node.extent_op("div", h?, size)?, node.extent_op("div", w?, size)?);
    let blocks = node.reshape_to(x, &[n, c, h, size, w, size])?;
    let turned = node.transpose(blocks, &[0, 1, 3, 5, 2, 4])?;
    let deep = node.extent_op("mul", c, Extent::Known(block * block))?;
    Ok(vec![node.reshape_to(turned, &[n, deep, h, w])?])
}

fn block_size(node: &NodeContext<'_, '_>) -> OpResult<i64> {
    Ok(node.attributes.int("blocksize")?.ok_or("the attribute `blocksize` is missing")?)
}

fn eye_like<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mut attributes = vec![("k", node.attributes.int_or("k", 0)?.into())];
    if let Some(code) = node.attributes.int("dtype")? {
        attributes.push(("to", node.element_type(code)?.into()));
    }
    node.emitter.op("eye_like", &[node.input(0, "input")?], &attributes)
}

/// Cuts or pads each axis, so that the middle stays the middle.
fn center_crop_pad<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "input_data")?;
    let rank = node.rank(x);
    let targets = node.known_ints(1, "shape")?.ok_or("the input shape is missing")?;
    let axes = node.attributes.ints("axes")?.unwrap_or_else(|| (0..rank as i64).collect());
    if axes.len() != targets.len() {
        return Err(format!("{} sizes for {} axes", targets.len(), axes.len()).into());
    }
    let mut pads = vec![Extent::Known(0); 2 * rank];
    for (axis, target) in axes.iter().zip(&targets) {
        let axis = node.axis(*axis, rank)?;
        let size = match node.extent(x, axis)? {
            Extent::Known(size) => size,
            open => {
                (pads[axis], pads[axis + rank]) = open_pads(node, open, *target)?;
                continue;
            }
        };
        let missing = target.saturating_sub(size);
        // The begin has the smaller part of an odd number, which division rounds towards zero.
        let begin = missing / 2;
        (pads[axis], pads[axis + rank]) = (Extent::Known(begin), Extent::Known(missing - begin));
    }
    let pads = node.extents(&pads)?;
    node.emitter.op_with_optionals("pad", &[Some(x), Some(pads), None, None], &[])
}

/// The elements missing at either end of an open size; below zero where it is cut.
fn open_pads<'c>(
    node: &NodeContext<'_, 'c>,
    size: Extent<'c>,
    target: i64,
) -> OpResult<(Extent<'c>, Extent<'c>)> {
    let (known, none) = (Extent::Known, Extent::Known(0));
    let missing = node.extent_op("sub", known(target), size)?;
    // Each sign by itself, as division rounds towards zero.
    let more = node.extent_op("max", missing, none)?;
    let less = node.extent_op("max", node.extent_op("sub", none, missing)?, none)?;
    let (more, less) =
        (node.extent_op("div", more, known(2))?, node.extent_op("div", less, known(2))?);
    let begin = node.extent_op("sub", more, less)?;
    Ok((begin, node.extent_op("sub", missing, begin)?))
}
