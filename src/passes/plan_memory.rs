//! `plan-memory`: puts all temporary buffers of a function at planned places of one arena.
//!
//! The functions of a module are planned together ([`crate::plan::program`]). What a function needs
//! becomes a last argument of it, and of each call of it a piece of the caller's arena; so the arena
//! of the main function holds everything. Such a piece may lie where the caller has buffers that are
//! in use before or after the call, or at other times than what the callee has there. Buffers in the
//! memory of a device (`#tir.space`) are planned in that pool, function by function.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, SCRATCH_NEED},
        calls::{self, CallGraph},
        edit, func, guard,
        liveness::{Lifetime, Run, Timeline},
        memory::{self, Memory},
        memref,
        names::{self, ARENA_BYTES, IO},
        print,
        size::{self, ALIGNMENT},
        tir,
    },
    limits::MAX_BYTES,
    pass::{OptionValues, Pass, PassError},
    plan::{
        self, Buffer, Plan,
        program::{self, Call, Frame},
    },
    planned::{capacity, pool_of},
    tile::plan::Pool,
};
use melior::ir::{
    Attribute, Location, Type, ValueLike,
    attribute::{IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "plan-memory",
    summary: "Put temporary buffers at planned places of one arena",
    anchor: "builtin.module",
    options: &[],
    dialects: &["arith", "memref", "tir"],
    run,
};

type Failure<'c, T = ()> = Result<T, PassError<'c>>;

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Failure<'c> {
    let memories = memory::declared(module)?;
    plan_memory(module, None, &memories)?;
    memories.iter().try_for_each(|memory| plan_memory(module, Some(memory), &memories))
}

/// Plans the buffers in one memory, the host's or a device's.
fn plan_memory<'c>(
    module: Op<'c>,
    memory: Option<&Memory>,
    memories: &[Memory],
) -> Failure<'c> {
    let graph = CallGraph::of(module)?;
    let program = Program::of(&graph, Spaces { memory, memories })?;
    let guard = guard::bytes(module);
    let planned: Vec<_> = program.functions.iter().map(FunctionMemory::times).collect();
    let frames = program::plan(&planned, guard).map_err(|error| {
        let at = program.functions.last().map_or(module, |memory| memory.function);
        PassError::at(&at, format!("cannot be planned: {error}"))
    })?;
    for (memory, frame) in program.functions.iter().zip(&frames) {
        let name = func::symbol(memory.function);
        if frame.bytes > MAX_BYTES {
            return Err(PassError::at(
                &memory.function,
                format!(
                    "'{name}' needs an arena of {} bytes; at most {MAX_BYTES} are supported",
                    frame.bytes
                ),
            ));
        }
    }
    if let Some(memory) = memory {
        let main = func::main(module);
        if let Some((main, place)) = main.and_then(|main| Some((main, program.index(main)?))) {
            capacity::check(main, memory, frames[place].bytes)?;
        }
    }
    if guard > 0 && memory.is_none() {
        let main = func::main(module).and_then(|main| program.index(main));
        let found = main.map(|main| program::gaps(&planned, &frames, main, guard)).unwrap_or_default();
        guard::record(module, names::ARENA_GAPS, &found);
    }
    let bytes: Vec<_> = frames.iter().map(|frame| frame.bytes).collect();
    let peaks: Vec<_> = frames.iter().map(|frame| program.peak(frame)).collect();
    for ((memory, frame), peak) in program.functions.into_iter().zip(&frames).zip(peaks) {
        memory.place(frame, &bytes, peak)?;
    }
    Ok(())
}

/// The memory that is planned, among all.
#[derive(Clone, Copy)]
struct Spaces<'m> {
    /// None for the host's.
    memory: Option<&'m Memory>,
    memories: &'m [Memory],
}

