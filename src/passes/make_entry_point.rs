//! `make-entry-point`: adds the one function through which a compiled model is called.
//!
//! ```c
//! int32_t MODEL_invoke(void *const *inputs, void *const *outputs, const void *constants,
//!                      void *arena, void *const *devices, void *pool);
//! ```
//! It hands each argument of the model's main function the address that the argument's `phl.io`
//! names. That is the next input or output, the constants, the arena, the devices, or a field of
//! the session of a device with memory. On a board `constants` and `arena` are arrays of the
//! addresses of its pools. It returns 0, or the first status other than 0 that a called C function
//! returned. Devices that are activated for an inference are before all else, and ended after it,
//! also when something fails. Where kernels use AMX's registers, Linux is asked for leave first: it
//! is given to the process, once and for all its threads, and takes a fraction of a microsecond.

use crate::{
    codegen::{
        c::{
            context::{Context, contexts},
            session,
        },
        llvm::dialect as llvm,
    },
    ir::{
        self, Blk, Builder, Op, OpSpec, Val,
        board::{self, Pool},
        edit, func, memory,
        names::{self, IO, PIECE, model_name},
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Location, Region, operation::OperationLike,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "make-entry-point",
    summary: "Add the C function through which the model is run",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

const PARAMETERS: [&str; 6] = ["input", "output", "constants", "arena", "devices", "pool"];

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let context = ir::context_of(module);
    let model = model_name(module);
    let main_name = crate::ir::names::symbol_name(&model, "main");
    let main = ir::ops_of(module)
        .into_iter()
        .find(|op| ir::op_name(*op) == "llvm.func" && func::symbol(*op) == main_name);
    let (Some(main), Some(body)) = (main, edit::entry_block(module)) else {
        // A module of some other host than the one that runs the model.
        return Ok(());
    };
    let location = Location::unknown(context);
    let pointer = llvm::pointer(context);
    let at_end = Builder::at_end(context, body, location);
    let status = at_end.int(32);
    let ty = llvm::function_type(context, &[pointer; 6], Some(status));
    let name = format!("{model}_invoke");
    let region = Region::new();
    let block = edit::append_block(&region, &[(pointer, location); 6]);
    let builder = Builder::at_end(context, block, location);
    let parameters = edit::arguments(block);
    let (sessions, pools) = (sessions(module)?, board::declared(module)?);
    let mut entry = Entry { module, region: &region, builder, devices: parameters[4] };
    if asks_for_amx(module) {
        entry.ask_for_amx()?;
    }
    let ends = entry.activate(&contexts(module))?;
    let builder = entry.builder;
    let operands = operands(&builder, main, &parameters, (&sessions, &pools))?;
    let (_, result) = llvm::signature(main)?;
    let returns = (result == status).then_some(status);
    let call = llvm::call(&builder, &main_name, &operands, returns, vec![])?;
    let mut value = match returns {
        Some(_) => ir::result0(call)?,
        None => llvm::constant(&builder, status, 0)?,
    };
    for (space, device) in &sessions {
        let settle = names::settle_symbol(&model, space);
        let ty = llvm::function_type(context, &[pointer, status], Some(status));
        llvm::declare(module, &settle, ty)?;
        let session = element(&builder, parameters[4], *device)?;
        let call = llvm::call(&builder, &settle, &[session, value], Some(status), vec![])?;
        value = ir::result0(call)?;
    }
    match ends.last() {
        Some(end) => edit::create_branch(&builder, "llvm.br", &[value], &[*end], vec![])?,
        None => llvm::ret(&builder, Some(value))?,
    };
    let attributes = llvm::function_attributes(&at_end, &name, ty, "external")?;
    let regions = vec![region];
    at_end.create("llvm.func", OpSpec { attributes, regions, ..Default::default() })?;
    for function in ir::ops_of(module) {
        let is_piece = ir::op_name(function) == "llvm.func" && function.has_attribute(PIECE);
        if is_piece || edit::same(function, main) {
            hide(&at_end, function)?;
        }
    }
    Ok(())
}

/// Number of the system call `arch_prctl`, its code that asks for a component of the threads'
/// state, and the component of AMX's registers.
const ARCH_PRCTL: i64 = 158;
const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
const TILE_DATA: i64 = 18;
/// `PHL_ERR_SYSTEM` of `phaseline/runtime.h`.
const REFUSED: i64 = 9;

/// True if some kernel uses AMX's registers, on a system that grants them only on request.
fn asks_for_amx(module: Op<'_>) -> bool {
    let linux = ir::attr_str(module, "llvm.target_triple")
        .is_some_and(|triple| triple.split('-').nth(2) == Some("linux"));
    linux && ir::ops_of(module).into_iter().any(|function| function.has_attribute(names::AMX))
}

/// The entry point while it is written.
struct Entry<'c, 'r> {
    module: Op<'c>,
    region: &'r Region<'c>,
    /// Insertion point of the code that follows.
    builder: Builder<'c>,
    devices: Val<'c>,
}

impl<'c> Entry<'c, '_> {
    /// Leaves with a status if the system refuses AMX's registers.
    fn ask_for_amx(&mut self) -> crate::Result<()> {
        let b = &self.builder;
        let status = b.int(32);
        let answer = llvm::system_call(b, ARCH_PRCTL, [ARCH_REQ_XCOMP_PERM, TILE_DATA])?;
        let granted = llvm::is_zero(b, answer)?;
        let values = [0, REFUSED].map(|value| llvm::constant(b, status, value));
        let [good, refused] = values;
        let value = b.op1("llvm.select", &[granted, good?, refused?], status)?;
        let end = edit::append_block(self.region, &[(status, b.location)]);
        let leave = Builder::at_end(b.context, end, b.location);
        llvm::ret(&leave, edit::arguments(end).first().copied())?;
        self.builder = self.unless(value, end)?;
        Ok(())
    }

    /// Activates devices one after the other. Gives blocks that are given a status and leave with it:
    /// the first one at once, each other one when it has ended one device more, in the other direction.
    fn activate(&mut self, contexts: &[Context]) -> crate::Result<Vec<Blk<'c>>> {
        let mut ends: Vec<Blk<'c>> = vec![];
        if contexts.is_empty() {
            return Ok(ends);
        }
        let (context, location) = (self.builder.context, self.builder.location);
        let status = self.builder.int(32);
        let end = || edit::append_block(self.region, &[(status, location)]);
        let inside = |block| (Builder::at_end(context, block, location), edit::arguments(block)[0]);
        ends.push(end());
        let (builder, value) = inside(ends[0]);
        llvm::ret(&builder, Some(value))?;
        for known in contexts {
            let before = ends[ends.len() - 1];
            let value = self.call(&self.builder, &known.activate, known.device, None)?;
            self.builder = self.unless(value, before)?;
            let block = end();
            let (builder, value) = inside(block);
            let value = self.call(&builder, &known.deactivate, known.device, Some(value))?;
            edit::create_branch(&builder, "llvm.br", &[value], &[before], vec![])?;
            ends.push(block);
        }
        Ok(ends)
    }

    /// Goes to `end` with a status that is not 0; gives the place where it is 0.
    fn unless(&self, value: Val<'c>, end: Blk<'c>) -> crate::Result<Builder<'c>> {
        let builder = &self.builder;
        let next = edit::append_block(self.region, &[]);
        llvm::leave_on_failure(builder, value, (next, end))?;
        Ok(Builder::at_end(builder.context, next, builder.location))
    }

    /// Calls a function of a device, which may be given a status and returns one.
    fn call(
        &self,
        builder: &Builder<'c>,
        name: &str,
        device: usize,
        given: Option<Val<'c>>,
    ) -> crate::Result<Val<'c>> {
        let status = builder.int(32);
        let types: Vec<_> =
            std::iter::once(llvm::pointer(builder.context)).chain(given.map(|_| status)).collect();
        let ty = llvm::function_type(builder.context, &types, Some(status));
        llvm::declare(self.module, name, ty)?;
        let handle = element(builder, self.devices, i32::try_from(device).unwrap_or(i32::MAX))?;
        let operands: Vec<_> = std::iter::once(handle).chain(given).collect();
        ir::result0(llvm::call(builder, name, &operands, Some(status), vec![])?)
    }
}

