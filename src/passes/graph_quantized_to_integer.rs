//! `graph-quantized-to-integer`: quantized layers become sums of integers.
//!
//! A convolution or product of dequantized tensors, or its one-op equivalent, becomes
//! `graph.conv_integer` or `graph.matmul_integer` and a dequantization of its sums. A quantization
//! may follow. The host has kernels for these patterns.

use crate::{
    host::quantized,
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-quantized-to-integer",
    summary: "Turn quantized layers into sums of integers and quantizations",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: crate::ir::Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    Ok(quantized::rewrite(function)?)
}
