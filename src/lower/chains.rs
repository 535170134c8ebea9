//! Number of additions of loops over buffers to one element, which decides on sums in blocks.

use crate::ir::{self, Op, Val, edit};
use melior::ir::{block::BlockLike, operation::OperationLike};

/// Iterations of a loop whose end is not known.
const UNKNOWN: i64 = 1 << 40;

/// The greatest number of iterations of a `scf.for`.
pub fn iterations(repeat: Op<'_>) -> i64 {
    let [from, to, step, ..] = ir::operands(repeat)[..] else { return UNKNOWN };
    let step = number(step).filter(|step| *step > 0);
    let length = length(from, to);
    length.zip(step).map_or(UNKNOWN, |(length, step)| quotient_up(length.max(0), step))
}

fn quotient_up(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0)
}

/// The greatest distance between two indices. What loops count from is 0 at least.
pub fn length(from: Val<'_>, to: Val<'_>) -> Option<i64> {
    if let Some(to) = number(to) {
        return Some(to - number(from).unwrap_or(0));
    }
    let op = edit::defining_op(to)?;
    let [a, b] = ir::operands(op)[..] else { return None };
    match ir::op_name(op) {
        "arith.minsi" => length(from, a).into_iter().chain(length(from, b)).min(),
        "arith.addi" if a == from => number(b),
        "arith.addi" if b == from => number(a),
        _ => None,
    }
}

/// The number that a value is, if it is a constant.
pub fn number(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
    ir::attribute::int(op.attribute("value").ok()?)
}

/// Induction variable of a loop.
pub fn counter<'c>(repeat: Op<'c>) -> Option<Val<'c>> {
    edit::arguments(edit::entry_block(repeat)?).first().copied()
}

/// True if a value is computed from another one, or counts a strip that begins there.
pub fn depends(value: Val<'_>, on: Val<'_>) -> bool {
    if value == on {
        return true;
    }
    if let Some(op) = edit::defining_op(value) {
        let mut inner = edit::walk(op).into_iter().chain([op]).flat_map(ir::operands);
        return inner.any(|operand| depends(operand, on));
    }
    let around = edit::owner_block(value).and_then(|(block, _)| block.parent_operation());
    let repeat = around.filter(|op| ir::op_name(*op) == "scf.for" && counter(*op) == Some(value));
    repeat.and_then(|op| ir::operands(op).first().copied()).is_some_and(|from| {
        let bounds = edit::defining_op(from).filter(|op| ir::op_name(*op) == "arith.maxsi");
        from == on || bounds.is_some_and(|op| ir::operands(op).contains(&on))
    })
}

/// The factor with which an index grows with a counter; none if it is no sum of counters.
fn factor(index: Val<'_>, counter: Val<'_>) -> Option<i64> {
    if index == counter {
        return Some(1);
    }
    if !depends(index, counter) {
        return Some(0);
    }
    let op = edit::defining_op(index)?;
    let [a, b] = ir::operands(op)[..] else { return None };
    match ir::op_name(op) {
        "arith.addi" => Some(factor(a, counter)? + factor(b, counter)?),
        "arith.subi" => Some(factor(a, counter)? - factor(b, counter)?),
        "arith.muli" => match (number(a), number(b)) {
            (Some(times), _) => Some(times * factor(b, counter)?),
            (_, Some(times)) => Some(times * factor(a, counter)?),
            _ => None,
        },
        _ => None,
    }
}

/// Greatest number of iterations of loops, which all count up an index, that meet in one element:
/// two for `y[2 * i + k]` with four `k`.
pub fn meetings(indices: &[Val<'_>], loops: &[Op<'_>]) -> i64 {
    indices.iter().map(|index| meetings_at(*index, loops).unwrap_or(1)).product()
}

fn meetings_at(index: Val<'_>, loops: &[Op<'_>]) -> Option<i64> {
    let mut steps: Vec<(i64, i64)> = vec![];
    for repeat in loops {
        let factor = factor(index, counter(*repeat)?)?.checked_abs()?;
        if factor > 0 {
            steps.push((factor, iterations(*repeat)));
        }
    }
    steps.sort_unstable();
    // The elements that the loops with smaller factors reach.
    let (mut reached, mut meet) = (1_i64, 1_i64);
    for (factor, count) in steps {
        meet = meet.saturating_mul(quotient_up(reached, factor).min(count).max(1));
        reached = reached.max(factor.saturating_mul(count - 1).saturating_add(reached));
    }
    Some(meet)
}
