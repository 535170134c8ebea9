//! `convert-llvm-booleans`: truth values are loaded and stored as the bytes that they are in memory, and masked vectors of
//! 16-bit floats as integers.
//!
//! LLVM makes no vectors of loops that load or store `i1`, as a vector of those would be bits. A comparison of two
//! tensors took four times as long as their sum. Where a CPU has masks and no 16-bit floats, LLVM takes masked vectors
//! of these apart, and rounds each element by a function that libraries of compilers before GCC 13 lack.

use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val, edit},
    lower::scalar::{is_bf16, is_f16},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::ValueLike;

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-llvm-booleans",
    summary: "Load and store truth values as bytes, and masked 16-bit floats as integers",
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
            "llvm.intr.masked.load" if is_half(ir::result0(op)?) => masked_load(op)?,
            "llvm.intr.masked.store" => masked_store(op)?,
            _ => {}
        }
    }
    Ok(())
}

/// True for 16-bit floats, and vectors of them.
fn is_half(value: Val<'_>) -> bool {
    let element = ir::element_type(value.r#type());
    is_bf16(element) || is_f16(element)
}

/// The bits of 16-bit floats.
fn bits<'c>(b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
    b.op1("llvm.bitcast", &[value], b.like(value.r#type(), b.int(16)))
}

/// Loads integers, with the bits of the values for what the mask leaves out.
fn masked_load<'c>(op: Op<'c>) -> Result<()> {
    let loaded = ir::result0(op)?;
    let b = Builder::before(op)?;
    let mut operands = ir::operands(op);
    for value in &mut operands {
        if is_half(*value) {
            *value = bits(&b, *value)?;
        }
    }
    let names = ["alignment", "nontemporal"];
    let attributes = names.iter().filter_map(|name| Some((*name, ir::attr(op, name)?))).collect();
    let words = b.like(loaded.r#type(), b.int(16));
    let words = b.op1_with("llvm.intr.masked.load", &operands, words, attributes)?;
    edit::replace_uses(loaded, b.op1("llvm.bitcast", &[words], loaded.r#type())?);
    edit::erase(op);
    Ok(())
}

fn masked_store<'c>(op: Op<'c>) -> Result<()> {
    let Some(value) = ir::operands(op).first().copied().filter(|value| is_half(*value)) else {
        return Ok(());
    };
    let b = Builder::before(op)?;
    edit::set_operand(op, 0, bits(&b, value)?)
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
