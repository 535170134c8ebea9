//! The points of a function at which its operations run.

use super::inside::{Effect, Effects};
use crate::ir::{self, Op, calls, edit};
use melior::ir::operation::OperationLike;
use std::collections::HashMap;

/// From the first point at which a buffer is in use to the last, itself included.
pub type Span = (usize, usize);

/// The order in which the operations of a function run. Each has a point where it starts and one
/// where it ends. Operations inside of it, and those that it calls, lie between them.
pub struct Order<'e, 'c> {
    // Only looked up, so that its own order is of no effect.
    points: HashMap<ir::Id, Span>,
    effects: &'e Effects<'c>,
}

impl<'e, 'c> Order<'e, 'c> {
    /// Numbers the operations of a function, given as [`edit::walk`] lists them.
    pub fn of(function: Op<'c>, ops: &[Op<'c>], effects: &'e Effects<'c>) -> Self {
        let mut points = HashMap::with_capacity(ops.len());
        let mut open: Vec<(Op<'_>, usize)> = vec![];
        let mut next = 0;
        for op in ops {
            let parent = op.parent_operation();
            while let Some((last, start)) = open.pop() {
                if parent.is_some_and(|parent| edit::same(parent, last)) {
                    open.push((last, start));
                    break;
                }
                points.insert(ir::id(last), (start, next));
                next += 1;
            }
            open.push((*op, next));
            next += 1;
            next += effect_of(*op, effects).map_or(0, |effect| effect.length);
        }
        for (last, start) in open.into_iter().rev() {
            points.insert(ir::id(last), (start, next));
            next += 1;
        }
        points.insert(ir::id(function), (0, next));
        Self { points, effects }
    }

    /// Known effects of the function that `call` calls.
    pub fn effect(&self, call: Op<'c>) -> Option<&'e Effect<'c>> {
        effect_of(call, self.effects)
    }

    /// Start and end of an operation of the function.
    pub fn span(&self, op: Op<'_>) -> Span {
        self.points.get(&ir::id(op)).copied().unwrap_or_default()
    }

    /// The point at which what `call` calls begins.
    pub fn begin(&self, call: Op<'_>) -> usize {
        self.span(call).0 + 1
    }
}

fn effect_of<'e, 'c>(call: Op<'c>, effects: &'e Effects<'c>) -> Option<&'e Effect<'c>> {
    effects.get(&calls::callee(call)?)
}
