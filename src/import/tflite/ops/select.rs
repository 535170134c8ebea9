//! Operators that pick elements.

use super::{
    Entry, op,
    shape::{carried, put},
};
use crate::{
    import::tflite::{
        node::{Node, Outcome, positive},
        schema::{GatherOptions, StridedSliceOptions},
        value::Layout,
    },
    ir::{Val, graph},
};

pub(super) const OPS: &[Entry] = &[
    op(36, "GATHER", 2..=2, gather),
    op(45, "STRIDED_SLICE", 4..=4, strided_slice),
    op(49, "SPLIT", 2..=2, split),
    op(64, "SELECT", 3..=3, select),
    op(65, "SLICE", 3..=3, slice),
    op(102, "SPLIT_V", 3..=3, split_v),
    op(105, "REVERSE_V2", 2..=2, reverse),
    op(107, "GATHER_ND", 2..=2, gather_nd),
    op(123, "SELECT_V2", 3..=3, select),
];

/// A slice by starts, ends, axes and steps.
pub(super) fn sliced<'c>(
    node: &Node<'_, 'c>,
    x: Val<'c>,
    [starts, ends, axes, steps]: [&Vec<i64>; 4],
) -> Outcome<Val<'c>> {
    let (starts, ends) = (node.list(starts)?, node.list(ends)?);
    let (axes, steps) = (node.list(axes)?, node.list(steps)?);
    let slice = graph::Slice::build(&node.builder, x, starts, ends, Some(axes), Some(steps));
    node.done(slice).map(|op| op.y())
}

fn slice(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (starts, sizes) = (node.integers(1)?, node.integers(2)?);
    let rank = node.tensor(0)?.dims.len();
    if starts.len() != rank || sizes.len() != rank {
        return Err(format!(
            "starts {starts:?} and sizes {sizes:?} are not one for each of {rank} dimensions"
        ));
    }
    let layout = node.layout(&[0]);
    let (x, stored) = carried(node, 0, layout)?;
    let end = |(start, size): (&i64, &i64)| {
        if *size < 0 { i64::MAX } else { start.saturating_add(*size) }
    };
    let ends: Vec<i64> = starts.iter().zip(&sizes).map(end).collect();
    let axes: Vec<i64> = (0..rank).map(|dim| layout.position(dim, rank) as i64).collect();
    let y = sliced(node, x, [&starts, &ends, &axes, &vec![1; rank]])?;
    put(node, (y, stored), layout)
}

/// Treatment of the dimensions by a strided slice: bits of the masks are positions in the lists.
#[derive(Default)]
struct Strided {
    lists: [Vec<i64>; 4],
    /// Dimensions of the sliced value that go.
    dropped: Vec<i64>,
    /// Dimensions of the result that are new.
    added: Vec<i64>,
}

impl Strided {
    fn new(options: StridedSliceOptions<'_>, given: [&[i64]; 3], rank: usize) -> Outcome<Self> {
        let bit = |mask: i32, at: usize| at < 32 && mask & (1 << at) != 0;
        let [begin, end, strides] = given;
        let count = begin.len();
        if end.len() != count || strides.len() != count || strides.contains(&0) {
            return Err(format!("begin {begin:?}, end {end:?} and strides {strides:?} do not fit"));
        }
        let new_axes = (0..count).filter(|at| bit(options.new_axis_mask(), *at)).count();
        let mut made = Self::default();
        let (mut dim, mut place) = (0, 0);
        for at in 0..count {
            if bit(options.ellipsis_mask(), at) {
                let behind =
                    (at + 1..count).filter(|at| !bit(options.new_axis_mask(), *at)).count();
                let kept = rank.saturating_sub(dim + behind);
                dim += kept;
                place += kept;
            } else if bit(options.new_axis_mask(), at) {
                made.added.push(place as i64);
                place += 1;
            } else if bit(options.shrink_axis_mask(), at) {
                let last = begin[at].checked_add(1).filter(|end| *end != 0);
                made.push(dim, begin[at], last.unwrap_or(i64::MAX), 1);
                made.dropped.push(dim as i64);
                dim += 1;
            } else {
                let forwards = strides[at] > 0;
                let first = if forwards { 0 } else { i64::MAX };
                let last = if forwards { i64::MAX } else { i64::MIN };
                let end =
                    if options.offset() { begin[at].saturating_add(end[at]) } else { end[at] };
                let begin = if bit(options.begin_mask(), at) { first } else { begin[at] };
                let end = if bit(options.end_mask(), at) { last } else { end };
                made.push(dim, begin, end, strides[at]);
                dim += 1;
                place += 1;
            }
        }
        if dim > rank {
            let wanted = count - new_axes;
            return Err(format!(
                "a slice of {wanted} dimensions does not fit an operand of {rank}"
            ));
        }
        Ok(made)
    }

