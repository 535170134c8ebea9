//! Branches that take one side, chains of blocks that become one, and arguments of blocks that go.

use super::values;
use crate::{
    ffi,
    ir::{self, Blk, Builder, Op, edit, interface},
};
use melior::ir::{BlockLike, RegionLike, RegionRef, operation::OperationLike};
use mlir_sys as sys;
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

fn blocks<'c>(region: &RegionRef<'c, 'c>) -> Vec<Blk<'c>> {
    std::iter::successors(region.first_block(), |block| block.next_in_region()).collect()
}

/// The edges to a block: the operations that name it, with the place among those that they name.
fn edges_to(block: Blk<'_>) -> Vec<(Op<'_>, usize)> {
    let Some(region) = block.parent_region() else { return vec![] };
    let ends = blocks(&region).into_iter().filter_map(|from| ir::ops(from).pop());
    let named = |end: Op<'_>| end.successors().map(ir::id).collect::<Vec<_>>();
    ends.flat_map(|end| named(end).into_iter().enumerate().map(move |(at, to)| (end, at, to)))
        .filter(|(_, _, to)| *to == ir::id(block))
        .map(|(end, at, _)| (end, at))
        .collect()
}

/// Sides of branches with several, by their places.
pub(super) fn branches(root: Op<'_>) -> Vec<(Op<'_>, usize)> {
    let all = edit::walk(root).into_iter().filter(|op| op.successor_count() > 1);
    all.flat_map(|op| (0..op.successor_count()).map(move |index| (op, index))).collect()
}

/// Makes branches go to one side, the last of the range, by which most loops end. Removes blocks that are not reached.
pub(super) fn take_sides(root: Op<'_>, range: Range<usize>) -> bool {
    let all = branches(root);
    let mut chosen = all.get(range).unwrap_or_default().to_vec();
    chosen.reverse();
    chosen.dedup_by(|next, first| edit::same(next.0, first.0));
    let changed = chosen.into_iter().fold(false, |changed, (op, side)| take(op, side) || changed);
    if changed {
        prune(root);
    }
    changed
}

/// Has a branch go to one side: by an unconditional branch, or by the operations of that block.
fn take(op: Op<'_>, side: usize) -> bool {
    let (Ok(target), Some(block)) = (op.successor(side), op.block()) else { return false };
    let Some(operands) = interface::branch_operands(op, side) else { return false };
    if operands.len() != target.argument_count()
        || ir::results(op).into_iter().any(|result| ir::has_uses(result, 1))
    {
        return false;
    }
    let context = ir::context_of(op);
    let Some(name) = unconditional(op) else {
        return splice(op, side);
    };
    let builder = Builder::at_end(context, block, op.location());
    if edit::create_branch(&builder, &name, &operands, &[target], vec![]).is_err() {
        return false;
    }
    edit::erase(op);
    true
}

/// The name of an operation that goes to one block: one of the region, `br` of the dialect, or of `cf`.
fn unconditional(op: Op<'_>) -> Option<String> {
    let region = op.block()?.parent_region()?;
    let ends = blocks(&region).into_iter().filter_map(|block| ir::ops(block).pop());
    let mut plain = ends.filter(|end| end.successor_count() == 1 && end.result_count() == 0);
    let used = plain.find(|end| interface::branch_operands(*end, 0).is_some());
    let dialect = ir::op_name(op).split('.').next().unwrap_or_default();
    let names = [format!("{dialect}.br"), "cf.br".to_owned()];
    let context = ir::context_of(op);
    let known = names.into_iter().find(|name| context.is_registered_operation(name));
    used.map(|end| ir::op_name(end).to_owned()).or(known)
}

/// Puts the operations of a block that only this edge leads to in place of the branch.
fn splice(op: Op<'_>, side: usize) -> bool {
    let (Ok(target), Some(block)) = (op.successor(side), op.block()) else { return false };
    let is_first = target
        .parent_region()
        .and_then(|region| region.first_block())
        .is_some_and(|first| ir::id(first) == ir::id(target));
    let Some(operands) = interface::branch_operands(op, side) else { return false };
    let arguments = edit::arguments(target);
    if is_first
        || ir::id(target) == ir::id(block)
        || edges_to(target).len() != 1
        || operands.len() != arguments.len()
        || ir::results(op).into_iter().any(|result| ir::has_uses(result, 1))
    {
        return false;
    }
    for (argument, operand) in arguments.into_iter().zip(operands) {
        edit::replace_uses(argument, operand);
    }
    edit::erase(op);
    for op in ir::ops(target) {
        edit::move_to_end(op, block);
    }
    remove(target);
    true
}

/// Removes an empty block that nothing names.
fn remove(block: Blk<'_>) {
    // SAFETY: the block is empty, nothing names it, and no handle of it is used again.
    unsafe {
        sys::mlirBlockDetach(block.to_raw());
        sys::mlirBlockDestroy(block.to_raw());
    }
}

/// Removes blocks that are not reached from the first of their regions.
fn prune(op: Op<'_>) {
    for region in op.regions() {
        let mut reached = HashSet::new();
        let mut work: Vec<_> = region.first_block().into_iter().collect();
        while let Some(block) = work.pop() {
            if reached.insert(ir::id(block)) {
                work.extend(ir::ops(block).into_iter().flat_map(|op| {
                    let named: Vec<_> = op.successors().collect();
                    named
                }));
            }
        }
        let all = blocks(&region);
        let dead = || all.iter().copied().filter(|block| !reached.contains(&ir::id(*block)));
        // Users that are left have no operands: the change is not valid.
        for argument in dead().flat_map(edit::arguments) {
            ir::users(argument).into_iter().for_each(|user| edit::replace_operands(user, &[]));
        }
        // Branches in them go before the blocks that they name.
        dead().flat_map(|block| ir::ops(block).into_iter().rev()).for_each(values::destroy);
        dead().for_each(remove);
    }
    ir::ops_of(op).into_iter().for_each(prune);
}

