//! `record-reads`: annotates each operation with the writes that its reads of buffers may see.
//!
//! It comes before passes that reuse memory or change the order of operations, and `check-reads` behind them
//! compares ([`crate::planned::flow`]). In between an operation that takes the place of another has its attributes.

use crate::{
    ir::{Op, names},
    pass::{OptionValues, Pass, PassError, PassOptions},
    planned::flow,
};
use melior::ir::operation::OperationLike;

crate::pass_options! {
    /// Options of `record-reads`.
    pub struct Options {
        poisoned: bool = "false", "Only in a module whose dead buffers are filled, as with --poison";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "record-reads",
    summary: "Record the writes that each read of a buffer may see, for check-reads",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &[],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let is_poisoned = || {
        let module = function.parent_operation();
        module.is_some_and(|module| module.has_attribute(names::POISONED))
    };
    if !options.poisoned || is_poisoned() {
        flow::record(function);
    }
    Ok(())
}
