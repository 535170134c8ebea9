//! Changes IR as a partition decided: operations move into composites, composites into functions.

pub mod call;
mod call_sites;
mod captures;
mod composite;
mod data;
mod divide;
mod forms;
mod function;
mod functions;
mod inline;
pub mod operator;
mod order;
mod partition_input;
mod rounding;
mod settle;
mod transposes;
mod view;

pub use composite::make_composite;
pub use divide::{DivideOptions, PartitionedFunction, apply, divide_with};
pub use function::{RegionPlan, outline_region};
pub use functions::{divide_all, open_functions};
pub use inline::inline_calls;
pub use order::{sort_topologically, start_early};
pub use partition_input::PartitionInput;
pub use rounding::quantization_step;
pub use settle::settle;
pub use view::{View, payload, tensor_type, view};

pub use crate::ir::edit::defining_op as definer;
use crate::ir::{
    self, Op, Val,
    edit::{self, move_to_end, remap_operands, replace_uses},
};
use melior::ir::{block::BlockLike, operation::OperationLike};
use std::collections::HashSet;

/// The values that flow into and out of a set of operations of one block.
pub struct Boundary<'c> {
    /// Values defined outside and used inside, in order of first use.
    pub inputs: Vec<Val<'c>>,
    /// Results used outside, in order of definition.
    pub outputs: Vec<Val<'c>>,
}

/// Finds the boundary of `ops`, which are in block order. Operations nested in the regions of
/// `ops` are not looked into: graph operations with regions are isolated from above, and others
/// stay where they are.
pub fn boundary<'c>(ops: &[Op<'c>]) -> Boundary<'c> {
    let inside: HashSet<ir::Id> = ops.iter().map(ir::id).collect();
    let mut seen = HashSet::new();
    let mut inputs = vec![];
    let mut outputs = vec![];
    for op in ops {
        for operand in crate::ir::operands(*op) {
            let defined_inside = definer(operand).is_some_and(|def| inside.contains(&ir::id(def)));
            if !defined_inside && seen.insert(ir::id(operand)) {
                inputs.push(operand);
            }
        }
    }
    for op in ops {
        for result in crate::ir::results(*op) {
            let leaves =
                crate::ir::users(result).iter().any(|user| !inside.contains(&ir::id(user)));
            if leaves {
                outputs.push(result);
            }
        }
    }
    Boundary { inputs, outputs }
}

/// All values that an operation uses: its operands, then what its regions use from outside of it.
pub fn used<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut values = crate::ir::operands(op);
    if op.regions().next().is_none() {
        return values;
    }
    let nested = edit::walk(op);
    let mut within: HashSet<ir::Id> = nested.iter().copied().map(ir::id).collect();
    within.insert(ir::id(op));
    for operand in nested.iter().flat_map(|other| crate::ir::operands(*other)) {
        let owner = match edit::owner_block(operand) {
            Some((block, _)) => block.parent_operation().map(ir::id),
            None => definer(operand).map(ir::id),
        };
        if !owner.is_some_and(|owner| within.contains(&owner)) && !values.contains(&operand) {
            values.push(operand);
        }
    }
    values
}
