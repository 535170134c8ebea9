//! Work of a device that goes on after the call that starts it, beside other work of the device.

use super::Scope;
use crate::ir::{
    self, Op,
    calls::CallGraph,
    edit, memref,
    names::{OVERLAPS, TARGET},
    queue::{Schedule, Starters},
};
use melior::ir::operation::OperationLike;

/// The device whose memory is looked at, if it has several queues.
pub struct Overlap<'c> {
    starters: Starters<'c>,
}

impl<'c> Overlap<'c> {
    /// The overlap on the device; none if all its work is done in the order of its calls.
    pub fn of(graph: &CallGraph<'c>, scope: Scope<'_>) -> Option<Self> {
        let Scope::Device(memory) = scope else { return None };
        let overlapping =
            graph.order.iter().filter_map(|name| graph.function(name)).find(|function| {
                function.has_attribute(OVERLAPS)
                    && ir::attr_str(*function, TARGET).as_deref() == Some(&*memory.target)
            })?;
        let module = overlapping.parent_operation()?;
        Some(Self { starters: Starters::of(module, &memory.target) })
    }

    /// Commands that a function starts; none if it starts nothing.
    pub fn schedule(&self, function: Op<'c>) -> Option<Schedule<'c>> {
        let schedule = Schedule::of(edit::entry_block(function)?, &self.starters);
        (!schedule.commands.is_empty()).then_some(schedule)
    }
}

/// The operations that use what `op` makes, itself or a view of it.
pub fn uses(op: Op<'_>) -> Vec<Op<'_>> {
    let (mut found, mut work) = (vec![], vec![op]);
    while let Some(op) = work.pop() {
        for user in ir::users_of(op) {
            if memref::is_alias(user) {
                work.push(user);
            } else {
                found.push(user);
            }
        }
    }
    found
}
