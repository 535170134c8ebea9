//! Functions of a device whose code comes out of LLVM, with the signature that the host calls.
//!
//! ```c
//! int32_t MODEL_DEVICE_0(void *device, const float *x, float *y);
//! ```
//! Every function of a device has this signature, whatever generates its code. The passes turn a
//! region into a function of the buffers alone. The handle, the status and the calls around a
//! region are added here.

use super::dialect as llvm;
use crate::{
    Error, Result,
    codegen::c::{
        context::{Calls, is_in_session},
        session,
    },
    ir::{self, Builder, Op, edit, func, memory, names},
};
use melior::ir::{
    Region, Type,
    attribute::{ArrayAttribute, TypeAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use std::collections::BTreeSet;

/// The devices that are in sessions where `module` is given them.
pub fn in_sessions(module: Op<'_>) -> Result<Vec<String>> {
    let devices = ir::attr_strs(module, names::DEVICES).unwrap_or_default();
    let own = ir::attr_str(module, names::TARGET).filter(|own| devices.contains(own));
    if let Some(own) = own {
        let in_session = ir::ops_of(module).into_iter().any(|op| op.has_attribute(names::SESSION));
        return Ok(in_session.then_some(own).into_iter().collect());
    }
    Ok(memory::declared(module)?.into_iter().map(|memory| memory.target).collect())
}

/// Adds the handle and the status to the functions of `module` that nothing in it calls, if it is
/// the module of one of `devices`. These are the devices that a run opens, in this order.
///
/// `is_handed_devices` says of a function whether its last argument is the array of all devices;
/// it is then made here, with the function's own device in it.
pub fn add_handles<'c>(
    module: Op<'c>,
    devices: &[String],
    is_handed_devices: &dyn Fn(Op<'c>) -> bool,
) -> Result<()> {
    let target = ir::attr_str(module, names::TARGET).unwrap_or_default();
    let Some(index) = devices.iter().position(|device| *device == target) else { return Ok(()) };
    let called: BTreeSet<String> =
        edit::walk(module).into_iter().filter_map(|op| func::symbol_ref(op, "callee")).collect();
    for function in ir::ops_of(module) {
        let is_entry = ir::op_name(function) == "llvm.func"
            && edit::entry_block(function).is_some()
            && !called.contains(&func::symbol(function));
        if is_entry {
            add_handle(function, index, is_handed_devices(function))?;
            if let Some(calls) = Calls::of(function) {
                call_around(module, function, &calls)?;
            }
        }
    }
    Ok(())
}

fn add_handle(function: Op<'_>, index: usize, handed_devices: bool) -> Result<()> {
    let context = ir::context_of(function);
    let pointer = llvm::pointer(context);
    let status: Type<'_> = IntegerType::new(context, 32).into();
    let block = edit::entry_block(function)
        .ok_or_else(|| Error::internal("a function of a device has no body"))?;
    let (mut arguments, result) = llvm::signature(function)?;
    let mut lists = function.attribute("arg_attrs").map(edit::array).unwrap_or_default();
    lists.resize(arguments.len(), edit::dictionary_attr(context, &[]));
    let handle = edit::insert_argument(block, 0, pointer, function.location())?;
    if handed_devices {
        let last = arguments.len();
        let array = edit::arguments(block).get(last).copied();
        let first = ir::ops(block).first().copied();
        if let (Some(array), Some(first)) = (array, first) {
            let builder = Builder::before(first)?;
            let count = llvm::constant(&builder, builder.int(64), index as i64 + 1)?;
            let own = builder.op1_with(
                "llvm.alloca",
                &[count],
                pointer,
                vec![("elem_type", TypeAttribute::new(pointer).into())],
            )?;
            let place = i32::try_from(index).unwrap_or(i32::MAX);
            let slot = llvm::constant_element_address(&builder, own, pointer, place)?;
            let spec = ir::OpSpec { operands: &[handle, slot], ..Default::default() };
            builder.create("llvm.store", spec)?;
            edit::replace_uses(array, own);
            edit::erase_argument(block, last)?;
            arguments.pop();
            lists.pop();
        }
    }
    arguments.insert(0, pointer);
    lists.insert(0, edit::dictionary_attr(context, &[]));
    if result != status {
        for op in edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "llvm.return") {
            let builder = Builder::before(op)?;
            llvm::ret(&builder, Some(llvm::constant(&builder, status, 0)?))?;
            edit::erase(op);
        }
    }
    let ty = llvm::function_type(context, &arguments, Some(status));
    edit::set_attr(function, "function_type", TypeAttribute::new(ty).into());
    edit::set_attr(function, "arg_attrs", ArrayAttribute::new(context, &lists).into());
    Ok(())
}

/// Puts a function of the same name around one that is ready, with what is called before and after
/// it. What ends the device's work is called after a failure, too, whose status comes first.
fn call_around<'c>(module: Op<'c>, function: Op<'c>, calls: &Calls) -> Result<()> {
    let context = ir::context_of(module);
    let body = edit::entry_block(module).ok_or_else(|| Error::internal("a module has no body"))?;
    let outside = Builder::at_end(context, body, function.location());
    let (arguments, status) = llvm::signature(function)?;
    let ty = llvm::function_type(context, &arguments, Some(status));
    let name = func::symbol(function);
    // As C calls it.
    let inside = format!("{name}_active");
    for (key, value) in llvm::function_attributes(&outside, &inside, ty, "internal")? {
        edit::set_attr(function, key, value);
    }
    let region = Region::new();
    let typed: Vec<_> = arguments.iter().map(|ty| (*ty, function.location())).collect();
    let blocks = [&typed[..], &[], &[(status, function.location())]]
        .map(|arguments| edit::append_block(&region, arguments));
    let [begin, work, leave] =
        blocks.map(|block| Builder::at_end(context, block, function.location()));
    let given = edit::arguments(begin.block());
    let handle = given.first().copied().ok_or_else(|| Error::internal("no handle is given"))?;
    let pointer = llvm::pointer(context);
    let device = match is_in_session(function) {
        true => {
            let field = session::DEVICE as i32;
            let slot = llvm::constant_element_address(&begin, handle, pointer, field)?;
            llvm::load_pointer(&begin, slot)?
        }
        false => handle,
    };
    let of_device = |builder: &Builder<'c>, callee: &str| -> Result<_> {
        llvm::declare(module, callee, llvm::function_type(context, &[pointer], Some(status)))?;
        ir::result0(llvm::call(builder, callee, &[device], Some(status), vec![])?)
    };
    let begun = of_device(&begin, &calls.begin)?;
    llvm::leave_on_failure(&begin, begun, (work.block(), leave.block()))?;
    let done = llvm::call(&work, &inside, &given, Some(status), vec![])?;
    let mut value = ir::result0(done)?;
    if let Some(end) = &calls.end {
        let ended = of_device(&work, end)?;
        let condition = llvm::is_zero(&work, value)?;
        value = work.op1("llvm.select", &[condition, ended, value], status)?;
    }
    llvm::ret(&work, Some(value))?;
    llvm::ret(&leave, edit::arguments(leave.block()).first().copied())?;
    let attributes = llvm::function_attributes(&outside, &name, ty, "external")?;
    let spec = ir::OpSpec { attributes, regions: vec![region], ..Default::default() };
    outside.create("llvm.func", spec)?;
    Ok(())
}
