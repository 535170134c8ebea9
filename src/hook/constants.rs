//! The constant updater: what a target's calls are given as constants, replaced.

use super::programs::Programs;
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, call_extern::CallExtern, edit, effects, elements, graph, names},
    phase::HookPoint,
    targets::hooks::{Constant, DataHook, Request, Update},
    tensor::{AlignedBuffer, BUFFER_ALIGN, DType, ElementType, Tensor},
};
use melior::ir::{Attribute, AttributeLike, Type, ValueLike, operation::OperationLike};

/// A constant input of a call.
struct Use<'c> {
    operand: usize,
    defined: Op<'c>,
    constant: Constant,
}

/// Asks the hook about the constants of `function`, call by call; `request.subject` is a copy of it.
pub(super) fn update<'c>(
    request: &Request<'_, 'c>,
    function: Op<'c>,
    programs: &Programs,
) -> Result<()> {
    change_each(function, |constants| ask(request, constants, programs))
}

/// Replaces the constants that calls are given by what `new` makes of them; nothing leaves them.
pub fn replace_each(
    function: Op<'_>,
    mut new: impl FnMut(&Constant) -> Result<Option<Tensor>>,
) -> Result<()> {
    change_each(function, |constants| {
        let update = |constant| Ok(new(constant)?.map_or(Update::Keep, Update::Replace));
        constants.iter().map(update).collect()
    })
}

fn change_each(
    function: Op<'_>,
    mut new: impl FnMut(&[Constant]) -> Result<Vec<Update>>,
) -> Result<()> {
    for call in edit::walk(function) {
        let found = uses(call)?;
        if found.is_empty() {
            continue;
        }
        let constants: Vec<_> = found.iter().map(|found| found.constant.clone()).collect();
        let updates = new(&constants)?;
        if updates.len() != found.len() {
            return Err(Error::invalid(format!(
                "said what becomes of {} of the {} constants of {}; say Keep for what stays",
                updates.len(),
                found.len(),
                constants[0].callee
            )));
        }
        apply(call, &found, &updates)?;
    }
    Ok(())
}

fn apply<'c>(call: Op<'c>, found: &[Use<'c>], updates: &[Update]) -> Result<()> {
    let mut left_out = vec![];
    for (found, update) in found.iter().zip(updates) {
        match update {
            Update::Keep => {}
            Update::Replace(new) => replace(call, found, new)?,
            Update::LeaveOut => left_out.push(found.constant.input),
        }
    }
    if !left_out.is_empty() {
        leave_out(call, &left_out)?;
    }
    // Reshapes of a constant that nothing uses any more go with it, by the next canonicalization.
    // A call may be given one constant several times.
    let mut looked_at: Vec<Op<'c>> = vec![];
    for found in found {
        if looked_at.iter().any(|op| edit::same(*op, found.defined)) {
            continue;
        }
        looked_at.push(found.defined);
        let mut values = ir::results(found.defined).into_iter();
        if values.all(|value| ir::users(value).is_empty()) {
            edit::erase(found.defined);
        }
    }
    Ok(())
}

/// Asks for updates of a call's constants: Rust first, the program where that declines.
fn ask(
    request: &Request<'_, '_>,
    constants: &[Constant],
    programs: &Programs,
) -> Result<Vec<Update>> {
    let hooks = &request.target.kind.hooks;
    let of_call = |error: Error| {
        let callee = constants.first().map_or("", |constant| constant.callee.as_str());
        Error::invalid(format!("constants of {callee}: {error}"))
    };
    if let Some(rust) = &hooks.rust
        && let Some(updates) = rust.update_constants(request, constants).map_err(of_call)?
    {
        return Ok(updates);
    }
    let command = match hooks.data(HookPoint::ConstantUpdater) {
        Some(DataHook::Command(command)) => Some(command),
        _ => None,
    };
    let mut updates = vec![];
    for constant in constants {
        let place = |error: Error| {
            Error::invalid(format!("input {} of {}: {error}", constant.input, constant.callee))
        };
        let mut new = match &hooks.rust {
            Some(rust) => rust.update_constant(request, constant).map_err(place)?,
            None => None,
        };
        if let (None, Some(command)) = (&new, command.filter(|command| !command.together)) {
            new = command.update(request, constant, programs).map_err(place)?;
        }
        updates.push(new.map_or(Update::Keep, Update::Replace));
    }
    match command {
        Some(command) if command.together && updates.iter().all(|one| *one == Update::Keep) => {
            command.update_together(request, constants, programs).map_err(of_call)
        }
        _ => Ok(updates),
    }
}

