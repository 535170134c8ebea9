//! `graph-bound-sizes`: dimensions that are known at run time get buffers of their greatest size.
//!
//! The arguments of `@main` name their dimensions (`phl.sizes`), the module gives the ranges (`phl.symbols`). Afterwards all
//! dimensions are known, the last argument holds the values of the symbols, and `phl.bounds` says what inputs and outputs
//! are of it. The mechanism is [`crate::sizes`]. No rewriting rule can carry it: types change from the arguments on.

use crate::{
    ir::Op,
    pass::{OptionValues, Pass, PassError},
    sizes,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-bound-sizes",
    summary: "Give dimensions that are known at run time the greatest size of their range",
    anchor: "builtin.module",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    sizes::bound(module)
}
