//! `keep-results`: leaves results of calls in a device's own memory for the calls that read them.
//!
//! ```text
//! %y = tir.call_extern @npu_conv ins(%x, %w) outs(%empty) {phl.tile = {...}}
//! %z = tir.call_extern @npu_pool ins(%y) outs(%other) {phl.tile = {...}}
//!   -->  %y is allocated in the pool, and the plans of both calls say that it is `kept` there
//! ```
//! `tile-calls` then takes parts of it as tiles, and moves nothing. Whether that costs less is for
//! `crate::tile::keep` to say; pools ask for it with `keep-results`. Only a result is kept that calls of the
//! same block alone read, whose rows fill those of the pool, and which no store converts.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        edit, names, users,
    },
    pass::{OptionValues, Pass, PassError},
    tile::{
        keep::{Call, Candidate, keep},
        plan::{Plan, Pool, Tensor},
        slice::allocate,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "keep-results",
    summary: "Leave results in a device's own memory for the calls that read them",
    anchor: "func.func",
    options: &[],
    dialects: &["bufferization", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut blocks: Vec<Vec<Tiled<'c>>> = vec![];
    for op in edit::walk(function) {
        let Some(call) = CallExtern::of(op) else { continue };
        let plan = Plan::of(op).map_err(|error| PassError::at(&op, error))?;
        let Some(plan) = plan else { continue };
        let reads = call.groups[Group::Ins as usize].len();
        if plan.tensors.len() != reads + call.groups[Group::Outs as usize].len() {
            continue;
        }
        let tiled = Tiled { op, call, plan: Call { plan, reads } };
        let same = |block: &&mut Vec<Tiled<'c>>| {
            block.first().is_some_and(|first| first.op.block() == op.block())
        };
        match blocks.iter_mut().find(same) {
            Some(block) => block.push(tiled),
            None => blocks.push(vec![tiled]),
        }
    }
    blocks.iter().try_for_each(|block| keep_in_block(block))
}

/// A call that is computed tile by tile.
struct Tiled<'c> {
    op: Op<'c>,
    call: CallExtern<'c>,
    plan: Call,
}

impl<'c> Tiled<'c> {
    /// What it writes into for a tensor of its plan.
    fn output(&self, tensor: usize) -> Option<Val<'c>> {
        let place = tensor.checked_sub(self.plan.reads)?;
        self.call.groups[Group::Outs as usize].get(place).copied()
    }

    /// A tensor and its pool, if that keeps results and its tile is as the tensor is.
    fn home(&self, tensor: usize) -> Option<(&Tensor, &Pool)> {
        let tensor = self.plan.plan.tensors.get(tensor)?;
        let pool = self.plan.plan.pools.get(tensor.moved_pool()?)?;
        let row = tensor.dims.last().map_or(1, |dim| dim.size);
        let is_full = pool.filled(row, tensor.element) == row;
        let is_plain = !tensor.is_converted() && tensor.moved_element() == tensor.element;
        (pool.dma.keep_results && is_full && is_plain).then_some((tensor, pool))
    }
}

fn keep_in_block<'c>(block: &[Tiled<'c>]) -> Result<(), PassError<'c>> {
    let Some(first) = block.first() else { return Ok(()) };
    let writers = block.iter().enumerate().flat_map(|(place, tiled)| {
        (tiled.plan.reads..tiled.plan.plan.tensors.len()).map(move |tensor| (place, tensor))
    });
    let candidates: Vec<Candidate> =
        writers.filter_map(|writer| candidate(block, writer)).collect();
    let mut calls: Vec<Call> = block.iter().map(|tiled| tiled.plan.clone()).collect();
    let kept = keep(&mut calls, &candidates).map_err(|error| PassError::at(&first.op, error))?;
    for candidate in kept.into_iter().filter_map(|place| candidates.get(place)) {
        if let Some(tiled) = block.get(candidate.writer.0) {
            allocate_kept(tiled, candidate.writer.1)?;
        }
    }
    for (tiled, call) in block.iter().zip(&calls) {
        if call.plan != tiled.plan.plan {
            let plan = call.plan.attribute(&Builder::before(tiled.op)?)?;
            edit::set_attr(tiled.op, names::TILE, plan);
        }
    }
    Ok(())
}

/// The result of a call that is a tensor of its plan, if it may stay.
fn candidate(block: &[Tiled<'_>], writer: (usize, usize)) -> Option<Candidate> {
    let tiled = block.get(writer.0)?;
    let (tensor, pool) = tiled.home(writer.1)?;
    edit::defining_op(tiled.output(writer.1)?).filter(|op| ir::op_name(*op) == "tensor.empty")?;
    let result = *ir::results(tiled.op).get(writer.1 - tiled.plan.reads)?;
    let mut readers = vec![];
    for user in users(result) {
        let place = block.iter().position(|other| edit::same(other.op, user))?;
        let reader = block.get(place)?;
        let ins = reader.call.groups[Group::Ins as usize].iter().enumerate();
        let reads: Vec<usize> =
            ins.filter(|(_, value)| **value == result).map(|(tensor, _)| tensor).collect();
        let same = |place: &usize| {
            reader.home(*place).is_some_and(|(other, home)| {
                let sizes = |tensor: &Tensor| tensor.dims.iter().map(|dim| dim.size).collect::<Vec<_>>();
                home.name == pool.name
                    && other.element == tensor.element
                    && sizes(other) == sizes(tensor)
            })
        };
        // Who writes into it reads it as well, but not as an input.
        let is_output = reader.call.groups[Group::Outs as usize].contains(&result);
        if is_output || reads.is_empty() || !reads.iter().all(same) {
            return None;
        }
        readers.extend(reads.into_iter().map(|tensor| (place, tensor)));
    }
    readers.sort_unstable();
    readers.dedup();
    (!readers.is_empty()).then_some(Candidate { writer, readers })
}

/// Has a call write a result in the pool.
fn allocate_kept<'c>(tiled: &Tiled<'c>, tensor: usize) -> Result<(), PassError<'c>> {
    let lost = || PassError::at(&tiled.op, "has no output that could stay in its pool");
    let (_, pool) = tiled.home(tensor).ok_or_else(lost)?;
    let output = tiled.output(tensor).ok_or_else(lost)?;
    let b = Builder::before(tiled.op)?;
    let space = b.parse_attr(&format!("#tir.space<{:?}>", pool.name))?;
    let room = allocate(&b, output.r#type(), None, space)?;
    let scalars = tiled.call.groups[Group::Scalars as usize].len();
    edit::set_operand(tiled.op, scalars + tensor, room)?;
    Ok(())
}
