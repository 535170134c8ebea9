//! `lower-queues`: makes tickets of devices (`tir.submit`, `tir.wait`) calls of their functions.
//!
//! Until then the IR says who waits for whom, which `verify-plan` checks.

use crate::{
    ir::Op,
    pass::{OptionValues, Pass, PassError},
    transfer,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "lower-queues",
    summary: "Make tickets of devices calls of their functions",
    anchor: "builtin.module",
    options: &[],
    dialects: &["memref", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    transfer::lower_tickets(module)
}
