//! Commands that a function starts on the queues of a device, and their known completion at each
//! point.
//!
//! Calls that start work have the number of their queue ([`names::QUEUE`]). A queue works in order;
//! between queues, and between these and the host, there is an order only at waits: `tir.wait` for
//! one ticket, or a function that waits for all.

use super::{Blk, Op, call_extern::CallExtern, edit, func, names, tir, view::OpView};
use std::collections::{BTreeMap, BTreeSet};

/// Number of completed commands by queue number.
type Done = BTreeMap<usize, usize>;

/// A call that starts work on a device.
pub struct Command<'c> {
    /// The call.
    pub op: Op<'c>,
    /// Number of its queue.
    pub queue: usize,
    /// Number of commands before it on its queue.
    pub place: usize,
    /// Commands that are completed when it begins.
    done: Done,
}

/// The commands of a function for one device, in the order in which the host starts them.
pub struct Schedule<'c> {
    /// The commands.
    pub commands: Vec<Command<'c>>,
}

/// Role of an operation of the host's function for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Starts work.
    Command,
    /// Waits for all started work.
    WaitAll,
    /// Starts work inside of it or in its callee.
    Around,
    /// Anything else.
    Other,
}

/// The functions of a module that start work of a device, in themselves or in their callees.
pub struct Starters<'c> {
    functions: BTreeMap<String, Op<'c>>,
    target: String,
    starting: BTreeSet<String>,
}

impl<'c> Starters<'c> {
    /// The functions that start work of a target's device.
    pub fn of(module: Op<'c>, target: &str) -> Self {
        let functions = func::functions(module).into_iter();
        let functions = functions.map(|function| (func::symbol(function), function)).collect();
        let mut found = Self { functions, target: target.to_owned(), starting: BTreeSet::new() };
        loop {
            let is_starting = |(name, function): &(&String, &Op<'c>)| {
                !found.starting.contains(*name)
                    && !found.is_own(**function)
                    && edit::walk(**function).into_iter().any(|op| found.starts(op))
            };
            let more: Vec<String> =
                found.functions.iter().filter(is_starting).map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                return found;
            }
            found.starting.extend(more);
        }
    }

    fn is_own(&self, function: Op<'c>) -> bool {
        super::attr_str(function, names::TARGET).as_deref() == Some(&*self.target)
    }

    /// True if an operation by itself starts work, or calls a function that does.
    fn starts(&self, op: Op<'c>) -> bool {
        let calls = || super::calls::callee(op).filter(|name| self.starting.contains(name));
        self.is_call(op) || calls().is_some()
    }

    fn is_call(&self, op: Op<'c>) -> bool {
        super::op_name(op) == tir::CallExtern::NAME
            && super::attr_str(op, names::DEVICE).as_deref() == Some(&*self.target)
    }

    /// True if a function of that name is one of the device.
    pub fn is_function(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|function| self.is_own(*function))
    }

    /// The function of the device that a call is of.
    pub fn callee(&self, op: Op<'c>) -> Option<Op<'c>> {
        let call = CallExtern::of(op)?;
        self.functions.get(&call.callee).copied()
    }

    /// Role of an operation for the device.
    pub fn step(&self, op: Op<'c>) -> Step {
        if self.is_call(op) {
            let role = self.callee(op).and_then(|f| super::attr_str(f, names::TRANSFER));
            return match role.as_deref() {
                Some(names::TRANSFER_WAIT) => Step::WaitAll,
                Some(names::TRANSFER_SELECT) => Step::Other,
                _ => Step::Command,
            };
        }
        let inside = || edit::walk(op).into_iter().any(|inner| self.starts(inner));
        if self.starts(op) || inside() { Step::Around } else { Step::Other }
    }

    /// The number of the queue that an operation makes the chosen one; none if it chooses none.
    pub fn selects(&self, op: Op<'c>) -> Option<usize> {
        if let Some(submit) = tir::Submit::of(op) {
            return usize::try_from(submit.queue()).ok();
        }
        if let Some(wait) = tir::Wait::of(op) {
            return wait.queue().and_then(|queue| usize::try_from(queue).ok());
        }
        let chooses = self.callee(op).filter(|function| {
            super::attr_str(*function, names::TRANSFER).as_deref() == Some(names::TRANSFER_SELECT)
        });
        chooses.and_then(|_| queue_of(op))
    }
}

