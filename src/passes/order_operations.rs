//! `order-operations`: puts operations on buffers into an order in which fewer bytes are in use at
//! once.
//!
//! ```text
//! fill %w                       copy %x -> %a
//! copy %x -> %a           -->   fill %w
//! product %a, %w -> %y          product %a, %w -> %y
//! ```
//! Each operation still comes after all that it shares bytes with, unless both only read them, so
//! that results stay the same. Calls of one device, and operations that this pass does not know,
//! stay in their order too. Functions whose order is best as it is, as far as the search can tell,
//! are not touched.

use crate::{
    ir::{
        self, Op, Val,
        call_extern::CallExtern,
        calls::{self, CallGraph},
        capture, edit,
        effects::{self, Effect, Kind},
        linalg,
        liveness::Timeline,
        memory, memref, names, size, types,
    },
    pass::{OptionValues, Pass, PassError},
    plan::{
        self, Buffer,
        order::{self, Job},
        program,
    },
    pools::{Program, Scope, demand::Spaces},
};
use melior::ir::{ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap};

/// The pass.
pub const PASS: Pass = Pass {
    name: "order-operations",
    summary: "Reorder operations on buffers to lower peak memory use",
    anchor: "builtin.module",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    // Copies to and from the memory of devices, and waits, have an order of their own.
    if !memory::declared(module)?.is_empty() {
        return Ok(());
    }
    let graph = CallGraph::of(module)?;
    let mut frames: BTreeMap<String, u64> = BTreeMap::new();
    // The times of all buffers in the order that was given, and the bodies in that order.
    let mut given: Option<(Vec<program::Function>, Vec<Vec<Op<'c>>>)> = None;
    for name in &graph.order {
        let Some(function) = graph.function(name) else { continue };
        let Some(before) = in_use(function, &frames) else {
            frames.insert(name.clone(), all_buffers(function, &frames));
            continue;
        };
        frames.insert(name.clone(), before);
        let Some(row) = Row::of(function, &graph, &frames) else { continue };
        let Some(order) = order::improve(&row.jobs, &row.sizes) else { continue };
        let (_, bodies) = match &mut given {
            Some(given) => given,
            None => given.insert((times(&graph)?, vec![])),
        };
        let body = edit::entry_block(function).map(ir::ops).unwrap_or_default();
        row.apply(&order);
        match in_use(function, &frames).filter(|after| *after < before) {
            Some(after) => {
                frames.insert(name.clone(), after);
                bodies.push(body);
            }
            None => restore(&body),
        }
    }
    if let Some((before, bodies)) = given.filter(|(_, bodies)| !bodies.is_empty())
        && !is_better(&before, &times(&graph)?)
    {
        bodies.iter().for_each(|body| restore(body));
    }
    Ok(())
}

/// Live ranges of the buffers in the host's memory.
fn times<'c>(graph: &CallGraph<'c>) -> Result<Vec<program::Function>, PassError<'c>> {
    let spaces = Spaces { scope: Scope::Host, memories: &[], tiles: false };
    Ok(Program::of(graph, spaces)?.times())
}

/// True if a plan takes fewer bytes. Fewer bytes in use may be harder to pack.
fn is_better(before: &[program::Function], after: &[program::Function]) -> bool {
    let planned = |functions: &[program::Function]| {
        let frames = program::plan(functions, 0);
        // A failing plan is an error of the pass that plans.
        frames.map_or(u64::MAX, |frames| program::sum_of_roots(functions, &frames))
    };
    let bytes = planned(after);
    bytes < program::least(before) || bytes < planned(before)
}

