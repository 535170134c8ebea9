//! Mapping of the dimensions of operands to the loops of a kernel.

use super::{Buffer, View};
use crate::ir::{Op, graph, view::OpView};

/// Steps through an operand of shape `shape` along the dimensions of `out`, to which it
/// broadcasts.
pub fn broadcast_strides(shape: &[i64], out: &[i64]) -> Option<Vec<i64>> {
    let lead = out.len().checked_sub(shape.len())?;
    let mut strides = vec![0; out.len()];
    let mut step = 1;
    for (i, dim) in shape.iter().enumerate().rev() {
        if *dim != 1 {
            if *dim != out[lead + i] {
                return None;
            }
            strides[lead + i] = step;
        }
        step *= dim;
    }
    Some(strides)
}

/// The step of one index over several dimensions, if there is one.
pub fn collapse(dims: &[i64], strides: &[i64]) -> Option<i64> {
    let mut merged: Option<(i64, i64)> = None;
    for (dim, stride) in dims.iter().zip(strides).rev() {
        match merged {
            _ if *dim == 1 => {}
            None => merged = Some((*stride, stride * dim)),
            Some((_, next)) if *stride != next => return None,
            Some((step, next)) => merged = Some((step, next * dim)),
        }
    }
    Some(merged.map_or(0, |(step, _)| step))
}

/// Mapping of the dimensions of a kernel's output to loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Images: batch, planes, rows, points, channels.
    Images,
    /// Matrices: all dimensions but the last two are one.
    Matrices,
    /// Matrices in planes: so many dimensions before a matrix are one, and those before them are one.
    Planes(usize),
}

impl Form {
    /// The form in which each operand of a product, of these dimensions, has steps from matrix to matrix.
    fn of_product(operands: [&[i64]; 2], out: &[i64]) -> Option<Self> {
        let planes = (1..out.len().saturating_sub(2)).map(Self::Planes);
        std::iter::once(Self::Matrices)
            .chain(planes)
            .find(|form| operands.iter().all(|dims| matrix_steps(dims, out, *form).is_some()))
    }
}

/// The steps of an operand of a product from batch to batch and from plane to plane.
pub fn matrix_steps(dims: &[i64], out: &[i64], form: Form) -> Option<[i64; 2]> {
    let (lead, matrix) = dims.split_at_checked(dims.len().checked_sub(2)?)?;
    let out = out.get(..out.len().checked_sub(2)?)?;
    let size: i64 = matrix.iter().product();
    let strides: Vec<_> =
        broadcast_strides(lead, out)?.into_iter().map(|step| step * size).collect();
    batch_and_plane(out, &strides, form)
}

/// The steps along the dimensions before a matrix as those of at most two loops.
fn batch_and_plane(out: &[i64], strides: &[i64], form: Form) -> Option<[i64; 2]> {
    let planes = if let Form::Planes(count) = form { count } else { 0 };
    let at = out.len().checked_sub(planes)?;
    let ((batches, planes), (above, within)) = (out.split_at(at), strides.split_at(at));
    Some([collapse(batches, above)?, collapse(planes, within)?])
}

/// The view of an operand with these steps along the dimensions `out` of the output.
pub fn operand_view(out: &[i64], strides: &[i64], form: Form) -> Option<View> {
    let (channel, points) = strides.split_last()?;
    let (col, lead) = points.split_last()?;
    if *channel > 1 {
        return None;
    }
    let view = View { col: *col, channel: *channel, ..Default::default() };
    match *lead {
        [batch] if form == Form::Images => Some(View { batch, ..view }),
        [batch, row] if form == Form::Images => Some(View { batch, row, ..view }),
        [batch, plane, row] if form == Form::Images => Some(View { batch, plane, row, ..view }),
        _ => {
            let [batch, plane] = batch_and_plane(&out[..lead.len()], lead, form)?;
            Some(View { batch, plane, ..view })
        }
    }
}

/// Form of the result of an anchor op: that of a product, or matrices for other ops.
pub fn product_form(root: Op<'_>, out: &[i64]) -> Option<Form> {
    let operands = graph::MatMul::of(root).map(|op| [op.a(), op.b()]);
    let operands = operands.or(graph::MatMulInteger::of(root).map(|op| [op.a(), op.b()]));
    let Some([a, b]) = operands else { return Some(Form::Matrices) };
    Form::of_product([&Buffer::of(a)?.shape, &Buffer::of(b)?.shape], out)
}
