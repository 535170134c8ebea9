//! `erase-memory-spaces`: makes buffers in the memory of devices plain addresses.
//!
//! Which memory a buffer is in is of no more interest once all of them have places. Code generators
//! know one kind of pointer.

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
