//! `plan-memory`: puts all temporary buffers of a function at planned places of one arena.
//!
//! Functions are planned from the called to the calling. What a function needs becomes a last
//! argument of it, and of each call of it a piece of the caller's arena that is in use only during
//! the call; so the arena of the main function holds everything. Buffers in the memory of a device
//! (`#tir.space`) are planned in that pool in the same way.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        calls::{self, CallGraph},
        edit, func,
        liveness::{Lifetime, Timeline},
        size,
    },
    pass::{OptionValues, Pass, PassError},
    plan::{self, Buffer, Plan},
};
use melior::ir::{
    Attribute, AttributeLike, Type, TypeLike, ValueLike,
    attribute::StringAttribute,
    operation::OperationLike,
};
use std::collections::BTreeMap;

use super::{annotate_llvm_arguments::ALIGNMENT, convert_functions_to_dps::IO};

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
    // Bytes of arena of the functions planned so far.
    let mut needs: BTreeMap<String, u64> = BTreeMap::new();
    for name in graph.order.clone() {
        let Some(function) = graph.function(&name) else { continue };
        let calls = scratch_of_calls(&graph, function, &needs)?;
        let bytes = plan_function(function, calls)?;
        if bytes > 0 {
            needs.insert(name, bytes);
        }
    }
    Ok(())
}

/// A buffer to be planned.
struct Request<'c> {
    /// The allocation, or the call that needs scratch memory.
    op: Op<'c>,
    buffer: Buffer,
    deallocs: Vec<Op<'c>>,
}

/// The calls of `function` that need memory while they run, with its size.
fn scratch_of_calls<'c>(
    graph: &CallGraph<'c>,
    function: Op<'c>,
    needs: &BTreeMap<String, u64>,
) -> Failure<'c, Vec<(Op<'c>, u64)>> {
    let mut found = vec![];
    for call in edit::walk(function) {
        if let Some(bytes) = ir::attr_i64(call, "scratch_bytes") {
            found.push((call, bytes as u64));
            continue;
        }
        let callee = calls::callee(call).filter(|name| graph.function(name).is_some());
        if let Some(bytes) = callee.and_then(|name| needs.get(&name)) {
            found.push((call, *bytes));
        }
    }
    Ok(found)
}

