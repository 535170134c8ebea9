//! `reuse-elementwise-inputs`: elementwise operations write over an input that nothing reads again.
//!
//! Bufferization decides in-place from the destinations that it finds. An elementwise operation
//! usually has an empty destination and would get a buffer of its own. Here it gets its dying input
//! instead, so that a chain of operations stays in one buffer, up to the function's output.

use crate::{
    ir::{self, Op, Val, edit, effects, linalg},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "reuse-elementwise-inputs",
    summary: "Let elementwise operations overwrite an input without later reads",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg"],
    run,
};

/// Limit of operations in a row that write over one buffer. For each of them bufferization compares
/// all reads with all writes of the buffer, which takes minutes for a thousand.
const LONGEST: usize = 32;

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut rows = HashMap::new();
    for op in edit::walk(function) {
        if ir::op_name(op) == "linalg.generic" && linalg::is_parallel(op) {
            reuse(op, &mut rows)?;
        }
    }
    Ok(())
}

/// `rows` has how many operations write over the buffer of a value before and with the one that
/// computes it.
fn reuse<'c>(op: Op<'c>, rows: &mut HashMap<ir::Id, usize>) -> crate::Result<()> {
    let operands = ir::operands(op);
    let maps = linalg::indexing_maps(op);
    let results = op.result_count();
    let (true, Some(inputs)) = (maps.len() == operands.len(), operands.len().checked_sub(results))
    else {
        return Ok(());
    };
    let Some(body) = edit::entry_block(op) else { return Ok(()) };
    let mut taken: Vec<usize> = vec![];
    for out in inputs..operands.len() {
        let block_argument = edit::arguments(body).get(out).copied();
        let unread = block_argument.is_some_and(|argument| !ir::has_uses(argument, 1));
        let empty = edit::defining_op(operands[out])
            .is_some_and(|owner| ir::op_name(owner) == "tensor.empty");
        if !unread || !empty {
            continue;
        }
        let candidate = (0..inputs).find(|input| {
            !taken.contains(input)
                && operands[*input].r#type() == operands[out].r#type()
                && maps[*input] == maps[out]
                && row(rows, operands[*input]) < LONGEST
                && dies_in(operands[*input], op)
        });
        if let Some(input) = candidate {
            taken.push(input);
            let length = row(rows, operands[input]) + 1;
            rows.insert(ir::id(ir::results(op)[out - inputs]), length);
            edit::set_operand(op, out, operands[input])?;
        }
    }
    Ok(())
}

fn row(rows: &HashMap<ir::Id, usize>, value: Val<'_>) -> usize {
    rows.get(&ir::id(value)).copied().unwrap_or(1)
}

/// True if `op` is the only use of a value that was computed into a buffer in the same block. Only
/// then is the memory writable and dead afterwards.
fn dies_in<'c>(value: Val<'c>, op: Op<'c>) -> bool {
    let Some(owner) = edit::defining_op(value) else { return false };
    let computed = !effects::overwritable_places(owner).is_empty();
    let same_block = match (owner.block(), op.block()) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    };
    computed && same_block && !ir::has_uses(value, 2)
}