impl Spaces<'_> {
    /// Name of the memory space; empty for the host's.
    fn name(&self) -> &str {
        self.memory.map_or("", |memory| memory.space.as_str())
    }

    fn is_other(&self, space: &str) -> bool {
        space != self.name()
            && (space.is_empty() || self.memories.iter().any(|memory| memory.space == space))
    }
}

/// The functions of a module, those called before those that call them.
struct Program<'c, 'm> {
    functions: Vec<FunctionMemory<'c, 'm>>,
}

/// What a function needs while it runs.
struct FunctionMemory<'c, 'm> {
    memory: Option<&'m Memory>,
    function: Op<'c>,
    timeline: Timeline,
    requests: Vec<Request<'c>>,
    /// Its buffers in the memory of devices.
    pools: BTreeMap<String, Vec<Request<'c>>>,
    /// Calls of functions that stand before it.
    calls: Vec<(Op<'c>, Call)>,
    opaque: bool,
}

/// A buffer to be planned.
struct Request<'c> {
    /// The allocation, or the call that needs scratch memory.
    op: Op<'c>,
    buffer: Buffer,
    deallocs: Vec<Op<'c>>,
}

impl<'c, 'm> Program<'c, 'm> {
    fn of(graph: &CallGraph<'c>, spaces: Spaces<'m>) -> Failure<'c, Self> {
        let transparent = graph.transparent();
        let mut runs: BTreeMap<String, Run> = BTreeMap::new();
        let mut program = Self { functions: vec![] };
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for name in &graph.order {
            let Some(function) = graph.function(name) else { continue };
            let timeline = Timeline::of(function, &runs);
            let opaque = !transparent.contains(name);
            if !opaque {
                runs.insert(name.clone(), timeline.run(function));
            }
            places.insert(name.clone(), program.functions.len());
            program.functions.push(FunctionMemory::of(function, timeline, (&places, spaces), opaque)?);
        }
        Ok(program)
    }

    fn index(&self, function: Op<'c>) -> Option<usize> {
        self.functions.iter().position(|memory| edit::same(memory.function, function))
    }

    /// Where the operation is at which most of a frame is in use.
    fn peak(&self, frame: &Frame) -> Option<String> {
        let bound = frame.bound.filter(|bound| bound.bytes > 0)?;
        let memory = &self.functions[bound.function];
        let at = memory.timeline.at(bound.point, &edit::walk(memory.function))?;
        Some(print::place(at.location()))
    }
}

impl<'c, 'm> FunctionMemory<'c, 'm> {
    fn of(
        function: Op<'c>,
        timeline: Timeline,
        (places, spaces): (&BTreeMap<String, usize>, Spaces<'m>),
        opaque: bool,
    ) -> Failure<'c, Self> {
        let (mut calls, mut requests) = (vec![], vec![]);
        let mut pools: BTreeMap<String, Vec<Request<'c>>> = BTreeMap::new();
        for op in edit::walk(function) {
            if let Some(bytes) = ir::attr_i64(op, "scratch_bytes") {
                let space = ir::attr_str(op, names::SCRATCH_MEMORY).unwrap_or_default();
                if space != spaces.name() {
                    continue;
                }
                let size = bytes.max(0) as u64;
                let buffer = Buffer::once(size, ALIGNMENT as u64, timeline.span(op));
                requests.push(Request { op, buffer, deallocs: vec![] });
            } else if let Some(callee) = calls::callee(op).and_then(|name| places.get(&name)) {
                let (span, start) = (timeline.span(op), timeline.begin(op));
                calls.push((op, Call { callee: *callee, span, start }));
            } else if ir::op_name(op) == "memref.alloc" {
                let space = space_of(op)?;
                if space == spaces.name() {
                    let align = spaces.memory.map_or(0, |m| m.alignment).max(ALIGNMENT as u64);
                    requests.push(request(&timeline, op, align)?);
                } else if spaces.memory.is_none() && !spaces.is_other(&space) {
                    let align = pool_of(op, &space)?.1;
                    pools.entry(space).or_default().push(request(&timeline, op, align)?);
                }
            }
        }
        let memory = spaces.memory;
        Ok(Self { memory, function, timeline, requests, pools, calls, opaque })
    }

