//! `record-reads`: writes on each operation which writes its reads of buffers may see.
//!
//! It comes before passes that reuse memory or change the order of operations, and `check-reads` behind them
//! compares ([`crate::planned::flow`]). In between an operation that takes the place of another has its attributes.

use crate::{
    ir::Op,
    pass::{OptionValues, Pass, PassError},
    planned::flow,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "record-reads",
    summary: "Record which writes each read of a buffer may see, for check-reads",
    anchor: "func.func",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    flow::record(function);
    Ok(())
}
