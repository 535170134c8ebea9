//! `convert-graph-to-linalg`: lowers a function's `graph` ops to linalg, tensor, arith, math and
//! scf on tensors with signless integers.

use crate::{
    lower::convert::convert_function,
    pass::{OptionValues, Pass, PassError, PassOp, PassOptions},
};

crate::pass_options! {
    /// Options of `convert-graph-to-linalg`.
    pub struct Options {
        keep_signature: bool = "false", "Keep the types of arguments, results and calls, with casts within, while callers are not lowered; a later run makes them signless";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-graph-to-linalg",
    summary: "Lower graph ops to linalg, tensor, arith, math and scf on tensors",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["bufferization", "linalg", "tensor", "arith", "math", "scf", "tir"],
    run,
};

fn run<'c>(op: PassOp<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    convert_function(op, options.keep_signature)
}
