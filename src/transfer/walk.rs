//! The walk over a function that knows where each buffer is up to date.

use super::{
    Side,
    access::{Access, Reader, calls_device},
    buffer::{Buffers, State},
    calls::{Calls, Copy},
};
use crate::{
    ir::{self, Blk, Op, Val, edit, effects, func, memref, names},
    pass::{PassError, PassResult},
};
use melior::ir::{
    RegionLike, ValueLike, attribute::StringAttribute, block::BlockLike, operation::OperationLike,
};
use std::collections::{BTreeMap, BTreeSet};

/// Puts the buffers of a function where its operations want them.
pub fn run<'c>(function: Op<'c>, side: Side, calls: &mut Calls<'c, '_>) -> PassResult<'c> {
    let bound = bound(function, side, calls)?;
    if bound.is_empty() && !calls_device(function, side, &calls.device.memory.target) {
        return Ok(());
    }
    if side == Side::Device {
        copies_within(function, calls)?;
    }
    let mut walk = Walk { side, calls, buffers: Buffers::of(function), unfinished: false };
    let wanted: BTreeSet<usize> = walk
        .reader()
        .deep(function)?
        .into_iter()
        .filter(|(_, access)| access.side == Side::Device)
        .map(|(_, access)| access.buffer)
        .collect();
    if side == Side::Device {
        let arguments = func::Signature::of(function)?.arguments.len();
        for index in 0..arguments {
            let buffer = func::argument(function, index).and_then(|v| walk.buffers.find(v));
            if buffer.is_some_and(|buffer| wanted.contains(&buffer)) {
                walk.buffers.take(function, index, walk.calls)?;
            }
        }
    }
    for index in bound {
        walk.buffers.take(function, index, walk.calls)?;
    }
    let body =
        edit::entry_block(function).ok_or_else(|| PassError::at(&function, "has no body"))?;
    if body.next_in_region().is_some() {
        return Err(walk.no_structure(function));
    }
    let end = walk.block(body)?;
    for buffer in 0..walk.buffers.all.len() {
        if let Some(caller) = walk.buffers.all[buffer].caller {
            walk.ensure(buffer, caller, end)?;
        }
    }
    // What the host started is done when it returns; of a device's functions only what concerns the
    // host's memory.
    if walk.is_busy() || (walk.unfinished && side == Side::Host) {
        walk.wait(end)?;
    }
    walk.buffers.clean();
    Ok(())
}

/// The arguments of the network that programs have in the device's memory.
fn bound<'c>(function: Op<'c>, side: Side, calls: &Calls<'c, '_>) -> PassResult<'c, Vec<usize>> {
    if side == Side::Device {
        return Ok(vec![]);
    }
    let arguments = func::Signature::of(function)?.arguments.into_iter().enumerate();
    let is_bound = |attributes: &func::Attributes<'c>| {
        let id = attributes.iter().find(|(name, _)| name == names::BOUND);
        let id = id.and_then(|(_, value)| edit::string(*value));
        id.as_ref() == Some(&calls.device.memory.target)
    };
    let bound: Vec<_> = arguments.filter(|(_, (_, attributes))| is_bound(attributes)).collect();
    let target = &calls.device.memory.target;
    let devices = ir::attr_strs(calls.module, names::DEVICES).unwrap_or_default();
    if let Some((_, (_, attributes))) = bound.first().filter(|_| !devices.contains(target)) {
        let name = attributes.iter().find(|(name, _)| name == names::NAME);
        let name = name.and_then(|(_, value)| edit::string(*value)).unwrap_or_default();
        return Err(PassError::at(
            &function,
            format!(
                "'{name}' is bound to target '{target}', on whose device nothing of the model runs"
            ),
        ));
    }
    Ok(bound.into_iter().map(|(index, _)| index).collect())
}

/// Copies between buffers that a device makes itself, if it can.
fn copies_within<'c>(function: Op<'c>, calls: &mut Calls<'c, '_>) -> PassResult<'c> {
    if calls.device.copy_within.is_none() {
        return Ok(());
    }
    for op in edit::walk(function) {
        let passable = |value: &Val<'c>| {
            let ty = value.r#type();
            let rows = ir::static_dims(ty).map(|dims| memref::row_major(&dims));
            memref::space_or_host(ty).is_some_and(|space| space.is_empty())
                && rows.is_some()
                && memref::static_strides(ty) == rows
        };
        if let Some((from, to)) = effects::copied(op)
            && [from, to].iter().all(passable)
        {
            calls.copy(op, Side::Device, Copy::Within, (from, to))?;
            edit::erase(op);
        }
    }
    Ok(())
}

