//! `plan-memory`: puts all temporary buffers of a function at planned places of one arena.
//!
//! Functions are planned from the called to the calling. What a function needs becomes a last
//! argument of it, and of each call of it a piece of the caller's arena that is in use only during
//! the call; so the arena of the main function holds everything. Buffers in the memory of a device
//! (`#tir.space`) are planned in that pool in the same way.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, SCRATCH_NEED},
        calls::{self, CallGraph},
        edit, func, guard,
        liveness::{Lifetime, Timeline},
        names::{self, ARENA_BYTES, IO},
        size::{self, ALIGNMENT},
        tir,
    },
    limits::MAX_BYTES,
    pass::{OptionValues, Pass, PassError},
    plan::{self, Buffer, Plan},
    planned::{Order, pool_of},
    tile::plan::Pool,
};
use melior::ir::{
    Attribute, Type, ValueLike, attribute::StringAttribute, operation::OperationLike,
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
    let graph = CallGraph::of(module)?;
    // Arenas of the functions planned so far.
    let mut needs: BTreeMap<String, Arena> = BTreeMap::new();
    for name in graph.order.clone() {
        let Some(function) = graph.function(&name) else { continue };
        let calls = scratch_of_calls(&graph, function, &needs)?;
        let arena = plan_function(function, calls)?;
        if arena.bytes > 0 {
            needs.insert(name, arena);
        }
    }
    if guard::bytes(module) > 0 {
        let main = func::main(module).and_then(|main| needs.get(&func::symbol(main)));
        guard::record(module, names::ARENA_GAPS, main.map_or(&[], |arena| &arena.gaps));
    }
    Ok(())
}

/// What a function needs while it runs.
#[derive(Default)]
struct Arena {
    bytes: u64,
    /// Where nothing is: begin and end of each guard.
    gaps: Vec<(u64, u64)>,
}

/// A buffer to be planned.
struct Request<'c> {
    /// The allocation, or the call that needs scratch memory.
    op: Op<'c>,
    buffer: Buffer,
    deallocs: Vec<Op<'c>>,
    /// Guards inside of it, of the arena of what is called.
    gaps: Vec<(u64, u64)>,
}

/// A call that needs memory while it runs: its size, and the guards inside of it.
type Scratch<'c> = (Op<'c>, u64, Vec<(u64, u64)>);

/// The calls of `function` that need memory while they run, with its size.
fn scratch_of_calls<'c>(
    graph: &CallGraph<'c>,
    function: Op<'c>,
    needs: &BTreeMap<String, Arena>,
) -> Failure<'c, Vec<Scratch<'c>>> {
    let mut found = vec![];
    for call in edit::walk(function) {
        if let Some(bytes) = ir::attr_i64(call, "scratch_bytes") {
            found.push((call, bytes as u64, vec![]));
            continue;
        }
        let callee = calls::callee(call).filter(|name| graph.function(name).is_some());
        if let Some(arena) = callee.and_then(|name| needs.get(&name)) {
            found.push((call, arena.bytes, arena.gaps.clone()));
        }
    }
    Ok(found)
}

/// Plans one function, and gives its arena.
fn plan_function<'c>(function: Op<'c>, calls: Vec<Scratch<'c>>) -> Failure<'c, Arena> {
    let guard = guard::bytes(function);
    let timeline = Timeline::of(function);
    let mut pools: BTreeMap<String, Vec<Request<'c>>> = BTreeMap::new();
    for (op, bytes, gaps) in calls {
        let (start, end) = timeline.span(op);
        let buffer = Buffer { size: bytes, align: ALIGNMENT as u64, start, end };
        pools.entry(String::new()).or_default().push(Request {
            op,
            buffer,
            deallocs: vec![],
            gaps,
        });
    }
    for op in edit::walk(function) {
        if ir::op_name(op) == "memref.alloc" {
            let (pool, request) = request(&timeline, op)?;
            pools.entry(pool).or_default().push(request);
        }
    }
    let mut arena = Arena::default();
    for (pool, requests) in pools {
        let guard = if pool.is_empty() { guard } else { 0 };
        let buffers: Vec<_> = requests.iter().map(|request| guarded(request, guard)).collect();
        let plan = plan::plan(&buffers)
            .map_err(|error| PassError::at(&function, format!("cannot be planned: {error}")))?;
        if pool.is_empty() {
            if plan.peak > MAX_BYTES {
                return Err(PassError::at(
                    &function,
                    format!(
                        "'{}' needs an arena of {} bytes; at most {MAX_BYTES} are supported",
                        func::symbol(function),
                        plan.peak
                    ),
                ));
            }
            // Buffers without elements need a place too, of which nothing is touched.
            arena.bytes = plan.peak.max(1);
            use_arena(function, &requests, &plan, arena.bytes)?;
            arena.gaps = gaps(&requests, &plan, guard);
        } else {
            use_pool(function, &pool, &requests, &plan)?;
        }
        for dealloc in requests.into_iter().flat_map(|request| request.deallocs) {
            edit::erase(dealloc);
        }
    }
    Ok(arena)
}