/// The constant inputs of a call; none of other operations.
fn uses<'c>(call: Op<'c>) -> Result<Vec<Use<'c>>> {
    let mut found = vec![];
    let Some(parts) = CallExtern::of(call) else { return Ok(found) };
    let scalars = parts.groups[0].len();
    for (input, value) in parts.groups[1].iter().enumerate() {
        let Some((defined, attribute)) = constant_of(*value) else { continue };
        let Some(value) = tensor_of(value.r#type(), attribute)? else { continue };
        let constant = Constant { callee: parts.callee.clone(), input, value };
        found.push(Use { operand: scalars + input, defined, constant });
    }
    Ok(found)
}

/// The constant that a value is, in its own shape or in another one.
fn constant_of<'c>(value: Val<'c>) -> Option<(Op<'c>, Attribute<'c>)> {
    let mut op = edit::defining_op(value)?;
    while ir::op_name(op) == graph::Reshape::NAME || effects::is_reshape(op) {
        op = edit::defining_op(*ir::operands(op).first()?)?;
    }
    let known = matches!(ir::op_name(op), "arith.constant" | graph::Constant::NAME);
    known.then(|| op.attribute("value").ok()).flatten().map(|attribute| (op, attribute))
}

/// The constant as a tensor, small floats as bytes; none if it has no bytes of its own.
fn tensor_of(ty: Type<'_>, attribute: Attribute<'_>) -> Result<Option<Tensor>> {
    if !attribute.is_elements() {
        return Ok(None);
    }
    let name = ir::element_type(ty).to_string();
    let dtype = match ElementType::from_mlir_name(&name) {
        Some(ElementType::Plain(dtype)) => dtype,
        Some(ElementType::Small(small)) if small.bits() == 8 => DType::U8,
        _ => return Ok(None),
    };
    let Some(dims) = ir::static_dims(ty) else { return Ok(None) };
    let dims: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
    let bytes = elements::bytes(attribute)?.into_bytes();
    Ok(Some(Tensor::from_bytes(dtype, &dims, bytes)?))
}

fn replace<'c>(call: Op<'c>, found: &Use<'c>, new: &Tensor) -> Result<()> {
    let builder = Builder::before(call)?.with_location(found.defined.location());
    let element = Type::parse(builder.context, new.dtype().mlir_name())
        .ok_or_else(|| Error::internal(format!("{} is no MLIR type", new.dtype())))?;
    let dims: Vec<i64> = new.shape().iter().map(|dim| *dim as i64).collect();
    let ty = builder.tensor(&dims, element);
    if new.is_empty() {
        return Err(Error::invalid(format!(
            "input {} of {}: was replaced by a constant without elements",
            found.constant.input, found.constant.callee
        )));
    }
    let data = AlignedBuffer::copy_of(new.bytes())?;
    let value =
        elements::resource(ty, &elements::name_in(&builder, "updated"), data, BUFFER_ALIGN)?;
    let constant = builder.op1_with("arith.constant", &[], ty, vec![("value", value)])?;
    edit::set_operand(call, found.operand, constant)
}

/// Builds the call anew without some of its inputs.
fn leave_out(call: Op<'_>, inputs: &[usize]) -> Result<()> {
    let mut parts =
        CallExtern::of(call).ok_or_else(|| Error::internal("constants of what is no call"))?;
    if call.has_attribute(names::TILE) {
        return Err(Error::invalid(format!(
            "input {} of {}: cannot be left out of a call that is cut into tiles, of which each \
             input is part; keep it, or take `tile` out of the pattern",
            inputs[0], parts.callee
        )));
    }
    let builder = Builder::before(call)?;
    parts.leave_out(builder.context, inputs)?;
    let old = ir::results(call);
    let types: Vec<_> = old.iter().map(|result| result.r#type()).collect();
    let new = parts.build(&builder, &types)?;
    for (old, new) in old.into_iter().zip(ir::results(new)) {
        edit::replace_uses(old, new);
    }
    edit::erase(call);
    Ok(())
}