struct Walk<'a, 'c, 'd> {
    side: Side,
    calls: &'a mut Calls<'c, 'd>,
    buffers: Buffers<'c>,
    /// True if the device may still be at work.
    unfinished: bool,
}

/// Use of a buffer inside of an operation.
#[derive(Clone, Copy, Default)]
struct Inside {
    host: bool,
    device: bool,
    written: bool,
}

impl<'c> Walk<'_, 'c, '_> {
    fn reader(&self) -> Reader<'_, 'c, '_> {
        Reader { side: self.side, calls: self.calls, buffers: &self.buffers }
    }

    /// Goes through a block; gives the operation that ends it, which is not looked at.
    fn block(&mut self, block: Blk<'c>) -> PassResult<'c, Op<'c>> {
        let mut ops = ir::ops(block);
        let end = ops.pop().ok_or_else(|| PassError::new("an empty block"))?;
        let target = self.calls.device.memory.target.clone();
        for op in ops {
            if op.region_count() > 0 && calls_device(op, self.side, &target) {
                self.nested(op)?;
            } else {
                self.step(op, &target)?;
            }
        }
        Ok(end)
    }

    /// An operation that is on one side as a whole.
    fn step(&mut self, op: Op<'c>, target: &str) -> PassResult<'c> {
        let accesses = self.reader().deep(op)?;
        for (inner, access) in &accesses {
            let overwritten = access.whole && !access.reads && edit::same(*inner, op);
            if !overwritten {
                self.ensure(access.buffer, access.side, op)?;
            }
        }
        let waits = |access: &&Access| {
            let state = self.buffers.all[access.buffer].state;
            access.side == Side::Host && (state.written || (access.writes && state.read))
        };
        let awaited = accesses.iter().map(|(_, access)| access).filter(waits);
        let awaited: BTreeSet<usize> = awaited.map(|access| access.buffer).collect();
        if !awaited.is_empty() {
            self.wait_for(op, &awaited)?;
        }
        for (_, access) in accesses.iter().filter(|(_, access)| access.writes) {
            let buffer = &mut self.buffers.all[access.buffer];
            buffer.state.only(access.side);
            buffer.writer = Some(op).filter(|_| access.side == Side::Device);
        }
        for (inner, access) in accesses.iter().filter(|(_, a)| a.side == Side::Device) {
            self.give(*inner, access)?;
        }
        if calls_device(op, self.side, target) {
            self.unfinished = true;
            if self.side == Side::Device && op.has_attribute("scratch_bytes") {
                let space = &self.calls.device.memory.space;
                let space = StringAttribute::new(self.calls.context, space).into();
                edit::set_attr(op, names::SCRATCH_MEMORY, space);
            }
            if let Some(next) = op.next_in_block().filter(|_| self.is_apart()) {
                self.wait(next)?;
            }
        }
        Ok(())
    }

    /// True if each function that the host calls is waited for at once.
    fn is_apart(&self) -> bool {
        let device = &self.calls.device;
        self.side == Side::Host && device.apart && device.wait.is_some()
    }

    /// Passes the device's place of a buffer.
    fn give(&mut self, op: Op<'c>, access: &Access) -> PassResult<'c> {
        let value = ir::operands(op).get(access.operand).copied();
        let value = value.ok_or_else(|| PassError::at(&op, "lost an operand"))?;
        let device = self.buffers.view(value, self.calls)?;
        Ok(edit::set_operand(op, access.operand, device)?)
    }

    /// A loop or branch in which the device is called.
    fn nested(&mut self, op: Op<'c>) -> PassResult<'c> {
        let mut inside: BTreeMap<usize, Inside> = BTreeMap::new();
        for (_, access) in self.reader().deep(op)? {
            let entry = inside.entry(access.buffer).or_default();
            entry.host |= access.side == Side::Host;
            entry.device |= access.side == Side::Device;
            entry.written |= access.writes;
        }
        inside.retain(|buffer, _| !self.is_made_in(*buffer, op));
        let mut kept: BTreeMap<usize, Side> = BTreeMap::new();
        for (buffer, uses) in inside {
            let keep = match (uses.host, uses.device) {
                (false, _) => Side::Device,
                (true, false) => Side::Host,
                (true, true) => self.side,
            };
            if uses.written {
                kept.insert(buffer, keep);
                self.ensure(buffer, keep, op)?;
                self.buffers.all[buffer].state.only(keep);
                self.buffers.all[buffer].writer = None;
                continue;
            }
            for (side, wanted) in [(Side::Host, uses.host), (Side::Device, uses.device)] {
                if wanted {
                    self.ensure(buffer, side, op)?;
                }
            }
        }
        if self.is_busy() {
            self.wait(op)?;
        }
        let before: Vec<State> = self.buffers.all.iter().map(|buffer| buffer.state).collect();
        for region in op.regions() {
            let Some(block) = region.first_block() else { continue };
            if block.next_in_region().is_some() {
                return Err(self.no_structure(op));
            }
            let end = self.block(block)?;
            for (buffer, side) in &kept {
                self.ensure(*buffer, *side, end)?;
            }
            if self.is_busy() {
                self.wait(end)?;
            }
            for (buffer, state) in self.buffers.all.iter_mut().zip(&before) {
                buffer.state = *state;
            }
        }
        self.unfinished = true;
        Ok(())
    }

    fn no_structure(&self, op: Op<'c>) -> PassError<'c> {
        PassError::at(
            &op,
            format!(
                "has several blocks, between which buffers in the memory of target '{}' cannot be \
                 followed",
                self.calls.device.memory.target
            ),
        )
    }

    fn is_made_in(&self, buffer: usize, op: Op<'c>) -> bool {
        let made = edit::defining_op(self.buffers.all[buffer].host);
        let around = std::iter::successors(made, |op| op.parent_operation());
        around.skip(1).any(|around| edit::same(around, op))
    }

    /// Brings a buffer up to date on a side before `at`.
    fn ensure(&mut self, buffer: usize, side: Side, at: Op<'c>) -> PassResult<'c> {
        let state = self.buffers.all[buffer].state;
        if state.is_at(side) || !(state.host || state.device) {
            return Ok(());
        }
        let host = self.buffers.all[buffer].host;
        let is_constant =
            edit::defining_op(host).is_some_and(|op| ir::op_name(op) == "memref.get_global");
        if is_constant {
            // It is there before the first run.
            return Ok(());
        }
        let device = self.buffers.device(buffer, self.calls)?;
        let queued = self.calls.device.wait.is_some();
        let state = &mut self.buffers.all[buffer].state;
        match side {
            Side::Device => {
                (state.device, state.read) = (true, state.read || queued);
                self.calls.copy(at, self.side, Copy::In, (host, device))?;
            }
            Side::Host => {
                (state.host, state.written) = (true, state.written || queued);
                let at = self.behind_writer(buffer, at);
                self.calls.copy(at, self.side, Copy::Out, (device, host))?;
            }
        }
        self.unfinished = true;
        Ok(())
    }

    /// Position at which a result is copied down: with tickets as soon as it is made, so that
    /// nobody waits for what is started in between.
    fn behind_writer(&self, buffer: usize, at: Op<'c>) -> Op<'c> {
        let in_parts = self.calls.device.waits_for_parts() && !self.is_apart();
        let early = self.side == Side::Host && in_parts;
        let writer = self.buffers.all[buffer].writer.filter(|_| early);
        writer.and_then(|writer| edit::next_with(writer, at)).unwrap_or(at)
    }

    /// True if a copy to or from the host's memory may be under way.
    fn is_busy(&self) -> bool {
        self.buffers.all.iter().any(|buffer| buffer.state.read || buffer.state.written)
    }

    /// Waits until some buffers may be touched: with tickets for these alone.
    fn wait_for(&mut self, at: Op<'c>, buffers: &BTreeSet<usize>) -> PassResult<'c> {
        let in_parts = self.side == Side::Host && self.calls.device.waits_for_parts();
        if !in_parts {
            return self.wait(at);
        }
        let used = self.settle(|index| buffers.contains(&index));
        self.calls.wait(at, self.side, &used)
    }

    fn wait(&mut self, at: Op<'c>) -> PassResult<'c> {
        let used = self.settle(|_| true);
        self.unfinished = false;
        self.calls.wait(at, self.side, &used)
    }

    /// Forgets what is under way to and from buffers; gives those that were concerned.
    fn settle(&mut self, chosen: impl Fn(usize) -> bool) -> Vec<Val<'c>> {
        let mut used = vec![];
        for (index, buffer) in self.buffers.all.iter_mut().enumerate() {
            if chosen(index) && (buffer.state.read || buffer.state.written) {
                used.push(buffer.host);
                (buffer.state.read, buffer.state.written) = (false, false);
            }
        }
        used
    }
}
