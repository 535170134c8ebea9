//! Wraps matched operations in `graph.composite`.

use super::{boundary, move_to_end, remap_operands, replace_uses};
use crate::{
    Error, Result,
    ir::{Builder, Op, OpSpec, Val, graph, results},
};
use melior::ir::{Attribute, Region, ValueLike, block::BlockLike, operation::OperationLike};

/// Moves `ops` (in block order, all of one block) into a new `graph.composite` that stands where
/// the last of them stood, and returns it. `attributes` are added to it.
///
/// When a value of the composite is used before the last operation, the block is out of order
/// until [`super::sort_topologically`] runs.
pub fn make_composite<'c>(
    name: &str,
    target: &str,
    ops: &[Op<'c>],
    attributes: Vec<(&str, Attribute<'c>)>,
) -> Result<Op<'c>> {
    let last = *ops.last().ok_or_else(|| Error::internal("a composite without operations"))?;
    let edge = boundary(ops);
    let builder = Builder::before(last)?;
    let types: Vec<_> = edge.inputs.iter().map(|v| (v.r#type(), last.location())).collect();
    let region = Region::new();
    let body = crate::ir::edit::append_block(&region, &types);
    let outputs: Vec<_> = edge.outputs.iter().map(|v| v.r#type()).collect();
    let mut all = vec![("name", builder.str_attr(name)), ("target", builder.str_attr(target))];
    all.extend(attributes);
    let composite = builder.create(
        graph::Composite::NAME,
        OpSpec {
            operands: &edge.inputs,
            results: &outputs,
            attributes: all,
            regions: vec![region],
            infer: false,
        },
    )?;
    let arguments: Vec<Val<'c>> = (0..types.len())
        .map(|i| body.argument(i).map(Into::into))
        .collect::<Result<_, _>>()
        .map_err(crate::ir::unexpected)?;
    for (old, new) in edge.outputs.iter().zip(results(composite)) {
        replace_uses(*old, new);
    }
    for op in ops {
        move_to_end(*op, body);
    }
    // Uses inside were redirected to the composite's results as well: turn them back.
    let inner = results(composite);
    for op in ops {
        remap_operands(*op, &inner, &edge.outputs)?;
        remap_operands(*op, &edge.inputs, &arguments)?;
    }
    Builder::at_end(builder.context, body, last.location())
        .create(graph::Yield::NAME, OpSpec { operands: &edge.outputs, ..Default::default() })?;
    Ok(composite)
}
