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
    ir::{self, Builder, Op, call_extern::Group, edit, names::TILE, users},
    pass::{OptionValues, Pass, PassError},
    tile::{
        keep::{Call, Candidate, keep},
        plan::{Plan, Tensor},
        tiled::{Tiled, by_block, lost, room},
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
    by_block(function)?.iter().try_for_each(|block| keep_in_block(block))
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
            tiled.set_plan(&call.plan)?;
        }
    }
    Ok(())
}

/// The result of a call that is a tensor of its plan, if it may stay.
fn candidate(block: &[Tiled<'_>], writer: (usize, usize)) -> Option<Candidate> {
    let tiled = block.get(writer.0)?;
    let (tensor, pool) = tiled.home(writer.1)?;
    edit::defining_op(tiled.value(writer.1)?).filter(|op| ir::op_name(*op) == "tensor.empty")?;
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
    let last = block.get(readers.last()?.0)?;
    is_free(tiled.op, last.op).then_some(Candidate { writer, readers })
}

/// Whether nothing from one operation to another in its block takes bytes of a pool that are not known
/// here: loops of calls, and calls that keep something already.
fn is_free<'c>(from: Op<'c>, to: Op<'c>) -> bool {
    let mut next = Some(from);
    let between = std::iter::from_fn(|| {
        let op = next.take()?;
        next = op.next_in_block().filter(|_| !edit::same(op, to));
        Some(op)
    });
    let takes = |op: Op<'c>| match op.region_count() {
        0 => Plan::of(op).ok().flatten().is_some_and(|plan| plan.tensors.iter().any(|t| t.kept)),
        _ => edit::walk(op).into_iter().any(|inner| inner.has_attribute(TILE)),
    };
    !between.into_iter().any(takes)
}

/// Has a call write a result in the pool.
fn allocate_kept<'c>(tiled: &Tiled<'c>, tensor: usize) -> Result<(), PassError<'c>> {
    let (_, pool) = tiled.home(tensor).ok_or_else(lost)?;
    let output = tiled.value(tensor).ok_or_else(lost)?;
    let room = room(&Builder::before(tiled.op)?, output.r#type(), &pool.name)?;
    let scalars = tiled.call.groups[Group::Scalars as usize].len();
    edit::set_operand(tiled.op, scalars + tensor, room)?;
    Ok(())
}
