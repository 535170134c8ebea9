//! `forward-stores`: an element that was stored is not read again, the value that was stored is used.
//!
//! Kernels do the work of several operations on one element. A value that one of them stores for
//! readers outside is in a variable for the next one. It neither waits for memory nor relies on a
//! device's compiler to see that both addresses are equal.

use crate::{
    ir::{self, Op, Val, calls, edit, effects, memref, names::LAUNCHED},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{RegionLike, block::BlockLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "forward-stores",
    summary: "Forward values that kernels store to their later loads",
    anchor: "func.func",
    options: &[],
    dialects: &["memref"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    if function.has_attribute(LAUNCHED) {
        inside(function, &[]);
    }
    Ok(())
}

/// A value in memory, with its buffer and indices.
#[derive(Clone)]
struct Stored<'c> {
    place: Vec<Val<'c>>,
    value: Val<'c>,
}

/// Goes through the regions of an operation, at whose begin these values are in memory.
fn inside<'c>(op: Op<'c>, before: &[Stored<'c>]) {
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(current) = block {
            let mut known = before.to_vec();
            for op in ir::ops(current) {
                visit(op, &mut known);
            }
            block = current.next_in_region();
        }
    }
}

fn visit<'c>(op: Op<'c>, known: &mut Vec<Stored<'c>>) {
    let operands = ir::operands(op);
    match effects::element(op) {
        Some(element) if !element.writes => {
            let stored = known.iter().rev().find(|stored| stored.place == operands);
            if let (Some(stored), Ok(old)) = (stored, ir::result0(op)) {
                edit::replace_uses(old, stored.value);
                edit::erase(op);
            }
        }
        Some(element) => {
            forget(known, element.buffer);
            known.push(Stored { place: operands[1..].to_vec(), value: operands[0] });
        }
        None if memref::is_alias(op) => {}
        None => {
            // A loop may have come around: what it writes is not known at its begin either.
            for inner in edit::walk(op).into_iter().chain([op]) {
                // A call may use buffers that it is not given, of an arena that it knows.
                match calls::callee(inner).is_some() || effects::of(inner).is_none() {
                    true => known.clear(),
                    false => {
                        effects::writes(inner).into_iter().for_each(|buffer| forget(known, buffer));
                    }
                }
            }
            inside(op, known);
        }
    }
}

/// Forgets what is in a buffer, whatever its elements are called.
fn forget<'c>(known: &mut Vec<Stored<'c>>, buffer: Val<'c>) {
    let base = memref::base(buffer);
    known.retain(|stored| memref::base(stored.place[0]) != base);
}
