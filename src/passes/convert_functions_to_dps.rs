//! `convert-functions-to-dps`: functions on tensors become functions on buffers that are given the
//! buffers of their results.
//!
//! This is done by hand rather than by one-shot-bufferize's function boundaries because a function
//! must never return memory: every buffer is the caller's, so that all of them can be planned.

use crate::{
    ir::{
        self, Builder, Op, OpSpec, Val,
        call_extern::{CallExtern, Group},
        edit,
        func::{self, Signature},
        names::{self, DEVICE, IO},
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::{
    Context,
    ir::{
        Attribute, RegionLike, Type, ValueLike,
        attribute::{ArrayAttribute, StringAttribute},
        block::BlockLike,
        operation::OperationLike,
    },
};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-functions-to-dps",
    summary: "Give functions on tensors buffers for their arguments and results",
    anchor: "builtin.module",
    options: &[],
    dialects: &["bufferization", "memref", "tensor", "tir"],
    run,
};

struct Callee<'c> {
    signature: Signature<'c>,
    target: Option<String>,
}

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let context = ir::context_of(module);
    let functions = func::functions(module);
    let mut callees = BTreeMap::new();
    for function in &functions {
        let signature = Signature::of(*function)?;
        let target = ir::attr_str(*function, names::TARGET);
        callees.insert(func::symbol(*function), Callee { signature, target });
    }
    for function in &functions {
        let caller = ir::attr_str(*function, names::TARGET);
        for call in edit::walk(*function) {
            if ir::op_name(call) != "func.call" {
                continue;
            }
            let name = func::symbol_ref(call, "callee").unwrap_or_default();
            if let Some(callee) = callees.get(&name).filter(|c| has_tensors(&c.signature)) {
                convert_call(context, call, &name, callee, &caller)?;
            }
        }
    }
    record_devices(context, module, &functions);
    for function in functions {
        let signature = &callees[&func::symbol(function)].signature;
        if has_tensors(signature) {
            convert_function(context, function, signature)?;
        }
    }
    Ok(())
}

/// Writes the ids of the targets other than the host's on the module, in order of appearance; a
/// run is given an array of their devices in that order.
fn record_devices<'c>(context: &'c Context, module: Op<'c>, functions: &[Op<'c>]) {
    let host = func::main(module).and_then(|main| ir::attr_str(main, names::TARGET));
    let mut devices: Vec<String> = vec![];
    for function in functions {
        let target =
            ir::attr_str(*function, names::TARGET).filter(|target| Some(target) != host.as_ref());
        devices.extend(target.filter(|target| !devices.contains(target)));
    }
    if !devices.is_empty() {
        let names: Vec<_> =
            devices.iter().map(|name| StringAttribute::new(context, name).into()).collect();
        edit::set_attr(module, names::DEVICES, ArrayAttribute::new(context, &names).into());
    }
}

fn has_tensors(signature: &Signature<'_>) -> bool {
    signature.arguments.iter().chain(&signature.results).any(|(ty, _)| ir::is_tensor(*ty))
}

fn convert_function<'c>(
    context: &'c Context,
    function: Op<'c>,
    old: &Signature<'c>,
) -> Result<(), PassError<'c>> {
    let mut new = Signature { arguments: vec![], results: vec![] };
    for (role, list) in [("input", &old.arguments), ("output", &old.results)] {
        for (index, (ty, attributes)) in list.iter().enumerate() {
            let mut attributes = attributes.clone();
            let ty = if ir::is_tensor(*ty) {
                check_static(function, role, index, *ty, &attributes)?;
                let mark = StringAttribute::new(context, role).into();
                func::set_in(&mut attributes, IO, mark);
                func::memref_like(*ty)
            } else if role == "output" {
                return Err(PassError::at(
                    &function,
                    format!(
                        "'{}' returns {ty}; only tensors can be returned through buffers",
                        func::symbol(function)
                    ),
                ));
            } else {
                *ty
            };
            new.arguments.push((ty, attributes));
        }
    }
    new.set(context, function);
    if let Some(block) = edit::entry_block(function) {
        convert_body(context, function, block, old, &new)?;
    }
    Ok(())
}

fn check_static<'c>(
    function: Op<'c>,
    role: &str,
    index: usize,
    ty: Type<'c>,
    attributes: &[(String, Attribute<'c>)],
) -> Result<(), PassError<'c>> {
    if ir::static_dims(ty).is_some() {
        return Ok(());
    }
    let name = attributes.iter().find(|(name, _)| name == names::NAME);
    let name = name.map_or(format!("#{index}"), |(_, value)| value.to_string().replace('"', "'"));
    Err(PassError::at(
        &function,
        format!(
            "{role} {name} of '{}' has the type {ty}, whose size is not known: give the unknown \
             dimensions of the model's inputs with --shape",
            func::symbol(function)
        ),
    ))
}

