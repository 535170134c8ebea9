//! The grid of a kernel: the parallel loops that become indices of work items.

use crate::{
    Result,
    ir::{self, Builder, Op, Val, attribute, edit},
};
use melior::ir::{Attribute, operation::OperationLike};

/// Dimensions of a grid.
const DIMS: usize = 3;

/// The parallel loops of a nest, as a grid of three dimensions. The innermost two loops are
/// dimensions 0 and 1, all others are dimension 2 together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Begin, step and trip count of each loop, outermost first.
    loops: Vec<(i64, i64, i64)>,
}

impl Grid {
    /// The grid of a nest that has no parallel loops.
    pub fn one() -> Self {
        Self { loops: vec![] }
    }

    /// The grid of an `scf.parallel` whose bounds are known; none for another operation.
    pub fn of(op: Op<'_>) -> Option<Self> {
        if ir::op_name(op) != "scf.parallel" || !ir::results(op).is_empty() {
            return None;
        }
        let numbers: Vec<_> = ir::operands(op).into_iter().map(number).collect::<Option<_>>()?;
        let rank = numbers.len() / 3;
        let loops = (0..rank).map(|at| {
            let (from, to, step) = (numbers[at], numbers[rank + at], numbers[2 * rank + at]);
            let count = to.checked_sub(from)?.max(0).checked_add(step - 1)?.checked_div(step)?;
            Some((from, step, count))
        });
        Some(Self { loops: loops.collect::<Option<_>>()? })
    }

    /// Work items along each dimension, 0 if there are none at all.
    pub fn sizes(&self) -> [i64; DIMS] {
        let mut sizes = [1_i64; DIMS];
        for (at, (_, _, count)) in self.loops.iter().rev().enumerate() {
            let dim = at.min(DIMS - 1);
            sizes[dim] = sizes[dim].saturating_mul(*count);
        }
        sizes
    }

    /// The indices of the loops in a work item.
    pub fn indices<'c>(&self, b: &Builder<'c>) -> Result<Vec<Val<'c>>> {
        let mut found = vec![];
        let outer = self.loops.len().saturating_sub(DIMS - 1);
        let mut rest = None;
        for (at, (from, step, count)) in self.loops.iter().enumerate().rev() {
            let dim = (self.loops.len() - 1 - at).min(DIMS - 1);
            let id = match rest {
                Some(rest) => rest,
                None => global_id(b, dim)?,
            };
            let index = if dim == DIMS - 1 && at > 0 && at < outer {
                rest = Some(b.binary("arith.divui", id, b.index(*count)?)?);
                b.binary("arith.remui", id, b.index(*count)?)?
            } else {
                id
            };
            let scaled = match step {
                1 => index,
                _ => b.binary("arith.muli", index, b.index(*step)?)?,
            };
            found.push(match from {
                0 => scaled,
                _ => b.binary("arith.addi", scaled, b.index(*from)?)?,
            });
        }
        found.reverse();
        Ok(found)
    }
}

/// The index of a work item along a dimension.
fn global_id<'c>(b: &Builder<'c>, dim: usize) -> Result<Val<'c>> {
    let name = ["x", "y", "z"].get(dim).copied().unwrap_or("z");
    let dimension: Attribute<'c> = b.parse_attr(&format!("#gpu<dim {name}>"))?;
    b.op1_with("gpu.global_id", &[], b.index_type(), vec![("dimension", dimension)])
}

fn number(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
    attribute::int(op.attribute("value").ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fold_what_is_outside() {
        let grid = |loops: &[(i64, i64, i64)]| Grid { loops: loops.to_vec() };
        assert_eq!(Grid::one().sizes(), [1, 1, 1]);
        assert_eq!(grid(&[(0, 1, 5)]).sizes(), [5, 1, 1]);
        assert_eq!(grid(&[(0, 1, 2), (0, 1, 3), (4, 2, 5), (0, 1, 7)]).sizes(), [7, 5, 6]);
        assert_eq!(grid(&[(0, 1, 0), (0, 1, 3)]).sizes(), [3, 0, 1]);
    }
}
