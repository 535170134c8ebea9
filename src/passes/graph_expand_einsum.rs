//! `graph-expand-einsum`: sums of products in index notation become matrix products, and those of variable matrices
//! that are read transposed or multiplied by a number read them as they are.

use crate::{
    Result,
    host::einsum,
    ir::{self, Op, edit, graph, view::OpView},
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-expand-einsum",
    summary: "Turn sums of products in index notation into matrix products, transpositions and sums",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::entry_block(function).map(ir::ops).unwrap_or_default() {
        if let Some(einsum) = graph::Einsum::of(op) {
            einsum::expand(einsum)?;
        } else if let Some(gemm) = graph::Gemm::of(op) {
            einsum::plain_gemm(gemm)?;
        }
    }
    Ok(())
}
