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
    summary: "Check that passes which reuse memory left to each read what it was to see",
    anchor: "func.func",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    flow::check(function)
}
