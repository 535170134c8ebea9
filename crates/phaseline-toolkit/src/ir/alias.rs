//! Other names of buffers: views, and what loops, branches and calls hand on.

use super::{Op, Val, edit, effects, types};
use melior::ir::{RegionLike, ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::HashSet;

/// The values through which a buffer may be used after it was given to `user`. An operation that is not
/// known may hand on all that it is given.
pub fn behind(user: Op<'_>) -> Vec<Val<'_>> {
    let mut found = super::results(user);
    found.extend(arguments(user));
    let parent = user.parent_operation().filter(|_| effects::hands_on(user));
    if let Some(parent) = parent.filter(|parent| super::op_name(*parent) != "func.func") {
        found.extend(arguments(parent));
        found.extend(super::results(parent));
    }
    found.retain(|value| types::keeps_buffer(value.r#type()));
    found
}

/// The arguments of all blocks of an operation.
fn arguments(op: Op<'_>) -> Vec<Val<'_>> {
    let first = op.regions().filter_map(|region| region.first_block());
    let blocks =
        first.flat_map(|block| std::iter::successors(Some(block), |block| block.next_in_region()));
    blocks.flat_map(edit::arguments).collect()
}

/// The operations that use a buffer through `user`, each once.
pub fn users_behind(user: Op<'_>) -> Vec<Op<'_>> {
    let (mut seen, mut listed, mut found) = (HashSet::new(), HashSet::new(), vec![]);
    let mut work = behind(user);
    while let Some(value) = work.pop() {
        if !seen.insert(super::id(value)) {
            continue;
        }
        for user in super::users(value) {
            if listed.insert(super::id(user)) {
                found.push(user);
                work.extend(behind(user));
            }
        }
    }
    found
}

/// True if a value that is no view is a buffer of its own: made there, or an argument of the function.
pub fn is_apart(value: Val<'_>) -> bool {
    match edit::defining_op(value) {
        Some(op) => effects::is_own(op),
        None => edit::owner_block(value)
            .and_then(|(block, _)| block.parent_operation())
            .is_some_and(|op| super::op_name(op) == "func.func"),
    }
}
