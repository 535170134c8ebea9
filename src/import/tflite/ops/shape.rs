//! Operators that change the shape, the order or the type of elements, and constants of shapes.

use super::{Entry, op};
use crate::{
    import::{
        constants::scalar_tensor,
        tflite::{
            node::{Node, Outcome, positive},
            schema::{
                ConcatenationOptions, PackOptions, ReshapeOptions, SqueezeOptions, UnpackOptions,
            },
            value::Layout,
        },
    },
    ir::{self, Val, graph},
    tensor::{DType, Tensor},
};
use melior::ir::ValueLike;

pub(super) const OPS: &[Entry] = &[
    op(2, "CONCATENATION", 1..=65_536, concatenation),
    op(6, "DEQUANTIZE", 1..=1, convert),
    op(22, "RESHAPE", 1..=2, reshape),
    op(39, "TRANSPOSE", 2..=2, transpose),
    op(43, "SQUEEZE", 1..=1, squeeze),
    op(53, "CAST", 1..=1, convert),
    op(69, "TILE", 2..=2, tile),
    op(70, "EXPAND_DIMS", 2..=2, expand_dims),
    op(77, "SHAPE", 1..=1, shape),
    op(83, "PACK", 1..=65_536, pack),
    op(88, "UNPACK", 1..=1, unpack),
    op(93, "ZEROS_LIKE", 1..=1, zeros_like),
    op(94, "FILL", 2..=2, fill),
    op(96, "RANGE", 3..=3, range),
    op(110, "RANK", 1..=1, rank),
    op(114, "QUANTIZE", 1..=1, convert),
    op(130, "BROADCAST_TO", 2..=2, broadcast_to),
];

/// An operand as it is stored where the result means the same by it, else its real numbers.
pub(super) fn carried<'c>(
    node: &mut Node<'_, 'c>,
    index: usize,
    layout: Layout,
) -> Outcome<(Val<'c>, bool)> {
    let same = Node::same_scales(node.tensor(index)?, node.output(0)?);
    let value = if same { node.stored(index, layout)? } else { node.real(index, layout)? };
    Ok((value, same))
}

pub(super) fn put<'c>(
    node: &mut Node<'_, 'c>,
    (value, stored): (Val<'c>, bool),
    layout: Layout,
) -> Outcome<()> {
    if stored { node.set_stored(0, value, layout) } else { node.set(0, value, layout) }
}

fn concatenation(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: ConcatenationOptions<'_> = node.options()?;
    let output = node.output(0)?;
    let rank = output.dims.len();
    let axis = positive(i64::from(options.axis()), rank)?;
    let count = node.operator.inputs.len();
    let layout = node.layout(&(0..count).collect::<Vec<_>>());
    let mut same = options.activation() == 0;
    for index in 0..count {
        same &= Node::same_scales(node.tensor(index)?, output);
    }
    let mut values = vec![];
    for index in 0..count {
        values.push(if same { node.stored(index, layout)? } else { node.real(index, layout)? });
    }
    let axis = layout.position(axis, rank) as i64;
    let joined = node.done(graph::Concat::build(&node.builder, &values, axis))?.y();
    let joined = super::arithmetic::activated(node, joined, options.activation())?;
    put(node, (joined, same), layout)
}

/// Imports a conversion of the type or of the quantization.
fn convert(node: &mut Node<'_, '_>) -> Outcome<()> {
    let layout = node.layout(&[0]);
    let value = node.real(0, layout)?;
    let output = node.output(0)?;
    if output.scales.is_some() {
        return node.set(0, value, layout);
    }
    let Some(dtype) = output.dtype else {
        return Err(format!("results of type {} are not supported", output.type_name));
    };
    let element = node.scalar(dtype)?;
    let value = if ir::element_type(value.r#type()) == element {
        value
    } else {
        node.done(graph::Cast::build(&node.builder, value, element, graph::CastAttrs::default()))?
            .y()
    };
    node.set_stored(0, value, layout)
}

/// The sizes that a reshape asks for: its constant, its option, or those of the result in the file.
fn wanted(node: &Node<'_, '_>) -> Outcome<Vec<i64>> {
    let given = node.operand_if_present(1).and_then(|operand| operand.constant.as_ref());
    if let Some(sizes) = given.and_then(Tensor::to_i64) {
        return Ok(sizes);
    }
    let options = node.table.options::<ReshapeOptions<'_>>().and_then(ReshapeOptions::new_shape);
    match options {
        Some(sizes) if node.operand_if_present(1).is_none() => {
            Ok(sizes.iter().map(i64::from).collect())
        }
        _ => Ok(node.output(0)?.dims.clone()),
    }
}

fn reshape(node: &mut Node<'_, '_>) -> Outcome<()> {
    let to = wanted(node)?;
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let y = node.reshaped(x, &to)?;
    put(node, (y, stored), Layout::Last)
}

fn squeeze(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let dims = ir::dims(x.r#type());
    let listed = node.table.options::<SqueezeOptions<'_>>().and_then(SqueezeOptions::squeeze_dims);
    let mut axes = vec![];
    for axis in listed.into_iter().flatten() {
        axes.push(positive(i64::from(axis), dims.len())? as i64);
    }
    if axes.is_empty() {
        axes = (0..dims.len()).filter(|dim| dims[*dim] == 1).map(|dim| dim as i64).collect();
    }
    let y = node.done(graph::Squeeze::build(&node.builder, x, &axes))?.y();
    put(node, (y, stored), Layout::Last)
}

fn expand_dims(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let rank = ir::dims(x.r#type()).len() + 1;
    let axis = *node.axes(1, rank)?.first().ok_or("it has no axis")? as i64;
    let y = node.done(graph::Unsqueeze::build(&node.builder, x, &[axis]))?.y();
    put(node, (y, stored), Layout::Last)
}

fn transpose(node: &mut Node<'_, '_>) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    let perm = node.axes(1, rank)?;
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        return Err(format!("{perm:?} is no order of {rank} dimensions"));
    }
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let perm: Vec<i64> = perm.into_iter().map(|dim| dim as i64).collect();
    let y = node.transposed(x, &perm)?;
    put(node, (y, stored), Layout::Last)
}

