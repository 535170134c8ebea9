//! Functions in the place of their calls.

use super::call_sites::place_calls;
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, func, graph, names::TARGET},
};
use melior::ir::operation::OperationLike;
use std::collections::HashMap;

/// The most calls that are replaced.
const MOST: usize = 10_000;

/// Puts the operations of all functions that the network's calls in the place of the calls, each with the
/// target that is demanded for it. `host` is the host's id.
///
/// # Errors
/// A function calls itself, or the calls are too many.
pub fn inline_calls(module: Op<'_>, host: &str) -> Result<()> {
    let Some(main) = func::main(module) else { return Ok(()) };
    let callee = |call: Op<'_>| {
        let name = func::symbol_ref(call, "callee").filter(|_| ir::op_name(call) == "func.call")?;
        let named = |function: &Op<'_>| func::symbol(*function) == name;
        func::functions(module).into_iter().find(named).filter(|f| edit::entry_block(*f).is_some())
    };
    let calls = || {
        let ops = edit::entry_block(main).map(ir::ops).unwrap_or_default();
        ops.into_iter().filter_map(|op| Some((op, callee(op)?))).collect::<Vec<_>>()
    };
    if calls().is_empty() {
        return Ok(());
    }
    place_calls(module, host);
    let mut count = 0;
    loop {
        let found = calls();
        if found.is_empty() {
            break;
        }
        for (call, function) in found {
            count += 1;
            if count > MOST {
                return Err(Error::unsupported(format!(
                    "@{} calls itself, or the network has more than {MOST} calls",
                    func::symbol(function)
                )));
            }
            inline(call, function)?;
        }
    }
    let others = func::functions(module).into_iter().filter(|other| !edit::same(*other, main));
    let mut others = others.filter(|other| edit::entry_block(*other).is_some());
    others.try_for_each(edit::remove)
}

fn inline<'c>(call: Op<'c>, function: Op<'c>) -> Result<()> {
    let b = Builder::before(call)?;
    let body = edit::entry_block(function).map(|block| (edit::arguments(block), ir::ops(block)));
    let (arguments, ops) = body.unwrap_or_default();
    let mut values: HashMap<ir::Id, Val<'c>> =
        arguments.into_iter().map(ir::id).zip(ir::operands(call)).collect();
    let lost = || Error::internal("a value of a function is used before it is made");
    let demanded = ir::attr_str(function, TARGET);
    let mut given = vec![];
    for op in ops {
        if ir::op_name(op) == "func.return" {
            let results =
                ir::operands(op).into_iter().map(|value| values.get(&ir::id(value)).copied());
            given = results.collect::<Option<Vec<_>>>().ok_or_else(lost)?;
            break;
        }
        let copy = b.insert_clone(op);
        for (index, operand) in ir::operands(op).into_iter().enumerate() {
            edit::set_operand(
                copy,
                index,
                values.get(&ir::id(operand)).copied().ok_or_else(lost)?,
            )?;
        }
        values.extend(ir::results(op).into_iter().map(ir::id).zip(ir::results(copy)));
        let is_free = !copy.has_attribute(TARGET) && ir::op_name(op) != graph::Constant::NAME;
        if let Some(target) = demanded.as_ref().filter(|_| is_free) {
            edit::set_attr(copy, TARGET, b.str_attr(target));
        }
    }
    for (old, new) in ir::results(call).into_iter().zip(given) {
        edit::replace_uses(old, new);
    }
    edit::remove(call)
}
