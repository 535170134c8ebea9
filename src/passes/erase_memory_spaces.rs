//! `erase-memory-spaces`: makes buffers in the memory of devices plain addresses.
//!
//! The memory of a buffer does not matter once all buffers have places. Code generators know one
//! kind of pointer.

use crate::{
    ir::{Op, memory},
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "erase-memory-spaces",
    summary: "Make buffers in the memory of devices plain addresses",
    anchor: "builtin.module",
    options: &[],
    dialects: &["memref"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    Ok(memory::erase_spaces(module)?)
}
