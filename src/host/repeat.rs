//! Sequential loops that become functions: those whose iterations are independent, each row of a search or region of a
//! pool, and parts of a single one.

use super::loops::{Cut, MAX_TASKS, TASK_WORK};
use crate::{
    ir::{self, Op, Val, edit, effects, memref},
    lower::loops::{ALONE, INDEPENDENT},
};
use melior::ir::operation::OperationLike;

/// Iterations of a loop whose number is not known.
const SOME: i64 = 4;

/// A `scf.for` on buffers, of a known number of iterations, that a lowering has marked.
pub struct Repeat<'c> {
    /// The operation.
    pub op: Op<'c>,
    extent: i64,
    independent: bool,
}

impl<'c> Repeat<'c> {
    /// Reads an operation; `None` if it is another one, or what it writes does not depend on the iteration.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let independent = op.has_attribute(INDEPENDENT);
        let marked = independent || op.has_attribute(ALONE);
        if !marked || ir::op_name(op) != "scf.for" || !ir::results(op).is_empty() {
            return None;
        }
        let found = Self { op, extent: trips(op)?, independent };
        let first = known(ir::operands(op)[0])?;
        let index = edit::arguments(edit::entry_block(op)?).into_iter().next()?;
        let mut inside = edit::walk(op).into_iter();
        let plain = inside.all(|op| match effects::element(op) {
            Some(element) => !element.writes || !independent || element.indices.contains(&index),
            None => !memref::is_alias(op) && effects::of(op).is_some_and(|all| all.is_empty()),
        });
        (plain && (first == 0 || !independent)).then_some(found)
    }

    /// The buffers that are written.
    pub fn writes(&self) -> Vec<Val<'c>> {
        let mut found = vec![];
        for op in edit::walk(self.op) {
            if ir::op_name(op) == "memref.store" && !found.contains(&ir::operands(op)[1]) {
                found.push(ir::operands(op)[1]);
            }
        }
        found
    }

    /// About how many elementary operations there are.
    pub fn work(&self) -> i64 {
        work(self.op)
    }

    /// Tasks of several iterations, if there is enough to do.
    pub fn cut(&self) -> Option<Cut> {
        let wanted = (self.work() / TASK_WORK).min(MAX_TASKS).min(self.extent);
        if wanted < 2 || !self.independent {
            return None;
        }
        let step = (self.extent + wanted - 1) / wanted;
        Some(Cut { at: 0, extent: self.extent, step })
    }
}

fn known(value: Val<'_>) -> Option<i64> {
    ir::attr_i64(edit::defining_op(value)?, "value")
}

/// Trip count of a loop with known bounds and a step of 1.
fn trips(repeat: Op<'_>) -> Option<i64> {
    let [from, to, step, ..] = ir::operands(repeat)[..] else { return None };
    (known(step)? == 1).then_some(known(to)? - known(from)?)
}

fn work(op: Op<'_>) -> i64 {
    let own = ir::ops_of(op).into_iter().map(work).fold(1, i64::saturating_add);
    match ir::op_name(op) {
        "scf.for" => own.saturating_mul(trips(op).unwrap_or(SOME)),
        _ => own,
    }
}
