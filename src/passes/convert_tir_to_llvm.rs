//! `convert-tir-to-llvm`: calls of C functions become calls in the LLVM dialect.
//!
//! It runs when functions are in the LLVM dialect and control flow is between blocks, but memrefs
//! are still there. A status that is not 0 leaves the calling function at once, so every function
//! of the host in which that can happen returns a status too. Every function that needs a device
//! gets the array of devices. Functions of a device get its handle ([`device`]).

use crate::{
    codegen::{
        c::{blob, session},
        llvm::{device, dialect as llvm},
    },
    ir::{
        self, Blk, Builder, Op, Val,
        call_extern::{CallExtern, Group, arg_of, is_null},
        edit, func,
        names::{self, DEVICE, IO},
        tir,
    },
    pass::{PassResult, OptionValues, Pass, PassError},
    tensor::SmallType,
};
use melior::{
    Context,
    ir::{
        Attribute, Block, BlockLike, RegionLike, Type, TypeLike,
        ValueLike,
        attribute::{ArrayAttribute, StringAttribute, TypeAttribute},
        operation::OperationLike,
    },
};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-tir-to-llvm",
    summary: "Turn calls of C functions into calls of the LLVM dialect",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

/// Parameters and results that a function needs for the calls in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Needs {
    status: bool,
    devices: bool,
}

struct Conversion<'c> {
    context: &'c Context,
    module: Op<'c>,
    /// The functions that have bodies here, by name.
    functions: BTreeMap<String, (Op<'c>, Needs)>,
    /// The ids of the targets with a device, in the order of the array of devices.
    devices: Vec<String>,
    /// Targets with a session: on the host all with memory. In a device's own code it is that
    /// device, if its functions are given the session.
    sessions: Vec<String>,
}

fn run<'c>(module: Op<'c>, _: &OptionValues) -> PassResult<'c> {
    let mut conversion = Conversion {
        context: ir::context_of(module),
        module,
        functions: BTreeMap::new(),
        devices: ir::attr_strs(module, names::DEVICES).unwrap_or_default(),
        sessions: device::in_sessions(module)?,
    };
    for op in ir::ops_of(module) {
        if ir::op_name(op) == "llvm.func" && edit::entry_block(op).is_some() {
            conversion.functions.insert(func::symbol(op), (op, Needs::default()));
        }
    }
    conversion.find_needs();
    blob::note_called(module)?;
    for (function, needs) in conversion.functions.values() {
        conversion.change_signature(*function, *needs)?;
    }
    for (function, needs) in conversion.functions.values() {
        let mut exit = None;
        for call in calls(*function) {
            conversion.convert(*function, *needs, call, &mut exit)?;
        }
    }
    let handed_devices = |function| {
        let needs = conversion.functions.get(&func::symbol(function)).map(|entry| entry.1);
        needs.is_some_and(|needs| needs.devices)
    };
    Ok(device::add_handles(module, &conversion.devices, &handed_devices)?)
}

fn calls<'c>(function: Op<'c>) -> Vec<Op<'c>> {
    edit::walk(function)
        .into_iter()
        .filter(|op| ir::op_name(*op) == tir::CallExtern::NAME)
        .collect()
}

impl<'c> Conversion<'c> {
    /// Propagates needs from callees to callers until nothing changes.
    fn find_needs(&mut self) {
        loop {
            let mut changed = vec![];
            for (name, (function, old)) in &self.functions {
                let mut needs = *old;
                for call in calls(*function) {
                    let found = self.needs_of(call);
                    needs.status |= found.status;
                    needs.devices |= found.devices;
                }
                if needs != *old {
                    changed.push((name.clone(), needs));
                }
            }
            if changed.is_empty() {
                return;
            }
            for (name, needs) in changed {
                self.functions.entry(name).and_modify(|entry| entry.1 = needs);
            }
        }
    }

    fn needs_of(&self, call: Op<'c>) -> Needs {
        let callee = func::symbol_ref(call, "callee").unwrap_or_default();
        let inner = self.functions.get(&callee).map(|entry| entry.1).unwrap_or_default();
        Needs {
            status: inner.status || call.has_attribute("returns_status"),
            devices: inner.devices || call.has_attribute("with_device"),
        }
    }

