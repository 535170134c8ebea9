//! `verify-c`: fails where a function of a target that is printed as C has no form in C.
//!
//! Printing comes after the last phase. This pass tells in that phase what would be wrong, at the
//! operation, as diagnostics do, and with a reproducer where one is asked for.

use crate::{
    codegen::c,
    ir::Op,
    pass::{OptionValues, Pass, PassError},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "verify-c",
    summary: "Check that functions on planned buffers have a form in C",
    anchor: "builtin.module",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    c::print(module).map(drop)
}