/// Puts the operations of a body into the order that they had.
fn restore(body: &[Op<'_>]) {
    if let Some((end, ops)) = body.split_last() {
        ops.iter().for_each(|op| edit::move_before(*op, *end));
    }
}

/// The most bytes of the arena that a function has in use at once; none where a buffer cannot be
/// planned.
fn in_use(function: Op<'_>, frames: &BTreeMap<String, u64>) -> Option<u64> {
    let timeline = Timeline::of(function, &BTreeMap::new());
    let mut buffers = vec![];
    for op in edit::walk(function) {
        let (own, scratch) = (own_bytes(op), scratch(op, frames));
        if own > 0 {
            let lifetime = timeline.lifetime(op).ok()?;
            buffers.push(Buffer::once(own, 1, (lifetime.start, lifetime.end)));
        }
        if scratch > 0 {
            buffers.push(Buffer::once(scratch, 1, timeline.span(op)));
        }
    }
    Some(plan::lower_bound(&buffers).0)
}

/// The bytes of all buffers of a function, and of those of its callees, as if they were disjoint.
fn all_buffers(function: Op<'_>, frames: &BTreeMap<String, u64>) -> u64 {
    edit::walk(function).into_iter().map(|op| own_bytes(op) + scratch(op, frames)).sum()
}

/// The bytes of the arena that an operation allocates; pools of devices are none of it.
fn own_bytes(op: Op<'_>) -> u64 {
    // Asking an operation for a result that it does not have prints it, and verifies it for that.
    if ir::op_name(op) != "memref.alloc" {
        return 0;
    }
    let is_host =
        |value: &Val<'_>| memref::space_or_host(value.r#type()).is_some_and(|s| s.is_empty());
    let result = ir::result0(op).ok().filter(is_host);
    result.and_then(|result| size::bytes(result.r#type())).map_or(0, aligned)
}

fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(size::ALIGNMENT as u64)
}

/// The bytes that a call needs while it runs.
fn scratch(op: Op<'_>, frames: &BTreeMap<String, u64>) -> u64 {
    let called = calls::callee(op).and_then(|name| frames.get(&name).copied()).unwrap_or(0);
    let asked = ir::attr_i64(op, "scratch_bytes").map_or(0, |bytes| aligned(bytes.max(0) as u64));
    called + asked
}

/// A function as a row of jobs.
#[derive(Default)]
struct Row<'c> {
    /// The operation of each job.
    ops: Vec<Op<'c>>,
    jobs: Vec<Job>,
    /// Sizes of the buffers, in bytes.
    sizes: Vec<u64>,
    /// The number of the buffer that an allocation makes.
    buffers: HashMap<ir::Id, usize>,
    /// Other names of buffers, in order.
    views: Vec<Op<'c>>,
    /// Last uses of resources that have to be used in order.
    last: HashMap<Place, Last>,
}

/// A resource that may only be used in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// The memory of a buffer: what allocates it, or an argument.
    Memory(ir::Id),
    /// State that the calls of a device, or of functions outside, may change.
    Outside(String),
    /// A result that is no buffer.
    Result(ir::Id),
}

/// The jobs before that used a place.
#[derive(Default)]
struct Last {
    wrote: Option<usize>,
    read: Vec<usize>,
}