    fn change_signature(&self, function: Op<'c>, needs: Needs) -> PassResult<'c> {
        let block = edit::entry_block(function).ok_or_else(|| PassError::new("no body"))?;
        let (mut arguments, result) = llvm::signature(function)?;
        if needs.devices {
            let pointer = llvm::pointer(self.context);
            arguments.push(pointer);
            edit::add_argument(block, pointer, function.location());
            self.mark_devices(function, arguments.len());
        }
        let mut result = (!is_void(result)).then_some(result);
        if needs.status {
            if result.is_some() {
                return Err(PassError::at(
                    &function,
                    "returns a value, so it cannot also return \
                     the status of the calls in it",
                ));
            }
            result = Some(self.i32());
            for op in edit::walk(function) {
                if ir::op_name(op) == "llvm.return" {
                    let builder = Builder::before(op)?;
                    llvm::ret(&builder, Some(llvm::constant(&builder, self.i32(), 0)?))?;
                    edit::erase(op);
                }
            }
        }
        let ty = llvm::function_type(self.context, &arguments, result);
        edit::set_attr(function, "function_type", TypeAttribute::new(ty).into());
        Ok(())
    }

    /// Marks the last of `count` arguments as the array of devices.
    fn mark_devices(&self, function: Op<'c>, count: usize) {
        let mut lists = function.attribute("arg_attrs").map(edit::array).unwrap_or_default();
        lists.resize(count - 1, edit::dictionary_attr(self.context, &[]));
        let mark = StringAttribute::new(self.context, "devices").into();
        lists.push(edit::dictionary_attr(self.context, &[(IO.to_owned(), mark)]));
        edit::set_attr(function, "arg_attrs", ArrayAttribute::new(self.context, &lists).into());
    }

    fn i32(&self) -> Type<'c> {
        melior::ir::r#type::IntegerType::new(self.context, 32).into()
    }

    fn convert(
        &self,
        function: Op<'c>,
        needs: Needs,
        op: Op<'c>,
        exit: &mut Option<Blk<'c>>,
    ) -> PassResult<'c> {
        let call = CallExtern::of(op).ok_or_else(|| PassError::at(&op, "is malformed"))?;
        if call.attributes.iter().any(|(name, _)| name == "scratch_bytes") {
            return Err(PassError::at(
                &op,
                "needs scratch memory that has no place yet: run \
                 plan-memory first",
            ));
        }
        let builder = Builder::before(op)?;
        let mut operands = vec![];
        let devices = needs.devices.then(|| edit::entry_block(function)).flatten();
        let devices = devices.and_then(|block| edit::arguments(block).last().copied());
        if let (Some(devices), true) = (devices, op.has_attribute("with_device")) {
            let index = self.device_index(op)?;
            let pointer = llvm::pointer(self.context);
            let slot = llvm::constant_element_address(&builder, devices, pointer, index)?;
            let mut given = llvm::load_pointer(&builder, slot)?;
            let id = self.device_of(op).unwrap_or_default();
            if self.sessions.contains(&id) && !op.has_attribute(names::SESSION) {
                let field = session::DEVICE as i32;
                let slot = llvm::constant_element_address(&builder, given, pointer, field)?;
                given = llvm::load_pointer(&builder, slot)?;
            }
            operands.push(given);
        }
        for argument in &call.args {
            operands.push(self.argument(&builder, op, &call, *argument)?);
        }
        let inner = self.functions.get(&call.callee).map(|entry| entry.1).unwrap_or_default();
        operands.extend(devices.filter(|_| inner.devices));
        let status = self.needs_of(op).status;
        let result = status.then(|| self.i32());
        let types: Vec<_> = operands.iter().map(|operand| operand.r#type()).collect();
        if !self.functions.contains_key(&call.callee) {
            let ty = llvm::function_type(self.context, &types, result);
            llvm::declare(self.module, &call.callee, ty)
                .map_err(|error| PassError::at(&op, error))?;
        }
        let extra = vec![("arg_attrs", self.extensions(&types))];
        let new = llvm::call(&builder, &call.callee, &operands, result, extra)?;
        if status {
            self.leave_on_failure(function, new, exit)?;
        }
        edit::erase(op);
        Ok(())
    }

    /// Target whose device a call is given.
    fn device_of(&self, op: Op<'c>) -> Option<String> {
        // A device's own functions pass on what they are given.
        ir::attr_str(op, DEVICE).or_else(|| ir::attr_str(self.module, names::TARGET))
    }

