//! Reductions over some dimensions of a tensor, for the ops that need them.

use super::{
    generic::{Access, Iter, c, d, fill, generic, identity},
    shape::reshape,
};
use crate::{
    Result,
    ir::{self, Builder, Val},
};
use melior::ir::{Type, ValueLike};

/// Neighbouring dimensions that are all reduced, or all kept, count as one.
struct Group {
    size: i64,
    kept: bool,
}

/// Merges dimensions; those of size 1 vanish. Kept groups and reduced ones alternate.
fn groups(shape: &[i64], axes: &[usize]) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    for (axis, size) in shape.iter().copied().enumerate().filter(|(_, size)| *size != 1) {
        let kept = !axes.contains(&axis);
        match groups.last_mut() {
            Some(last) if last.kept == kept => last.size *= size,
            _ => groups.push(Group { size, kept }),
        }
    }
    groups
}

/// `shape` with size 1 in `axes`.
pub fn keepdims(shape: &[i64], axes: &[usize]) -> Vec<i64> {
    shape
        .iter()
        .enumerate()
        .map(|(axis, size)| if axes.contains(&axis) { 1 } else { *size })
        .collect()
}

/// Reduces tensors over the dimensions `axes` of `shape`.
///
/// Each of `ins` has the dimensions `shape`, or [`keepdims`] of it. There is one result for each
/// scalar in `init`, of its type and with the dimensions [`keepdims`]. `body` gets one element of
/// each of `ins` and then the accumulators, and returns the new accumulators.
///
/// Loops are in the order of the dimensions: when the last one is kept, the innermost loop runs
/// along rows of all tensors.
pub fn reduce<'c>(
    b: &Builder<'c>,
    shape: &[i64],
    axes: &[usize],
    ins: &[Val<'c>],
    init: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let groups = groups(shape, axes);
    let sizes = |kept_only: bool| -> Vec<i64> {
        groups.iter().filter(|group| group.kept || !kept_only).map(|group| group.size).collect()
    };
    let kept_map: Vec<_> =
        groups.iter().enumerate().filter(|(_, group)| group.kept).map(|(i, _)| d(i)).collect();
    let result_shape = keepdims(shape, axes);
    let mut outs: Vec<Access<'c>> = vec![];
    for scalar in init {
        let ty = b.tensor(&sizes(true), scalar.r#type());
        outs.push((fill(b, ty, *scalar)?, kept_map.clone()));
    }
    let results = if shape.contains(&0) {
        outs.into_iter().map(|(value, _)| value).collect()
    } else {
        let mut accesses = vec![];
        for value in ins {
            let whole = ir::dims(value.r#type()) == shape;
            let map = if whole { identity(groups.len()) } else { kept_map.clone() };
            accesses.push((reshape(b, *value, &sizes(!whole))?, map));
        }
        let loops: Vec<_> = groups
            .iter()
            .map(|group| if group.kept { Iter::Parallel } else { Iter::Reduction })
            .collect();
        generic(b, &loops, &accesses, &outs, body)?
    };
    results.into_iter().map(|value| reshape(b, value, &result_shape)).collect()
}

/// Visits the positions along `axis` one after the other, in both tensors: `body` gets an element
/// of `x` and the running value, and returns the element of the result and the next running
/// value. `reverse` starts at the far end.
pub fn scan<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    axis: usize,
    reverse: bool,
    init: Val<'c>,
    body: impl FnOnce(&Builder<'c>, Val<'c>, Val<'c>) -> Result<(Val<'c>, Val<'c>)>,
) -> Result<Val<'c>> {
    let shape = ir::dims(x.r#type());
    let ty: Type<'c> = x.r#type();
    if shape.contains(&0) {
        return b.empty(ty);
    }
    let outer: i64 = shape[..axis].iter().product();
    let inner: i64 = shape[axis + 1..].iter().product();
    let view = [outer, shape[axis], inner];
    // One element is in the same place from either end.
    let from_end = reverse && shape[axis] > 1;
    let position = if from_end { d(1) * -1 + c(shape[axis] - 1) } else { d(1) };
    let map = vec![d(0), position, d(2)];
    let running = fill(b, b.tensor(&[outer, inner], init.r#type()), init)?;
    let result = b.empty(b.tensor(&view, ir::element_type(ty)))?;
    // The loop along the axis carries the running value, so it is no parallel one.
    let loops = [Iter::Parallel, Iter::Reduction, Iter::Parallel];
    let x = reshape(b, x, &view)?;
    let mut inputs = vec![(x, map.clone())];
    if from_end {
        // MLIR cannot turn `-d1` around: what nobody reads tells it how long the loop is.
        inputs.push((x, vec![d(0), d(1), d(2)]));
    }
    let sum = inputs.len() + 1;
    let results =
        generic(b, &loops, &inputs, &[(result, map), (running, vec![d(0), d(2)])], |b, args| {
            let (element, next) = body(b, args[0], args[sum])?;
            Ok(vec![element, next])
        })?;
    reshape(b, results[0], &shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(shape: &[i64], axes: &[usize]) -> Vec<(i64, bool)> {
        groups(shape, axes).iter().map(|group| (group.size, group.kept)).collect()
    }

    #[test]
    fn neighbours_of_a_kind_merge() {
        assert_eq!(merged(&[2, 3, 4, 5], &[2, 3]), [(6, true), (20, false)]);
        assert_eq!(merged(&[2, 1, 4], &[1]), [(8, true)]);
        assert_eq!(merged(&[2, 3, 4], &[1]), [(2, true), (3, false), (4, true)]);
        assert_eq!(merged(&[1, 1], &[0, 1]), []);
    }
}
