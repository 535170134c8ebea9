//! `shrink-buffers`: loops that hand a buffer on are fused, and the buffer shrinks to the needs of
//! one iteration.
//!
//! A layer in integers has its sums in a buffer of four times the bytes of its result. One nest of
//! loops initialises them, one adds up, one rounds. Outer loops that all go over the same elements
//! of the buffer are fused, and the buffer keeps only the elements of one iteration (array
//! contraction). Every element is computed from the same numbers in the same order.

use crate::{
    Result,
    ir::{self, Blk, Op, Val, edit},
    lower::nests::{self, Effects, Uses},
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "shrink-buffers",
    summary: "Fuse loops that hand a buffer on, and shrink it to what one iteration needs",
    anchor: "func.func",
    options: &[],
    dialects: &["arith", "memref", "scf"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    let is_alloc = |op: &Op<'c>| ir::op_name(*op) == "memref.alloc";
    let allocs: Vec<_> = ir::ops(block).into_iter().filter(is_alloc).collect();
    for alloc in allocs {
        let value = ir::result0(alloc)?;
        let Some(uses) = Uses::of(value).filter(|uses| uses.others.is_empty()) else { continue };
        let depth = fuse(block, value, &uses)?;
        if depth > 0 {
            shrink(alloc, uses, depth)?;
        }
    }
    Ok(())
}

/// Fuses the loops that use a buffer from the outside inwards; returns the number of dimensions
/// that they go over.
fn fuse<'c>(mut block: Blk<'c>, buffer: Val<'c>, uses: &Uses<'c>) -> Result<usize> {
    let accesses: Vec<_> = uses.accesses.iter().collect();
    let mut depth = 0;
    while let Some((loops, _)) = nests::loops_over(&accesses, block, depth) {
        let Some(is_near) = nests::may_fuse(block, &loops, buffer) else { break };
        if depth == 0 && loops.len() > 1 && !saves(&loops, buffer, is_near) {
            break;
        }
        block = nests::join(&loops)?;
        depth += 1;
    }
    Ok(depth)
}

/// True if it takes less memory to keep the sources of a buffer than the buffer.
///
/// Before, the buffer is in use with its sources, and then with its results. Afterwards sources and
/// results are in use together, and the sources until the last loop.
fn saves<'c>(loops: &[Op<'c>], buffer: Val<'c>, is_near: bool) -> bool {
    let Some((last, others)) = loops.split_last() else { return false };
    let (mut from, mut to) = (Effects::of(others).reads, Effects::of(&[*last]).writes);
    from.retain(|value| *value != buffer);
    to.retain(|value| *value != buffer);
    let (own, from, to) = (nests::bytes(&[buffer]), nests::bytes(&from), nests::bytes(&to));
    own > from.min(to) && (is_near || own > from)
}

/// Makes the buffer one without the outer `depth` dimensions.
fn shrink(alloc: Op<'_>, uses: Uses<'_>, depth: usize) -> Result<()> {
    let rest = uses.accesses.first().map(|access| access.dims(depth)).unwrap_or_default();
    let small = nests::buffer_beside(alloc, rest.iter().map(|(size, _)| size).product())?;
    uses.accesses.into_iter().try_for_each(|access| access.redirect(small, depth))?;
    uses.views.iter().rev().for_each(|view| edit::erase(*view));
    edit::erase(alloc);
    Ok(())
}