    fn device_index(&self, op: Op<'c>) -> PassResult<'c, i32> {
        let id = self.device_of(op).ok_or_else(|| {
            PassError::at(
                &op,
                format!(
                    "passes a device but does not say whose: set {DEVICE} to \
                 the id of its target"
                ),
            )
        })?;
        let index = self.devices.iter().position(|device| *device == id).ok_or_else(|| {
            PassError::at(
                &op,
                format!(
                    "passes the device of '{id}', which is not in phl.devices \
                 of the module"
                ),
            )
        })?;
        i32::try_from(index).map_err(|_| PassError::at(&op, "has too many devices"))
    }

    /// The value of one C argument.
    fn argument(
        &self,
        builder: &Builder<'c>,
        op: Op<'c>,
        call: &CallExtern<'c>,
        argument: Attribute<'c>,
    ) -> PassResult<'c, Val<'c>> {
        if let Some((group, index, by_offset)) = arg_of(argument) {
            if group == Group::Scratch || by_offset {
                return Err(PassError::at(
                    &op,
                    format!(
                        "passes {argument}, which is no number yet: run plan-memory, and \
                         pass-pool-offsets on a device's code, first"
                    ),
                ));
            }
            let value = call.groups[group as usize].get(index).copied();
            let value = value.ok_or_else(|| PassError::at(&op, "is malformed"))?;
            return self.operand(builder, value);
        }
        if is_null(argument) {
            return Ok(builder.op1("llvm.mlir.zero", &[], llvm::pointer(self.context))?);
        }
        let ty = ir::attribute::number_type(argument).ok_or_else(|| {
            PassError::at(
                &op,
                format!(
                    "passes {argument}, which only C knows: run outline-c-calls first, or have a \
                     region of a target around the call"
                ),
            )
        })?;
        let ty = self.converted(ty);
        Ok(builder.op1_with("llvm.mlir.constant", &[], ty, vec![("value", argument)])?)
    }

    /// The LLVM type of a scalar.
    fn converted(&self, ty: Type<'c>) -> Type<'c> {
        // A type that LLVM lacks becomes an integer with its bits.
        let small = SmallType::from_name(&ty.to_string()).filter(|_| ty.is_float());
        let signless = match ir::integer_width(ty) {
            _ if ty.is_index() => Some(64),
            None if small.is_some() => small.map(|small| small.bits() as u32),
            Some(width) if ir::types::has_signedness(ty) => Some(width),
            _ => None,
        };
        signless
            .map_or(ty, |width| melior::ir::r#type::IntegerType::new(self.context, width).into())
    }

    fn operand(&self, builder: &Builder<'c>, value: Val<'c>) -> PassResult<'c, Val<'c>> {
        const CAST: &str = "builtin.unrealized_conversion_cast";
        let ty = value.r#type();
        if !ir::is_memref(ty) {
            let target = self.converted(ty);
            return Ok(if target == ty { value } else { builder.op1(CAST, &[value], target)? });
        }
        let struct_type = llvm::descriptor(self.context, ir::dims(ty).len());
        let descriptor = builder.op1(CAST, &[value], struct_type)?;
        let base = llvm::extract(builder, descriptor, 1, llvm::pointer(self.context))?;
        let offset = llvm::extract(builder, descriptor, 2, builder.int(64))?;
        let element = self.converted(ir::element_type(ty));
        Ok(llvm::element_address(builder, base, element, offset)?)
    }

    /// C widens small integers in registers; which way makes no difference to a callee that
    /// looks at its own width only.
    fn extensions(&self, types: &[Type<'c>]) -> Attribute<'c> {
        let lists: Vec<_> = types
            .iter()
            .map(|ty| {
                let name = match ir::integer_width(*ty) {
                    Some(1) => "llvm.zeroext",
                    Some(8 | 16) => "llvm.signext",
                    _ => return edit::dictionary_attr(self.context, &[]),
                };
                let unit = Attribute::unit(self.context);
                edit::dictionary_attr(self.context, &[(name.to_owned(), unit)])
            })
            .collect();
        ArrayAttribute::new(self.context, &lists).into()
    }

    /// Splits the block after `call` and leaves the function there when its result is not 0.
    fn leave_on_failure(
        &self,
        function: Op<'c>,
        call: Op<'c>,
        exit: &mut Option<Blk<'c>>,
    ) -> PassResult<'c> {
        let block = call.block().filter(|block| {
            block.parent_operation().is_some_and(|parent| edit::same(parent, function))
        });
        let (Some(block), Some(region)) = (block, function.regions().next()) else {
            return Err(PassError::at(
                &call,
                "returns a status inside of structured control flow; \
                 convert that to branches first",
            ));
        };
        let exit = match exit {
            Some(exit) => *exit,
            None => {
                let status = [(self.i32(), function.location())];
                let new = region.append_block(Block::new(&status));
                let builder = Builder::at_end(self.context, new, function.location());
                llvm::ret(&builder, edit::arguments(new).first().copied())?;
                *exit.insert(new)
            }
        };
        let rest = region.insert_block_after(block, Block::new(&[]));
        // The operation after the call is the old `tir.call_extern`, which is erased later.
        let mut next = call.next_in_block().and_then(|old| old.next_in_block());
        while let Some(op) = next {
            next = op.next_in_block();
            edit::move_to_end(op, rest);
        }
        let builder = Builder::at_end(self.context, block, call.location());
        Ok(llvm::leave_on_failure(&builder, ir::result0(call)?, (rest, exit))?)
    }
}

fn is_void(ty: Type<'_>) -> bool {
    ty.to_string() == "!llvm.void"
}
