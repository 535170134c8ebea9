//! `plan-memory`: puts all temporary buffers of a function at planned places of one arena.
//!
//! The functions of a module are planned together ([`crate::plan::program`]). The memory of a
//! function becomes its last argument, and each call of it passes a piece of the caller's arena. So
//! the arena of the main function holds everything. Such a piece may lie where the caller has
//! buffers that are in use before or after the call, or at other times than what the callee has
//! there. Buffers in the memory of a device (`#tir.space`) are planned in that pool, function by
//! function. On a board each of its pools is such an arena, for the buffers that `assign-pools` put
//! there (`phl.pool`).

use crate::{
    ir::{
        self, Builder, Op, Val,
        board::{self, Pool, Port},
        call_extern::{CallExtern, Group, SCRATCH_NEED},
        calls::{self, CallGraph},
        edit, func, guard,
        memory, memref,
        names::{self, ARENA_BYTES, IO},
        tir,
    },
    limits::MAX_BYTES,
    pass::{PassResult, OptionValues, Pass, PassError},
    plan::{
        self, Plan,
        program::{self, Frame},
    },
    planned::{capacity, pool_of},
    pools::{
        FunctionMemory, Program, Request, Scope,
        demand::Spaces,
    },
    tensor::SplitMix64,
    tile::attribute::pool_start,
};
use melior::ir::{
    Attribute, Location, Type, ValueLike,
    attribute::{IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "plan-memory",
    summary: "Place temporary buffers at planned offsets of one arena",
    anchor: "builtin.module",
    options: &[],
    dialects: &["arith", "memref", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> PassResult<'c> {
    let memories = memory::declared(module)?;
    let pools = board::declared(module)?;
    let host = match &*pools {
        [] => vec![Scope::Host],
        pools => {
            check_pools(module, pools)?;
            pools.iter().map(Scope::Pool).collect()
        }
    };
    let devices = memories.iter().map(Scope::Device);
    for (index, scope) in host.into_iter().chain(devices).enumerate() {
        plan_memory(module, Spaces { scope, memories: &memories, tiles: index == 0 })?;
    }
    Ok(())
}

/// Checks that every request for the host's memory names a pool of the board.
fn check_pools<'c>(module: Op<'c>, pools: &[Pool]) -> PassResult<'c> {
    let graph = CallGraph::of(module)?;
    let spaces = Spaces { scope: Scope::Host, memories: &[], tiles: false };
    let program = Program::of(&graph, spaces)?;
    for request in program.functions.iter().flat_map(|memory| &memory.requests) {
        let pool = board::of(request.op);
        if !pools.iter().any(|known| pool.as_ref() == Some(&known.name)) {
            let pool = pool.map_or_else(|| "no pool".to_owned(), |name| format!("'{name}'"));
            return Err(PassError::at(
                &request.op,
                format!("asks for memory in {pool}, but the module has a board: run assign-pools"),
            ));
        }
    }
    Ok(())
}

/// Plans the buffers in one memory: the host's, a device's or a pool of the board.
fn plan_memory<'c>(module: Op<'c>, spaces: Spaces<'_>) -> PassResult<'c> {
    let scope = spaces.scope;
    let graph = CallGraph::of(module)?;
    let program = Program::of(&graph, spaces)?;
    let guard = guard::bytes(module);
    let planned = program.times();
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
    let main = func::main(module);
    if let Some((main, place)) = main.and_then(|main| Some((main, program.index(main)?))) {
        check_capacity(scope, main, &frames[place], program.peak(&frames[place]))?;
        if guard > 0 {
            let found = program::gaps(&planned, &frames, place, guard);
            match scope {
                Scope::Device(memory) => guard::record_in(module, &memory.space, &found),
                Scope::Host | Scope::Pool(_) => guard::record(module, names::ARENA_GAPS, &found),
            }
        }
    }
    let bytes: Vec<_> = frames.iter().map(|frame| frame.bytes).collect();
    let peaks: Vec<_> = frames.iter().map(|frame| program.peak(frame)).collect();
    for ((memory, frame), peak) in program.functions.into_iter().zip(&frames).zip(peaks) {
        place(memory, frame, &bytes, peak)?;
    }
    Ok(())
}

