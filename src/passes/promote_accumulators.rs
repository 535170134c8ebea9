//! `promote-accumulators`: an element that a loop reads and writes in each iteration is a value that the
//! loop carries.
//!
//! Sums of `linalg` are kept in memory. Compilers of C and of kernels cannot keep them in
//! registers, since to them any buffer may be the same memory as another one. Here two buffers are
//! never the same: buffers in use in one loop are disjoint by the plan of memory.

use crate::{
    Result,
    ir::{
        self, Builder, Op, OpSpec, Val,
        capture::{Copy, is_outside},
        calls, edit, effects, memref,
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Region, RegionLike, ValueLike, block::BlockLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "promote-accumulators",
    summary: "Promote elements that each iteration of a loop reads and writes to loop-carried values",
    anchor: "func.func",
    options: &[],
    dialects: &["memref", "scf"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    Ok(inside(function)?)
}

/// Inner loops first: what they carry then begins and ends in the loop around them.
fn inside(op: Op<'_>) -> Result<()> {
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(current) = block {
            for inner in ir::ops(current) {
                inside(inner)?;
                let mut next = Some(inner).filter(|op| ir::op_name(*op) == "scf.for");
                while let Some(repeat) = next {
                    let found = Accumulator::of(repeat);
                    next = found.map(|found| found.promote(repeat)).transpose()?;
                }
            }
            block = current.next_in_region();
        }
    }
    Ok(())
}

/// An element that is written once in each iteration, and read before.
struct Accumulator<'c> {
    store: Op<'c>,
    loads: Vec<Op<'c>>,
    /// The buffer and the indices.
    place: Vec<Val<'c>>,
}

impl<'c> Accumulator<'c> {
    fn of(repeat: Op<'c>) -> Option<Self> {
        let body = ir::ops(edit::entry_block(repeat)?);
        let mut stores = body.iter().filter(|op| ir::op_name(**op) == "memref.store");
        stores.find_map(|store| Self::at(repeat, &body, *store))
    }

    fn at(repeat: Op<'c>, body: &[Op<'c>], store: Op<'c>) -> Option<Self> {
        let place = ir::operands(store).split_off(1);
        if !place.iter().all(|value| is_outside(*value, repeat)) {
            return None;
        }
        let buffer = memref::base(place[0]);
        let mut loads = vec![];
        let mut is_after = false;
        for op in body {
            if edit::same(*op, store) {
                is_after = true;
                continue;
            }
            for inner in edit::walk(*op).into_iter().chain([*op]) {
                // A call may be given an arena that has the buffer.
                if calls::callee(inner).is_some() || effects::of(inner).is_none() {
                    return None;
                }
                if !touches(inner, buffer) {
                    continue;
                }
                let same = ir::op_name(inner) == "memref.load" && ir::operands(inner) == place;
                if !same || is_after {
                    return None;
                }
                loads.push(inner);
            }
        }
        (!loads.is_empty()).then_some(Self { store, loads, place })
    }

    /// Builds the loop anew, with one more value that it carries.
    fn promote(self, old: Op<'c>) -> Result<Op<'c>> {
        let b = Builder::before(old)?;
        let body = edit::entry_block(old)
            .ok_or_else(|| crate::Error::internal("a loop without a body"))?;
        let stored = ir::operands(self.store)[0];
        let begin = match self.before(old) {
            Some(store) => {
                let value = ir::operands(store)[0];
                edit::erase(store);
                value
            }
            None => b.op1("memref.load", &self.place, stored.r#type())?,
        };
        let mut operands = ir::operands(old);
        operands.push(begin);
        let results: Vec<_> = operands[3..].iter().map(|value| value.r#type()).collect();
        let arguments: Vec<_> = edit::arguments(body)
            .iter()
            .map(|argument| argument.r#type())
            .chain([stored.r#type()])
            .map(|ty| (ty, b.location))
            .collect();
        let region = Region::new();
        let block = edit::append_block(&region, &arguments);
        let new = edit::arguments(block);
        let mut copy = Copy::nearby(block);
        for (of, is) in edit::arguments(body).into_iter().zip(&new) {
            copy.replace(of, *is);
        }
        for load in &self.loads {
            copy.replace(ir::result0(*load)?, new[new.len() - 1]);
        }
        let removed = |op: &Op<'c>| {
            edit::same(*op, self.store) || self.loads.iter().any(|load| edit::same(*load, *op))
        };
        let mut ops = ir::ops(body);
        let end = ops.pop().ok_or_else(|| crate::Error::internal("a loop without an end"))?;
        for op in ops.into_iter().filter(|op| !removed(op)) {
            copy.op(op)?;
        }
        let mut carried: Vec<_> = ir::operands(end).into_iter().map(|v| copy.value(v)).collect();
        carried.push(copy.value(stored));
        let inner = Builder::at_end(b.context, block, end.location());
        inner.create("scf.yield", OpSpec { operands: &carried, ..Default::default() })?;
        let spec = OpSpec { operands: &operands, results: &results, regions: vec![region], ..Default::default() };
        let made = b.create("scf.for", spec)?;
        let values = ir::results(made);
        for (of, is) in ir::results(old).into_iter().zip(&values) {
            edit::replace_uses(of, *is);
        }
        let operands = [&values[values.len() - 1..], &self.place].concat();
        b.with_location(self.store.location())
            .create("memref.store", OpSpec { operands: &operands, ..Default::default() })?;
        edit::erase(old);
        Ok(made)
    }

    /// The store before the loop that gives the element its first value, if nothing else sees it.
    fn before(&self, repeat: Op<'c>) -> Option<Op<'c>> {
        let buffer = memref::base(self.place[0]);
        let block = repeat.block()?;
        let ops = ir::ops(block);
        let at = ops.iter().position(|op| edit::same(*op, repeat))?;
        let touching = ops[..at].iter().rev().find(|op| {
            edit::walk(**op).into_iter().chain([**op]).any(|inner| touches(inner, buffer))
        })?;
        let is_store = ir::op_name(*touching) == "memref.store";
        let same = is_store && ir::operands(*touching)[1..] == self.place[..];
        same.then_some(*touching)
    }
}

/// True if an operation by itself uses elements of a buffer, or of a part of it.
fn touches<'c>(op: Op<'c>, buffer: Val<'c>) -> bool {
    let uses = |value: &Val<'c>| ir::is_memref(value.r#type()) && memref::base(*value) == buffer;
    let may_use = op.region_count() > 0 || !effects::touches_nothing(op);
    may_use && !memref::is_alias(op) && ir::operands(op).iter().any(uses)
}
