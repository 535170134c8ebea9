//! `graph-assign-layout`: convolutions, and what lies between them, work on NHWC.
//!
//! Kernels read channels as vectors, so images are kept as `[batch][row][column][channel]`. A
//! convolution or pool becomes a composite `nhwc.conv` on such images, whose decomposition is the
//! op between two transpositions. Ops that have the same meaning in any layout follow when most
//! of what they read is NHWC already. Transpositions are left where a value enters or leaves these
//! regions only.

use crate::{
    host::layout::Layout,
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-assign-layout",
    summary: "Let convolutions and the ops around them work on NHWC images",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: crate::ir::Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    Ok(Layout::assign(function)?)
}
