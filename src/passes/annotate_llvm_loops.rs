//! `annotate-llvm-loops`: tells LLVM which loops are to stay loops until it makes vectors.
//!
//! LLVM unrolls short loops before it vectorizes. A row of 16 channels thus becomes 16 scalar
//! operations. The loop around them is then vectorized, with elements that are a row apart: a
//! bilinear resize of 16 channels took 13 times as long. A loop of whole vectors is worth more as a
//! loop, and so is one of two and a rest. A loop of one vector and a rest becomes scalars if it
//! stays a loop: an addition of rows of 12 took 10 times as long.
//!
//! A loop that adds to numbers which the loop around it meets again is unrolled, so that they stay
//! in registers. The loop around it is then kept as it is, and the unrolled code becomes vectors.
//! Without that, maxima of rows of 16 took 15 times as long, sums of rows of 31 three times.

use crate::{
    ir::{self, Blk, Op, Val, edit},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Attribute, BlockLike, TypeLike, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "annotate-llvm-loops",
    summary: "Keep LLVM from unrolling short loops that vectors fit into, and from vectors across rows",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let parse = |text: &str| {
        Attribute::parse(ir::context_of(module), &format!("#llvm.loop_annotation<{text}>"))
            .ok_or_else(|| PassError::at(&module, "LLVM has no such annotation of loops"))
    };
    let keep = parse("unroll = #llvm.loop_unroll<disable = true>")?;
    let scalar = parse("vectorize = #llvm.loop_vectorize<disable = true>")?;
    let mut into: HashMap<ir::Id, Vec<Op<'c>>> = HashMap::new();
    let mut deciding: HashMap<ir::Id, Op<'c>> = HashMap::new();
    for op in edit::walk(module) {
        // An op without successor would be printed in the error that says so.
        let is_jump = ir::op_name(op) == "llvm.br";
        if !is_jump && ir::op_name(op) != "llvm.cond_br" {
            continue;
        }
        let Ok(block) = op.successor(0) else { continue };
        let block = ir::id(block);
        if is_jump {
            into.entry(block).or_default().push(op);
        } else {
            deciding.insert(block, op);
        }
    }
    for jumps in into.values() {
        let [a, b] = jumps[..] else { continue };
        for (enter, again) in [(a, b), (b, a)] {
            let Some(count) = trip_count(enter, again).filter(|count| *count >= LEAST) else {
                continue;
            };
            let around = enter.block().and_then(|block| {
                deciding.get(&ir::id(block)).and_then(|op| op.block())
            });
            let is_whole = count % LEAST == 0;
            let adds = accumulates(again, around);
            let is_row = count > 2 * LEAST && !adds;
            if !is_scalar(again) {
                continue;
            }
            if (is_whole || is_row) && !adds {
                edit::set_attr(again, "loop_annotation", keep);
            } else if adds && let Some(around) = around.and_then(|head| latch(again, head)) {
                edit::set_attr(around, "loop_annotation", scalar);
            }
        }
    }
    Ok(())
}

/// The jump that ends an iteration of the loop with this head, where it comes right after the loop that `again` ends.
fn latch<'c>(again: Op<'c>, head: Blk<'c>) -> Option<Op<'c>> {
    let after = again.successor(0).ok()?.terminator()?.successor(1).ok()?;
    let jump = after.terminator().filter(|op| ir::op_name(*op) == "llvm.br")?;
    (jump.successor(0).ok()? == head).then_some(jump)
}

/// Lanes of a vector: multiples of 8 leave no rest for vectors of 8 lanes, and at most half a
/// vector for those of 16.
const LEAST: i64 = 8;

/// True if the block that `end` ends updates memory that it loads, at an address that does not
/// depend on the loop with the head `around`. Without such a head any update counts.
fn accumulates<'c>(end: Op<'c>, around: Option<Blk<'c>>) -> bool {
    let ops = end.block().map(ir::ops).unwrap_or_default();
    let address = |name: &str, at: usize| -> Vec<Val<'c>> {
        let found = ops.iter().filter(|op| ir::op_name(**op) == name);
        found.filter_map(|op| ir::operands(*op).get(at).copied()).collect()
    };
    let loaded = address("llvm.load", 0);
    address("llvm.store", 1).into_iter().any(|stored| {
        let moves = around.is_some_and(|head| depends(stored, head));
        !moves && loaded.iter().any(|load| is_same(*load, stored))
    })
}

/// Values that an address is made of, at most; more are not looked at.
const MAX_VALUES: usize = 64;

/// True if a value depends on an argument of a block.
fn depends<'c>(value: Val<'c>, on: Blk<'c>) -> bool {
    let mut values = vec![value];
    let mut next = 0;
    while let Some(value) = values.get(next).copied().filter(|_| next < MAX_VALUES) {
        next += 1;
        match edit::defining_op(value) {
            Some(op) => {
                let new: Vec<_> =
                    ir::operands(op).into_iter().filter(|value| !values.contains(value)).collect();
                values.extend(new);
            }
            None if edit::owner_block(value).is_some_and(|(block, _)| block == on) => return true,
            None => {}
        }
    }
    false
}

/// True for two equal values, or two that are computed in the same way: addresses are written out
/// for each access.
fn is_same<'c>(a: Val<'c>, b: Val<'c>) -> bool {
    let mut pairs = vec![(a, b)];
    let mut next = 0;
    while let Some((a, b)) = pairs.get(next).copied() {
        next += 1;
        if a == b || number(a).is_some_and(|value| number(b) == Some(value)) {
            continue;
        }
        let (Some(first), Some(second)) = (edit::defining_op(a), edit::defining_op(b)) else {
            return false;
        };
        let (left, right) = (ir::operands(first), ir::operands(second));
        let alike = ir::op_name(first) == ir::op_name(second) && left.len() == right.len();
        if !alike || left.is_empty() || next > MAX_VALUES {
            return false;
        }
        let new: Vec<_> =
            left.into_iter().zip(right).filter(|pair| !pairs.contains(pair)).collect();
        pairs.extend(new);
    }
    true
}

/// Trip count of the loop that `enter` jumps to and whose only block `again` ends, in the form of
/// lowered loops of `scf`.
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

/// True for a block without vectors.
fn is_scalar(end: Op<'_>) -> bool {
    let ops = end.block().map(ir::ops).unwrap_or_default();
    ops.into_iter().flat_map(ir::results).all(|value| !value.r#type().is_vector())
}

fn number(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "llvm.mlir.constant")?;
    ir::attr_i64(op, "value")
}
