//! Number of reads and writes of a buffer's bytes in a run of its function.

use crate::{
    ir::{self, Op, Val, edit, effects, size},
    planned::users,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// Parts of one access of each byte, so that what is touched in part counts, too.
const UNIT: u64 = 16;

/// Accesses of scratch memory: it is written and read.
pub const SCRATCH: u64 = 2 * UNIT;

/// The accesses of each byte, in sixteenths.
pub fn of(buffer: Val<'_>) -> u64 {
    let whole = size::bytes(buffer.r#type()).unwrap_or(0).max(1);
    let (mut touched, mut seen) = (0_u64, HashSet::new());
    let mut work = vec![buffer];
    while let Some(value) = work.pop() {
        if !seen.insert(ir::id(value)) {
            continue;
        }
        for user in ir::users(value) {
            if !users::is_free(user) {
                let bytes = touched_by(user, value).unwrap_or(whole);
                touched = touched.saturating_add(bytes.saturating_mul(times(user)));
            }
            work.extend(users::aliases(user));
        }
    }
    touched.saturating_mul(UNIT) / whole
}

/// The bytes that an operation touches through a value.
fn touched_by(user: Op<'_>, value: Val<'_>) -> Option<u64> {
    match effects::element(user) {
        Some(_) => size::element_bytes(ir::element_type(value.r#type())),
        None => size::bytes(value.r#type()),
    }
}

/// Number of times that an operation runs in a run of its function, as far as its loops say so.
fn times(op: Op<'_>) -> u64 {
    let around = std::iter::successors(op.parent_operation(), |op| op.parent_operation());
    let loops = around.filter(|op| ir::op_name(*op) == "scf.for");
    loops.filter_map(trips).fold(1, u64::saturating_mul)
}

fn trips(op: Op<'_>) -> Option<u64> {
    let operands = ir::operands(op);
    let number = |index: usize| ir::attr_i64(edit::defining_op(*operands.get(index)?)?, "value");
    let (from, to, step) = (number(0)?, number(1)?, number(2)?);
    u64::try_from(to.checked_sub(from)?).ok()?.checked_div(u64::try_from(step).ok()?)
}
