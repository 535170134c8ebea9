//! The matrices of a recurrent layer, of which each direction has its own.

use std::ops::Range;

use crate::ir::Val;
use crate::tensor::{AlignedBuffer, DType, Tensor};

use super::super::super::context::NodeContext;
use super::super::super::emit::OpResult;

/// Positions of `W` and `R` among the inputs.
pub(super) const INPUT: usize = 1;
pub(super) const RECURRENCE: usize = 2;
/// Position of the scale of `W` in `DynamicQuantizeLSTM`; its zero point and those of `R` follow.
const SCALE: usize = 8;

/// Weights of one direction, `[inputs, gates * hidden]`.
#[derive(Clone, Copy)]
pub(super) enum Weights<'c> {
    Reals(Val<'c>),
    /// Integers of 8 bits with a scale and a zero point, for all or for each column.
    Bytes {
        value: Val<'c>,
        scale: Val<'c>,
        zero_point: Val<'c>,
    },
}

impl<'c> Weights<'c> {
    /// Some rows of input `index` in the order of `LSTM`, `[directions, gates * hidden, inputs]`;
    /// integers have the order of their use, `[directions, inputs, gates * hidden]`.
    pub(super) fn of(
        node: &NodeContext<'_, 'c>,
        (index, quantized): (usize, bool),
        direction: i64,
        rows: Range<i64>,
    ) -> OpResult<Self> {
        let name = if index == INPUT { "W" } else { "R" };
        let value = node.input(index, name)?;
        if !quantized {
            return Ok(Self::Reals(transposed_part(node, value, direction, rows)?));
        }
        let of_scale = SCALE + 2 * (index - INPUT);
        let [directions, _, columns] = node.static_dims(value, name)?[..] else {
            return Err(format!("{name} must have rank 3").into());
        };
        let own = |index: usize, what: &str| -> OpResult<Val<'c>> {
            let what = format!("{name}_{what}");
            let list = node.input(index, &what)?;
            let dims = node.static_dims(list, &what)?;
            if dims != [directions] && dims != [directions, columns] {
                return Err(format!(
                    "{what} has the shape {dims:?}, expected [{directions}] or \
                     [{directions}, {columns}]"
                )
                .into());
            }
            let own = part(node, list, direction)?;
            if dims.len() == 1 { Ok(own) } else { node.slice(own, 0, rows.start, rows.end) }
        };
        Ok(Self::Bytes {
            value: node.slice(part(node, value, direction)?, 1, rows.start, rows.end)?,
            scale: own(of_scale, "scale")?,
            zero_point: own(of_scale + 1, "zero_point")?,
        })
    }

    /// The size of the hidden state.
    pub(super) fn hidden_size(node: &NodeContext<'_, 'c>, quantized: bool) -> OpResult<i64> {
        let axis = if quantized { 1 } else { 2 };
        node.static_dim(node.input(RECURRENCE, "R")?, axis, "R")
    }

    /// The same in another place.
    pub(super) fn map(self, to: impl Fn(Val<'c>) -> Val<'c>) -> Self {
        match self {
            Self::Reals(value) => Self::Reals(to(value)),
            Self::Bytes { value, scale, zero_point } => {
                Self::Bytes { value: to(value), scale: to(scale), zero_point: to(zero_point) }
            }
        }
    }

    /// The product `x * weights`. With integers `x` is rounded to 8 bits, all of it with one scale
    /// that its largest and smallest elements give.
    pub(super) fn times(self, node: &NodeContext<'_, 'c>, x: Val<'c>) -> OpResult<Val<'c>> {
        let (value, scale, zero_point) = match self {
            Self::Reals(value) => return node.binary("matmul", x, value),
            Self::Bytes { value, scale, zero_point } => (value, scale, zero_point),
        };
        let [bytes, own_scale, own_zero] =
            node.emitter.op("dynamic_quantize_linear", &[x], &[])?[..]
        else {
            return Err("dynamic_quantize_linear has three results".into());
        };
        let operands = [Some(bytes), Some(value), Some(own_zero), Some(zero_point)];
        let sums = node.op_with_optionals("matmul_integer", &operands, &[])?;
        let scales = node.binary("mul", own_scale, scale)?;
        node.binary("mul", node.cast(sums, DType::F32)?, scales)
    }
}

/// The part of a weight input for one direction, without the dimension of directions.
pub(super) fn part<'c>(
    node: &NodeContext<'_, 'c>,
    value: Val<'c>,
    direction: i64,
) -> OpResult<Val<'c>> {
    match known_part(node, value, direction)? {
        Some(tensor) => node.constant(&tensor),
        None => node.squeeze(node.slice(value, 0, direction, direction + 1)?, &[0]),
    }
}

/// The same of a constant, whose memory it shares.
fn known_part<'c>(
    node: &NodeContext<'_, 'c>,
    value: Val<'c>,
    direction: i64,
) -> OpResult<Option<Tensor>> {
    let Some(tensor) = node.emitter.known(value) else { return Ok(None) };
    let (dtype, shape) = (tensor.dtype(), tensor.shape());
    let Some((directions, rest)) = shape.split_first() else { return Ok(None) };
    let Some(direction) = usize::try_from(direction).ok().filter(|d| d < directions) else {
        return Err(format!("weights for {directions} directions are too few").into());
    };
    let bytes = rest.iter().product::<usize>() * dtype.size();
    let part = tensor.bytes().slice(direction * bytes..(direction + 1) * bytes);
    Ok(Some(Tensor::from_bytes(dtype, rest, part)?))
}

/// Some rows of the weights of one direction, `[gates * hidden, inputs]`, transposed. Constants are
/// transposed here, because products have kernels for constant matrices.
fn transposed_part<'c>(
    node: &NodeContext<'_, 'c>,
    value: Val<'c>,
    direction: i64,
    rows: Range<i64>,
) -> OpResult<Val<'c>> {
    let known = known_part(node, value, direction)?;
    let inside =
        |tensor: &Tensor| tensor.shape().len() == 2 && rows.end as u64 <= tensor.shape()[0] as u64;
    let Some(tensor) = known.filter(inside) else {
        let all = part(node, value, direction)?;
        return node.transpose(node.slice(all, 0, rows.start, rows.end)?, &[1, 0]);
    };
    let (count, columns) = ((rows.end - rows.start) as usize, tensor.shape()[1]);
    let size = tensor.dtype().size();
    let mut buffer = AlignedBuffer::zeroed(count * columns * size)?;
    let to = buffer.as_mut_slice();
    let first = rows.start as usize * columns;
    let elements = tensor.bytes().chunks_exact(size).skip(first).take(count * columns);
    for (index, element) in elements.enumerate() {
        let at = (index % columns * count + index / columns) * size;
        to[at..at + size].copy_from_slice(element);
    }
    node.constant(&Tensor::from_buffer(tensor.dtype(), &[columns, count], buffer)?)
}
