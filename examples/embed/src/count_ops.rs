//! `count-ops`: a pass that belongs to this example, not to Phaseline.

use phaseline::{
    ir::{self, Builder, Module, op_name, ops_of},
    pass::{OptionValues, Pass, PassError, PassOp, PassOptions},
    pass_options,
};

pass_options! {
    /// Options of `count-ops`.
    pub struct CountOptions {
        dialect: String = "graph", "Dialect whose operations are counted";
    }
}

/// Writes the number of a dialect's operations onto the function, as `embed.ops`.
pub static PASS: Pass = Pass {
    name: "count-ops",
    summary: "Count the operations of a dialect",
    anchor: "func.func",
    options: CountOptions::SPECS,
    dialects: &[],
    run,
};

fn run<'c>(function: PassOp<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: CountOptions = values.parse().map_err(PassError::new)?;
    let prefix = format!("{}.", options.dialect);
    let count = ops_of(function).into_iter().filter(|op| op_name(*op).starts_with(&prefix)).count();
    let attribute = Builder::before(function)?.i64_attr(count as i64);
    Ok(ir::set_attr(function, "embed.ops", attribute)?)
}

/// Count that the pass wrote on the first function of `module`.
pub fn counted(module: &Module<'_>) -> i64 {
    let functions = ops_of(ir::root(module));
    functions.first().and_then(|f| ir::attr_i64(*f, "embed.ops")).unwrap_or(0)
}
