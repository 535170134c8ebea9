//! `verify-plan`: refuses a plan of memory that is wrong.
//!
//! Buffers must be inside of their memory, aligned, and disjoint while they are in use. Calls must
//! be given as much as they need. Pools of a board must be large enough, and reachable by their
//! users. Device commands in flight must not race with other work. Plans come from `plan-memory`,
//! but also from files: IR can be printed, edited and compiled on. So all is read from the IR anew,
//! see [`crate::planned`].

use crate::{
    ir::{
        self, Op, Val,
        call_extern::{CallExtern, Group, SCRATCH_NEED, SCRATCH_OUT, arg_of},
        calls::{self, CallGraph},
        edit, effects, func,
        names::{self, CONSTANTS, IO},
        size, tir,
    },
    pass::{PassResult, OptionValues, Pass, PassError},
    planned::{
        self, BufferUse, Effects, Memory, Order, Place, Use, constants, generated, pools, queues,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "verify-plan",
    summary: "Check that buffers have valid addresses and do not overlap while live",
    anchor: "builtin.module",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> PassResult<'c> {
    check_functions(module, module, true)?;
    constants::check_loads(module)?;
    pools::check(module)?;
    queues::check(module)?;
    // Code that is printed as C is still functions after code generation, which may use a whole
    // block where that is one buffer.
    for part in ir::ops_of(module).into_iter().filter(|op| op.has_attribute(names::TARGET)) {
        check_functions(module, part, false)?;
    }
    generated::check(module)
}

/// Checks the functions of a module or of a target's part of it: sizes, and maybe places.
fn check_functions<'c>(module: Op<'c>, part: Op<'c>, with_places: bool) -> PassResult<'c> {
    let functions: Vec<_> = func::functions(part)
        .into_iter()
        .filter(|function| edit::entry_block(*function).is_some())
        .collect();
    let mut callees = BTreeMap::new();
    for function in &functions {
        callees.insert(func::symbol(*function), func::Signature::of(*function)?);
    }
    let effects = match with_places {
        true => planned::effects(&CallGraph::of(part)?)?,
        false => Effects::new(),
    };
    for function in &functions {
        check_sizes(module, *function, &callees[&func::symbol(*function)])?;
        let ops = edit::walk(*function);
        let places = with_places.then(|| planned::places(*function, &ops)).transpose()?;
        for op in &ops {
            check_op(*function, *op, &callees)?;
        }
        if let Some(places) = places {
            check_apart(*function, &ops, &places, &effects)?;
        }
    }
    Ok(())
}

/// Checks that the sizes on the function and the module are those of the arguments.
fn check_sizes<'c>(
    module: Op<'c>,
    function: Op<'c>,
    signature: &func::Signature<'c>,
) -> PassResult<'c> {
    let of_role = |role: &str| {
        let has = |list: &func::Attributes<'c>| {
            list.iter()
                .any(|(name, value)| name == IO && edit::string(*value).as_deref() == Some(role))
        };
        signature.arguments.iter().find(|(_, list)| has(list)).map(|(ty, _)| *ty)
    };
    let name = func::symbol(function);
    let said = ir::attr_i64(function, names::ARENA_BYTES);
    let arena = of_role("arena").map(|ty| size::bytes(ty).unwrap_or_default() as i64);
    if said != arena && (said.is_some() || of_role("arena").is_none()) {
        let arena = arena.unwrap_or_default();
        return Err(PassError::at(
            &function,
            format!(
                "'{name}' has an arena of {arena} bytes, but its phl.arena_bytes is {}",
                said.unwrap_or_default()
            ),
        ));
    }
    let Some(block) = of_role("constants").and_then(size::bytes) else { return Ok(()) };
    let data =
        module.attribute(CONSTANTS).map(|value| generated::size_of(value)).unwrap_or_default();
    if block != data {
        return Err(PassError::at(
            &function,
            format!("'{name}' takes {block} bytes of constants, but {CONSTANTS} has {data}"),
        ));
    }
    Ok(())
}

