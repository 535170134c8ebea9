//! Moves the operations of a region into a function of its target.

use super::{boundary, definer, move_to_end, remap_operands, replace_uses};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, graph, names, op_name, outline::NewFunction, results},
};
use melior::ir::{ValueLike, operation::OperationLike};

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
    let types: Vec<_> = edge.outputs.iter().map(|value| value.r#type()).collect();
    let call = ir::outline::call(&Builder::before(last)?, plan.symbol, &inputs, &types)?;
    for (old, new) in edge.outputs.iter().zip(results(call)) {
        replace_uses(*old, new);
    }
    let inner = results(call);
    let at = Builder::before(parent)?;
    NewFunction::private(plan.symbol)
        .named(&inputs)
        .located(last.location())
        .with(names::TARGET, at.str_attr(plan.target))
        .define(&at, |b, arguments| {
            let copies: Vec<Val<'c>> = constants
                .iter()
                .filter_map(|value| definer(*value))
                .map(|def| ir::result0(ir::edit::clone_to_end(def, b.block())))
                .collect::<Result<_>>()?;
            for op in plan.ops {
                move_to_end(*op, b.block());
            }
            for op in plan.ops {
                remap_operands(*op, &inner, &edge.outputs)?;
                remap_operands(*op, &inputs, arguments)?;
                remap_operands(*op, &constants, &copies)?;
            }
            Ok(edge.outputs.clone())
        })
}
