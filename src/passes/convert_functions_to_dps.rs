//! `convert-functions-to-dps`: functions on tensors become functions on buffers that are given the
//! buffers of their results.
//!
//! One-shot-bufferize's function boundaries are not used, since a function must never return
//! memory: every buffer is the caller's, so that all of them can be planned.
//!
//! A result that calls write over an argument shares its buffer. A device's function is given the
//! contents of the caller's destination for that result. The network does so for a pair that is
//! declared as a state (`phl.state`). Later readers of the argument get a copy from bufferization.

use crate::{
    ir::{
        self, Builder, Op, OpSpec, Val,
        call_extern::{CallExtern, Group},
        edit,
        func::{self, Signature},
        names::{self, DEVICE, IO},
        tir,
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
    /// For each result, the argument that it is written over.
    over: Vec<Option<usize>>,
}

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let context = ir::context_of(module);
    let functions = func::functions(module);
    let main = func::main(module);
    let is_main = |function: Op<'c>| main.is_some_and(|main| edit::same(main, function));
    let host = main.and_then(|main| ir::attr_str(main, names::TARGET));
    let mut callees = BTreeMap::new();
    for function in &functions {
        let signature = Signature::of(*function)?;
        let target = ir::attr_str(*function, names::TARGET);
        let over = match is_main(*function) {
            true => states(*function, &signature)?,
            false if target == host => vec![None; signature.results.len()],
            false => written_over(*function, &signature),
        };
        callees.insert(func::symbol(*function), Callee { signature, target, over });
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
        let callee = &callees[&func::symbol(function)];
        if has_tensors(&callee.signature) {
            convert_function(context, function, callee, is_main(function))?;
        }
    }
    Ok(())
}

/// The inputs of the network whose buffers its outputs are, by the name that an output says.
fn states<'c>(
    main: Op<'c>,
    signature: &Signature<'c>,
) -> Result<Vec<Option<usize>>, PassError<'c>> {
    let text = |attributes: &func::Attributes<'c>, wanted: &str| {
        let found = attributes.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| edit::string(*value))
    };
    let inputs: Vec<_> =
        signature.arguments.iter().map(|(_, attributes)| text(attributes, names::NAME)).collect();
    let place = |(ty, attributes): &(Type<'c>, func::Attributes<'c>)| {
        let Some(name) = text(attributes, names::STATE) else { return Ok(None) };
        let place = inputs.iter().position(|input| input.as_ref() == Some(&name));
        match place.filter(|place| signature.arguments[*place].0 == *ty) {
            Some(place) => Ok(Some(place)),
            None => Err(PassError::at(
                &main,
                format!("has an output that is the new state of '{name}', which is no input of type {ty}"),
            )),
        }
    };
    signature.results.iter().map(place).collect()
}

/// The arguments that results of a function are written over by the calls in it, each argument once.
fn written_over<'c>(function: Op<'c>, signature: &Signature<'c>) -> Vec<Option<usize>> {
    let Some(block) = edit::entry_block(function) else { return vec![None; signature.results.len()] };
    let arguments = edit::arguments(block);
    let returned = block.terminator().map(ir::operands).unwrap_or_default();
    let mut taken = vec![];
    let places = returned.into_iter().map(|value| {
        let old = beginning(value)?;
        let place = arguments.iter().position(|argument| *argument == old && *argument != value)?;
        let fits = old.r#type() == value.r#type() && !taken.contains(&place);
        fits.then(|| taken.push(place))?;
        Some(place)
    });
    places.collect()
}

