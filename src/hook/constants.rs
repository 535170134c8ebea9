//! The constant updater: what a target's calls are given as constants, replaced.

use super::{DataHook, Request};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, call_extern::CallExtern, edit, elements},
    tensor::{AlignedBuffer, BUFFER_ALIGN, DType, Tensor},
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

/// A constant that a call of a target's function is given.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The C function.
    pub callee: String,
    /// Which of the call's inputs it is, from 0.
    pub input: usize,
    /// Elements, row-major.
    pub value: Tensor,
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
    match hooks.data(super::HookPoint::ConstantUpdater) {
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

fn constant_of<'c>(value: Val<'c>) -> Option<(Op<'c>, Attribute<'c>)> {
    let op = edit::defining_op(value)?;
    let known = matches!(ir::op_name(op), "arith.constant" | "graph.constant");
    known.then(|| op.attribute("value").ok()).flatten().map(|attribute| (op, attribute))
}

/// The constant as a tensor; none if its elements are of a type that tensors do not have.
fn tensor_of(ty: Type<'_>, attribute: Attribute<'_>) -> Result<Option<Tensor>> {
    // SAFETY: the kind is checked first.
    if !unsafe { mlir_sys::mlirAttributeIsAElements(attribute.to_raw()) } {
        return Ok(None);
    }
    let name = ir::element_type(ty).to_string();
    let Some(dtype) = DType::all().find(|dtype| dtype.mlir_name() == name) else {
        return Ok(None);
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
    edit::set_operand(found.call, found.operand, constant);
    let unused = ir::results(found.defined).into_iter().all(|value| ir::users(value).is_empty());
    if unused {
        edit::erase(found.defined);
    }
    Ok(())
}
