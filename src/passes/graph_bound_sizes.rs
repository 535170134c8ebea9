//! `graph-bound-sizes`: dimensions that are known at run time get buffers of their greatest size.
//!
//! The arguments of `@main` name their dimensions (`phl.sizes`), the module gives the ranges (`phl.symbols`). Afterwards all
//! dimensions are known, the last argument holds the values of the symbols, and `phl.bounds` says what inputs and outputs
//! are of it. The mechanism is [`crate::sizes`]. No rewriting rule can carry it: types change from the arguments on.

use crate::{
    ir::Op,
    pass::{OptionValues, Pass, PassError, PassOptions},
    sizes,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-bound-sizes",
    summary: "Give dynamic dimensions the greatest size of their range",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["graph"],
    run,
};

crate::pass_options! {
    /// Options of `graph-bound-sizes`.
    pub struct Options {
        given: bool = "false", "Only networks whose inputs have dimensions with ranges, not data-dependent sizes";
    }
}

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    sizes::bound(module, options.given)
}