/// The value in whose memory calls, one after the other, make a value.
fn beginning<'c>(mut value: Val<'c>) -> Option<Val<'c>> {
    while let Some(op) = edit::defining_op(value) {
        value = match ir::op_name(op) {
            "tensor.collapse_shape" | "tensor.expand_shape" => *ir::operands(op).first()?,
            tir::CallExtern::NAME if op.has_attribute("accumulate") => {
                let place = ir::results(op).iter().position(|result| *result == value)?;
                *CallExtern::of(op)?.groups[Group::Outs as usize].get(place)?
            }
            "bufferization.to_tensor" => return Some(value),
            _ => return None,
        };
    }
    Some(value)
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
    callee: &Callee<'c>,
    is_main: bool,
) -> Result<(), PassError<'c>> {
    let old = &callee.signature;
    let mut new = Signature { arguments: vec![], results: vec![] };
    for (role, list) in [("input", &old.arguments), ("output", &old.results)] {
        for (index, (ty, attributes)) in list.iter().enumerate() {
            // Callers pass it as the output; programs, whose interface stays the same, pass both.
            if role == "input" && !is_main && callee.over.contains(&Some(index)) {
                continue;
            }
            let mut attributes = attributes.clone();
            let ty = if ir::is_tensor(*ty) {
                check_static(function, role, index, *ty, &attributes)?;
                let mark = StringAttribute::new(context, role).into();
                func::set_in(&mut attributes, IO, mark);
                if role == "output" && !is_main && callee.over[index].is_some() {
                    let mark = StringAttribute::new(context, "").into();
                    func::set_in(&mut attributes, names::STATE, mark);
                }
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
        convert_body(context, function, block, callee, &new)?;
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
    callee: &Callee<'c>,
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
    let old = &callee.signature;
    let given = edit::arguments(block);
    // Buffers become tensors at the very start, in the order of the arguments.
    let mut before_all = Builder::before(ir::ops(block)[0])?;
    before_all.location = function.location();
    let outputs = new.arguments.iter().skip(new.arguments.len() - old.results.len());
    let outs: Vec<_> = outputs
        .zip(ir::operands(returns))
        .map(|((ty, _), value)| edit::add_argument(block, *ty, ir::location_of(value)))
        .collect();
    for (place, (argument, (tensor, _))) in given.iter().zip(&old.arguments).enumerate() {
        if !ir::is_tensor(*tensor) {
            continue;
        }
        edit::set_type(*argument, func::memref_like(*tensor));
        let output = callee.over.iter().position(|over| *over == Some(place));
        let buffer = output.map_or(*argument, |output| outs[output]);
        let mut attributes = vec![("restrict", unit)];
        attributes.extend(output.map(|_| ("writable", unit)));
        let value =
            before_all.op1_with("bufferization.to_tensor", &[buffer], *tensor, attributes)?;
        let owner = edit::defining_op(value).ok_or_else(|| PassError::new("no owner"))?;
        edit::replace_uses_except(*argument, value, owner);
    }
    let at_return = Builder::before(returns)?;
    let pairs = ir::operands(returns).into_iter().zip(outs).zip(&callee.over);
    // Writes over an argument come last, when nothing reads that any more.
    let (fresh, over): (Vec<_>, Vec<_>) = pairs.partition(|(_, over)| over.is_none());
    for ((value, out), over) in fresh.into_iter().chain(over) {
        let (value, out) = match over {
            Some(_) => (in_buffer(&at_return, value, out)?, out),
            None => before_reshapes(&before_all, value, out)?,
        };
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
    if new.arguments.len() < old.arguments.len() + old.results.len() {
        for place in (0..given.len()).rev().filter(|place| callee.over.contains(&Some(*place))) {
            edit::erase_argument(block, place)?;
        }
    }
    Ok(())
}

/// A value in the tensor of a buffer, written there unless it is made there. Bufferization sees
/// later readers of that tensor, as it would not if the value were written to the buffer alone.
fn in_buffer<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    out: Val<'c>,
) -> Result<Val<'c>, PassError<'c>> {
    let is_tensor = |op: &Op<'c>| ir::op_name(*op) == "bufferization.to_tensor";
    let Some(old) = ir::users(out).into_iter().find(is_tensor) else { return Ok(value) };
    let old = ir::result0(old)?;
    Ok(b.op1("bufferization.materialize_in_destination", &[value, old], value.r#type())?)
}

/// The value and buffer of a result before all its reshapes: the buffer gets the value's own shape,
/// so that the producer can compute it in place.
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
/// A function of another target is a C function that takes the target's device first and returns a
/// status. One of the caller's own target does neither.
fn convert_call<'c>(
    context: &'c Context,
    call: Op<'c>,
    name: &str,
    callee: &Callee<'c>,
    caller: &Option<String>,
) -> Result<(), PassError<'c>> {
    let builder = Builder::before(call)?;
    let mut new = CallExtern::new(name);
    for (place, value) in ir::operands(call).into_iter().enumerate() {
        if callee.over.contains(&Some(place)) {
            continue;
        }
        let group = if ir::is_tensor(value.r#type()) { Group::Ins } else { Group::Scalars };
        new.push(context, group, value);
    }
    let results: Vec<_> = ir::results(call).iter().map(|result| result.r#type()).collect();
    for (ty, over) in results.iter().zip(&callee.over) {
        if ir::static_dims(*ty).is_none() {
            return Err(PassError::at(&call, format!("has a result of unknown size: {ty}")));
        }
        let old = over.and_then(|place| ir::operands(call).get(place).copied());
        let destination = old.map_or_else(|| builder.empty(*ty), Ok)?;
        new.push(context, Group::Outs, destination);
    }
    let over = callee.over.iter().zip(0..).filter(|(over, _)| over.is_some());
    let over: Vec<i64> = over.map(|(_, place)| place).collect();
    if !over.is_empty() {
        new.set("accumulate", Attribute::unit(context));
        new.set(names::OVER, builder.i64s_attr(&over));
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