    /// What the planner is told.
    fn times(&self) -> program::Function {
        program::Function {
            length: self.timeline.length(),
            buffers: self.requests.iter().map(|request| request.buffer.clone()).collect(),
            calls: self.calls.iter().map(|(_, call)| *call).collect(),
            opaque: self.opaque,
        }
    }

    /// Puts everything at its place.
    fn place(self, frame: &Frame, callees: &[u64], peak: Option<String>) -> Failure<'c> {
        for (pool, requests) in &self.pools {
            let buffers: Vec<_> = requests.iter().map(|request| request.buffer.clone()).collect();
            let plan = plan::plan(&buffers).map_err(|error| {
                PassError::at(&self.function, format!("cannot be planned: {error}"))
            })?;
            use_pool(self.function, pool, requests, &plan)?;
        }
        if !self.opaque && calls::shares_bytes(self.function) {
            let unit = Attribute::unit(ir::context_of(self.function));
            edit::set_attr(self.function, names::SHARES_BYTES, unit);
        }
        if frame.bytes > 0 {
            self.use_arena(frame, callees, peak)?;
        }
        let pools = self.pools.into_values().flatten();
        for dealloc in self.requests.into_iter().chain(pools).flat_map(|r| r.deallocs) {
            edit::erase(dealloc);
        }
        Ok(())
    }

    /// The locations of the requests' memory, which is named after what writes to it first, not after
    /// what asked for it. MLIR lists uses in an order that may differ from run to run.
    fn names(&self) -> Vec<Location<'c>> {
        let first = |request: &Request<'c>| {
            let users = ir::users_of(request.op).into_iter();
            users.min_by_key(|user| self.timeline.span(*user)).unwrap_or(request.op).location()
        };
        self.requests.iter().map(first).collect()
    }

    /// Gives the function an arena, and each request and each call its piece of it.
    fn use_arena(&self, frame: &Frame, callees: &[u64], peak: Option<String>) -> Failure<'c> {
        let (function, context) = (self.function, ir::context_of(self.function));
        let word = |value: u64| -> Attribute<'c> {
            IntegerAttribute::new(IntegerType::new(context, 64).into(), value as i64).into()
        };
        let space = self.memory.map(|memory| memory.space.as_str());
        let text = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
        let role = if space.is_some() { names::DEVICE_ARENA } else { "arena" };
        let mut attributes = vec![(IO.to_owned(), text(role))];
        if let Some(space) = space {
            attributes.push((names::MEMORY.to_owned(), text(space)));
        } else {
            edit::set_attr(function, ARENA_BYTES, word(frame.bytes));
            if let Some(bound) = frame.bound {
                edit::set_attr(function, names::ARENA_LOWER_BOUND, word(bound.bytes));
            }
            if let Some(peak) = peak {
                edit::set_attr(function, names::ARENA_PEAK, text(&peak));
            }
        }
        let block = |bytes| memref::with_space(context, memref::bytes(context, bytes)?, space);
        let arena = func::add_argument(context, function, block(frame.bytes)?, attributes)?;
        let named = self.names();
        for ((request, offset), named) in self.requests.iter().zip(&frame.buffers).zip(named) {
            if ir::op_name(request.op) == "memref.alloc" {
                let old = ir::result0(request.op)?;
                edit::replace_uses(old, piece(request.op, named, arena, *offset, old.r#type())?);
                edit::erase(request.op);
                continue;
            }
            let ty = block(request.buffer.size)?;
            give_scratch(request.op, piece(request.op, named, arena, *offset, ty)?)?;
        }
        for ((call, to), offset) in self.calls.iter().zip(&frame.calls) {
            let bytes = callees[to.callee];
            if bytes > 0 {
                let ty = block(bytes)?;
                calls::pass_buffer(*call, Group::Outs, piece(*call, call.location(), arena, *offset, ty)?)?;
            }
        }
        Ok(())
    }
}

