//! Sums that loops carry along and add up one by one, cut into blocks that begin at 0.

use super::{
    blocks::end_of_block,
    chains::{iterations, number},
    generic::region,
    loops::Bounds,
};
use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val, edit},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Cuts a sum that a loop of a function carries, if one has to be.
pub fn cut_one(function: Op<'_>, terms: i64) -> Result<bool> {
    for repeat in edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "scf.for") {
        for place in 0..ir::results(repeat).len() {
            if let Some((outer, count)) = cut_of(repeat, place, terms) {
                cut(outer, count)?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The loop around a sum that is to be cut, and its iterations in a block: where a loop adds to what it carries at
/// `place`.
fn cut_of<'c>(repeat: Op<'c>, place: usize, terms: i64) -> Option<(Op<'c>, i64)> {
    if !adds(repeat, place) {
        return None;
    }
    let (mut current, mut place, mut before) = (repeat, place, 1);
    loop {
        let all = iterations(current);
        if all.saturating_mul(before) > terms && all > 1 {
            let count = (terms / before).max(1);
            let step = number(*ir::operands(current).get(2)?)?;
            return (count < all).then_some((current, count.checked_mul(step)?));
        }
        before = before.saturating_mul(all);
        (current, place) = around(current, place)?;
    }
}

/// The argument that carries a value, if one operation alone reads it, and what it is next.
fn carried<'c>(repeat: Op<'c>, place: usize) -> Option<(Val<'c>, Op<'c>, Val<'c>)> {
    let body = edit::entry_block(repeat)?;
    let argument = *edit::arguments(body).get(place + 1)?;
    let [user] = ir::users(argument)[..] else { return None };
    let next = *ir::operands(*ir::ops(body).last()?).get(place)?;
    Some((argument, user, next))
}

/// True if a loop adds a term to what it carries at a place, and does nothing else with it.
fn adds(repeat: Op<'_>, place: usize) -> bool {
    let Some((argument, user, next)) = carried(repeat, place) else { return false };
    let is_next = edit::defining_op(next).is_some_and(|op| edit::same(op, user));
    let once = ir::operands(user).iter().filter(|operand| **operand == argument).count() == 1;
    is_next
        && once
        && ir::is_f32(next.r#type())
        && ir::op_name(user) == "arith.addf"
        && !ir::has_uses(next, 2)
}

/// The loop that has another one sum up to what it carries on.
fn around<'c>(inner: Op<'c>, place: usize) -> Option<(Op<'c>, usize)> {
    let outer = inner.parent_operation().filter(|op| ir::op_name(*op) == "scf.for")?;
    let begin = *ir::operands(inner).get(place + 3)?;
    let result = *ir::results(inner).get(place)?;
    let at = edit::arguments(edit::entry_block(outer)?).iter().position(|a| *a == begin)?;
    let (_, user, next) = carried(outer, at.checked_sub(1)?)?;
    (edit::same(user, inner) && next == result && !ir::has_uses(result, 2))
        .then_some((outer, at - 1))
}

/// True if a loop, or the loops in it, do nothing but add to what it carries at a place.
fn sums(repeat: Op<'_>, place: usize) -> bool {
    if adds(repeat, place) {
        return true;
    }
    let Some((argument, user, next)) = carried(repeat, place) else { return false };
    let inner = ir::operands(user).iter().skip(3).position(|operand| *operand == argument);
    ir::op_name(user) == "scf.for"
        && !ir::has_uses(next, 2)
        && inner.is_some_and(|at| ir::results(user).get(at) == Some(&next) && sums(user, at))
}

/// Puts a loop into one over its blocks. What it sums begins at 0 in each; what else it carries goes on.
fn cut(repeat: Op<'_>, block: i64) -> Result<()> {
    let b = Builder::before(repeat)?;
    let operands = ir::operands(repeat);
    let types: Vec<_> = operands[3..].iter().map(|value| value.r#type()).collect();
    let mut arguments = vec![b.index_type()];
    arguments.extend(&types);
    let region = region(&b, &arguments, |b, arguments| {
        b.create("scf.yield", OpSpec { operands: &arguments[1..], ..Default::default() })?;
        Ok(())
    })?;
    let mut own = vec![operands[0], operands[1], b.index(block)?];
    own.extend(&operands[3..]);
    let spec =
        OpSpec { operands: &own, results: &types, regions: vec![region], ..Default::default() };
    let made = b.create("scf.for", spec)?;
    for (old, new) in ir::results(repeat).into_iter().zip(ir::results(made)) {
        edit::replace_uses(old, new);
    }
    let missing = || crate::Error::internal("a loop without a body");
    let body = edit::entry_block(made).ok_or_else(missing)?;
    let end = *ir::ops(body).last().ok_or_else(missing)?;
    let (b, arguments) = (Builder::before(end)?, edit::arguments(body));
    let range = Bounds { from: operands[0], to: operands[1] };
    let last = end_of_block(&b, range, arguments[0], block)?;
    let zero = b.constant(b.f32(), 0.0)?;
    edit::move_before(repeat, end);
    edit::set_operand(repeat, 0, arguments[0])?;
    edit::set_operand(repeat, 1, last)?;
    for (place, argument) in arguments[1..].iter().enumerate() {
        let result = ir::results(repeat)[place];
        if ir::is_f32(result.r#type()) && sums(repeat, place) {
            edit::set_operand(repeat, place + 3, zero)?;
            edit::set_operand(end, place, b.binary("arith.addf", *argument, result)?)?;
        } else {
            edit::set_operand(repeat, place + 3, *argument)?;
            edit::set_operand(end, place, result)?;
        }
    }
    Ok(())
}
