//! Values that stand in for others.

use crate::{
    ffi,
    ir::{self, Op, Val, edit},
};
use melior::ir::{BlockLike, RegionLike, ValueLike, operation::OperationLike};
use mlir_sys as sys;

/// A value of the type of `old` before an operation, outermost first: an argument or a result that the operation may use.
pub(super) fn earlier<'c>(op: Op<'c>, old: Val<'c>) -> Option<Val<'c>> {
    let mut levels = vec![];
    let mut inside = Some(op);
    while let Some(op) = inside {
        levels.push(op);
        inside = op.parent_operation().filter(|around| !is_isolated(*around));
    }
    levels.into_iter().rev().find_map(|op| earlier_in_region(op, old))
}

fn earlier_in_region<'c>(op: Op<'c>, old: Val<'c>) -> Option<Val<'c>> {
    let block = op.block()?;
    let fits = |value: &Val<'c>| value.r#type() == old.r#type();
    // The first block comes before all others of its region.
    let first = block.parent_region().and_then(|region| region.first_block());
    let first = first.filter(|first| ir::id(first) != ir::id(block));
    let all = first.into_iter().chain([block]);
    all.flat_map(|block| {
        let all = std::iter::successors(block.first_operation(), |op| op.next_in_block());
        let before = all.take_while(move |other| !edit::same(*other, op));
        edit::arguments(block).into_iter().chain(before.flat_map(ir::results))
    })
    .find(fits)
}

/// An operand of an operation with the type of `old`.
pub(super) fn own<'c>(op: Op<'c>, old: Val<'c>) -> Option<Val<'c>> {
    ir::operands(op).into_iter().find(|value| value.r#type() == old.r#type() && *value != old)
}

/// A new constant before an operation, zero of the type of `old`, in a dialect that makes constants of it.
pub(super) fn zero<'c>(op: Op<'c>, old: Val<'c>) -> Option<Val<'c>> {
    op.block()?;
    // SAFETY: the operation is in a block, and the type is live.
    let made = unsafe { ffi::phlZero(op.to_raw(), sys::mlirValueGetType(old.to_raw())) };
    // SAFETY: MLIR gave a live value, or null.
    (!made.ptr.is_null()).then(|| unsafe { Val::from_raw(made) })
}

/// True if values around an operation are not visible in it.
fn is_isolated(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    unsafe { ffi::phlIsIsolated(op.to_raw()) }
}

/// True if an operation is the last of a block that needs such a one.
pub(super) fn is_end(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    unsafe { ffi::phlIsEnd(op.to_raw()) }
}

/// Destroys an operation of a copy with everything in it. Users of its results lose their operands.
pub(super) fn destroy(op: Op<'_>) {
    for inside in std::iter::once(op).chain(edit::walk(op)) {
        edit::replace_operands(inside, &[]);
        for result in ir::results(inside) {
            // Uses by others that go as well, in any order.
            for user in ir::users(result) {
                edit::replace_operands(user, &[]);
            }
        }
    }
    // SAFETY: the operation is in a copy that nobody else has handles of, and nothing refers to it.
    unsafe { sys::mlirOperationDestroy(op.to_raw()) };
}