/// Operands for the arguments of the main function.
fn operands<'c>(
    builder: &Builder<'c>,
    main: Op<'c>,
    parameters: &[Val<'c>],
    (sessions, pools): (&[(String, i32)], &[Pool]),
) -> Result<Vec<Val<'c>>, PassError<'c>> {
    let (arguments, _) = llvm::signature(main)?;
    let lists = main.attribute("arg_attrs").map(edit::array).unwrap_or_default();
    let mut next = [0; 2];
    let mut operands = vec![];
    for index in 0..arguments.len() {
        let attributes = lists.get(index).map(|list| edit::dictionary(*list)).unwrap_or_default();
        let role = attributes.iter().find(|(name, _)| name == IO);
        let role = role.map(|(_, value)| value.to_string().replace('"', "")).unwrap_or_default();
        let field = match &*role {
            names::DEVICE_ARENA => Some(session::VALUES),
            names::DEVICE_CONSTANTS => Some(session::CONSTANTS),
            _ => None,
        };
        if let (Some(field), Some(devices)) = (field, parameters.get(4)) {
            let space = memory::of_argument(&attributes);
            let known = sessions.iter().find(|(known, _)| *known == space);
            let (_, device) = known.ok_or_else(|| {
                PassError::at(&main, format!("argument {index} is in '{space}', which no device has"))
            })?;
            let session = element(builder, *devices, *device)?;
            operands.push(element(builder, session, field as i32)?);
            continue;
        }
        let position = match &*role {
            names::POOL_ARENA => Some("arena"),
            names::POOL_CONSTANTS => Some("constants"),
            _ => None,
        };
        if let Some(parameter) = position.and_then(|name| PARAMETERS.iter().position(|p| *p == name)) {
            let name = memory::of_argument(&attributes);
            let place = pools.iter().position(|pool| pool.name == name).ok_or_else(|| {
                PassError::at(&main, format!("argument {index} is in pool '{name}', which the board lacks"))
            })?;
            operands.push(element(builder, parameters[parameter], place as i32)?);
            continue;
        }
        let position = PARAMETERS.iter().position(|name| *name == role).ok_or_else(|| {
            PassError::at(&main, format!("argument {index} has no {IO} that says what it is"))
        })?;
        let parameter = parameters[position];
        operands.push(match next.get_mut(position) {
            Some(counter) => {
                *counter += 1;
                element(builder, parameter, *counter - 1)?
            }
            None => parameter,
        });
    }
    Ok(operands)
}

/// An element of an array of pointers.
fn element<'c>(builder: &Builder<'c>, array: Val<'c>, index: i32) -> crate::Result<Val<'c>> {
    let pointer = llvm::pointer(builder.context);
    let slot = llvm::constant_element_address(builder, array, pointer, index)?;
    llvm::load_pointer(builder, slot)
}

/// The memories of devices, with the places of these among all devices.
fn sessions(module: Op<'_>) -> crate::Result<Vec<(String, i32)>> {
    let devices = ir::attr_strs(module, names::DEVICES).unwrap_or_default();
    let place = |target: &str| devices.iter().position(|device| device == target);
    let memories = memory::declared(module)?.into_iter();
    Ok(memories.filter_map(|memory| Some((memory.space, place(&memory.target)? as i32))).collect())
}

/// Keeps the main function and its pieces out of line. Inlined, the main function would lose that
/// its arguments do not alias, and the pieces would make it long again.
fn hide<'c>(builder: &Builder<'c>, main: Op<'c>) -> Result<(), PassError<'c>> {
    edit::set_attr(main, "linkage", builder.parse_attr("#llvm.linkage<internal>")?);
    edit::set_attr(main, "no_inline", melior::ir::Attribute::unit(builder.context));
    Ok(())
}