fn check_op<'c>(
    function: Op<'c>,
    op: Op<'c>,
    callees: &BTreeMap<String, func::Signature<'c>>,
) -> PassResult<'c> {
    let name = ir::op_name(op);
    if name == "memref.alloc" {
        return Err(PassError::at(
            &op,
            format!(
                "in '{}' allocates memory when the network runs, which has no place in the plan: run \
             plan-memory",
                func::symbol(function)
            ),
        ));
    }
    if name == "memref.view" {
        return check_view(function, op);
    }
    if name != tir::CallExtern::NAME {
        return Ok(());
    }
    let Some(call) = CallExtern::of(op) else { return Ok(()) };
    if let Some(need) = ir::attr_i64(op, SCRATCH_NEED) {
        let place = ir::attr_i64(op, SCRATCH_OUT).and_then(|place| usize::try_from(place).ok());
        let given = place.and_then(|place| call.groups[Group::Outs as usize].get(place));
        let given = given.and_then(|value| size::bytes(value.r#type())).unwrap_or_default();
        if given < need.max(0) as u64 {
            return Err(PassError::at(
                &op,
                format!(
                    "in '{}' gives @{} {given} bytes of scratch memory, which needs {need}",
                    func::symbol(function),
                    call.callee
                ),
            ));
        }
    }
    match calls::callee(op).and_then(|name| callees.get(&name)) {
        Some(callee) => check_call(function, op, &call, callee),
        None => Ok(()),
    }
}

/// Checks that a call of a function gives it buffers of the sizes that it takes.
fn check_call<'c>(
    function: Op<'c>,
    op: Op<'c>,
    call: &CallExtern<'c>,
    callee: &func::Signature<'c>,
) -> PassResult<'c> {
    let caller = func::symbol(function);
    if call.args.len() != callee.arguments.len() {
        return Err(PassError::at(
            &op,
            format!(
                "in '{caller}' passes {} arguments to @{}, which takes {}",
                call.args.len(),
                call.callee,
                callee.arguments.len()
            ),
        ));
    }
    for (index, (argument, (ty, attributes))) in call.args.iter().zip(&callee.arguments).enumerate()
    {
        let Some((group @ (Group::Ins | Group::Outs), place, _)) = arg_of(*argument) else {
            continue;
        };
        let Some(value) = call.groups[group as usize].get(place) else { continue };
        let (Some(given), Some(taken)) = (size::bytes(value.r#type()), size::bytes(*ty)) else {
            continue;
        };
        if given < taken {
            let role = attributes.iter().find(|(name, _)| name == IO);
            let role = role.and_then(|(_, value)| edit::string(*value));
            return Err(PassError::at(
                &op,
                format!(
                    "in '{caller}' gives @{} {given} bytes as argument {index} ({}), which needs {taken}",
                    call.callee,
                    role.as_deref().unwrap_or("buffer")
                ),
            ));
        }
    }
    Ok(())
}

/// Checks that a view is inside of its source, where both are known.
fn check_view<'c>(function: Op<'c>, op: Op<'c>) -> PassResult<'c> {
    let operands = ir::operands(op);
    let known = |value: &Val<'c>| size::bytes(value.r#type());
    let constant = |value: &Val<'c>| ir::attr_i64(edit::defining_op(*value)?, "value");
    let view = ir::result0(op)?.r#type();
    let (Some(bytes), Some(shift), Some(size)) =
        (operands.first().and_then(known), operands.get(1).and_then(constant), size::bytes(view))
    else {
        return Ok(());
    };
    let end = u64::try_from(shift).ok().and_then(|shift| shift.checked_add(size));
    if end.is_none_or(|end| end > bytes) {
        return Err(PassError::at(
            &op,
            format!(
                "in '{}' puts {view} of {size} bytes at byte {shift} of {bytes}",
                func::symbol(function)
            ),
        ));
    }
    Ok(())
}

/// Checks that no buffers share bytes while both are in use, buffers of callees included.
fn check_apart<'c>(
    function: Op<'c>,
    ops: &[Op<'c>],
    places: &[Place<'c>],
    effects: &Effects<'c>,
) -> PassResult<'c> {
    let mut pools: BTreeMap<&Memory, Vec<&Place<'c>>> = BTreeMap::new();
    // Constants are only read, so they may share bytes.
    for place in places.iter().filter(|place| !matches!(place.memory, Memory::Constants(_))) {
        let around = std::iter::successors(place.op.parent_operation(), |op| op.parent_operation());
        let mut around = around.take_while(|op| !edit::same(*op, function));
        if around.any(effects::runs_at_once) {
            return Err(PassError::at(
                &place.op,
                format!(
                    "in '{}' has one place in {} for all threads of a parallel loop",
                    func::symbol(function),
                    place.memory
                ),
            ));
        }
        pools.entry(&place.memory).or_default().push(place);
    }
    if pools.is_empty() {
        return Ok(());
    }
    let order = Order::of(function, ops, effects);
    for (memory, places) in pools {
        let found = planned::uses_of(&order, function, &places);
        let uses: Vec<_> = found
            .iter()
            .map(|one| Use {
                start: one.span.0,
                end: one.span.1,
                offset: one.offset,
                size: one.size,
                buffer: one.buffer,
            })
            .collect();
        if let Some((first, second)) = planned::clash(&uses) {
            let made_by = |wanted: &Use| {
                uses.iter().zip(&found).find_map(|(use_, one)| (use_ == wanted).then_some(one))
            };
            if let (Some(first), Some(second)) = (made_by(&first), made_by(&second)) {
                return Err(overlap(function, memory, first, second));
            }
        }
    }
    Ok(())
}

fn overlap<'c>(
    function: Op<'c>,
    memory: &Memory,
    first: &BufferUse<'c>,
    second: &BufferUse<'c>,
) -> PassError<'c> {
    PassError::at(
        &second.op,
        format!(
            "in '{}' puts {} of {memory}, where {} is still in use (made at {})",
            func::symbol(function),
            second.describe(),
            first.describe(),
            first.op.location()
        ),
    )
}
