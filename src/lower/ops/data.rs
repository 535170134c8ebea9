//! Ops that join and cut.

use crate::{
    Error, Result,
    ir::{
        self, effects, Builder, Val,
        graph::{ConcatAdaptor, ReverseSequenceAdaptor, SliceAdaptor, SplitAdaptor},
    },
    lower::{
        Lowering,
        generic::{c, d, loop_index, parallel},
        normalize_axis,
        shape,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

fn concat<'c>(l: &Lowering<'c>, op: ConcatAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let axis = normalize_axis(op.axis(), ir::dims(ty).len());
    Ok(vec![join(&l.b, op.inputs(), axis, ty)?])
}

/// The tensors one after the other along `axis`, as a tensor of type `ty`.
fn join<'c>(
    b: &Builder<'c>,
    pieces: &[Val<'c>],
    axis: usize,
    ty: melior::ir::Type<'c>,
) -> Result<Val<'c>> {
    let to = ir::dims(ty);
    if to.contains(&0) {
        return b.empty(ty);
    }
    if let Some(whole) = pieces.iter().find(|piece| ir::dims(piece.r#type()) == to) {
        return Ok(*whole);
    }
    let pieces: Vec<_> =
        pieces.iter().copied().filter(|piece| ir::dims(piece.r#type())[axis] != 0).collect();
    if pieces.iter().map(|piece| 1 + chained(*piece)).sum::<usize>() > shape::LONGEST_CHAIN {
        return shape::concat(b, &pieces, axis, ty);
    }
    let ones = vec![1; to.len()];
    let mut offsets = vec![0; to.len()];
    let mut joined = b.empty(ty)?;
    for piece in pieces {
        joined = shape::insert_slice(b, piece, joined, &offsets, &ones)?;
        offsets[axis] += ir::dims(piece.r#type())[axis];
    }
    Ok(joined)
}

/// Number of insertions that lead to a value, through views and other joins: up to a little more
/// than [`shape::LONGEST_CHAIN`].
fn chained(mut value: Val<'_>) -> usize {
    let mut found = 0;
    while found <= shape::LONGEST_CHAIN {
        let Some(owner) = ir::edit::defining_op(value) else { break };
        let operands = ir::operands(owner);
        value = match (ir::op_name(owner), &operands[..]) {
            ("tensor.insert_slice", [piece, into, ..]) => {
                found += 1 + chained(*piece);
                *into
            }
            (_, [from, ..]) if effects::is_reshape(owner) => *from,
            _ => break,
        };
    }
    found
}

fn split<'c>(l: &Lowering<'c>, op: SplitAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let rank = ir::dims(op.x().r#type()).len();
    let axis = normalize_axis(op.axis(), rank);
    let mut offsets = vec![0; rank];
    let mut pieces = vec![];
    for index in 0..l.op.result_count() {
        let sizes = l.result_dims(index)?;
        pieces.push(take(l, op.x(), &offsets, &sizes, &vec![1; rank])?);
        offsets[axis] += sizes[axis];
    }
    Ok(pieces)
}

/// The axes that an optional operand names, or the first `count`.
pub(super) fn axes_or_all<'c>(
    l: &Lowering<'c>,
    axes: Option<Val<'c>>,
    count: usize,
    rank: usize,
) -> Result<Vec<usize>> {
    match axes {
        None => Ok((0..count).collect()),
        Some(axes) => {
            let axes = l.known_ints(axes, "axes")?;
            Ok(axes.into_iter().map(|axis| normalize_axis(axis, rank)).collect())
        }
    }
}

fn slice<'c>(l: &Lowering<'c>, op: SliceAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = op.x();
    let (from, to) = (ir::dims(x.r#type()), l.result_dims(0)?);
    let starts = l.known_ints(op.starts(), "starts")?;
    let axes = axes_or_all(l, op.axes(), starts.len(), from.len())?;
    let steps = match op.steps() {
        Some(steps) => l.known_ints(steps, "steps")?,
        None => vec![1; starts.len()],
    };
    let (mut offsets, mut strides) = (vec![0; from.len()], vec![1; from.len()]);
    for ((axis, start), step) in axes.into_iter().zip(starts).zip(steps) {
        let size = from[axis];
        // Sums of positions and sizes cannot overflow once the former are clamped.
        let start = start.clamp(-size - 1, size);
        let start = if start < 0 { start + size } else { start };
        let last = if step < 0 { size - 1 } else { size };
        offsets[axis] = start.clamp(0, last.max(0));
        strides[axis] = step;
    }
    Ok(vec![take(l, x, &offsets, &to, &strides)?])
}

/// The elements at `offset + i * stride` of each dimension; strides may be negative or 0.
pub(super) fn take<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    offsets: &[i64],
    sizes: &[i64],
    strides: &[i64],
) -> Result<Val<'c>> {
    let from = ir::dims(x.r#type());
    let ty = l.b.tensor(sizes, ir::element_type(x.r#type()));
    if sizes.contains(&0) {
        return l.b.empty(ty);
    }
    let mut strides = strides.to_vec();
    for axis in 0..sizes.len() {
        if sizes[axis] == 1 {
            strides[axis] = 1;
        }
        let last = strides[axis]
            .checked_mul(sizes[axis] - 1)
            .and_then(|reach| reach.checked_add(offsets[axis]));
        if !last.is_some_and(|last| (0..from[axis]).contains(&last)) {
            return Err(Error::invalid(format!(
                "has a result with {} elements in dimension {axis}, which reach beyond the {} \
                 elements of its operand",
                sizes[axis], from[axis]
            )));
        }
    }
    if strides.iter().all(|stride| *stride > 0) {
        return shape::slice(&l.b, x, offsets, sizes, &strides);
    }
    // First what is read, forwards: the loops below take their lengths from dimensions that stay.
    let (mut starts, mut counts, mut steps) = (offsets.to_vec(), sizes.to_vec(), strides.clone());
    let mut map = vec![];
    for axis in 0..sizes.len() {
        let last = sizes[axis] - 1;
        map.push(match strides[axis] {
            1.. => d(axis),
            0 => {
                (counts[axis], steps[axis]) = (1, 1);
                c(0)
            }
            stride => {
                (starts[axis], steps[axis]) = (offsets[axis] + stride * last, -stride);
                d(axis) * -1 + c(last)
            }
        });
    }
    let read = shape::slice(&l.b, x, &starts, &counts, &steps)?;
    parallel(&l.b, ty, &[(read, map)], |_, x| Ok(x[0]))
}

fn reverse_sequence<'c>(
    l: &Lowering<'c>,
    op: ReverseSequenceAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let dims = ir::dims(ty);
    let (batch, time) =
        (normalize_axis(op.batch_axis(), dims.len()), normalize_axis(op.time_axis(), dims.len()));
    let x = op.x();
    let lens = (op.lens(), vec![d(batch)]);
    let value = parallel(&l.b, ty, &[lens], |b, lens| {
        let mut at = (0..dims.len()).map(|i| loop_index(b, i)).collect::<Result<Vec<_>>>()?;
        let longest = b.constant_int(b.int(64), dims[time])?;
        let zero = b.constant_int(b.int(64), 0)?;
        let length = b.binary("arith.maxsi", lens[0], zero)?;
        let length = b.binary("arith.minsi", length, longest)?;
        let length = b.op1("arith.index_cast", &[length], b.index_type())?;
        let last = b.binary("arith.subi", length, b.index(1)?)?;
        let mirrored = b.binary("arith.subi", last, at[time])?;
        at[time] = b.select(b.cmpi("slt", at[time], length)?, mirrored, at[time])?;
        shape::extract(b, x, &at)
    })?;
    Ok(vec![value])
}

super::lowerings! {
    Concat => concat,
    ReverseSequence => reverse_sequence,
    Slice => slice,
    Split => split,
}
