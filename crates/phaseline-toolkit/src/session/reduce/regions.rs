//! Operations with regions that the operations of one region take the place of.

use super::values;
use crate::{
    ffi,
    ir::{self, Blk, Op, Val, edit},
};
use melior::ir::{BlockLike, RegionLike, ValueLike, operation::OperationLike};
use mlir_sys as sys;
use std::{ffi::c_void, ops::Range};

/// Values that take others, by an interface.
type Pairs<'c> = Vec<(Val<'c>, Val<'c>)>;

unsafe extern "C" fn push(to: sys::MlirValue, from: sys::MlirValue, user: *mut c_void) {
    // SAFETY: `user` is a list of pairs, and MLIR gives live values.
    unsafe { (*user.cast::<Pairs<'_>>()).push((Val::from_raw(to), Val::from_raw(from))) };
}

/// The only block of a region.
fn only_block(op: Op<'_>, region: usize) -> Option<Blk<'_>> {
    let block = op.regions().nth(region)?.first_block()?;
    block.next_in_region().is_none().then_some(block)
}

/// Regions of one block, by their operations and places, but for bodies of functions.
pub(super) fn places(root: Op<'_>) -> Vec<(Op<'_>, usize)> {
    let is_function = |op: &Op<'_>| {
        let (mut arguments, mut results) = (0, 0);
        // SAFETY: the operation is live, and there is room for the answers.
        unsafe { ffi::phlFunction(op.to_raw(), &raw mut arguments, &raw mut results) }
    };
    let all = edit::walk(root).into_iter().filter(|op| op.region_count() > 0 && !is_function(op));
    all.flat_map(|op| (0..op.region_count()).map(move |region| (op, region)))
        .filter(|(op, region)| only_block(*op, *region).is_some())
        .collect()
}

/// Puts the operations of regions in place of their operations; of one with several in the range, the first.
pub(super) fn inline(root: Op<'_>, range: Range<usize>) -> bool {
    let all = places(root);
    let mut chosen = all.get(range).unwrap_or_default().to_vec();
    chosen.dedup_by(|next, first| edit::same(next.0, first.0));
    // An operation in an operation comes behind it, and goes before.
    let changed = |changed, (op, region)| inline_one(op, region) || changed;
    chosen.into_iter().rev().fold(false, changed)
}

fn inline_one(op: Op<'_>, region: usize) -> bool {
    let Some(block) = only_block(op, region).filter(|_| !values::is_end(op)) else { return false };
    let end = ir::ops(block).pop().filter(|last| values::is_end(*last));
    if end.is_some_and(|end| end.successor_count() > 0) {
        return false;
    }
    let arguments = edit::arguments(block);
    let inputs = inputs(op, region, &arguments);
    let outputs = end.map(|end| outputs(op, end)).unwrap_or_default();
    let is_used = |value: &Val<'_>| ir::has_uses(*value, 1);
    // Values that go with the operation stand in for nothing.
    let is_kept = |value: &Val<'_>| !arguments.contains(value);
    let mut changes = vec![];
    for argument in arguments.iter().copied().filter(is_used) {
        let given = given(&inputs, argument).filter(is_kept);
        let found = given
            .or_else(|| values::own(op, argument))
            .or_else(|| values::earlier(op, argument))
            .or_else(|| values::zero(op, argument));
        let Some(found) = found else { return false };
        changes.push((argument, found));
    }
    for result in ir::results(op).into_iter().filter(is_used) {
        // An argument that is handed on is the value that it was given.
        let output = given(&outputs, result);
        let output = output.and_then(|value| match is_kept(&value) {
            true => Some(value),
            false => given(&changes, value),
        });
        let found =
            output.or_else(|| values::earlier(op, result)).or_else(|| values::zero(op, result));
        let Some(found) = found else { return false };
        changes.push((result, found));
    }
    for (old, new) in changes {
        edit::replace_uses(old, new);
    }
    if let Some(end) = end {
        edit::erase(end);
    }
    for inside in ir::ops(block) {
        edit::move_before(inside, op);
    }
    values::destroy(op);
    true
}

/// The value that another one takes, if it is of the same type.
fn given<'c>(pairs: &Pairs<'c>, to: Val<'c>) -> Option<Val<'c>> {
    let found = pairs.iter().find(|(other, _)| *other == to);
    found.map(|(_, from)| *from).filter(|from| from.r#type() == to.r#type())
}

/// The operands that the arguments of a region take: by the interface, or one by one.
fn inputs<'c>(op: Op<'c>, region: usize, arguments: &[Val<'c>]) -> Pairs<'c> {
    let mut found: Pairs<'c> = vec![];
    let region = isize::try_from(region).unwrap_or(isize::MAX);
    // SAFETY: the operation is live, and the list outlives the call.
    let is_told =
        unsafe { ffi::phlRegionInputs(op.to_raw(), region, Some(push), (&raw mut found).cast()) };
    let operands = ir::operands(op);
    if !is_told && operands.len() == arguments.len() {
        found.extend(arguments.iter().copied().zip(operands));
    }
    found
}

/// The operands of a terminator that results are: by the interface, or one by one.
fn outputs<'c>(op: Op<'c>, end: Op<'c>) -> Pairs<'c> {
    let mut found: Pairs<'c> = vec![];
    // SAFETY: the operation is live, and the list outlives the call.
    let is_told =
        unsafe { ffi::phlRegionOutputs(end.to_raw(), Some(push), (&raw mut found).cast()) };
    let (results, operands) = (ir::results(op), ir::operands(end));
    if !is_told && results.len() == operands.len() {
        found.extend(results.into_iter().zip(operands));
    }
    found
}
