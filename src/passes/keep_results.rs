//! `keep-results`: leaves results of calls in a device's own memory for the calls that read them.
//!
//! ```text
//! %y = tir.call_extern @npu_conv ins(%x, %w) outs(%empty) {phl.tile = {...}}
//! %z = tir.call_extern @npu_pool ins(%y) outs(%other) {phl.tile = {...}}
//!   -->  %y is allocated in the pool, and the plans of both calls say that it is `kept` there
//! ```
//! `tile-calls` then takes parts of it as tiles, and moves nothing. Whether that costs less is for
//! `crate::tile::keep` to say; pools ask for it with `keep-results`. Only a result is kept that
//! calls of the same block alone read and whose rows fill those of the pool. No store may convert
//! it, unless its pool can leave the converted data in another one (`keep`).

use crate::{
    ir::{self, Builder, Op, call_extern::Group, edit, effects, guard, names::{self, TILE}, users},
    pass::{OptionValues, Pass, PassError},
    tile::{
        attribute::plan_of,
        keep::{Call, Candidate, Outcome, keep},
        plan::Tensor,
        stay::{Fate, Stay},
        tiled::{Tiled, by_block, lost, room},
        told::{call_name, tell},
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
    let mut decisions = vec![];
    for block in by_block(function)? {
        decisions.extend(keep_in_block(&block)?);
    }
    tell(function, decisions)?;
    Ok(())
}

fn keep_in_block<'c>(block: &[Tiled<'c>]) -> Result<Vec<Stay>, PassError<'c>> {
    let Some(first) = block.first() else { return Ok(vec![]) };
    let writers = block.iter().enumerate().flat_map(|(place, tiled)| {
        (tiled.plan.reads..tiled.plan.plan.tensors.len()).map(move |tensor| (place, tensor))
    });
    let (mut candidates, mut decisions): (Vec<Candidate>, Vec<Stay>) = (vec![], vec![]);
    for writer in writers {
        match candidate(block, writer) {
            Ok(candidate) => candidates.push(candidate),
            Err(None) => {}
            Err(Some(reason)) => {
                let calls = block.get(writer.0).map(|tiled| call_name(tiled.op));
                decisions.push(Stay { calls: calls.into_iter().collect(), fate: Fate::Moved { reason } });
            }
        }
    }
    let mut calls: Vec<Call> = block.iter().map(|tiled| tiled.plan.clone()).collect();
    // A check has results stay that would be cheaper moved, too.
    let all = guard::around(first.op, names::TILE_CHOICE).is_some();
    let outcomes = keep(&mut calls, &candidates, all).map_err(|error| PassError::at(&first.op, error))?;
    for (candidate, outcome) in candidates.iter().zip(outcomes) {
        let tiled = block.get(candidate.writer.0);
        if let (Some(tiled), Outcome::Kept(_)) = (tiled, &outcome) {
            allocate_kept(tiled, candidate.writer.1)?;
        }
        decisions.push(decision(block, candidate, outcome));
    }
    for (tiled, call) in block.iter().zip(&calls) {
        if call.plan != tiled.plan.plan {
            tiled.set_plan(&call.plan)?;
        }
    }
    Ok(decisions)
}

/// Decision about a candidate, for the report.
fn decision(block: &[Tiled<'_>], candidate: &Candidate, outcome: Outcome) -> Stay {
    let readers = candidate.readers.iter().map(|(call, _)| *call);
    let calls = std::iter::once(candidate.writer.0).chain(readers);
    let calls = calls.filter_map(|place| Some(call_name(block.get(place)?.op))).collect();
    let moved = |reason: String| Fate::Moved { reason };
    let fate = match outcome {
        Outcome::Kept(gain) => Fate::Whole { gain },
        Outcome::Dearer(by) if by > 0.0 => moved(format!("that would cost {by:.0} more")),
        Outcome::Dearer(_) => moved("that would cost the same".to_owned()),
        Outcome::NoRoom => moved("there is no room for it beside tiles and what else stays".to_owned()),
    };
    Stay { calls, fate }
}

/// The result of a call that is a tensor of its plan, if it may stay; else the reason. No reason is
/// given if it only leaves the function or becomes a part of another value, or if its pool keeps
/// nothing.
fn candidate(block: &[Tiled<'_>], writer: (usize, usize)) -> Result<Candidate, Option<String>> {
    let tiled = block.get(writer.0).ok_or(None)?;
    let result = *ir::results(tiled.op).get(writer.1 - tiled.plan.reads).ok_or(None)?;
    let users = users(result);
    let leaves = |user: &Op<'_>| {
        effects::hands_on(*user) || ir::op_name(*user) == "tensor.insert_slice"
    };
    if users.iter().all(leaves) {
        return Err(None);
    }
    let (tensor, pool) = tiled.home(writer.1).ok_or_else(|| tiled.plan.homeless(writer.1))?;
    let output = tiled.value(writer.1).and_then(edit::defining_op);
    if output.is_none_or(|op| ir::op_name(op) != "tensor.empty") {
        return Err(Some("it is written into a part of something else".to_owned()));
    }
    let mut readers = vec![];
    for user in users {
        let who = || match ir::op_name(user) {
            "func.return" => "it leaves the function as well".to_owned(),
            "tensor.extract_slice" => format!("'{}' reads it in parts", call_name(user)),
            other => format!("{other} at '{}' reads it", call_name(user)),
        };
        let place = block.iter().position(|other| edit::same(other.op, user));
        let Some((place, reader)) = place.and_then(|place| Some((place, block.get(place)?))) else {
            return Err(Some(who()));
        };
        let ins = reader.call.groups[Group::Ins as usize].iter().enumerate();
        let reads: Vec<usize> =
            ins.filter(|(_, value)| **value == result).map(|(tensor, _)| tensor).collect();
        let same = |place: &usize| {
            reader.home(*place).is_some_and(|(other, home)| {
                let sizes = |tensor: &Tensor| tensor.dims.iter().map(|dim| dim.size).collect::<Vec<_>>();
                home.name == pool.name
                    && other.element == tensor.kept_element()
                    && sizes(other) == sizes(tensor)
            })
        };
        // A call that writes into it reads it as well, but not as an input.
        let is_output = reader.call.groups[Group::Outs as usize].contains(&result);
        if is_output || reads.is_empty() {
            return Err(Some(format!("'{}' writes into it", call_name(user))));
        }
        if !reads.iter().all(same) {
            let (reader, pool) = (call_name(user), &pool.name);
            return Err(Some(format!("'{reader}' does not read it as it would lie in '{pool}'")));
        }
        readers.extend(reads.into_iter().map(|tensor| (place, tensor)));
    }
    readers.sort_unstable();
    readers.dedup();
    let last = readers.last().and_then(|(place, _)| block.get(*place)).ok_or(None)?;
    match is_free(tiled.op, last.op) {
        true => Ok(Candidate { writer, readers }),
        false => Err(Some("a loop of stripes lies in between".to_owned())),
    }
}

/// True if no operation from one to another in its block takes an unknown number of bytes of a
/// pool: loops of calls, and calls that keep something already.
fn is_free<'c>(from: Op<'c>, to: Op<'c>) -> bool {
    let mut next = Some(from);
    let between = std::iter::from_fn(|| {
        let op = next.take()?;
        next = op.next_in_block().filter(|_| !edit::same(op, to));
        Some(op)
    });
    let takes = |op: Op<'c>| match op.region_count() {
        0 => plan_of(op).ok().flatten().is_some_and(|plan| plan.tensors.iter().any(|t| t.kept)),
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