/// Checks that the memories are large enough for the main function.
fn check_capacity<'c>(
    scope: Scope<'_>,
    main: Op<'c>,
    frame: &Frame,
    peak: Option<String>,
) -> PassResult<'c> {
    match scope {
        Scope::Host => Ok(()),
        Scope::Device(memory) => capacity::check(main, memory, frame.bytes),
        Scope::Pool(pool) => capacity::check_pool(main, pool, frame.bytes, peak.as_deref()),
    }
}

/// Puts everything that a function needs at its place.
fn place<'c>(
    memory: FunctionMemory<'c, '_>,
    frame: &Frame,
    callees: &[u64],
    peak: Option<String>,
) -> PassResult<'c> {
    for (pool, requests) in &memory.tiles {
        let buffers: Vec<_> = requests.iter().map(|request| request.buffer.clone()).collect();
        let plan = plan::plan(&buffers).map_err(|error| {
            PassError::at(&memory.function, format!("cannot be planned: {error}"))
        })?;
        use_pool(memory.function, pool, requests, &plan)?;
    }
    if !memory.opaque && calls::shares_bytes(memory.function) {
        let unit = Attribute::unit(ir::context_of(memory.function));
        edit::set_attr(memory.function, names::SHARES_BYTES, unit);
    }
    if frame.bytes > 0 {
        memory.use_arena(frame, callees, peak)?;
    }
    let tiles = memory.tiles.into_values().flatten();
    for dealloc in memory.requests.into_iter().chain(tiles).flat_map(|r| r.deallocs) {
        edit::erase(dealloc);
    }
    Ok(())
}

impl<'c> FunctionMemory<'c, '_> {
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
    fn use_arena(&self, frame: &Frame, callees: &[u64], peak: Option<String>) -> PassResult<'c> {
        let (function, context) = (self.function, ir::context_of(self.function));
        let space = match self.scope {
            Scope::Device(memory) => Some(memory.space.as_str()),
            Scope::Host | Scope::Pool(_) => None,
        };
        let attributes = self.arena_attributes(frame, peak);
        let block = |bytes| memref::with_space(context, memref::bytes(context, bytes)?, space);
        let arena = func::add_argument(context, function, block(frame.bytes)?, attributes)?;
        let named = self.names();
        for ((request, offset), named) in self.requests.iter().zip(&frame.buffers).zip(named) {
            if ir::op_name(request.op) == "memref.alloc" {
                let old = ir::result0(request.op)?;
                let place = piece(request.op, named, arena, *offset, old.r#type())?;
                if let Some(port) = Port::of(request.op) {
                    self.place_port(port, place, *offset)?;
                }
                edit::replace_uses(old, place);
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

impl<'c> FunctionMemory<'c, '_> {
    /// Records the place of an input or output on its argument and on its view.
    fn place_port(&self, port: Port, view: Val<'c>, offset: u64) -> PassResult<'c> {
        let Scope::Pool(pool) = self.scope else { return Ok(()) };
        let context = ir::context_of(self.function);
        if let Some(op) = edit::defining_op(view) {
            edit::set_attr(op, names::PORT, port.to_attribute(context));
        }
        let mut signature = func::Signature::of(self.function)?;
        if let Some((_, attributes)) = signature.arguments.get_mut(port.argument) {
            let name = StringAttribute::new(context, &pool.name).into();
            let offset = IntegerAttribute::new(IntegerType::new(context, 64).into(), offset as i64);
            func::set_in(attributes, names::MEMORY, name);
            func::set_in(attributes, names::OFFSET, offset.into());
        }
        signature.set(context, self.function);
        Ok(())
    }

    /// Attributes of the arena: on the function, or on the argument if there are several arenas.
    fn arena_attributes(&self, frame: &Frame, peak: Option<String>) -> func::Attributes<'c> {
        let context = ir::context_of(self.function);
        let word = |value: u64| -> Attribute<'c> {
            IntegerAttribute::new(IntegerType::new(context, 64).into(), value as i64).into()
        };
        let text = |text: &str| -> Attribute<'c> { StringAttribute::new(context, text).into() };
        let bound = frame.bound.map(|bound| word(bound.bytes));
        let peak = peak.map(|peak| text(&peak));
        let of = |role: &str, name: Option<&str>| {
            let name = name.map(|name| (names::MEMORY.to_owned(), text(name)));
            std::iter::once((IO.to_owned(), text(role))).chain(name).collect::<Vec<_>>()
        };
        let said = |role: &str, name: &str| {
            let said = [(names::LOWER_BOUND, bound), (names::PEAK, peak)].into_iter();
            let said = said.filter_map(|(name, value)| Some((name.to_owned(), value?)));
            of(role, Some(name)).into_iter().chain(said).collect()
        };
        match self.scope {
            Scope::Device(memory) => said(names::DEVICE_ARENA, &memory.space),
            Scope::Pool(pool) => said(names::POOL_ARENA, &pool.name),
            Scope::Host => {
                edit::set_attr(self.function, ARENA_BYTES, word(frame.bytes));
                let said = [(names::ARENA_LOWER_BOUND, bound), (names::ARENA_PEAK, peak)];
                for (name, value) in said.into_iter().filter_map(|(n, v)| Some((n, v?))) {
                    edit::set_attr(self.function, name, value);
                }
                of("arena", None)
            }
        }
    }
}

/// Makes a view of the arena before `op`.
fn piece<'c>(
    op: Op<'c>,
    named: Location<'c>,
    arena: Val<'c>,
    offset: u64,
    ty: Type<'c>,
) -> PassResult<'c, Val<'c>> {
    let builder = Builder::before(op)?.with_location(named);
    let offset = builder.index(offset as i64)?;
    Ok(builder.op1("memref.view", &[arena, offset], ty)?)
}

