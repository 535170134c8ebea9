//! `toy`: a compiler of one's own on the toolkit. `toy opt` is its mlir-opt, `toy lsp` its language server, `toy FILE` its
//! driver. Each file is a chapter of docs/tutorial/compiler.
#![forbid(unsafe_code)]

mod infer;
mod lower;
mod rules;

use phaseline_toolkit::{Phases, Result, Toolkit, dialect, upstream};
use std::process::ExitCode;

dialect!(toy, mlirGetDialectHandle__toy__);

fn toolkit() -> Result<Toolkit> {
    let phases = Phases::new()
        .then("shapes", "builtin.module(inline,func.func(toy-infer-shapes,canonicalize,cse))")?
        .then("lower", "builtin.module(toy-lower,canonicalize)")?
        .then("llvm", TO_LLVM)?;
    let toolkit = Toolkit::new("Toy's compiler")
        .upstream([upstream::arith(), upstream::cf(), upstream::func(), upstream::llvm()])
        .upstream([upstream::scf(), upstream::vector(), upstream::transforms()])
        .dialect(toy::dialect().inlined())
        .run_pass::<infer::InferShapes>()?
        .run_pass::<lower::Lower>()?
        .pipeline("toy-to-llvm", "Lower vectors and functions", TO_LLVM)?
        .phases(phases)?
        .jit();
    Ok(infer::add_to(rules::add_to(toolkit)))
}

/// Loops over what is printed, and vectors, to the LLVM dialect.
const TO_LLVM: &str = "builtin.module(convert-vector-to-scf,convert-scf-to-cf,convert-vector-to-llvm,\
    convert-to-llvm,reconcile-unrealized-casts)";

fn main() -> ExitCode {
    match toolkit() {
        Ok(toolkit) => toolkit.main(std::env::args_os()),
        Err(error) => phaseline_toolkit::report(&error),
    }
}

#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod tests;
