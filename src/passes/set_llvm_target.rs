//! `set-llvm-target`: writes the machine that host code is for on the module.
//!
//! Without a triple and a data layout on the module, LLVM turns copy loops into calls that it then
//! expands bytewise. So this must come before any LLVM pass (`mlir-notes.md`, trap T1).

use crate::{
    artifact::machines,
    codegen::llvm::effort,
    ir::{self, Op, edit},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::attribute::StringAttribute;

crate::pass_options! {
    /// Options of `set-llvm-target`.
    pub struct Options {
        mtriple: String = "", "LLVM target triple; the machine that compiles if empty";
        mcpu: String = "native", "CPU name, or native for the machine that compiles";
        mattr: String = "", "CPU features added or removed, such as +avx2,-avx512f";
        opt_level: i64 = "3", "Effort of LLVM's optimisation, from 0 to 3";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "set-llvm-target",
    summary: "Set the target triple, data layout, CPU and features of host code, and the effort of its optimisation",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["llvm"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let machine = machines::select(&options.mtriple, &options.mcpu, &options.mattr)?;
    let context = ir::context_of(module);
    effort::write(module, options.opt_level).map_err(PassError::new)?;
    for (name, value) in machines::attributes(&machine)? {
        edit::set_attr(module, name, StringAttribute::new(context, &value).into());
    }
    Ok(())
}
