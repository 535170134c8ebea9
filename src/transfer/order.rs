//! Assignment of a device's commands to its queues, and waits between queues and the host.
//!
//! Commands that need what another has made go behind it on its queue, as far as nothing else is
//! there; others go to the queue with the least to do. Then a queue waits for commands of others
//! that it needs, and the host for those alone whose results it touches. All of it is decided by
//! the block of a function. In front of a loop or a call in which the device is used the host waits
//! for all, and behind it again.

use super::{
    access,
    calls::Calls,
    tickets::{Tickets, Waiter},
    work::Work,
};
use crate::ir::{
    self, Op, Val,
    call_extern::{CallExtern, Group},
    edit, names,
    queue::{Clock, Command, Starters, Step},
};
use crate::pass::PassResult;
use melior::ir::{Attribute, RegionLike, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Puts the work of a device in order in functions of the host.
pub fn run<'c>(module: Op<'c>, functions: &[Op<'c>], calls: &mut Calls<'c, '_>) -> PassResult<'c> {
    let Some(tickets) = &calls.device.tickets else { return Ok(()) };
    let count = tickets.queues.as_ref().map_or(1, |queues| queues.count);
    let starters = Starters::of(module, &calls.device.memory.target);
    for function in functions {
        let Some(block) = edit::entry_block(*function) else { continue };
        let steps = Steps::of(ir::ops(block), &starters, calls);
        if steps.works.is_empty() && steps.around.is_empty() {
            continue;
        }
        let queues = steps.queues(count);
        if count > 1 {
            steps.say(&queues, &starters, calls);
        }
        let mut plan = Plan::new(&steps, &queues, calls.device.waits_for_parts());
        plan.fill(count > 1);
        plan.insert(calls)?;
        if count > 1 {
            for place in &steps.around {
                fence(steps.ops[*place], &starters, calls)?;
            }
            select(ir::ops(block), &starters, calls)?;
        }
    }
    Ok(())
}

/// Operations of a block, by their part in the work of a device.
struct Steps<'c> {
    ops: Vec<Op<'c>>,
    works: Vec<Work<'c>>,
    /// Places of operations inside of which the device works.
    around: Vec<usize>,
    /// Places of waits for all, with the buffers that they keep.
    waits: Vec<(usize, Vec<Val<'c>>)>,
}

impl<'c> Steps<'c> {
    fn of(ops: Vec<Op<'c>>, starters: &Starters<'c>, calls: &Calls<'c, '_>) -> Self {
        let (mut works, mut around, mut waits) = (vec![], vec![], vec![]);
        for (place, op) in ops.iter().enumerate() {
            match (starters.step(*op), CallExtern::of(*op)) {
                (Step::Command, Some(call)) => {
                    let callee = starters.callee(*op);
                    works.push(Work::of((*op, place), &call, callee, calls));
                }
                (Step::WaitAll, Some(call)) => {
                    waits.push((place, call.groups[Group::Ins as usize].clone()));
                }
                (Step::Other, _) => {}
                _ => around.push(place),
            }
        }
        Self { ops, works, around, waits }
    }

    /// The queue of each work.
    fn queues(&self, count: usize) -> Vec<usize> {
        let mut chosen = vec![0; self.works.len()];
        if count < 2 {
            return chosen;
        }
        let mut last: Vec<Option<usize>> = vec![None; count];
        let mut load = vec![0_u64; count];
        for (index, work) in self.works.iter().enumerate().filter(|(_, work)| !work.is_up) {
            let needed = self.works[..index].iter().enumerate().rev();
            let needed = needed.filter(|(_, before)| !before.is_up && work.needs(before));
            let behind = needed.map(|(before, _)| before).collect::<Vec<_>>();
            let tail = behind.iter().find(|before| last[chosen[**before]] == Some(**before));
            let maker = behind.first().filter(|_| work.is_down);
            let least = || (0..count).min_by_key(|queue| load[*queue]).unwrap_or(0);
            let queue = match work.pinned.filter(|queue| *queue < count) {
                Some(queue) => queue,
                None => maker.or(tail).map_or_else(least, |before| chosen[*before]),
            };
            chosen[index] = queue;
            if !work.is_down {
                last[queue] = Some(index);
            }
            load[queue] += work.bytes;
        }
        for (index, work) in self.works.iter().enumerate().filter(|(_, work)| work.is_up) {
            let mut later = (index + 1)..self.works.len();
            let reader = later.find(|place| {
                let after = &self.works[*place];
                !after.is_up && after.needs(work)
            });
            chosen[index] = reader.map_or(0, |reader| chosen[reader]);
        }
        chosen
    }

    /// Writes the queues on the calls, and on what they call that its work overlaps others.
    fn say(&self, queues: &[usize], starters: &Starters<'c>, calls: &Calls<'c, '_>) {
        for (work, queue) in self.works.iter().zip(queues) {
            edit::set_attr(work.op, names::QUEUE, number(calls, *queue));
            if let Some(function) = starters.callee(work.op) {
                edit::set_attr(function, names::OVERLAPS, Attribute::unit(calls.context));
            }
        }
    }
}

fn number<'c>(calls: &Calls<'c, '_>, value: usize) -> Attribute<'c> {
    use melior::ir::{attribute::IntegerAttribute, r#type::IntegerType};
    IntegerAttribute::new(IntegerType::new(calls.context, 64).into(), value as i64).into()
}

/// A wait to be put in: who waits before which place, for which work, and what is in use until then.
struct Wait<'c> {
    waiter: Waiter,
    place: usize,
    work: usize,
    keeps: Vec<Val<'c>>,
}

/// Commands and waits to be put into a block.
struct Plan<'s, 'c> {
    steps: &'s Steps<'c>,
    queues: &'s [usize],
    /// True if the host can wait for tickets.
    in_parts: bool,
    commands: Vec<Command<'c>>,
    clock: Clock,
    waits: Vec<Wait<'c>>,
    /// Places behind which the host waits for all, and whether before them too.
    barriers: Vec<(usize, bool)>,
    /// True if something was started since the host waited for all.
    started: bool,
    /// Waits for all that became waits for tickets.
    replaced: Vec<usize>,
    /// Waits for all that stay, with the buffers that are in use until then.
    kept: Vec<(usize, Vec<Val<'c>>)>,
    /// Work that the host is not known to have waited for.
    open: BTreeSet<usize>,
}

impl<'s, 'c> Plan<'s, 'c> {
    fn new(steps: &'s Steps<'c>, queues: &'s [usize], in_parts: bool) -> Self {
        Self {
            steps,
            queues,
            in_parts,
            commands: vec![],
            clock: Clock::default(),
            waits: vec![],
            barriers: vec![],
            started: false,
            replaced: vec![],
            kept: vec![],
            open: BTreeSet::new(),
        }
    }

    /// Drains the work that the host has waited for; gives the host's buffers that it used.
    fn settle(&mut self) -> Vec<Val<'c>> {
        let (clock, commands) = (&self.clock, &self.commands);
        let is_done = |work: &usize| clock.is_done(&commands[*work], None);
        let (done, open) = std::mem::take(&mut self.open).into_iter().partition(is_done);
        self.open = open;
        let done: BTreeSet<usize> = done;
        let mut known = HashSet::new();
        let buffers = done.into_iter().flat_map(|work| self.steps.works[work].in_host.clone());
        buffers.filter(|value| known.insert(ir::id(value))).collect()
    }

    /// Goes through the block. Where a device has several queues, functions that are called may use
    /// others than this one does.
    fn fill(&mut self, several: bool) {
        let steps = self.steps;
        for place in 0..steps.ops.len() {
            if self.commands.len() < steps.works.len()
                && steps.works[self.commands.len()].place == place
            {
                self.command();
            } else if steps.around.contains(&place) {
                if several {
                    self.barriers.push((place, self.started));
                }
                self.wait_for_all();
            } else if let Some((_, keeps)) = steps.waits.iter().find(|(at, _)| *at == place) {
                let next = place + 1;
                let is_last = next + 1 == steps.ops.len() || steps.around.contains(&next);
                if self.in_parts && !is_last {
                    self.replace(place, keeps);
                } else {
                    self.wait_for_all();
                    let keeps = self.settle();
                    self.kept.push((place, keeps));
                }
            }
        }
    }

    fn wait_for_all(&mut self) {
        self.clock.wait_for_all();
        self.started = false;
    }

    /// The next command, behind all that it needs.
    fn command(&mut self) {
        let index = self.commands.len();
        let (work, queue) = (&self.steps.works[index], self.queues[index]);
        for before in (0..index).rev() {
            let waiter = Waiter::Queue(queue);
            let is_done = self.clock.is_done(&self.commands[before], waiter.queue());
            if !is_done && work.needs(&self.steps.works[before]) {
                self.clock.wait(&self.commands[before], waiter.queue());
                let wait = Wait { waiter, place: work.place, work: before, keeps: vec![] };
                self.waits.push(wait);
            }
        }
        let begun = self.clock.start(queue);
        self.commands.push(Command::new(work.op, queue, begun));
        self.open.insert(index);
        self.started = true;
    }

    /// Replaces a wait of the host for all by waits for what concerns some of its buffers.
    fn replace(&mut self, place: usize, keeps: &[Val<'c>]) {
        let root = |value: &Val<'c>| ir::id(access::root(*value).0);
        let buffers: HashSet<ir::Id> = keeps.iter().map(root).collect();
        let concerned = |work: &Work<'c>| {
            !buffers.is_disjoint(&work.reads) || !buffers.is_disjoint(&work.writes)
        };
        let begun = 0..self.commands.len();
        let concerned = begun.rev().filter(|work| concerned(&self.steps.works[*work]));
        let concerned: Vec<usize> = concerned.collect();
        let (waiter, first) = (Waiter::Host, self.waits.len());
        for (nth, work) in concerned.into_iter().enumerate() {
            // One wait at least says until when the buffers are in use.
            if nth == 0 || !self.clock.is_done(&self.commands[work], None) {
                self.clock.wait(&self.commands[work], None);
                self.waits.push(Wait { waiter, place, work, keeps: vec![] });
            }
        }
        let mut used = self.settle();
        used.extend(
            keeps.iter().filter(|value| !used.contains(value)).copied().collect::<Vec<_>>(),
        );
        if let Some(wait) = self.waits.get_mut(first..).and_then(<[_]>::last_mut) {
            wait.keeps = used;
            self.replaced.push(place);
        }
    }

    /// Puts it all in.
    fn insert(self, calls: &mut Calls<'c, '_>) -> PassResult<'c> {
        let (ops, works) = (&self.steps.ops, &self.steps.works);
        let mut slots: BTreeMap<usize, usize> = BTreeMap::new();
        let awaited: BTreeSet<usize> = self.waits.iter().map(|wait| wait.work).collect();
        slots.extend(awaited.into_iter().enumerate().map(|(slot, work)| (work, slot)));
        if let (Some(first), false) = (ops.first(), slots.is_empty()) {
            let tickets = Tickets::allocate(*first, slots.len())?;
            for (work, slot) in &slots {
                if let Some(next) = ops.get(works[*work].place + 1) {
                    tickets.submit(calls, *next, (self.queues[*work], *slot))?;
                }
            }
            for wait in &self.waits {
                let slot = slots[&wait.work];
                tickets.wait(calls, ops[wait.place], (wait.waiter, slot), &wait.keeps)?;
            }
        }
        for (place, before) in self.barriers {
            if before {
                calls.wait(ops[place], super::Side::Host, &[])?;
            }
            if let Some(next) = ops.get(place + 1) {
                calls.wait(*next, super::Side::Host, &[])?;
            }
        }
        for (place, keeps) in self.kept {
            calls.wait(ops[place], super::Side::Host, &keeps)?;
            edit::erase(ops[place]);
        }
        self.replaced.into_iter().for_each(|place| edit::erase(ops[place]));
        Ok(())
    }
}

/// Waits for work that is started in an operation before other functions start some, and before the
/// end of its blocks. There the work is on the queue that was chosen last, whichever that is.
fn fence<'c>(op: Op<'c>, starters: &Starters<'c>, calls: &mut Calls<'c, '_>) -> PassResult<'c> {
    for block in op.regions().filter_map(|region| region.first_block()) {
        let mut started = false;
        let ops = ir::ops(block);
        for inner in &ops {
            match starters.step(*inner) {
                Step::Command => started = true,
                Step::WaitAll => started = false,
                Step::Around => {
                    if started {
                        calls.wait(*inner, super::Side::Host, &[])?;
                    }
                    fence(*inner, starters, calls)?;
                    started = false;
                }
                Step::Other => {}
            }
        }
        if let Some(end) = ops.last().filter(|_| started) {
            calls.wait(*end, super::Side::Host, &[])?;
        }
    }
    Ok(())
}

/// Chooses the queue of each command where it is not chosen yet.
fn select<'c>(
    ops: Vec<Op<'c>>,
    starters: &Starters<'c>,
    calls: &mut Calls<'c, '_>,
) -> PassResult<'c> {
    let mut chosen = None;
    for op in ops {
        match (starters.step(op), ir::queue::queue_of(op)) {
            (Step::Command, Some(queue)) => {
                if chosen != Some(queue) {
                    calls.select(op, queue)?;
                }
                chosen = Some(queue);
            }
            (Step::Around, _) => chosen = None,
            _ => chosen = starters.selects(op).or(chosen),
        }
    }
    Ok(())
}
