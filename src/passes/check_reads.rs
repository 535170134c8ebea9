//! `check-reads`: fails if a read of a buffer does not see the writes that `record-reads` wrote
//! down ([`crate::planned::flow`]), and removes the records.

use crate::{
    ir::Op,
    pass::{OptionValues, Pass, PassError},
    planned::flow,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "check-reads",
    summary: "Check that each read still sees the recorded writes after passes reused memory",
    anchor: "func.func",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    flow::check(function)
}
