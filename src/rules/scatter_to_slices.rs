//! `scatter-to-slices`: a scatter at the coordinates of a box becomes the slices around the box,
//! and the updates in it.
//!
//! ```text
//! %y = graph.scatter_nd %x, %i, %u    -->    %a = graph.slice %x ...
//!                                            %b = graph.slice %x ...
//!                                            %y = graph.concat %a, %u, %b
//! ```
//! Exporters write an assignment to a slice (`x[:, 1:] = u`) as a scatter at coordinates, 8 bytes for each dimension of
//! each element, that are ranges spread over the box. They are constant, but too large to be computed by a compile.

use crate::{
    Result,
    ir::{
        self, Builder, Op, Val,
        constant::{Elements, index_list},
        edit, graph,
        rewrite::{Rewriter, Rule},
        view::OpView,
    },
};
use melior::ir::ValueLike;

/// The rule.
pub const RULE: Rule =
    Rule { name: "scatter-to-slices", root: graph::ScatterND::NAME, benefit: 1, apply };

fn apply<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(scatter) = graph::ScatterND::of(op) else { return Ok(false) };
    let Some(starts) = starts_of(&scatter) else { return Ok(false) };
    let result = insert(&r.before(op)?, scatter.x(), scatter.updates(), &starts, 0)?;
    r.replace(op, &[result])?;
    Ok(true)
}

/// `x` with `updates` from `starts` on, where the two have the same sizes before `axis`.
fn insert<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    updates: Val<'c>,
    starts: &[i64],
    axis: usize,
) -> Result<Val<'c>> {
    let (whole, part) = (ir::dims(x.r#type()), ir::dims(updates.r#type()));
    let partial = |from: usize| (from..starts.len()).find(|axis| whole[*axis] != part[*axis]);
    let Some(axis) = partial(axis) else { return Ok(updates) };
    let (start, end) = (starts[axis], starts[axis] + part[axis]);
    let slice = |from: i64, to: i64| -> Result<Val<'c>> {
        let [from, to, axes] = [from, to, axis as i64].map(|number| index_list(b, &[number]));
        Ok(graph::Slice::build(b, x, from?, to?, Some(axes?), None)?.y())
    };
    let mut parts = vec![];
    if start > 0 {
        parts.push(slice(0, start)?);
    }
    parts.push(match partial(axis + 1) {
        None => updates,
        Some(_) => insert(b, slice(start, end)?, updates, starts, axis + 1)?,
    });
    if end < whole[axis] {
        parts.push(slice(end, whole[axis])?);
    }
    Ok(graph::Concat::build(b, &parts, axis as i64)?.y())
}