/// The queue that a call names.
pub fn queue_of(op: Op<'_>) -> Option<usize> {
    super::attr_i64(op, names::QUEUE).and_then(|queue| usize::try_from(queue).ok())
}

/// Commands that are known to be completed, at a point of the host's function.
#[derive(Clone, Default)]
pub struct Clock {
    started: Done,
    host: Done,
    queues: BTreeMap<usize, Done>,
}

impl Clock {
    /// Starts a command; returns the commands that are done when it begins, and its place.
    pub fn start(&mut self, queue: usize) -> (Done, usize) {
        let place = self.started.get(&queue).copied().unwrap_or(0);
        let mut done = self.queues.remove(&queue).unwrap_or_default();
        join(&mut done, &self.host);
        done.insert(queue, place);
        self.queues.insert(queue, done.clone());
        self.started.insert(queue, place + 1);
        (done, place)
    }

    /// True if a command is done before the next one on a queue begins; without a queue, before the
    /// host goes on.
    pub fn is_done(&self, command: &Command<'_>, before: Option<usize>) -> bool {
        let known = |done: &Done| done.get(&command.queue).is_some_and(|n| *n > command.place);
        match before {
            Some(queue) if queue == command.queue => true,
            Some(queue) => known(&self.host) || self.queues.get(&queue).is_some_and(known),
            None => known(&self.host),
        }
    }

    /// The host, or a queue, waits for a command.
    pub fn wait(&mut self, command: &Command<'_>, by: Option<usize>) {
        let mut done = command.done.clone();
        done.insert(command.queue, command.place + 1);
        match by {
            Some(queue) => join(self.queues.entry(queue).or_default(), &done),
            None => join(&mut self.host, &done),
        }
    }

    /// The host waits for all.
    pub fn wait_for_all(&mut self) {
        self.host = self.started.clone();
    }
}

fn join(into: &mut Done, other: &Done) {
    for (queue, count) in other {
        let known = into.entry(*queue).or_default();
        *known = (*known).max(*count);
    }
}

impl<'c> Command<'c> {
    /// A command with those that are done when it begins.
    pub fn new(op: Op<'c>, queue: usize, (done, place): (Done, usize)) -> Self {
        Self { op, queue, place, done }
    }

    /// True if another command, which the host starts earlier, is done before this one begins.
    pub fn follows(&self, other: &Command<'c>) -> bool {
        self.done.get(&other.queue).is_some_and(|count| *count > other.place)
    }
}

impl<'c> Schedule<'c> {
    /// Reads the block of a function.
    pub fn of(block: Blk<'c>, starters: &Starters<'c>) -> Self {
        let (mut clock, mut commands) = (Clock::default(), Vec::<Command<'c>>::new());
        let mut tickets: BTreeMap<i64, usize> = BTreeMap::new();
        for op in super::ops(block) {
            if let Some(submit) = tir::Submit::of(op) {
                let last = commands.iter().rposition(|c| c.queue as i64 == submit.queue());
                tickets.extend(last.map(|place| (submit.slot(), place)));
            } else if let Some(wait) = tir::Wait::of(op) {
                let by = wait.queue().and_then(|queue| usize::try_from(queue).ok());
                if let Some(place) = tickets.get(&wait.slot()) {
                    clock.wait(&commands[*place], by);
                }
            } else {
                match (starters.step(op), queue_of(op)) {
                    (Step::Command, Some(queue)) => {
                        let begun = clock.start(queue);
                        commands.push(Command::new(op, queue, begun));
                    }
                    (Step::WaitAll, _) => clock.wait_for_all(),
                    _ => {}
                }
            }
        }
        Self { commands }
    }

    /// The last command that may run while one of `ops` does, or is one of them; none if none of
    /// `ops` is a command.
    pub fn last_beside(&self, ops: &[Op<'c>]) -> Option<Op<'c>> {
        let is_given = |command: &&Command<'c>| ops.iter().any(|op| edit::same(*op, command.op));
        let given: Vec<_> = self.commands.iter().filter(is_given).collect();
        let first = self.commands.iter().position(|command| is_given(&command))?;
        let beside = |command: &&Command<'c>| {
            is_given(command) || given.iter().any(|one| !command.follows(one))
        };
        self.commands.get(first..)?.iter().rfind(beside).map(|command| command.op)
    }
}
