//! Race check for device queues: overlapping commands must not touch the same bytes.
//!
//! Read from the IR alone: which bytes a command of a queue uses, and what is known to be done when
//! it, or an operation of the host, begins.

use crate::{
    ir::{
        self, Op, Val,
        call_extern::{CallExtern, Group},
        edit, effects, func, memory, memref, names,
        queue::{Clock, Command, Starters, Step, queue_of},
        size, tir,
        view::OpView,
    },
    pass::{PassError, PassResult},
};
use melior::ir::ValueLike;
use std::collections::BTreeMap;

/// Bytes of a block of memory, which is known by the value that has it.
#[derive(Clone, Copy)]
struct Bytes {
    block: ir::Id,
    begin: u64,
    end: u64,
    writes: bool,
}

impl Bytes {
    /// The bytes of a buffer; none for a constant, which nobody writes.
    fn of(value: Val<'_>, writes: bool) -> Option<Self> {
        let base = memref::base(value);
        let all = Self { block: ir::id(base), begin: 0, end: u64::MAX, writes };
        let part = memref::extent(value);
        let part = part.map_or(all, |(begin, end)| Self { begin, end, ..all });
        let Some(op) = edit::defining_op(base) else { return Some(part) };
        match ir::op_name(op) {
            _ if effects::is_constant(op) => None,
            "memref.view" => {
                let operands = ir::operands(op);
                let shift = edit::defining_op(*operands.get(1)?)?;
                let shift = u64::try_from(ir::attr_i64(shift, "value")?).ok()?;
                let end = part.end.min(size::bytes(base.r#type())?);
                Some(Self {
                    block: ir::id(*operands.first()?),
                    begin: shift.saturating_add(part.begin),
                    end: shift.saturating_add(end),
                    writes,
                })
            }
            _ => Some(part),
        }
    }

    /// True if one writes what the other uses.
    fn clashes(&self, other: &Self) -> bool {
        (self.writes || other.writes)
            && self.block == other.block
            && self.begin < other.end
            && other.begin < self.end
    }
}

/// Fails where work of a device that is under way may meet other work in memory.
pub fn check<'c>(module: Op<'c>) -> PassResult<'c> {
    for memory in memory::declared(module)? {
        let functions = func::functions(module);
        let waits = |function: &Op<'c>| {
            let own = ir::attr_str(*function, names::TARGET).as_deref() == Some(&*memory.target);
            let role = ir::attr_str(*function, names::TRANSFER);
            own && role.as_deref() == Some(names::TRANSFER_WAIT)
        };
        if !functions.iter().any(waits) {
            continue;
        }
        let starters = Starters::of(module, &memory.target);
        for function in functions {
            let own = ir::attr_str(function, names::TARGET).as_deref() == Some(&*memory.target);
            if let Some(block) = edit::entry_block(function).filter(|_| !own) {
                Walk::new(&starters, &memory.space, &memory.target).block(ir::ops(block))?;
            }
        }
    }
    Ok(())
}

/// A way through the block of a function.
struct Walk<'s, 'c> {
    starters: &'s Starters<'c>,
    space: &'s str,
    target: &'s str,
    clock: Clock,
    /// Commands that were started, with the bytes of the device's memory and of the host's that
    /// they use.
    commands: Vec<(Command<'c>, Vec<Bytes>, Vec<Bytes>)>,
    /// The last command on the queue when the ticket of a slot was taken.
    tickets: BTreeMap<i64, usize>,
}

impl<'s, 'c> Walk<'s, 'c> {
    fn new(starters: &'s Starters<'c>, space: &'s str, target: &'s str) -> Self {
        let (commands, tickets) = (vec![], BTreeMap::new());
        Self { starters, space, target, clock: Clock::default(), commands, tickets }
    }

