//! `separate-destinations`: operations that write over the same start value each get their own.
//!
//! ```text
//! %f = linalg.fill ins(%c) outs(%e)            %f = linalg.fill ins(%c) outs(%e)
//! %a = linalg.matmul ... outs(%f)      -->     %g = linalg.fill ins(%c) outs(%e2)
//! %b = linalg.matmul ... outs(%f)              %a = linalg.matmul ... outs(%f)
//!                                              %b = linalg.matmul ... outs(%g)
//! ```
//! cse makes one fill of equal ones. `eliminate-empty-tensors` then puts it into the buffer of the
//! output that one of the results is copied to at the end, and bufferization lets another result
//! be computed there too, because it does not see that the copy writes to that buffer.

use crate::{
    ir::{self, Builder, Op, edit},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "separate-destinations",
    summary: "Give each operation that writes over a shared start value one of its own",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg", "tensor"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(function).into_iter().filter(|op| is_linalg(*op)) {
        let operands = ir::operands(op);
        let inputs = operands.len().saturating_sub(op.result_count());
        for (index, start) in operands.iter().enumerate().skip(inputs) {
            let Some(owner) = edit::defining_op(*start).filter(|owner| is_start(*owner)) else {
                continue;
            };
            if ir::users(*start).len() < 2 {
                continue;
            }
            let builder = Builder::before(op)?;
            let copy = builder.insert_clone(owner);
            let empty = builder.with_location(owner.location()).empty(start.r#type())?;
            let written = ir::operands(copy).len() - 1;
            edit::set_operand(copy, written, empty);
            if let Some(empty) = edit::defining_op(empty) {
                edit::move_before(empty, copy);
            }
            edit::set_operand(op, index, ir::result0(copy));
        }
    }
    Ok(())
}

fn is_linalg(op: Op<'_>) -> bool {
    ir::op_name(op).starts_with("linalg.") && op.result_count() > 0
}

/// Whether an operation only makes a start value: a fill, or elements spread over a new tensor.
/// Doing that twice is no more work than the copy that bufferization would make.
fn is_start(op: Op<'_>) -> bool {
    let last = ir::operands(op).last().copied();
    let into_empty = last
        .and_then(edit::defining_op)
        .is_some_and(|owner| ir::op_name(owner) == "tensor.empty");
    let cheap = match ir::op_name(op) {
        "linalg.fill" | "linalg.broadcast" => true,
        "linalg.generic" => {
            let iterators = op.attribute("iterator_types").map(edit::array).unwrap_or_default();
            iterators.iter().all(|kind: &Attribute<'_>| kind.to_string().contains("parallel"))
        }
        _ => false,
    };
    cheap && into_empty && op.result_count() == 1
}