/// Start of the box along each dimension, if the coordinates are those of a box.
fn starts_of(scatter: &graph::ScatterND<'_>) -> Option<Vec<i64>> {
    let [x, indices, updates, y] =
        [scatter.x(), scatter.indices(), scatter.updates(), scatter.y()].map(dims);
    let (x, mut grid, updates) = (x?, indices?, updates?);
    let axes = grid.pop()?;
    let same_type = scatter.y().r#type() == scatter.x().r#type();
    let same_element =
        ir::element_type(scatter.x().r#type()) == ir::element_type(scatter.updates().r#type());
    let same_rank = updates.len() == x.len() && axes == grid.len() && axes <= x.len();
    if scatter.reduction() != "none" || y? != x || !(same_type && same_element && same_rank) {
        return None;
    }
    let mut starts = vec![];
    for (axis, column) in columns(scatter.indices(), axes)?.into_iter().enumerate() {
        let start = column.step(axis, grid[axis])?;
        let end = usize::try_from(start).ok()?.checked_add(grid[axis])?;
        if end > x[axis] {
            return None;
        }
        starts.push(start);
    }
    starts.resize(x.len(), 0);
    // The box has all of the last dimensions that its coordinates do not name.
    let fits = updates[..axes] == grid[..] && updates[axes..] == x[axes..];
    (fits && !updates.contains(&0)).then_some(starts)
}

/// The sizes of a value, if all are known.
fn dims(value: Val<'_>) -> Option<Vec<usize>> {
    ir::dims(value.r#type()).into_iter().map(|dim| usize::try_from(dim).ok()).collect()
}

/// A tensor of integers that differ along one axis at most.
#[derive(Clone)]
struct Line {
    axis: usize,
    /// One number for each position along the axis, or one for all.
    values: Vec<i64>,
}

impl Line {
    /// The first of `count` numbers along an axis, if each is one more than the one before and no other axis matters.
    fn step(&self, axis: usize, count: usize) -> Option<i64> {
        let first = *self.values.first()?;
        let is_range = self.values.iter().zip(first..).all(|(value, wanted)| *value == wanted);
        match self.values.len() {
            1 => (count == 1).then_some(first),
            length => (is_range && length == count && self.axis == axis).then_some(first),
        }
    }

    /// Numbers in row-major order, of these sizes.
    fn of_numbers(numbers: &[i64], dims: &[usize]) -> Option<Self> {
        let first = *numbers.first()?;
        if dims.is_empty() {
            return Some(Self { axis: 0, values: vec![first] });
        }
        let stride = |axis: usize| dims[axis + 1..].iter().product::<usize>();
        let along = |axis: usize| -> Vec<i64> {
            numbers.iter().step_by(stride(axis).max(1)).take(dims[axis]).copied().collect()
        };
        let lines = (0..dims.len()).map(|axis| (axis, along(axis)));
        let varies = |(_, line): &(usize, Vec<i64>)| line.iter().any(|number| *number != first);
        let (axis, values) = { lines }.find(varies).unwrap_or((0, vec![first]));
        let mut places = (0..numbers.len()).map(|at| at / stride(axis) % values.len());
        let same =
            numbers.iter().all(|number| places.next().is_some_and(|at| values[at] == *number));
        same.then_some(Self { axis, values })
    }

    /// The line of a value that spreads a constant.
    fn of_value(value: Val<'_>) -> Option<Self> {
        if let Some(elements) = Elements::of_value(value) {
            return match elements.is_splat() {
                true => Some(Self { axis: 0, values: vec![elements.int(0)] }),
                false => Self::of_numbers(&elements.ints(), &dims(value)?),
            };
        }
        let op = edit::defining_op(value)?;
        if let Some(expand) = graph::Expand::of(op) {
            let line = Self::of_value(expand.x())?;
            let (from, to) = (dims(expand.x())?, dims(value)?);
            // Sizes of 1 are repeated, and the line has no such axis.
            return Some(Self { axis: line.axis + (to.len() - from.len()), ..line });
        }
        let unsqueeze = graph::Unsqueeze::of(op)?;
        let line = Self::of_value(unsqueeze.x())?;
        let rank = dims(value)?.len() as i64;
        let new: Vec<i64> = unsqueeze.axes().iter().map(|axis| (axis + rank) % rank).collect();
        let old = (0..rank).filter(|axis| !new.contains(axis));
        Some(Self { axis: old.clone().nth(line.axis).unwrap_or_default() as usize, ..line })
    }
}

/// The coordinates along each dimension, over the grid that all dimensions of `indices` but the last are.
fn columns(indices: Val<'_>, axes: usize) -> Option<Vec<Line>> {
    if let Some(elements) = Elements::of_value(indices) {
        let mut grid = dims(indices)?;
        grid.pop();
        if elements.is_splat() {
            return Some(vec![Line { axis: 0, values: vec![elements.int(0)] }; axes]);
        }
        let numbers = elements.ints();
        let column = |axis: usize| -> Vec<i64> {
            numbers.iter().skip(axis).step_by(axes).copied().collect()
        };
        return (0..axes).map(|axis| Line::of_numbers(&column(axis), &grid)).collect();
    }
    let concat = graph::Concat::of(edit::defining_op(indices)?)?;
    let rank = dims(indices)?.len() as i64;
    let parts = ir::operands(concat.op());
    let is_last = (concat.axis() + rank) % rank == rank - 1;
    (is_last && parts.len() == axes).then(|| parts.into_iter().map(Line::of_value).collect())?
}
