//! `block-sums`: sums of many floats are sums of the sums of blocks.
//!
//! A loop that adds up n numbers one by one in f32 is off by up to n rounding errors. In blocks of 512 it is
//! off by 512 and the number of blocks, at the same work. Loops that add less are left as they are.

use crate::{
    ir::{Op, edit, names::VECTORIZED},
    lower::{
        blocks::Locals,
        carried,
        sums::{self, Blocks},
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::operation::OperationLike;

/// The pass.
pub const PASS: Pass = Pass {
    name: "block-sums",
    summary: "Add up long sums of loops in blocks",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["arith", "memref", "scf"],
    run,
};

crate::pass_options! {
    /// Options of `block-sums`.
    pub struct Options {
        terms: i64 = "512", "Greatest number of terms that are added one by one";
        lanes: i64 = "64", "Number of sums of a block that are on the stack at once";
    }
}

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let Some(entry) = edit::entry_block(function) else { return Ok(()) };
    // Kernels that are written in vectors have their sums side by side already.
    if function.has_attribute(VECTORIZED) {
        return Ok(());
    }
    let terms = options.terms.max(2);
    let blocks = Blocks { terms, lanes: options.lanes.max(1) };
    let mut locals = Locals::new(entry);
    // Blocks of blocks: the number of those that are left is smaller each time.
    while sums::cut_one(function, blocks, &mut locals)? || carried::cut_one(function, terms)? {}
    Ok(())
}
