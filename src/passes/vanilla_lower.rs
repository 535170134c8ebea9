//! `vanilla-lower`: turns composites of vanilla into calls of the device's instructions.
//!
//! Each call stands for a whole layer; `vanilla-tile` cuts it into calls that the device can take.

use crate::{
    ir::{self, Builder, Op, edit},
    pass::{OptionValues, Pass, PassError},
    vanilla::{
        LAYER, PACKED,
        elementwise::Elementwise,
        layer::{Kind, Layer},
        params::Params,
    },
};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};

use super::vanilla_pack_weights::composites;

/// The pass.
pub const PASS: Pass = Pass {
    name: "vanilla-lower",
    summary: "Turn vanilla's composites into calls of its instructions",
    anchor: "func.func",
    options: &[],
    dialects: &["tensor", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for composite in composites(function) {
        lower(composite)?;
    }
    Ok(())
}

fn lower<'c>(composite: Op<'c>) -> Result<(), PassError<'c>> {
    if let Some(work) = Elementwise::read(composite) {
        return lower_elementwise(composite, &work);
    }
    let layer = Layer::read(composite).map_err(|error| PassError::at(&composite, error))?;
    if !composite.has_attribute(PACKED) {
        return Err(PassError::at(
            &composite,
            "has weights that are not packed: run vanilla-pack-weights first",
        ));
    }
    let operands = ir::operands(composite);
    let packed = operands.len() - 1 - usize::from(layer.bias.is_some());
    let result = ir::result0(composite);
    let (input, weights) = (operands[layer.input], operands[packed]);
    let bias = operands.get(packed + 1).copied();
    let (x, y) = (ir::dims(input.r#type()), ir::dims(result.r#type()));
    let numbers = match (layer.kind, &x[..], &y[..]) {
        (Kind::Dense, [rows, inner], [_, outer]) => vec![*rows, *inner, *outer],
        (Kind::Dense, ..) => return Err(PassError::at(&composite, "is no product of matrices")),
        (_, [_, in_c, in_h, in_w], [_, out_c, out_h, out_w]) => {
            let [kernel_h, kernel_w] = kernel(composite)?;
            let sizes = [*in_c, *in_h, *in_w, *out_c, *out_h, *out_w, kernel_h, kernel_w];
            [&sizes[..], &layer.strides, &layer.dilations, &layer.pads].concat()
        }
        _ => return Err(PassError::at(&composite, "is no two-dimensional convolution")),
    };
    let params = Params::new(layer.kind, &numbers, bias.is_some(), layer.activation);
    let builder = Builder::before(composite)?;
    let output = builder.empty(result.r#type())?;
    let mut call = params.call(&builder, input, weights, bias, output)?;
    call.set(LAYER, Attribute::unit(builder.context));
    let call = call.build(&builder, &[result.r#type()])?;
    edit::replace_uses(result, ir::result0(call));
    edit::erase(composite);
    Ok(())
}

fn lower_elementwise<'c>(composite: Op<'c>, work: &Elementwise) -> Result<(), PassError<'c>> {
    let b = Builder::before(composite)?;
    let operands = ir::operands(composite);
    let inputs: Vec<_> = work.inputs.iter().map(|index| operands[*index]).collect();
    let result = ir::result0(composite);
    let output = b.empty(result.r#type())?;
    let call = work.call(&b, &inputs, output).map_err(|error| PassError::at(&composite, error))?;
    edit::replace_uses(result, ir::result0(call));
    edit::erase(composite);
    Ok(())
}

/// Height and width of the filters.
fn kernel<'c>(composite: Op<'c>) -> Result<[i64; 2], PassError<'c>> {
    let conv = ir::ops_of(composite).into_iter().find(|op| ir::op_name(*op) == "graph.conv");
    let dims = conv.and_then(|op| ir::operands(op).get(1).map(|w| ir::dims(w.r#type())));
    match dims.as_deref() {
        Some([_, _, height, width]) => Ok([*height, *width]),
        _ => Err(PassError::at(&composite, "is no two-dimensional convolution")),
    }
}
