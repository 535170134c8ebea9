//! `vanilla-pack-weights`: gives composites of vanilla their weights in the device's layout.
//!
//! The packed weights and the bias become the last operands of the composite. Its decomposition
//! does not use them, so the composite still means the same and can still be declined.

use crate::{
    ir::{self, Builder, Op, Val, edit, elements::resource},
    outline::LOWERING,
    pass::{OptionValues, Pass, PassError},
    tensor::{AlignedBuffer, BUFFER_ALIGN},
    vanilla::{PACKED, elementwise::Elementwise, layer::Layer},
};
use melior::ir::{Attribute, Type, ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "vanilla-pack-weights",
    summary: "Pack the weights of vanilla's layers by its lanes",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for composite in composites(function) {
        if !composite.has_attribute(PACKED) && Elementwise::read(composite).is_none() {
            pack(composite)?;
        }
    }
    Ok(())
}

/// The composites of a function whose patterns name a lowering of vanilla, whatever the target is
/// called.
pub fn composites<'c>(function: Op<'c>) -> Vec<Op<'c>> {
    edit::walk(function)
        .into_iter()
        .filter(|op| {
            ir::op_name(*op) == "graph.composite"
                && [LOWERING, "name"].iter().any(|name| {
                    ir::attr_str(*op, name).is_some_and(|text| text.starts_with("vanilla."))
                })
        })
        .collect()
}

fn pack<'c>(composite: Op<'c>) -> Result<(), PassError<'c>> {
    let layer = Layer::read(composite).map_err(|error| PassError::at(&composite, error))?;
    let builder = Builder::before(composite)?;
    let float = builder.f32();
    let ty = builder.tensor(&layer.weights.packed_dims(), float);
    let mut new = vec![constant(&builder, ty, layer.weights.packed()?)?];
    if let Some(bias) = &layer.bias {
        let bytes: Vec<u8> = bias.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let ty = builder.tensor(&[bias.len() as i64], float);
        new.push(constant(
            &builder,
            ty,
            AlignedBuffer::copy_of(&bytes).map_err(crate::Error::from)?,
        )?);
    }
    let body = edit::entry_block(composite).ok_or_else(|| PassError::new("no body"))?;
    for value in &new {
        edit::add_argument(body, value.r#type(), composite.location());
    }
    let mut operands: Vec<_> = composite.operands().map(|value| Val::to_raw(&value)).collect();
    operands.extend(new.iter().map(Val::to_raw));
    // SAFETY: the composite and its operands are live.
    unsafe {
        let count = operands.len() as isize;
        mlir_sys::mlirOperationSetOperands(composite.to_raw(), count, operands.as_ptr());
    }
    edit::set_attr(composite, PACKED, Attribute::unit(builder.context));
    Ok(())
}

fn constant<'c>(
    builder: &Builder<'c>,
    ty: Type<'c>,
    data: AlignedBuffer,
) -> crate::Result<Val<'c>> {
    let value = resource(ty, "packed", data, BUFFER_ALIGN)?;
    builder.op1_with("graph.constant", &[], ty, vec![("value", value)])
}
