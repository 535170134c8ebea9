//! Bytes of each pool of the board that are left for a target, as far as they are known.

use crate::{
    Result,
    artifact::recorded_signature,
    ir::{
        self, Op, Val,
        board::{self, Content, Pool},
        calls, edit, func,
        names::{SIGNATURE, TARGET},
        size,
    },
    planned::users::HOST,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// A pool that a target reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The pool.
    pub pool: Pool,
    /// Bytes that nothing else takes. They are exact when memory is planned. Before that they are
    /// an estimate: values that live across the call take the fast pools, and constants the slow
    /// ones.
    pub bytes: u64,
}

/// Space left in the pools that a target reaches, the fastest first. `subject` is the function that
/// asks, or the target's module when memory is planned.
pub fn of<'c>(module: Op<'c>, subject: Op<'c>, target: &str) -> Result<Vec<Left>> {
    let pools = board::declared(module)?;
    let mut left: Vec<u64> = pools.iter().map(|pool| pool.bytes).collect();
    if module.has_attribute(SIGNATURE) {
        let signature = recorded_signature(module)?;
        for (left, pool) in left.iter_mut().zip(&signature.pools) {
            *left = left.saturating_sub((pool.values_bytes + pool.constants_bytes) as u64);
        }
    } else if !pools.is_empty() {
        let forward: Vec<usize> = (0..pools.len()).collect();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        take(&mut left, &pools, (&backward, Content::Constants), constants(module));
        take(
            &mut left,
            &pools,
            (&forward, Content::Activations),
            across(module, subject, &|_| true),
        );
    }
    let host = func::main(module).and_then(|main| ir::attr_str(main, ir::names::TARGET));
    let id = if host.as_deref() == Some(target) { HOST } else { target };
    let all = pools.into_iter().zip(left).map(|(pool, bytes)| Left { pool, bytes });
    Ok(all.filter(|left| left.pool.is_reached_by(id)).collect())
}

/// Takes bytes from the pools that hold such content, in an order.
fn take(left: &mut [u64], pools: &[Pool], (order, content): (&[usize], Content), mut bytes: u64) {
    for index in order.iter().filter(|index| pools[**index].may_hold(content)) {
        let taken = bytes.min(left[*index]);
        left[*index] -= taken;
        bytes -= taken;
    }
}

/// The bytes of all constants of the network.
fn constants(module: Op<'_>) -> u64 {
    let all = edit::walk(module).into_iter().filter(|op| ir::op_name(*op).ends_with(".constant"));
    all.filter_map(|op| size::bytes(ir::result0(op).ok()?.r#type())).fold(0, u64::saturating_add)
}

/// The most bytes of values of the main function that count, live across a call of the subject and are none
/// of what it is given or gives.
fn across<'c>(module: Op<'c>, subject: Op<'c>, counts: &dyn Fn(&Val<'c>) -> bool) -> u64 {
    let Some(body) = func::main(module).and_then(edit::entry_block) else { return 0 };
    let ops = ir::ops(body);
    let places: HashMap<ir::Id, usize> =
        ops.iter().enumerate().map(|(place, op)| (ir::id(op), place)).collect();
    let name = func::symbol(subject);
    let mut most = 0;
    for (place, call) in ops.iter().enumerate() {
        if calls::callee(*call).as_deref() != Some(&name) {
            continue;
        }
        let own = ir::operands(*call);
        let earlier = ops[..place].iter().filter(|op| !ir::op_name(**op).ends_with(".constant"));
        let values = earlier.flat_map(|op| ir::results(*op));
        let living = values.filter(|value| !own.contains(value)).filter(|value| {
            let users = ir::users(*value).into_iter();
            let mut at = users.filter_map(|user| places.get(&ir::id(user)));
            at.any(|user| *user > place)
        });
        let bytes =
            living.filter(|value| counts(value)).filter_map(|value| size::bytes(value.r#type()));
        most = most.max(bytes.fold(0, u64::saturating_add));
    }
    most
}

/// Bytes that others take in the memory of a target's own: exact when memory is planned. Before that, the constants of
/// the target's other functions, and the values between them that live across the call of the subject.
pub fn taken_of_device<'c>(module: Op<'c>, subject: Op<'c>, target: &str) -> Result<u64> {
    if module.has_attribute(SIGNATURE) {
        let signature = recorded_signature(module)?;
        let device = signature.devices.iter().find(|device| device.target == target);
        let memory = device.and_then(|device| device.memory.as_ref());
        return Ok(memory.map_or(0, |memory| (memory.values_bytes + memory.constants_bytes) as u64));
    }
    let own = |function: &Op<'c>| ir::attr_str(*function, TARGET).as_deref() == Some(target);
    let functions: Vec<Op<'c>> = func::functions(module).into_iter().filter(own).collect();
    let others = functions.iter().filter(|function| !edit::same(**function, subject));
    let held = others.map(|function| constants(*function)).fold(0, u64::saturating_add);
    let names: Vec<String> = functions.iter().map(|function| func::symbol(*function)).collect();
    let is_own = |op: Op<'c>| calls::callee(op).is_some_and(|callee| names.contains(&callee));
    let on_device = |value: &Val<'c>| {
        edit::defining_op(*value).is_some_and(is_own) || ir::users(*value).into_iter().any(is_own)
    };
    Ok(held.saturating_add(across(module, subject, &on_device)))
}
