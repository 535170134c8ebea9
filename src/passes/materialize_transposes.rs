//! `materialize-transposes`: loops read tensors in the order of their results.
//!
//! Fusion makes one `linalg.generic` of a transposition and what computes on its result. The loops then
//! read a large tensor across its rows, a line of the cache for each element. A transposition alone
//! is done in squares, so that here it gets a tensor of its own again:
//!
//! ```text
//! %y = generic(%x by (d0, d2, d1), %z by (d0, d1, d2))
//!   --> %t = generic(%x) as a copy; %y = generic(%t by (d0, d1, d2), %z by (d0, d1, d2))
//! ```

use crate::{
    Result,
    ir::{self, Builder, Op, Val, constant::Elements, edit},
    lower::generic::{Aff, Iter, d, generic, identity, map_attr},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{ValueLike, attribute::ArrayAttribute, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "materialize-transposes",
    summary: "Materialize transposed operands of loops as tensors",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg", "tensor"],
    run,
};

/// Fewer elements stay in the cache nearest to the processor, however they are read.
const LEAST: i64 = 1 << 12;
/// Elements along both dimensions that change places, from which on there are squares.
const SIDE: i64 = 4;

fn run<'c>(function: Op<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    let ops = edit::walk(function).into_iter();
    for op in ops.filter(|op| ir::op_name(*op) == "linalg.generic").collect::<Vec<_>>() {
        materialize(op).map_err(PassError::from)?;
    }
    Ok(())
}

fn materialize(op: Op<'_>) -> Result<()> {
    let Some(nest) = Nest::of(op) else { return Ok(()) };
    let mut maps = nest.maps.clone();
    for (at, operand) in ir::operands(op).into_iter().take(nest.inputs).enumerate() {
        let Some(loops) = nest.across(at, operand) else { continue };
        let copy = nest.transposed(operand, &nest.maps[at], &loops)?;
        edit::set_operand(op, at, copy)?;
        maps[at] = loops.into_iter().map(d).collect();
    }
    if maps != nest.maps {
        let b = Builder::before(op)?;
        let maps: Vec<_> = maps.iter().map(|map| map_attr(b.context, nest.extents.len(), map)).collect();
        edit::set_attr(op, "indexing_maps", ArrayAttribute::new(b.context, &maps).into());
    }
    Ok(())
}

/// Loops that compute each element of their results once.
struct Nest<'c> {
    op: Op<'c>,
    inputs: usize,
    maps: Vec<Vec<Aff>>,
    extents: Vec<i64>,
    /// The loops in the order of the results' dimensions.
    order: Vec<usize>,
}

impl<'c> Nest<'c> {
    /// Reads an operation; `None` if it is no such nest, or a copy.
    fn of(op: Op<'c>) -> Option<Self> {
        let maps = edit::array(op.attribute("indexing_maps").ok()?);
        let maps: Vec<_> = maps.into_iter().map(Aff::of_map).collect::<Option<_>>()?;
        let operands = ir::operands(op);
        let inputs = operands.len().checked_sub(ir::results(op).len())?;
        let order: Vec<_> = maps.get(inputs)?.iter().map(Aff::single).collect::<Option<_>>()?;
        let mut extents = vec![None; order.len()];
        for (at, dim) in order.iter().zip(ir::static_dims(operands[inputs].r#type())?) {
            *extents.get_mut(*at)? = Some(dim);
        }
        let is_copy = ir::ops_of(op).len() == 1;
        let loops = edit::array(op.attribute("iterator_types").ok()?).len();
        if is_copy || loops != order.len() || maps[inputs..].iter().any(|map| *map != maps[inputs]) {
            return None;
        }
        // Each loop is a dimension of the results: there is no reduction.
        let extents = extents.into_iter().collect::<Option<_>>()?;
        Some(Self { op, inputs, maps, extents, order })
    }

    /// The loops that count the dimensions of an operand, in the order of the results, if the operand
    /// is large and read across its rows.
    fn across(&self, at: usize, operand: Val<'c>) -> Option<Vec<usize>> {
        let dims = ir::static_dims(operand.r#type())?;
        let map: Vec<_> = self.maps[at].iter().map(Aff::single).collect::<Option<_>>()?;
        let elements = dims.iter().try_fold(1i64, |all, dim| all.checked_mul(*dim))?;
        if elements < LEAST || Elements::of_value(operand).is_some() {
            return None;
        }
        let inner = self.innermost(&self.order)?;
        let own = self.innermost(&map)?;
        let sorted: Vec<_> = self.order.iter().copied().filter(|l| map.contains(l)).collect();
        let squares = [self.run(&map, inner)?, self.run(&self.order, own)?];
        let all = sorted.len() == map.len();
        (all && own != inner && squares.iter().all(|run| *run >= SIDE)).then_some(sorted)
    }

    /// The last of the loops that has more than one iteration.
    fn innermost(&self, loops: &[usize]) -> Option<usize> {
        loops.iter().rev().copied().find(|at| self.extents[*at] > 1)
    }

    /// Iterations of the loops after `end`; `None` if that is not among them.
    fn run(&self, loops: &[usize], end: usize) -> Option<i64> {
        let from = loops.iter().position(|at| *at == end)?;
        Some(loops[from + 1..].iter().map(|at| self.extents[*at]).product())
    }

    /// The operand with its dimensions counted by `loops`.
    fn transposed(&self, operand: Val<'c>, map: &[Aff], loops: &[usize]) -> Result<Val<'c>> {
        let b = Builder::before(self.op)?;
        let dims: Vec<_> = loops.iter().map(|at| self.extents[*at]).collect();
        let place = |index: &Aff| loops.iter().position(|at| index.single() == Some(*at));
        let from = map.iter().filter_map(place).map(d).collect();
        let out = b.empty(b.tensor(&dims, ir::element_type(operand.r#type())))?;
        let kinds = vec![Iter::Parallel; dims.len()];
        let made = generic(&b, &kinds, &[(operand, from)], &[(out, identity(dims.len()))], |_, v| {
            Ok(vec![v[0]])
        })?;
        Ok(made[0])
    }
}
