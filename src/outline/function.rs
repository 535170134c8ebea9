//! Moves the operations of a region into a function of its target.

use super::{boundary, definer, move_to_end, remap_operands, replace_uses};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, OpSpec, Val, graph, names, op_name, results},
};
use melior::ir::{
    Attribute, Block, Region, RegionLike, Type, ValueLike,
    attribute::{FlatSymbolRefAttribute, TypeAttribute},
    block::BlockLike,
    operation::OperationLike,
    r#type::FunctionType,
};

/// A region to outline.
pub struct RegionPlan<'c, 'p> {
    /// Id of the target instance; becomes `phl.target`.
    pub target: &'p str,
    /// Name of the new function.
    pub symbol: &'p str,
    /// The operations, in block order.
    pub ops: &'p [Op<'c>],
}

/// Moves the region's operations into `func.func private @symbol` before the function that holds
/// them, and replaces them by a call. Constants that the region uses are copied into it. Returns
/// the new function; the block may be out of order until [`super::sort_topologically`] runs.
pub fn outline_region<'c>(plan: &RegionPlan<'c, '_>) -> Result<Op<'c>> {
    let last = *plan.ops.last().ok_or_else(|| Error::internal("a region without operations"))?;
    let edge = boundary(plan.ops);
    let is_constant =
        |value: &Val<'c>| definer(*value).is_some_and(|def| op_name(def) == graph::Constant::NAME);
    let (constants, inputs): (Vec<_>, Vec<_>) = edge.inputs.iter().copied().partition(is_constant);
    let parent = last
        .parent_operation()
        .ok_or_else(|| Error::internal("an operation outside of any function"))?;
    let function = create_function(plan, parent, &inputs, &edge.outputs)?;
    let body = function
        .region(0)
        .map_err(ir::unexpected)?
        .first_block()
        .ok_or_else(|| Error::internal("a function without a body"))?;
    let call = create_call(plan.symbol, last, &inputs, &edge.outputs)?;
    for (old, new) in edge.outputs.iter().zip(results(call)) {
        replace_uses(*old, new);
    }
    let copies: Vec<Val<'c>> = constants
        .iter()
        .filter_map(|value| definer(*value))
        .map(|def| crate::ir::result0(crate::ir::edit::clone_to_end(def, body)))
        .collect::<Result<_>>()?;
    let arguments: Vec<Val<'c>> = (0..inputs.len())
        .map(|i| body.argument(i).map(Into::into))
        .collect::<Result<_, _>>()
        .map_err(ir::unexpected)?;
    let inner = results(call);
    for op in plan.ops {
        move_to_end(*op, body);
    }
    for op in plan.ops {
        remap_operands(*op, &inner, &edge.outputs)?;
        remap_operands(*op, &inputs, &arguments)?;
        remap_operands(*op, &constants, &copies)?;
    }
    let context = Builder::before(call)?.context;
    Builder::at_end(context, body, last.location())
        .create("func.return", OpSpec { operands: &edge.outputs, ..Default::default() })?;
    Ok(function)
}

fn types<'c>(values: &[Val<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|value| value.r#type()).collect()
}

fn create_function<'c>(
    plan: &RegionPlan<'c, '_>,
    before: Op<'c>,
    inputs: &[Val<'c>],
    outputs: &[Val<'c>],
) -> Result<Op<'c>> {
    let builder = Builder::before(before)?;
    let arguments: Vec<_> = inputs.iter().map(|v| (v.r#type(), ir::location_of(*v))).collect();
    let region = Region::new();
    region.append_block(Block::new(&arguments));
    let ty = FunctionType::new(builder.context, &types(inputs), &types(outputs));
    let attributes: Vec<(&str, Attribute<'c>)> = vec![
        ("sym_name", builder.str_attr(plan.symbol)),
        ("function_type", TypeAttribute::new(ty.into()).into()),
        ("sym_visibility", builder.str_attr("private")),
        (names::TARGET, builder.str_attr(plan.target)),
    ];
    let spec = OpSpec { attributes, regions: vec![region], ..Default::default() };
    builder.create("func.func", spec)
}

fn create_call<'c>(
    symbol: &str,
    before: Op<'c>,
    inputs: &[Val<'c>],
    outputs: &[Val<'c>],
) -> Result<Op<'c>> {
    let builder = Builder::before(before)?;
    let callee = FlatSymbolRefAttribute::new(builder.context, symbol).into();
    builder.create(
        "func.call",
        OpSpec {
            operands: inputs,
            results: &types(outputs),
            attributes: vec![("callee", callee)],
            ..Default::default()
        },
    )
}
