//! The calls of a function that are computed tile by tile.

use super::{
    attribute::{plan_of, to_attribute},
    keep::Call,
    plan::{Plan, Tensor},
    pool::Pool,
    slice::allocate,
};
use crate::{
    Error, Result,
    ir::{
        Builder, Op, Val,
        call_extern::{CallExtern, Group},
        edit, names,
    },
    pass::PassError,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// A call with a plan.
pub struct Tiled<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// The parts of the call.
    pub call: CallExtern<'c>,
    /// Loops and tiles of the call.
    pub plan: Call,
}

impl<'c> Tiled<'c> {
    /// The call; none for other operations, and for a plan that is not about the call's tensors, which
    /// `tile-calls` refuses.
    pub fn of(op: Op<'c>) -> Result<Option<Self>, PassError<'c>> {
        let Some(call) = CallExtern::of(op) else { return Ok(None) };
        let plan = plan_of(op).map_err(|error| PassError::at(&op, error))?;
        let reads = call.groups[Group::Ins as usize].len();
        let count = reads + call.groups[Group::Outs as usize].len();
        let plan = plan.filter(|plan| plan.tensors.len() == count);
        Ok(plan.map(|plan| Self { op, call, plan: Call { plan, reads } }))
    }

    /// The value that the call reads or writes for a tensor of its plan.
    pub fn value(&self, tensor: usize) -> Option<Val<'c>> {
        let [_, ins, outs] = &self.call.groups;
        ins.iter().chain(outs).nth(tensor).copied()
    }

    /// A tensor and its pool, if that keeps results and its tile has the tensor's form.
    pub fn home(&self, tensor: usize) -> Option<(&Tensor, &Pool)> {
        self.plan.home(tensor)
    }

    /// Changes the plan of the operation.
    pub fn set_plan(&self, plan: &Plan) -> Result<()> {
        let plan = to_attribute(&Builder::before(self.op)?, plan)?;
        edit::set_attr(self.op, names::TILE, plan);
        Ok(())
    }
}

/// The calls of a function with a plan, block by block.
pub fn by_block<'c>(function: Op<'c>) -> Result<Vec<Vec<Tiled<'c>>>, PassError<'c>> {
    let mut blocks: Vec<Vec<Tiled<'c>>> = vec![];
    for op in edit::walk(function) {
        let Some(tiled) = Tiled::of(op)? else { continue };
        let same = |block: &&mut Vec<Tiled<'c>>| {
            block.first().is_some_and(|first| first.op.block() == op.block())
        };
        match blocks.iter_mut().find(same) {
            Some(block) => block.push(tiled),
            None => blocks.push(vec![tiled]),
        }
    }
    Ok(blocks)
}

/// Memory in a pool for a tensor that stays there.
pub fn room<'c>(b: &Builder<'c>, ty: Type<'c>, pool: &str) -> Result<Val<'c>> {
    let space = b.parse_attr(&format!("#tir.space<{pool:?}>"))?;
    allocate(b, ty, None, space)
}

/// A copy of a tensor in a pool.
pub fn loaded<'c>(b: &Builder<'c>, value: Val<'c>, pool: &str) -> Result<Val<'c>> {
    let space = b.parse_attr(&format!("#tir.space<{pool:?}>"))?;
    allocate(b, value.r#type(), Some(value), space)
}

/// Internal error about a call without the tensor that a decision is about.
pub fn lost() -> Error {
    Error::internal("a call has no tensor that could stay in its pool")
}