/// Plans one function, and gives the size of its arena.
fn plan_function<'c>(function: Op<'c>, calls: Vec<(Op<'c>, u64)>) -> Failure<'c, u64> {
    let timeline = Timeline::of(function);
    let mut pools: BTreeMap<String, Vec<Request<'c>>> = BTreeMap::new();
    for (op, bytes) in calls {
        let (start, end) = timeline.span(op);
        let buffer = Buffer { size: bytes, align: ALIGNMENT as u64, start, end };
        pools.entry(String::new()).or_default().push(Request { op, buffer, deallocs: vec![] });
    }
    for op in edit::walk(function) {
        if ir::op_name(op) == "memref.alloc" {
            let (pool, request) = request(&timeline, op)?;
            pools.entry(pool).or_default().push(request);
        }
    }
    let mut arena = 0;
    for (pool, requests) in pools {
        let buffers: Vec<_> = requests.iter().map(|request| request.buffer).collect();
        let plan = plan::plan(&buffers)
            .map_err(|error| PassError::at(&function, format!("cannot be planned: {error}")))?;
        if pool.is_empty() {
            // Buffers without elements need a place too, of which nothing is touched.
            arena = plan.peak.max(1);
            use_arena(function, &requests, &plan, arena)?;
        } else {
            use_pool(function, &pool, &requests, &plan)?;
        }
        for dealloc in requests.into_iter().flat_map(|request| request.deallocs) {
            edit::erase(dealloc);
        }
    }
    Ok(arena)
}

/// What an allocation asks for, and of which pool; the arena has the empty name.
fn request<'c>(timeline: &Timeline, op: Op<'c>) -> Failure<'c, (String, Request<'c>)> {
    let ty = ir::result0(op).r#type();
    let size = size::bytes(ty).filter(|_| op.operand_count() == 0).ok_or_else(|| {
        PassError::at(
            &op,
            format!("allocates {ty}, whose size is not known when compiling: give the unknown \
                 dimensions of the model's inputs with --shape"),
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
    let pool = space(ty).ok_or_else(|| {
        PassError::at(&op, format!("allocates {ty}, whose memory space is no #tir.space"))
    })?;
    let align = if pool.is_empty() { ALIGNMENT as u64 } else { pool_of(op, &pool)?.1 };
    let buffer = Buffer { size, align, start, end };
    Ok((pool, Request { op, buffer, deallocs }))
}

/// The name of the memory space of a memref type: empty for the host's, none for unknown ones.
fn space(ty: Type<'_>) -> Option<String> {
    // SAFETY: the type is a memref; the accessors of tir take any attribute.
    unsafe {
        let space = mlir_sys::mlirMemRefTypeGetMemorySpace(ty.to_raw());
        if space.ptr.is_null() {
            return Some(String::new());
        }
        let is_space =
            crate::ffi::phlTirAttrKind(space) == crate::ffi::PhlTirAttrKind::PHL_TIR_ATTR_SPACE;
        is_space.then(|| ir::text(crate::ffi::phlTirAttrName(space)))
    }
}

/// Size and alignment of a pool, as the nearest `tir.pools` around `op` declares it.
fn pool_of<'c>(op: Op<'c>, name: &str) -> Failure<'c, (u64, u64)> {
    let around = std::iter::successors(op.parent_operation(), |op| op.parent_operation());
    for owner in around {
        let pools = owner.attribute("tir.pools").map(edit::array).unwrap_or_default();
        for pool in pools {
            // SAFETY: the accessors take any attribute.
            unsafe {
                let raw = pool.to_raw();
                if ir::bytes(crate::ffi::phlTirAttrName(raw)) == name.as_bytes() {
                    return Ok((
                        crate::ffi::phlTirPoolAttrBytes(raw) as u64,
                        crate::ffi::phlTirPoolAttrAlignment(raw) as u64,
                    ));
                }
            }
        }
    }
    Err(PassError::at(&op, format!("allocates in pool '{name}', which no tir.pools declares")))
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
    edit::set_attr(function, "phl.arena_bytes", at.i64_attr(bytes as i64));
    edit::set_attr(function, "phl.arena_lower_bound", at.i64_attr(plan.lower_bound as i64));
    let ty = at.parse_type(&format!("memref<{bytes}xi8>"))?;
    let role: Attribute<'c> = StringAttribute::new(context, "arena").into();
    let arena = func::add_argument(context, function, ty, vec![(IO.to_owned(), role)])?;
    for (request, offset) in requests.iter().zip(&plan.offsets) {
        let builder = Builder::before(request.op)?;
        let view = |ty: Type<'c>| -> Failure<'c, Val<'c>> {
            let offset = builder.index(*offset as i64)?;
            Ok(builder.op1("memref.view", &[arena, offset], ty)?)
        };
        if ir::op_name(request.op) == "memref.alloc" {
            let old = ir::result0(request.op);
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
    parts.attributes.retain(|(name, _)| name != "scratch_bytes");
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
    if plan.peak > capacity {
        return Err(PassError::at(
            &function,
            format!(
                "'{}' needs {} bytes of pool '{pool}' at once, which has {capacity}: use smaller \
                 tiles",
                func::symbol(function),
                plan.peak
            ),
        ));
    }
    for (request, offset) in requests.iter().zip(&plan.offsets) {
        let builder = Builder::before(request.op)?;
        let old = ir::result0(request.op);
        let offset = vec![("offset", builder.i64_attr(*offset as i64))];
        let new = builder.op1_with("tir.buffer", &[], old.r#type(), offset)?;
        edit::replace_uses(old, new);
        edit::erase(request.op);
    }
    Ok(())
}