    fn block(mut self, ops: Vec<Op<'c>>) -> PassResult<'c> {
        for op in ops {
            if let Some(submit) = tir::Submit::of(op) {
                let on = |entry: &(Command<'c>, _, _)| entry.0.queue as i64 == submit.queue();
                let last = self.commands.iter().rposition(on);
                self.tickets.extend(last.map(|place| (submit.slot(), place)));
                continue;
            }
            if let Some(wait) = tir::Wait::of(op) {
                self.wait(op, &wait)?;
                continue;
            }
            match self.starters.step(op) {
                Step::Command => self.command(op)?,
                Step::WaitAll | Step::Around => self.clock.wait_for_all(),
                Step::Other => self.host(op)?,
            }
        }
        Ok(())
    }

    fn wait(&mut self, op: Op<'c>, wait: &tir::Wait<'c>) -> PassResult<'c> {
        let of_device = self.starters.is_function(wait.callee());
        let Some(place) = self.tickets.get(&wait.slot()).filter(|_| of_device) else {
            // Of another device, or of nothing.
            return match of_device {
                false => Ok(()),
                true => Err(PassError::at(
                    &op,
                    format!("waits for the ticket {} before it is taken", wait.slot()),
                )),
            };
        };
        let by = wait.queue().and_then(|queue| usize::try_from(queue).ok());
        self.clock.wait(&self.commands[*place].0, by);
        Ok(())
    }

    fn command(&mut self, op: Op<'c>) -> PassResult<'c> {
        let Some(call) = CallExtern::of(op) else { return Ok(()) };
        let uses = |group: Group| {
            call.groups[group as usize].iter().map(move |value| (*value, group == Group::Outs))
        };
        let in_device =
            |value: &Val<'c>| memref::space(value.r#type()).as_deref() == Some(self.space);
        let (own, host): (Vec<_>, Vec<_>) =
            uses(Group::Ins).chain(uses(Group::Outs)).partition(|(value, _)| in_device(value));
        let bytes = |list: Vec<(Val<'c>, bool)>| -> Vec<Bytes> {
            list.into_iter().filter_map(|(value, writes)| Bytes::of(value, writes)).collect()
        };
        let (own, host) = (bytes(own), bytes(host));
        let copies = self.starters.callee(op).and_then(|f| ir::attr_str(f, names::TRANSFER));
        // What else is started has used the host's memory when its call returns.
        let host = if copies.is_some() { host } else { vec![] };
        let queue = queue_of(op).unwrap_or(0);
        let command = Command::new(op, queue, self.clock.start(queue));
        for (other, used, _) in &self.commands {
            if !command.follows(other) && meet(&own, used) {
                return Err(self.fault(op, other.op));
            }
        }
        self.commands.push((command, own, host));
        Ok(())
    }

    /// An operation of the host, which may not touch what is under way.
    fn host(&self, op: Op<'c>) -> PassResult<'c> {
        let busy: Vec<_> = self
            .commands
            .iter()
            .filter(|(command, _, host)| !host.is_empty() && !self.clock.is_done(command, None))
            .collect();
        if busy.is_empty() {
            return Ok(());
        }
        for inner in std::iter::once(op).chain(edit::walk(op)) {
            let touched = touched(inner);
            if let Some((other, ..)) = busy.iter().find(|(_, _, host)| meet(&touched, host)) {
                return Err(self.fault(inner, other.op));
            }
        }
        Ok(())
    }

    fn fault(&self, op: Op<'c>, other: Op<'c>) -> PassError<'c> {
        let name = CallExtern::of(other).map(|call| call.callee).unwrap_or_default();
        PassError::at(
            &op,
            format!(
                "uses memory that @{name} uses too, which may still be under way on target '{}': \
                 wait for it before",
                self.target
            ),
        )
    }
}

fn meet(a: &[Bytes], b: &[Bytes]) -> bool {
    a.iter().any(|one| b.iter().any(|other| one.clashes(other)))
}

/// The bytes that an operation uses by itself.
fn touched(op: Op<'_>) -> Vec<Bytes> {
    if memref::is_alias(op) {
        return vec![];
    }
    let (read, written) = (effects::reads(op), effects::writes(op));
    let mut values = ir::operands(op);
    values.retain(|value| read.contains(value) || written.contains(value));
    values.into_iter().filter_map(|value| Bytes::of(value, written.contains(&value))).collect()
}
