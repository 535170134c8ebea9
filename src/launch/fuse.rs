//! Neighbouring parallel loops over the same grid as one.
//!
//! The second loop may read elements that the first one writes at the same indices. Then a work
//! item does both for its own elements, such as an accumulator initialisation and its sum, or a
//! chain of elementwise operations. Loops that share nothing are not fused. Nor are loops that
//! would take more buffers than fit the arguments of a kernel.

use crate::{
    Result,
    ir::{
        self, Blk, Op, Val,
        capture::captured,
        edit,
        effects::{self, Element},
        memref,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Buffers of a kernel, at most. Devices have 1024 bytes for arguments at least, of which a buffer
/// takes 16.
const MAX_BUFFERS: usize = 24;

/// Fuses the parallel loops of a block.
pub fn fuse<'c>(body: Blk<'c>) -> Result<()> {
    let mut last: Option<Op<'c>> = None;
    let mut between: Vec<Op<'c>> = vec![];
    for op in ir::ops(body) {
        let is_free = super::kernel::stays(op) && op_makes_no_work(op);
        if is_free {
            between.push(op);
            continue;
        }
        last = match last {
            Some(first) if can_fuse(first, op) => {
                // Ops in between make buffers and views, which need nothing of the first loop.
                between.iter().for_each(|view| edit::move_before(*view, first));
                join(first, op)?;
                Some(first)
            }
            _ => (ir::op_name(op) == "scf.parallel").then_some(op),
        };
        between.clear();
    }
    Ok(())
}

fn op_makes_no_work(op: Op<'_>) -> bool {
    let makes_name = memref::is_alias(op) || effects::is_own(op);
    makes_name || effects::frees(op) || ir::op_name(op) == "arith.constant"
}

/// The accesses of a nest; none if it does something else to memory.
fn accesses<'c>(nest: Op<'c>) -> Option<Vec<Element<'c>>> {
    let mut found = vec![];
    for op in edit::walk(nest) {
        match effects::element(op) {
            Some(access) => found.push(access),
            None if op.region_count() > 0 || effects::is_free(op) && !memref::is_alias(op) => {}
            None => return None,
        }
    }
    Some(found)
}

/// True if two loops have the same results when each iteration of the second follows that of the
/// first.
fn can_fuse<'c>(first: Op<'c>, second: Op<'c>) -> bool {
    let grids = super::Grid::of(first).zip(super::Grid::of(second));
    if grids.is_none_or(|(a, b)| a != b) {
        return false;
    }
    let Some((a, b)) = accesses(first).zip(accesses(second)) else { return false };
    let mut shares = false;
    for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
        if memref::base(x.buffer) != memref::base(y.buffer) {
            continue;
        }
        shares = true;
        if (x.writes || y.writes) && !is_same_element((first, x), (second, y)) {
            return false;
        }
    }
    shares && buffers(first, second) <= MAX_BUFFERS
}

/// True if two accesses touch one element in the same iteration only.
fn is_same_element<'c>(
    (first, x): (Op<'c>, &Element<'c>),
    (second, y): (Op<'c>, &Element<'c>),
) -> bool {
    let loops = |op: Op<'c>| edit::entry_block(op).map(edit::arguments).unwrap_or_default();
    let (mine, yours) = (loops(first), loops(second));
    let mut seen = vec![false; mine.len()];
    let same = x.buffer == y.buffer
        && x.indices.len() == y.indices.len()
        && x.indices.iter().zip(&y.indices).all(|(a, b)| match mine.iter().position(|i| i == a) {
            Some(at) => {
                seen[at] = true;
                yours.get(at) == Some(b)
            }
            None => a == b,
        });
    same && seen.into_iter().all(|is_seen| is_seen)
}

/// The buffers that a nest of both would have.
fn buffers<'c>(first: Op<'c>, second: Op<'c>) -> usize {
    let mut found: Vec<Val<'c>> = vec![];
    for value in captured(first).into_iter().chain(captured(second)) {
        let base = memref::base(value);
        if ir::is_memref(base.r#type()) && !found.contains(&base) {
            found.push(base);
        }
    }
    found.len()
}

/// Moves the body of the second loop to the end of the first.
fn join<'c>(first: Op<'c>, second: Op<'c>) -> Result<()> {
    let body = |op| {
        edit::entry_block(op)
            .ok_or_else(|| crate::Error::internal("a parallel loop without a body"))
    };
    let (mine, yours) = (body(first)?, body(second)?);
    for (index, other) in edit::arguments(mine).into_iter().zip(edit::arguments(yours)) {
        edit::replace_uses(other, index);
    }
    let end = ir::ops(mine).into_iter().rev().find(|op| ir::op_name(*op) == "scf.reduce");
    let end = end.ok_or_else(|| crate::Error::internal("a parallel loop without an end"))?;
    for op in ir::ops(yours).into_iter().filter(|op| ir::op_name(*op) != "scf.reduce") {
        edit::move_before(op, end);
    }
    edit::erase(second);
    Ok(())
}