/// What is planned for a request: with a guard, so many bytes more, and shared with nobody.
fn guarded(request: &Request<'_>, guard: u64) -> Buffer {
    match guard {
        0 => request.buffer,
        _ => Buffer {
            size: request.buffer.size + guard,
            start: 0,
            end: usize::MAX - 1,
            ..request.buffer
        },
    }
}

/// Where the guards of an arena are.
fn gaps(requests: &[Request<'_>], plan: &Plan, guard: u64) -> Vec<(u64, u64)> {
    let mut all = vec![];
    for (request, offset) in requests.iter().zip(&plan.offsets).filter(|_| guard > 0) {
        let end = offset + request.buffer.size;
        all.extend(request.gaps.iter().map(|gap| (gap.0 + offset, gap.1 + offset)));
        all.push((end, end + guard));
    }
    all
}

/// What an allocation asks for, and of which pool; the arena has the empty name.
fn request<'c>(timeline: &Timeline, op: Op<'c>) -> Failure<'c, (String, Request<'c>)> {
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
    let align = ir::attr_i64(op, "alignment").map_or(ALIGNMENT, |align| align.max(ALIGNMENT));
    if align != ALIGNMENT {
        return Err(PassError::at(
            &op,
            format!("asks for alignment {align}; buffers are aligned to {ALIGNMENT} at most"),
        ));
    }
    let Lifetime { start, end, deallocs } =
        timeline.lifetime(op).map_err(|(at, reason)| PassError::at(&at, reason))?;
    let pool = ir::memref::space_or_host(ty).ok_or_else(|| {
        PassError::at(&op, format!("allocates {ty}, whose memory space is no #tir.space"))
    })?;
    let align = if pool.is_empty() { ALIGNMENT as u64 } else { pool_of(op, &pool)?.1 };
    let buffer = Buffer { size, align, start, end };
    Ok((pool, Request { op, buffer, deallocs, gaps: vec![] }))
}

/// Gives the function an arena of so many bytes, and each request its piece of it.
fn use_arena<'c>(
    function: Op<'c>,
    requests: &[Request<'c>],
    plan: &Plan,
    bytes: u64,
) -> Failure<'c> {
    let context = ir::context_of(function);
    let Some(first) = requests.first() else { return Ok(()) };
    let at = Builder::before(first.op)?;
    edit::set_attr(function, ARENA_BYTES, at.i64_attr(bytes as i64));
    edit::set_attr(function, names::ARENA_LOWER_BOUND, at.i64_attr(plan.lower_bound as i64));
    let ty = at.parse_type(&format!("memref<{bytes}xi8>"))?;
    let role: Attribute<'c> = StringAttribute::new(context, "arena").into();
    let arena = func::add_argument(context, function, ty, vec![(IO.to_owned(), role)])?;
    // Memory is named after what writes to it first, not after what asked for it. MLIR lists uses in
    // an order that may differ from run to run.
    let order = Order::of(function, &edit::walk(function));
    let named = requests.iter().map(|request| {
        let first = ir::users_of(request.op).into_iter().min_by_key(|user| order.span(*user));
        first.unwrap_or(request.op).location()
    });
    let named: Vec<_> = named.collect();
    for ((request, offset), named) in requests.iter().zip(&plan.offsets).zip(named) {
        let builder = Builder::before(request.op)?.with_location(named);
        let view = |ty: Type<'c>| -> Failure<'c, Val<'c>> {
            let offset = builder.index(*offset as i64)?;
            Ok(builder.op1("memref.view", &[arena, offset], ty)?)
        };
        if ir::op_name(request.op) == "memref.alloc" {
            let old = ir::result0(request.op)?;
            edit::replace_uses(old, view(old.r#type())?);
            edit::erase(request.op);
            continue;
        }
        let ty = builder.parse_type(&format!("memref<{}xi8>", request.buffer.size))?;
        give_scratch(request.op, view(ty)?)?;
    }
    Ok(())
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

/// How many bytes at the start of a pool stay free.
fn start_of<'c>(function: Op<'c>, pool: &str) -> Failure<'c, u64> {
    let pools = Pool::of_function(function).map_err(|error| PassError::at(&function, error))?;
    let base = pools.iter().find(|other| other.name == pool).map_or(0, |pool| pool.base);
    Ok(u64::try_from(base).unwrap_or(0))
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
    let base = start_of(function, pool)?;
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
