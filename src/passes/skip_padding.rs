//! `skip-padding`: convolutions and pools with padding become loops over the image without it.
//!
//! A `linalg.generic` that reads a `tensor.pad` would read a padded copy. Where the padding changes
//! nothing (0 in sums of products, the least number in a maximum), the loops leave it out, and no
//! copy is made. All others stay as they are.

use crate::{
    ir::{self, Op, edit},
    lower::padding,
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "skip-padding",
    summary: "Turn windows over padded tensors into loops that leave the padding out",
    anchor: "func.func",
    options: &[],
    dialects: &["arith", "scf", "tensor"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let ops = edit::walk(function).into_iter();
    for op in ops.filter(|op| ir::op_name(*op) == "linalg.generic").collect::<Vec<_>>() {
        padding::skip(op).map_err(PassError::from)?;
    }
    Ok(())
}
