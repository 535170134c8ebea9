//! `convert-llvm-booleans`: truth values are loaded and stored as the bytes that they are in memory.
//!
//! LLVM makes no vectors of loops that load or store `i1`, as a vector of those would be bits. A comparison of two
//! tensors took four times as long as their sum.

use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val, edit},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::ValueLike;

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-llvm-booleans",
    summary: "Load and store truth values as bytes",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(module) {
        match ir::op_name(op) {
            "llvm.load" if is_truth(ir::result0(op)?) => load(op)?,
            "llvm.store" => {
                if let [value, address] = ir::operands(op)[..]
                    && is_truth(value)
                {
                    store(op, value, address)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_truth(value: Val<'_>) -> bool {
    ir::integer_width(value.r#type()) == Some(1)
}

/// A byte that is not 0 is true.
fn load<'c>(op: Op<'c>) -> Result<()> {
    let b = Builder::before(op)?;
    let byte = b.op1("llvm.load", &ir::operands(op), b.int(8))?;
    let zero = b.op1("llvm.mlir.zero", &[], b.int(8))?;
    let not_equal = vec![("predicate", b.i64_attr(NOT_EQUAL))];
    let truth = b.op1_with("llvm.icmp", &[byte, zero], b.int(1), not_equal)?;
    edit::replace_uses(ir::result0(op)?, truth);
    edit::erase(op);
    Ok(())
}

/// The predicate `ne` of `llvm.icmp`.
const NOT_EQUAL: i64 = 1;

fn store<'c>(op: Op<'c>, value: Val<'c>, address: Val<'c>) -> Result<()> {
    let b = Builder::before(op)?;
    let byte = b.op1("llvm.zext", &[value], b.int(8))?;
    b.create("llvm.store", OpSpec { operands: &[byte, address], ..Default::default() })?;
    edit::erase(op);
    Ok(())
}
