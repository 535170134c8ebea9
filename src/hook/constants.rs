//! The constant updater: what a target's calls are given as constants, replaced.

use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, call_extern::CallExtern, edit, elements, graph},
    targets::hooks::{Constant, DataHook, Request},
    tensor::{AlignedBuffer, BUFFER_ALIGN, DType, ElementType, Tensor},
};
use bytes::Bytes;
use melior::ir::{Attribute, AttributeLike, Type, ValueLike, operation::OperationLike};

/// A constant input of a call.
struct Use<'c> {
    call: Op<'c>,
    operand: usize,
    defined: Op<'c>,
    constant: Constant,
}

/// Asks the hook about each constant of `function`; `request.subject` is a copy of it.
pub(super) fn update<'c>(request: &Request<'_, 'c>, function: Op<'c>) -> Result<()> {
    replace_each(function, |constant| ask(request, constant))
}

/// Replaces the constants that calls are given by what `new` makes of them; nothing leaves them.
pub fn replace_each(
    function: Op<'_>,
    mut new: impl FnMut(&Constant) -> Result<Option<Tensor>>,
) -> Result<()> {
    for found in uses(function)? {
        let Some(new) = new(&found.constant)? else { continue };
        replace(&found, &new)?;
    }
    Ok(())
}

fn ask(request: &Request<'_, '_>, constant: &Constant) -> Result<Option<Tensor>> {
    let hooks = &request.target.kind.hooks;
    let place = |error: Error| {
        Error::invalid(format!("input {} of {}: {error}", constant.input, constant.callee))
    };
    if let Some(rust) = &hooks.rust
        && let Some(new) = rust.update_constant(request, constant).map_err(place)?
    {
        return Ok(Some(new));
    }
    match hooks.data(crate::phase::HookPoint::ConstantUpdater) {
        Some(DataHook::Command(command)) => command.update(request, constant).map_err(place),
        _ => Ok(None),
    }
}

fn uses<'c>(function: Op<'c>) -> Result<Vec<Use<'c>>> {
    let mut found = vec![];
    for call in edit::walk(function) {
        let Some(parts) = CallExtern::of(call) else { continue };
        let scalars = parts.groups[0].len();
        for (input, value) in parts.groups[1].iter().enumerate() {
            let Some((defined, attribute)) = constant_of(*value) else { continue };
            let Some(value) = tensor_of(value.r#type(), attribute)? else { continue };
            let constant = Constant { callee: parts.callee.clone(), input, value };
            found.push(Use { call, operand: scalars + input, defined, constant });
        }
    }
    Ok(found)
}

/// The constant that a value is, in its own shape or in another one.
fn constant_of<'c>(value: Val<'c>) -> Option<(Op<'c>, Attribute<'c>)> {
    const RESHAPES: [&str; 5] = [
        graph::Reshape::NAME,
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.expand_shape",
        "tensor.reshape",
    ];
    let mut op = edit::defining_op(value)?;
    while RESHAPES.contains(&ir::op_name(op)) {
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
    let bytes = Bytes::from(elements::bytes(attribute)?.into_owned());
    Ok(Some(Tensor::from_bytes(dtype, &dims, bytes)?))
}

fn replace<'c>(found: &Use<'c>, new: &Tensor) -> Result<()> {
    let builder = Builder::before(found.call)?.with_location(found.defined.location());
    let element = Type::parse(builder.context, new.dtype().mlir_name())
        .ok_or_else(|| Error::internal(format!("{} is no MLIR type", new.dtype())))?;
    let dims: Vec<i64> = new.shape().iter().map(|dim| *dim as i64).collect();
    let ty = builder.tensor(&dims, element);
    if new.is_empty() {
        return Err(Error::invalid("was replaced by a constant without elements"));
    }
    let data = AlignedBuffer::copy_of(new.bytes())?;
    let value = elements::resource(ty, "updated", data, BUFFER_ALIGN)?;
    let constant = builder.op1_with("arith.constant", &[], ty, vec![("value", value)])?;
    edit::set_operand(found.call, found.operand, constant)?;
    // Reshapes of it that nothing uses any more go with it, by the next canonicalization.
    let unused = ir::results(found.defined).into_iter().all(|value| ir::users(value).is_empty());
    if unused {
        edit::erase(found.defined);
    }
    Ok(())
}
