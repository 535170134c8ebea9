//! Operations that go, and operands that are replaced.

use super::values;
use crate::{
    ffi,
    ir::{self, Op, Val, edit, remove},
};
use melior::ir::operation::OperationLike;
use mlir_sys as sys;
use std::ops::Range;

/// Finds a value for the uses of a result of an operation.
type StandIn = for<'c> fn(Op<'c>, Val<'c>) -> Option<Val<'c>>;

/// Removes operations; earlier values take the places of results.
pub(super) fn drop(root: Op<'_>, range: Range<usize>) -> bool {
    drop_with(root, range, values::earlier, |_| true)
}

/// Removes operations; their own operands take the places of results.
pub(super) fn bypass(root: Op<'_>, range: Range<usize>) -> bool {
    drop_with(root, range, values::own, is_used)
}

/// Removes operations; constants, zeros of their types, take the places of results.
pub(super) fn make_constants(root: Op<'_>, range: Range<usize>) -> bool {
    drop_with(root, range, values::zero, is_used)
}

fn is_used(op: Op<'_>) -> bool {
    ir::results(op).into_iter().any(|result| ir::has_uses(result, 1))
}

fn drop_with(
    root: Op<'_>,
    range: Range<usize>,
    stand_in: StandIn,
    is_wanted: fn(Op<'_>) -> bool,
) -> bool {
    let all = edit::walk(root);
    let Some(chosen) = all.get(range) else { return false };
    let mut changed = false;
    // The operations in an operation come behind it, and go before.
    for op in chosen.iter().rev().copied() {
        if op.successor_count() > 0 || values::is_end(op) || !is_wanted(op) {
            continue;
        }
        let used = || ir::results(op).into_iter().filter(|result| ir::has_uses(*result, 1));
        let found: Option<Vec<_>> = used().map(|old| Some((old, stand_in(op, old)?))).collect();
        let Some(found) = found else { continue };
        for (old, new) in found {
            edit::replace_uses(old, new);
        }
        if remove::detach(op).is_ok() {
            // SAFETY: the operation is in no block, nothing refers to it, and the list has no handle of an operation in it
            // that is used again.
            unsafe { sys::mlirOperationDestroy(op.to_raw()) };
            changed = true;
        }
    }
    changed
}

/// Operands, each by its operation and its place there.
pub(super) fn operands(root: Op<'_>) -> Vec<(Op<'_>, usize)> {
    let of = |op| (0..ir::operands(op).len()).map(move |index| (op, index));
    edit::walk(root).into_iter().flat_map(of).collect()
}

/// Gives operations earlier values of the same type.
pub(super) fn replace_operands(root: Op<'_>, range: Range<usize>) -> bool {
    let all = operands(root);
    let Some(chosen) = all.get(range) else { return false };
    let mut changed = false;
    for (op, index) in chosen {
        let old = ir::operands(*op)[*index];
        if let Some(first) = values::earlier(*op, old).filter(|first| *first != old) {
            changed |= edit::set_operand(*op, *index, first).is_ok();
        }
    }
    changed
}

/// Drops operands that operations may be without.
pub(super) fn drop_operands(root: Op<'_>, range: Range<usize>) -> bool {
    let all = operands(root);
    let chosen = all.get(range).unwrap_or_default().iter().rev();
    let dropped = chosen.filter(|(op, index)| {
        // SAFETY: the operation is live.
        unsafe { ffi::phlEraseOperand(op.to_raw(), isize::try_from(*index).unwrap_or(-1)) }
    });
    dropped.count() > 0
}
