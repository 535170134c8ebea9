//! `graph-group-heads`: attention whose heads share keys reads them once.

use crate::{
    Result,
    host::heads,
    ir::{self, Op, edit, graph, view::OpView},
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-group-heads",
    summary: "Turn heads of attention that share keys and values into rows of one matrix",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::entry_block(function).map(ir::ops).unwrap_or_default() {
        if let Some(product) = graph::MatMul::of(op) {
            heads::group(product).map_err(|error| PassError::at(&op, error))?;
        }
    }
    Ok(())
}
