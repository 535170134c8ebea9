//! Functions of a module that are divided between targets.

use super::{DivideOptions, PartitionedFunction, divide_with};
use crate::{
    Result,
    ir::{self, Op, edit, func, graph, names::TARGET},
    partition::placement::HOST,
    targets::TargetInstance,
};

/// Decides for the network function, and for every other function with operations that no target
/// has yet. A placement file is of the network function alone. Nothing is changed.
pub fn divide_all<'c>(
    module: Op<'c>,
    targets: &[TargetInstance],
    options: &DivideOptions,
) -> Result<Vec<(Op<'c>, PartitionedFunction<'c>)>> {
    let Some(main) = func::main(module) else { return Ok(vec![]) };
    let mut partitioned_functions = vec![(main, divide_with(main, targets, options)?)];
    let others = DivideOptions { placement: None, ..*options };
    for function in open_functions(module, main, targets) {
        partitioned_functions.push((function, divide_with(function, targets, &others)?));
    }
    Ok(partitioned_functions)
}

/// The functions that are divided besides the network's own.
pub fn open_functions<'c>(module: Op<'c>, main: Op<'c>, targets: &[TargetInstance]) -> Vec<Op<'c>> {
    let others = func::functions(module).into_iter();
    others.filter(|other| !edit::same(*other, main) && is_open(*other, targets)).collect()
}

/// True if a function has operations of the graph that are in no composite, or the word for the
/// host where an id belongs. Functions of a host before the last target stay as they are.
fn is_open(function: Op<'_>, targets: &[TargetInstance]) -> bool {
    const BETWEEN: [&str; 3] =
        [graph::Constant::NAME, graph::Composite::NAME, graph::Transpose::NAME];
    let id = ir::attr_str(function, TARGET);
    let first = targets.split_last().map(|(_, first)| first).unwrap_or_default();
    if first.iter().any(|target| target.is_host() && Some(&target.id) == id.as_ref()) {
        return false;
    }
    if id.as_deref() == Some(HOST) {
        return true;
    }
    let ops = edit::entry_block(function).map(ir::ops).unwrap_or_default();
    let names = ops.into_iter().map(|op| ir::op_name(op));
    names.filter(|name| name.starts_with("graph.")).any(|name| !BETWEEN.contains(&name))
}
