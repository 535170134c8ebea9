//! Taking operations out of the IR while handles of them may be in use.

use super::{Op, Val, edit};
use crate::{Error, Result};
use melior::ir::{BlockLike, RegionLike, operation::OperationLike};
use std::collections::HashSet;

/// Takes an operation out of the IR. Handles of it and of what is in its regions stay valid, but
/// have no operands: the operation goes with its context.
///
/// Fails if something outside of it uses its results or what is in it, or if it is the last of a
/// block and names others. Fails also for the operation that a pass runs on, and inside of rules,
/// patterns and verifiers.
pub fn remove(op: Op<'_>) -> Result<()> {
    super::context::check_free()?;
    detach(op)?;
    super::context::keep_removed(op);
    Ok(())
}

/// Takes an operation out of the IR, for its new owner to destroy. Fails as [`remove`] does.
pub(crate) fn detach(op: Op<'_>) -> Result<()> {
    let name = super::op_name(op);
    if super::results(op).into_iter().any(|result| super::has_uses(result, 1)) {
        return Err(Error::invalid(format!("'{name}' cannot be removed: its results are used")));
    }
    if op.successor_count() > 0 {
        return Err(Error::invalid(format!("'{name}' cannot be removed: it names other blocks")));
    }
    if op.block().is_none() {
        return Err(Error::invalid(format!("'{name}' cannot be removed: it is in no block")));
    }
    if super::context::is_run_on(op) {
        return Err(Error::invalid(format!("'{name}' cannot be removed: a pass runs on it")));
    }
    let all: Vec<_> = std::iter::once(op).chain(edit::walk(op)).collect();
    let inside: HashSet<_> = all.iter().map(super::id).collect();
    let is_inside = |user: &Op<'_>| inside.contains(&super::id(user));
    if !all.iter().flat_map(|op| values_of(*op)).flat_map(super::users).all(|op| is_inside(&op)) {
        return Err(Error::invalid(format!("'{name}' cannot be removed: what is in it is used")));
    }
    for op in all {
        edit::replace_operands(op, &[]);
    }
    // SAFETY: the operation is in a block, and nothing outside of it refers to it.
    unsafe { mlir_sys::mlirOperationRemoveFromParent(op.to_raw()) };
    Ok(())
}

/// The results of an operation, and the arguments of its blocks.
fn values_of<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut found = super::results(op);
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(current) = block {
            found.extend(edit::arguments(current));
            block = current.next_in_region();
        }
    }
    found
}