/// Gives a call its scratch memory: where it asks for it, or as the last argument.
fn give_scratch<'c>(call: Op<'c>, buffer: Val<'c>) -> PassResult<'c> {
    let parts = CallExtern::of(call).filter(|_| call.has_attribute("scratch_bytes"));
    let Some(mut parts) = parts else {
        calls::pass_buffer(call, Group::Outs, buffer)?;
        return Ok(());
    };
    let builder = Builder::before(call)?;
    parts.fill_scratch(builder.context, buffer)?;
    // The size that the call needs stays known, so that its buffer can be checked.
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
) -> PassResult<'c> {
    let Some(first) = requests.first() else { return Ok(()) };
    let (capacity, alignment) = pool_of(first.op, pool)?;
    let mut base =
        pool_start(function, pool).map_err(|error| PassError::at(&function, error))?;
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
    let whole = |bytes: u64| bytes.next_multiple_of(alignment.max(1));
    let mut is_turned = false;
    if let Some(number) = guard::around(function, names::TILE_CHOICE) {
        // A check wants places other than the first, as far as there is room, and other neighbours.
        let mut random = SplitMix64::new(number as u64);
        let steps = (capacity - plan.peak - base) / alignment.max(1);
        let anywhere = random.next_u64() % (steps + 1);
        // The end of the pool is where bounds are.
        base += alignment * if random.next_u64().is_multiple_of(2) { steps } else { anywhere };
        is_turned = random.next_u64().is_multiple_of(2) && base + whole(plan.peak) <= capacity;
    }
    for (request, offset) in requests.iter().zip(&plan.offsets) {
        let builder = Builder::before(request.op)?;
        let old = ir::result0(request.op)?;
        let offset = match is_turned {
            true => whole(plan.peak) - offset - whole(request.buffer.size),
            false => *offset,
        };
        let offset = vec![("offset", builder.i64_attr((offset + base) as i64))];
        let new = builder.op1_with(tir::Buffer::NAME, &[], old.r#type(), offset)?;
        edit::replace_uses(old, new);
        edit::erase(request.op);
    }
    Ok(())
}