fn tile(node: &mut Node<'_, '_>) -> Outcome<()> {
    let repeats = node.integers(1)?;
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let repeats = node.list(&repeats)?;
    let y = node.done(graph::Tile::build(&node.builder, x, repeats))?.y();
    put(node, (y, stored), Layout::Last)
}

fn broadcast_to(node: &mut Node<'_, '_>) -> Outcome<()> {
    let sizes = node.integers(1)?;
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let sizes = node.list(&sizes)?;
    let y = node.done(graph::Expand::build(&node.builder, x, sizes))?.y();
    put(node, (y, stored), Layout::Last)
}

fn pack(node: &mut Node<'_, '_>) -> Outcome<()> {
    let output = node.output(0)?;
    let axis = i64::from(node.options::<PackOptions<'_>>()?.axis());
    let axis = positive(axis, output.dims.len())? as i64;
    let count = node.operator.inputs.len();
    let mut same = true;
    for index in 0..count {
        same &= Node::same_scales(node.tensor(index)?, output);
    }
    let mut values = vec![];
    for index in 0..count {
        let value =
            if same { node.stored(index, Layout::Last)? } else { node.real(index, Layout::Last)? };
        values.push(node.done(graph::Unsqueeze::build(&node.builder, value, &[axis]))?.y());
    }
    let y = node.done(graph::Concat::build(&node.builder, &values, axis))?.y();
    put(node, (y, same), Layout::Last)
}

fn unpack(node: &mut Node<'_, '_>) -> Outcome<()> {
    let dims = node.tensor(0)?.dims.clone();
    let axis = positive(i64::from(node.options::<UnpackOptions<'_>>()?.axis()), dims.len())?;
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let count = node.operator.outputs.len();
    if i64::try_from(count) != Ok(dims[axis]) {
        return Err(format!("{count} results are not the {} slices of its operand", dims[axis]));
    }
    let attributes = graph::SplitAttrs { axis: axis as i64 };
    let split = graph::Split::build(&node.builder, x, &vec![1; count], attributes);
    for (index, piece) in node.done(split)?.pieces().into_iter().enumerate() {
        let y = node.done(graph::Squeeze::build(&node.builder, piece, &[axis as i64]))?.y();
        if stored {
            node.set_stored(index, y, Layout::Last)?;
        } else {
            node.set(index, y, Layout::Last)?;
        }
    }
    Ok(())
}

/// A constant of the result's type.
fn constant(node: &mut Node<'_, '_>, shape: &[usize], values: &[i64]) -> Outcome<()> {
    let dtype = node.output(0)?.dtype.unwrap_or(DType::I32);
    let values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
    let tensor = crate::import::constants::tensor_from_f64(dtype, shape, &values);
    let value = node.constant(&tensor.map_err(|e| e.to_string())?, "shape")?;
    node.set_stored(0, value, Layout::Last)
}

fn shape(node: &mut Node<'_, '_>) -> Outcome<()> {
    let x = node.stored(0, Layout::Last)?;
    let dims = ir::dims(x.r#type());
    if dims.contains(&ir::DYNAMIC) {
        return Err("the shape of its operand is not known: give --shape".into());
    }
    constant(node, &[dims.len()], &dims)
}

fn rank(node: &mut Node<'_, '_>) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    constant(node, &[], &[rank as i64])
}

fn zeros_like(node: &mut Node<'_, '_>) -> Outcome<()> {
    let x = node.stored(0, Layout::Last)?;
    let sizes = ir::dims(x.r#type());
    if sizes.contains(&ir::DYNAMIC) {
        return Err("the shape of its operand is not known: give --shape".into());
    }
    // The integer that stands for 0.
    let output = node.output(0)?;
    let zero = output.scales.as_ref().map_or(0, |scales| scales.zeros[0]);
    let tensor = scalar_tensor(output.dtype.unwrap_or(DType::F32), zero as f64);
    let zero = node.constant(&tensor.map_err(|error| error.to_string())?, "zero")?;
    let sizes = node.list(&sizes)?;
    let y = node.done(graph::Expand::build(&node.builder, zero, sizes))?.y();
    node.set_stored(0, y, Layout::Last)
}

fn fill(node: &mut Node<'_, '_>) -> Outcome<()> {
    let sizes = node.integers(0)?;
    let value = node.stored(1, Layout::Last)?;
    let sizes = node.list(&sizes)?;
    let y = node.done(graph::Expand::build(&node.builder, value, sizes))?.y();
    node.set_stored(0, y, Layout::Last)
}

fn range(node: &mut Node<'_, '_>) -> Outcome<()> {
    let [start, limit, delta] = [
        node.stored(0, Layout::Last)?,
        node.stored(1, Layout::Last)?,
        node.stored(2, Layout::Last)?,
    ];
    let y = node.done(graph::Range::build(&node.builder, start, limit, delta))?.y();
    node.set_stored(0, y, Layout::Last)
}