    fn push(&mut self, dim: usize, begin: i64, end: i64, stride: i64) {
        let values = [begin, end, dim as i64, stride];
        self.lists.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
    }
}

fn strided_slice(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: StridedSliceOptions<'_> = node.options()?;
    let (begin, end, strides) = (node.integers(1)?, node.integers(2)?, node.integers(3)?);
    let rank = node.tensor(0)?.dims.len();
    let made = Strided::new(options, [&begin, &end, &strides], rank)?;
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let [begin, end, axes, steps] = &made.lists;
    let mut y = if axes.is_empty() { x } else { sliced(node, x, [begin, end, axes, steps])? };
    if !made.dropped.is_empty() {
        y = node.done(graph::Squeeze::build(&node.builder, y, &made.dropped))?.y();
    }
    if !made.added.is_empty() {
        y = node.done(graph::Unsqueeze::build(&node.builder, y, &made.added))?.y();
    }
    put(node, (y, stored), Layout::Last)
}

fn reverse(node: &mut Node<'_, '_>) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    let axes: Vec<i64> = node.axes(1, rank)?.into_iter().map(|axis| axis as i64).collect();
    let count = axes.len();
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let [starts, ends, steps] = [vec![-1; count], vec![i64::MIN; count], vec![-1; count]];
    let y = sliced(node, x, [&starts, &ends, &axes, &steps])?;
    put(node, (y, stored), Layout::Last)
}

fn gather(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: GatherOptions<'_> = node.options()?;
    if options.batch_dims() != 0 {
        return Err("dimensions of batches (batch_dims) are not supported".into());
    }
    let axis = positive(i64::from(options.axis()), node.tensor(0)?.dims.len())? as i64;
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let indices = node.stored(1, Layout::Last)?;
    let attributes = graph::GatherAttrs { axis };
    let y = node.done(graph::Gather::build(&node.builder, x, indices, attributes))?.y();
    put(node, (y, stored), Layout::Last)
}

fn gather_nd(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (x, stored) = carried(node, 0, Layout::Last)?;
    let indices = node.stored(1, Layout::Last)?;
    let element = node.scalar(crate::tensor::DType::I64)?;
    let cast = graph::Cast::build(&node.builder, indices, element, graph::CastAttrs::default());
    let indices = node.done(cast)?.y();
    let attributes = graph::GatherNDAttrs::default();
    let y = node.done(graph::GatherND::build(&node.builder, x, indices, attributes))?.y();
    put(node, (y, stored), Layout::Last)
}

fn select(node: &mut Node<'_, '_>) -> Outcome<()> {
    let layout = node.layout(&[0, 1, 2]);
    let condition = super::arithmetic::aligned(node, 0, layout)?;
    let x = super::arithmetic::aligned(node, 1, layout)?;
    let y = super::arithmetic::aligned(node, 2, layout)?;
    let chosen = node.done(graph::Where::build(&node.builder, condition, x, y))?.y();
    node.set(0, chosen, layout)
}

fn split(node: &mut Node<'_, '_>) -> Outcome<()> {
    let dims = node.tensor(1)?.dims.clone();
    let axis = *node.axes(0, dims.len())?.first().ok_or("it has no axis")?;
    let count = node.operator.outputs.len() as i64;
    if dims[axis] % count != 0 {
        return Err(format!("{count} results do not divide {} elements", dims[axis]));
    }
    divided(node, 1, axis, &vec![dims[axis] / count; count as usize])
}

fn split_v(node: &mut Node<'_, '_>) -> Outcome<()> {
    let dims = node.tensor(0)?.dims.clone();
    let axis = *node.axes(2, dims.len())?.first().ok_or("it has no axis")?;
    let mut sizes = node.integers(1)?;
    let known: i64 = sizes.iter().filter(|size| **size >= 0).sum();
    if let Some(open) = sizes.iter_mut().find(|size| **size < 0) {
        *open = dims[axis] - known;
    }
    if sizes.len() != node.operator.outputs.len() {
        return Err(format!("{} sizes are not one for each result", sizes.len()));
    }
    divided(node, 0, axis, &sizes)
}

fn divided(node: &mut Node<'_, '_>, index: usize, axis: usize, sizes: &[i64]) -> Outcome<()> {
    let rank = node.tensor(index)?.dims.len();
    let layout = node.layout(&[index]);
    let (x, stored) = carried(node, index, layout)?;
    let attributes = graph::SplitAttrs { axis: layout.position(axis, rank) as i64 };
    let split = graph::Split::build(&node.builder, x, sizes, attributes);
    for (number, piece) in node.done(split)?.pieces().into_iter().enumerate() {
        if stored {
            node.set_stored(number, piece, layout)?;
        } else {
            node.set(number, piece, layout)?;
        }
    }
    Ok(())
}
