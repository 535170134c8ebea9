//! Typed views of operations, and the declarations of those of `graph` and `tir`.

use super::{Op, graph, tir};
pub use phaseline_toolkit::ir::view::*;

/// ODS facts about an operation; none for one of another dialect.
pub fn info(op: Op<'_>) -> Option<&'static OpInfo> {
    info_of(super::op_name(op))
}

/// The same by full name, such as `graph.conv`.
pub fn info_of(name: &str) -> Option<&'static OpInfo> {
    let (dialect, mnemonic) = name.split_once('.')?;
    match dialect {
        "graph" => find(graph::OPS, mnemonic),
        "tir" => find(tir::OPS, mnemonic),
        _ => None,
    }
}

/// The same for an operation of the graph dialect by its mnemonic, such as `conv`.
pub fn graph_info(mnemonic: &str) -> Option<&'static OpInfo> {
    find(graph::OPS, mnemonic)
}

fn find(ops: &[&'static OpInfo], mnemonic: &str) -> Option<&'static OpInfo> {
    let at = ops.binary_search_by(|info| info.mnemonic.cmp(mnemonic)).ok()?;
    Some(ops[at])
}

/// True if an operation computes each element from the elements at the same place.
pub fn is_elementwise(op: Op<'_>) -> bool {
    info(op).is_some_and(|info| info.elementwise)
}