fn convert_body<'c>(
    context: &'c Context,
    function: Op<'c>,
    block: ir::Blk<'c>,
    old: &Signature<'c>,
    new: &Signature<'c>,
) -> Result<(), PassError<'c>> {
    let returns = block.terminator().filter(|op| ir::op_name(*op) == "func.return");
    let several = function.regions().next().and_then(|r| r.first_block()?.next_in_region());
    let (Some(returns), None) = (returns, several) else {
        return Err(PassError::at(
            &function,
            "has several blocks; only structured control flow \
             (scf) can be compiled",
        ));
    };
    let unit = Attribute::unit(context);
    // Buffers become tensors at the very start, in the order of the arguments.
    let mut before_all = Builder::before(ir::ops(block)[0])?;
    before_all.location = function.location();
    for (argument, (tensor, _)) in edit::arguments(block).into_iter().zip(&old.arguments) {
        if !ir::is_tensor(*tensor) {
            continue;
        }
        edit::set_type(argument, func::memref_like(*tensor));
        let restrict = vec![("restrict", unit)];
        let value =
            before_all.op1_with("bufferization.to_tensor", &[argument], *tensor, restrict)?;
        let owner = edit::defining_op(value).ok_or_else(|| PassError::new("no owner"))?;
        edit::replace_uses_except(argument, value, owner);
    }
    let at_return = Builder::before(returns)?;
    for (value, (ty, _)) in
        ir::operands(returns).into_iter().zip(&new.arguments[old.arguments.len()..])
    {
        let out = edit::add_argument(block, *ty, ir::location_of(value));
        let (value, out) = before_reshapes(&before_all, value, out)?;
        at_return.create(
            "bufferization.materialize_in_destination",
            OpSpec {
                operands: &[value, out],
                attributes: vec![("restrict", unit), ("writable", unit)],
                ..Default::default()
            },
        )?;
    }
    at_return.create("func.return", OpSpec::default())?;
    edit::erase(returns);
    Ok(())
}

/// A result in another shape is what was reshaped, however often, written to the buffer in its shape: what
/// computes it can then do so in place.
fn before_reshapes<'c>(
    b: &Builder<'c>,
    mut value: Val<'c>,
    mut out: Val<'c>,
) -> Result<(Val<'c>, Val<'c>), PassError<'c>> {
    while let Some(op) = edit::defining_op(value) {
        let view = match ir::op_name(op) {
            "tensor.collapse_shape" => "memref.expand_shape",
            "tensor.expand_shape" => "memref.collapse_shape",
            _ => break,
        };
        let source = ir::operands(op)[0];
        let (Some(dims), Ok(groups)) =
            (ir::static_dims(source.r#type()), op.attribute("reassociation"))
        else {
            break;
        };
        let mut attributes = vec![("reassociation", groups)];
        if view == "memref.expand_shape" {
            attributes.push(("static_output_shape", b.i64s_attr(&dims)));
        }
        let ty = func::memref_like(source.r#type());
        (value, out) = (source, b.op1_with(view, &[out], ty, attributes)?);
    }
    Ok((value, out))
}

/// Replaces `func.call` by `tir.call_extern` on tensors, whose results have empty destinations.
///
/// What another target implements is a C function that takes the target's device first and returns
/// a status; a function of the caller's own target does neither.
fn convert_call<'c>(
    context: &'c Context,
    call: Op<'c>,
    name: &str,
    callee: &Callee<'c>,
    caller: &Option<String>,
) -> Result<(), PassError<'c>> {
    let builder = Builder::before(call)?;
    let mut new = CallExtern::new(name);
    for value in ir::operands(call) {
        let group = if ir::is_tensor(value.r#type()) { Group::Ins } else { Group::Scalars };
        new.push(context, group, value);
    }
    let results: Vec<_> = ir::results(call).iter().map(|result| result.r#type()).collect();
    for ty in &results {
        if ir::static_dims(*ty).is_none() {
            return Err(PassError::at(&call, format!("has a result of unknown size: {ty}")));
        }
        new.push(context, Group::Outs, builder.empty(*ty)?);
    }
    if let Some(target) = callee.target.as_ref().filter(|_| callee.target != *caller) {
        let unit = Attribute::unit(context);
        new.set("with_device", unit);
        new.set("returns_status", unit);
        new.set(DEVICE, builder.str_attr(target));
    }
    let new = new.build(&builder, &results)?;
    for (old, new) in ir::results(call).into_iter().zip(ir::results(new)) {
        edit::replace_uses(old, new);
    }
    edit::erase(call);
    Ok(())
}