/// An edge, and the place of another block for it among those of [`targets`].
type Detour<'c> = (Op<'c>, usize, usize);

/// Edges that may go elsewhere.
pub(super) fn detours(root: Op<'_>) -> Vec<Detour<'_>> {
    let mut found = vec![];
    for op in edit::walk(root) {
        for side in 0..op.successor_count() {
            let all = (0..targets(op, side).len()).map(|place| (op, side, place));
            found.extend(all.filter(|detour| elsewhere(*detour).is_some()));
        }
    }
    found
}

/// The blocks behind the one that an edge goes to, and the other ones of the branch.
fn targets(op: Op<'_>, side: usize) -> Vec<Blk<'_>> {
    let Ok(between) = op.successor(side) else { return vec![] };
    let mut found: Vec<_> = op.successors().collect();
    if let Some(end) = ir::ops(between).pop() {
        found.extend(end.successors());
    }
    found
}

/// The block that an edge may go to instead, without arguments.
fn elsewhere<'c>((op, side, place): Detour<'c>) -> Option<Blk<'c>> {
    let old = op.successor(side).ok()?;
    let new = *targets(op, side).get(place)?;
    let operands = interface::branch_operands(op, side)?;
    let is_other = ir::id(old) != ir::id(new) && operands.len() == old.argument_count();
    (is_other && new.argument_count() == 0).then_some(new)
}

/// Has edges go elsewhere, to the last of the range, and removes blocks that are not reached.
pub(super) fn divert(root: Op<'_>, range: Range<usize>) -> bool {
    let all = detours(root);
    let mut chosen = all.get(range).unwrap_or_default().to_vec();
    chosen.reverse();
    chosen.dedup_by(|next, first| edit::same(next.0, first.0) && next.1 == first.1);
    let before = distance(root);
    for detour in chosen {
        let Some(target) = elsewhere(detour) else { continue };
        let (op, side, _) = detour;
        let count = interface::branch_operands(op, side).map_or(0, |all| all.len());
        let at = isize::try_from(side).unwrap_or(isize::MAX);
        // SAFETY: the branch has this successor, and the other block is of the same region.
        unsafe {
            (0..count).for_each(|_| {
                ffi::phlBranchEraseOperand(op.to_raw(), at, 0);
            });
            sys::mlirOperationSetSuccessor(op.to_raw(), at, target.to_raw());
        }
    }
    prune(root);
    distance(root) < before
}

/// The operations, the blocks behind those that branches go to, and operands: a change of edges makes them less, so that no
/// edge goes back and forth.
fn distance(root: Op<'_>) -> (usize, usize, usize) {
    let all = edit::walk(root);
    let mut behind = 0;
    for region in all.iter().flat_map(|op| op.regions()) {
        let blocks = blocks(&region);
        let places: HashMap<_, _> = blocks.iter().map(|block| ir::id(*block)).zip(0..).collect();
        let ends = blocks.iter().filter_map(|block| ir::ops(*block).pop());
        for end in ends {
            let targets = end.successors().filter_map(|to| places.get(&ir::id(to)).copied());
            behind += targets.map(|place: usize| blocks.len() - place).sum::<usize>();
        }
    }
    (all.len(), behind, all.iter().map(|op| op.operand_count()).sum())
}

/// Branches to one block that nothing else names.
pub(super) fn chains(root: Op<'_>) -> Vec<Op<'_>> {
    let all = edit::walk(root).into_iter();
    let is_chain = |op: &Op<'_>| {
        op.successor_count() == 1 && op.successor(0).is_ok_and(|to| edges_to(to).len() == 1)
    };
    all.filter(is_chain).collect()
}

/// Makes chains of blocks one block.
pub(super) fn merge(root: Op<'_>, range: Range<usize>) -> bool {
    let all = chains(root);
    let chosen = all.get(range).unwrap_or_default();
    chosen.iter().rev().filter(|op| splice(**op, 0)).count() > 0
}

/// Arguments of blocks that nothing uses, but for the first blocks of regions.
pub(super) fn arguments(root: Op<'_>) -> Vec<(Blk<'_>, usize)> {
    let mut found = vec![];
    for op in std::iter::once(root).chain(edit::walk(root)) {
        for block in op.regions().flat_map(|region| blocks(&region).into_iter().skip(1)) {
            let all = edit::arguments(block).into_iter().enumerate();
            let unused = all.filter(|(_, value)| !ir::has_uses(*value, 1));
            found.extend(unused.map(|(index, _)| (block, index)));
        }
    }
    found
}

/// Drops arguments of blocks, and the operands of branches that they are.
pub(super) fn drop_arguments(root: Op<'_>, range: Range<usize>) -> bool {
    let all = arguments(root);
    let mut changed = false;
    for (block, index) in all.get(range).unwrap_or_default().iter().rev() {
        let place = isize::try_from(*index).unwrap_or(isize::MAX);
        let edges = edges_to(*block);
        let is_known = |(op, at): &(Op<'_>, usize)| interface::branch_operands(*op, *at).is_some();
        if !edges.iter().all(is_known) {
            continue;
        }
        for (op, at) in &edges {
            let at = isize::try_from(*at).unwrap_or(isize::MAX);
            // SAFETY: the branch is live. One that keeps its operand is not valid, and neither is the change.
            unsafe { ffi::phlBranchEraseOperand(op.to_raw(), at, place) };
        }
        changed |= edit::erase_argument(*block, *index).is_ok();
    }
    changed
}