/// Makes a view of the arena before `op`.
fn piece<'c>(
    op: Op<'c>,
    named: Location<'c>,
    arena: Val<'c>,
    offset: u64,
    ty: Type<'c>,
) -> Failure<'c, Val<'c>> {
    let builder = Builder::before(op)?.with_location(named);
    let offset = builder.index(offset as i64)?;
    Ok(builder.op1("memref.view", &[arena, offset], ty)?)
}

/// The memory space that an allocation is in; empty for the host's.
fn space_of<'c>(op: Op<'c>) -> Failure<'c, String> {
    let ty = ir::result0(op)?.r#type();
    memref::space_or_host(ty).ok_or_else(|| {
        PassError::at(&op, format!("allocates {ty}, whose memory space is no #tir.space"))
    })
}

/// What an allocation asks for.
fn request<'c>(timeline: &Timeline, op: Op<'c>, align: u64) -> Failure<'c, Request<'c>> {
    let ty = ir::result0(op)?.r#type();
    let size = size::bytes(ty).filter(|_| op.operand_count() == 0).ok_or_else(|| {
        PassError::at(
            &op,
            format!(
                "allocates {ty}, whose size is not known when compiling: give the unknown \
                 dimensions of the model's inputs with --shape"
            ),
        )
    })?;
    let asked = ir::attr_i64(op, "alignment").map_or(ALIGNMENT, |align| align.max(ALIGNMENT));
    if asked != ALIGNMENT {
        return Err(PassError::at(
            &op,
            format!("asks for alignment {asked}; buffers are aligned to {ALIGNMENT} at most"),
        ));
    }
    let Lifetime { start, end, deallocs } =
        timeline.lifetime(op).map_err(|(at, reason)| PassError::at(&at, reason))?;
    Ok(Request { op, buffer: Buffer::once(size, align, (start, end)), deallocs })
}

/// Gives a call its scratch memory: where it asks for it, or as the last argument.
fn give_scratch<'c>(call: Op<'c>, buffer: Val<'c>) -> Failure<'c> {
    let parts = CallExtern::of(call).filter(|_| call.has_attribute("scratch_bytes"));
    let Some(mut parts) = parts else {
        calls::pass_buffer(call, Group::Outs, buffer)?;
        return Ok(());
    };
    let builder = Builder::before(call)?;
    parts.fill_scratch(builder.context, buffer)?;
    // How much the call needs stays known, so that what it is given can be checked.
    for (name, _) in parts.attributes.iter_mut().filter(|(name, _)| name == "scratch_bytes") {
        SCRATCH_NEED.clone_into(name);
    }
    parts.build(&builder, &[])?;
    edit::erase(call);
    Ok(())
}

/// Puts the allocations of a device's pool at their places.
fn use_pool<'c>(
    function: Op<'c>,
    pool: &str,
    requests: &[Request<'c>],
    plan: &Plan,
) -> Failure<'c> {
    let Some(first) = requests.first() else { return Ok(()) };
    let (capacity, _) = pool_of(first.op, pool)?;
    let base = Pool::start(function, pool).map_err(|error| PassError::at(&function, error))?;
    if plan.peak.saturating_add(base) > capacity {
        return Err(PassError::at(
            &function,
            format!(
                "'{}' needs {} bytes of pool '{pool}' at once, which has {capacity}: use smaller \
                 tiles",
                func::symbol(function),
                plan.peak + base
            ),
        ));
    }
    for (request, offset) in requests.iter().zip(&plan.offsets) {
        let builder = Builder::before(request.op)?;
        let old = ir::result0(request.op)?;
        let offset = vec![("offset", builder.i64_attr((offset + base) as i64))];
        let new = builder.op1_with(tir::Buffer::NAME, &[], old.r#type(), offset)?;
        edit::replace_uses(old, new);
        edit::erase(request.op);
    }
    Ok(())
}
