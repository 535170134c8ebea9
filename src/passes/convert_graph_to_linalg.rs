//! `convert-graph-to-linalg`: lowers a function's `graph` ops to linalg, tensor, arith, math and
//! scf on tensors with signless integers.

use crate::{
    lower::convert::convert_function,
    pass::{OptionValues, Pass, PassError, PassOp},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-graph-to-linalg",
    summary: "Lower graph ops to linalg, tensor, arith, math and scf on tensors",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg", "tensor", "arith", "math", "scf"],
    run,
};

fn run<'c>(op: PassOp<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    convert_function(op)
}
