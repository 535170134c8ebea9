//! `graph-simplify`: rules on graphs ([`crate::rules`]), applied until none changes anything.

use crate::{
    ir::{Op, rewrite},
    pass::{OptionValues, Pass, PassError, PassOptions},
    rules,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-simplify",
    summary: "Apply rewrite rules on graphs to a fixed point",
    anchor: "",
    options: Options::SPECS,
    dialects: &["graph"],
    run,
};

crate::pass_options! {
    /// Options of `graph-simplify`.
    pub struct Options {
        rules: String = "", "Names of rules, or of groups of them, separated by commas";
    }
}

fn run<'c>(op: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    apply(op, &options.rules)
}

/// Applies the rules of a list of names.
pub(super) fn apply<'c>(op: Op<'c>, names: &str) -> Result<(), PassError<'c>> {
    let rules = rules::named(names).map_err(|error| PassError::new(format!("option 'rules' {error}")))?;
    let failed = |error: rewrite::RuleError<'c>| PassError {
        location: Some(error.location),
        message: error.message,
    };
    rewrite::apply(op, &rules).map(drop).map_err(failed)
}