impl<'c> Row<'c> {
    /// Reads the body of a function; none if it has several blocks, or operations that may use
    /// buffers in ways that are not known.
    fn of(function: Op<'c>, graph: &CallGraph<'c>, frames: &BTreeMap<String, u64>) -> Option<Self> {
        let block = edit::entry_block(function)?;
        if block.next_in_region().is_some() {
            return None;
        }
        let mut row = Self::default();
        let all = ir::ops(block);
        let (_, body) = all.split_last()?;
        for op in body {
            if ir::op_name(*op) == "memref.alloc" {
                let result = ir::result0(*op).ok()?;
                size::bytes(result.r#type())?;
                // Pools on the chip of a device are small: what fits in this order may not in another.
                memref::space_or_host(result.r#type()).filter(|space| space.is_empty())?;
                row.buffers.insert(ir::id(result), row.sizes.len());
                row.sizes.push(own_bytes(*op));
            } else if !row.is_shared(*op) {
                row.add(*op, graph, frames)?;
            } else if is_name(*op) {
                row.views.push(*op);
            }
        }
        Some(row)
    }

    /// True for an operation that stays in front of all jobs: it only names buffers, or computes
    /// from constants.
    fn is_shared(&self, op: Op<'c>) -> bool {
        let made = |value: &Val<'c>| self.last.contains_key(&Place::Result(ir::id(*value)));
        (is_name(op) || op.region_count() == 0 && effects::is_free(op))
            && !ir::operands(op).iter().any(made)
    }

    fn add(&mut self, op: Op<'c>, graph: &CallGraph<'c>, frames: &BTreeMap<String, u64>) -> Option<()> {
        let at = self.jobs.len();
        let inner = edit::walk(op).into_iter().map(own_bytes).sum::<u64>();
        let mut job = Job { scratch: scratch(op, frames) + inner, ..Job::default() };
        for (place, writes) in touched(op, graph)? {
            if let Place::Memory(value) = place
                && let Some(buffer) = self.buffers.get(&value)
                && !job.buffers.contains(buffer)
            {
                job.buffers.push(*buffer);
            }
            let last = self.last.entry(place).or_default();
            job.after.extend(last.wrote);
            if writes {
                job.after.append(&mut last.read);
                last.wrote = Some(at);
            } else {
                last.read.push(at);
            }
        }
        job.after.retain(|before| *before != at);
        job.after.sort_unstable();
        job.after.dedup();
        self.ops.push(op);
        self.jobs.push(job);
        Some(())
    }

    /// Puts the jobs behind all else, in this order, and the names of buffers where they are used
    /// first: a buffer counts as in use from there on.
    fn apply(&self, order: &[usize]) {
        let block = self.ops.first().and_then(|op| op.block());
        let Some(end) = block.and_then(|block| ir::ops(block).last().copied()) else { return };
        let mut places: HashMap<ir::Id, usize> = HashMap::new();
        // The first operation of each place: the job, or views in front of it.
        let mut heads: Vec<Op<'c>> = vec![];
        for at in order {
            let job = self.ops[*at];
            edit::move_before(job, end);
            for inner in edit::walk(job).into_iter().chain([job]) {
                places.insert(ir::id(inner), heads.len());
            }
            heads.push(job);
        }
        for view in self.views.iter().rev() {
            let users = ir::users_of(*view);
            let first = users.iter().filter_map(|user| places.get(&ir::id(*user)));
            if let Some(place) = first.min().copied() {
                edit::move_before(*view, heads[place]);
                heads[place] = *view;
                places.insert(ir::id(*view), place);
            }
        }
    }
}

/// True if an operation makes another name for a buffer, or one for a constant.
fn is_name(op: Op<'_>) -> bool {
    memref::is_alias(op) || effects::is_constant(op)
}

/// Resources that an operation uses, with true for one that it may write; none if they are not
/// known.
fn touched<'c>(op: Op<'c>, graph: &CallGraph<'c>) -> Option<Vec<(Place, bool)>> {
    let has_buffers = ir::results(op).iter().any(|value| types::keeps_buffer(value.r#type()));
    let is_known = calls::callee(op).is_some() || uses_operands_only(op);
    if !is_known || has_buffers || !edit::walk(op).into_iter().all(uses_operands_only) {
        return None;
    }
    let read = read_only(op);
    let mut found = vec![];
    for value in capture::captured(op) {
        if !ir::is_memref(value.r#type()) {
            found.push((Place::Result(ir::id(value)), false));
            continue;
        }
        let memory = memory_of(value)?;
        found.push((Place::Memory(ir::id(memory)), !read.contains(&value)));
    }
    found.extend(ir::results(op).into_iter().map(|value| (Place::Result(ir::id(value)), true)));
    if let Some(callee) = calls::callee(op) {
        let device = ir::attr_str(op, names::DEVICE);
        let has_device = op.has_attribute("with_device") || device.is_some();
        // A call with buffers to write to does nothing else, unless it is given a device; what it does may
        // depend on calls without any, such as those that set something.
        let tells_all = CallExtern::of(op).is_some_and(|call| !call.groups[2].is_empty());
        if has_device || graph.function(&callee).is_none() {
            let changes = has_device || !tells_all;
            found.push((Place::Outside(device.unwrap_or_default()), changes));
        }
    }
    Some(found)
}

/// The owner of a buffer's memory: an argument, an allocation or a constant.
fn memory_of<'c>(value: Val<'c>) -> Option<Val<'c>> {
    let base = memref::base(value);
    match edit::defining_op(base) {
        None => Some(base),
        Some(maker) if effects::is_own(maker) => Some(base),
        Some(maker) => memory_of(effects::view_source(maker)?),
    }
}

/// True if an operation by itself does nothing but to compute, and to use the buffers that it is given or made there.
fn uses_operands_only(op: Op<'_>) -> bool {
    let is_told =
        |effect: &Effect<'_>| effect.value.is_some() && effect.kind != Kind::Elsewhere;
    let effects = effects::of(op);
    effects.is_some_and(|effects| effects.iter().all(is_told)) && calls::callee(op).is_none()
}

/// The buffers among the operands that an operation does not write to; none of one that has others inside, which
/// may use parts of them.
fn read_only<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    if op.region_count() > 0 && !linalg::is_structured(op) {
        return vec![];
    }
    let written = effects::writes(op);
    ir::operands(op).into_iter().filter(|value| !written.contains(value)).collect()
}

