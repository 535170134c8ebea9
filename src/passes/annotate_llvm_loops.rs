//! `annotate-llvm-loops`: tells LLVM which loops are to stay loops until it makes vectors.
//!
//! LLVM unrolls short loops before it vectorizes. Of a row of 16 channels that leaves 16 scalar operations, and then the
//! loop around them becomes vectors, whose elements are a row apart: a bilinear resize of 16 channels took 13 times as
//! long. A loop of whole vectors is worth more as a loop.

use crate::{
    ir::{self, Op, Val, edit},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Attribute, BlockLike, TypeLike, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "annotate-llvm-loops",
    summary: "Keep LLVM from unrolling short loops that vectors fit into",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let disable = "#llvm.loop_annotation<unroll = #llvm.loop_unroll<disable = true>>";
    let attribute = Attribute::parse(ir::context_of(module), disable)
        .ok_or_else(|| PassError::at(&module, "LLVM has no such annotation of loops"))?;
    let jumps: Vec<_> =
        edit::walk(module).into_iter().filter(|op| ir::op_name(*op) == "llvm.br").collect();
    let mut into: HashMap<usize, Vec<Op<'c>>> = HashMap::new();
    for jump in &jumps {
        if let Ok(block) = jump.successor(0) {
            into.entry(block.to_raw().ptr as usize).or_default().push(*jump);
        }
    }
    for jumps in into.values() {
        let [a, b] = jumps[..] else { continue };
        for (enter, again) in [(a, b), (b, a)] {
            if trip_count(enter, again).is_some_and(is_whole_vectors) && is_scalar(again) {
                edit::set_attr(again, "loop_annotation", attribute);
            }
        }
    }
    Ok(())
}

/// How often the loop runs that `enter` jumps to and whose only block `again` ends, as loops of `scf` become
/// blocks.
fn trip_count(enter: Op<'_>, again: Op<'_>) -> Option<i64> {
    let head = again.successor(0).ok()?;
    let decision = head.terminator()?;
    if ir::op_name(decision) != "llvm.cond_br" || decision.successor(0).ok()? != again.block()? {
        return None;
    }
    let compare = edit::defining_op(*ir::operands(decision).first()?)?;
    let [index, end] = ir::operands(compare)[..] else { return None };
    let (block, place) = edit::owner_block(index)?;
    let next = edit::defining_op(*ir::operands(again).get(place)?)?;
    let [before, step] = ir::operands(next)[..] else { return None };
    let known = block == head
        && before == index
        && ir::op_name(compare) == "llvm.icmp"
        && ir::op_name(next) == "llvm.add";
    let [start, end, step] =
        [number(*ir::operands(enter).get(place)?)?, number(end)?, number(step)?];
    (known && step > 0).then(|| (end - start + step - 1) / step)
}

/// Whether a block has no vectors yet.
fn is_scalar(end: Op<'_>) -> bool {
    let ops = end.block().map(ir::ops).unwrap_or_default();
    ops.into_iter().flat_map(ir::results).all(|value| !value.r#type().is_vector())
}

fn number(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "llvm.mlir.constant")?;
    ir::attr_i64(op, "value")
}

/// Vectors of 8 lanes leave nothing over; those of 16 may have a half of one after them.
fn is_whole_vectors(count: i64) -> bool {
    count >= 8 && count % 8 == 0
}
