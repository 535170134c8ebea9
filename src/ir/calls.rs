//! Call graph of a module.

use super::{
    Builder, Op, Val,
    call_extern::{CallExtern, Group, arg_of},
    edit, effects, func, names, tir, types,
};
use crate::{Error, Result};
use indexmap::IndexMap;
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet};

/// Most calls that a function makes, directly and through others, for its callers to look into it.
const MAX_CALLS: usize = 64;

/// The functions with bodies, and the calls among them.
pub struct CallGraph<'c> {
    functions: IndexMap<String, Op<'c>>,
    /// Names of the functions, those called before those that call them.
    pub order: Vec<String>,
}

impl<'c> CallGraph<'c> {
    /// Reads the functions of a module. Recursion is an error, because no memory could be planned
    /// for it.
    pub fn of(module: Op<'c>) -> Result<Self> {
        let functions: IndexMap<_, _> = func::functions(module)
            .into_iter()
            .filter(|function| edit::entry_block(*function).is_some())
            .map(|function| (func::symbol(function), function))
            .collect();
        let mut graph = Self { functions, order: vec![] };
        let (mut done, mut open) = (BTreeSet::new(), BTreeSet::new());
        for name in graph.functions.keys().cloned().collect::<Vec<_>>() {
            graph.visit(&name, &mut done, &mut open)?;
        }
        Ok(graph)
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<Op<'c>> {
        self.functions.get(name).copied()
    }

    /// The calls in a function of functions in this module, with the callee's name.
    pub fn calls(&self, function: Op<'c>) -> Vec<(Op<'c>, String)> {
        edit::walk(function)
            .into_iter()
            .filter_map(|op| Some((op, callee(op)?)))
            .filter(|(_, name)| self.functions.contains_key(name))
            .collect()
    }

    /// The functions whose time and memory their callers may look into: all but those that make
    /// very many calls in turn, and those whose work goes on when they return.
    pub fn transparent(&self) -> BTreeSet<String> {
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found = BTreeSet::new();
        for name in &self.order {
            let called = self.function(name).map(|function| self.calls(function));
            let inside = called.unwrap_or_default().into_iter().map(|(_, name)| {
                1 + calls.get(&*name).copied().filter(|_| found.contains(&name)).unwrap_or(0)
            });
            let inside = inside.sum();
            calls.insert(name, inside);
            // Buffers of work that goes on afterwards are none of the caller's moments.
            let overlaps = self.function(name).is_some_and(|f| f.has_attribute(names::OVERLAPS));
            if inside <= MAX_CALLS && !overlaps {
                found.insert(name.clone());
            }
        }
        found
    }

    fn visit(
        &mut self,
        name: &str,
        done: &mut BTreeSet<String>,
        open: &mut BTreeSet<String>,
    ) -> Result<()> {
        if done.contains(name) {
            return Ok(());
        }
        if !open.insert(name.to_owned()) {
            return Err(Error::invalid(format!(
                "function @{name} calls itself; recursion cannot be compiled"
            )));
        }
        for (_, callee) in self.calls(self.functions[name]) {
            self.visit(&callee, done, open)?;
        }
        done.insert(name.to_owned());
        self.order.push(name.to_owned());
        Ok(())
    }
}

/// The name of the function that `op` calls, if it is a call.
pub fn callee(op: Op<'_>) -> Option<String> {
    matches!(super::op_name(op), "func.call" | tir::CallExtern::NAME)
        .then(|| func::symbol_ref(op, "callee"))
        .flatten()
}

/// Positions of `value` among the arguments of the callee; none if they are not known.
pub fn arguments_of<'c>(call: Op<'c>, value: Val<'c>) -> Option<Vec<usize>> {
    let operands = super::operands(call);
    let Some(parts) = CallExtern::of(call) else {
        return Some((0..operands.len()).filter(|index| operands[*index] == value).collect());
    };
    let mut found = vec![];
    for (index, argument) in parts.args.iter().enumerate() {
        let passed = match arg_of(*argument)? {
            (Group::Ins | Group::Outs, _, true) | (Group::Scratch, ..) => return None,
            (group, place, _) => parts.groups.get(group as usize)?.get(place)?,
        };
        if *passed == value {
            found.push(index);
        }
    }
    let uses = operands.iter().filter(|operand| **operand == value).count();
    (uses == found.len()).then_some(found)
}

/// True if the buffers that a function is given may share bytes, also with its arena, where their
/// live ranges are disjoint. Such a function of a device is nothing but calls and copies.
pub fn shares_bytes(function: Op<'_>) -> bool {
    func::symbol(function) != "main"
        && ![names::PIECE, names::KERNEL, names::LAUNCHED]
            .into_iter()
            .any(|name| function.has_attribute(name))
        && edit::walk(function).into_iter().all(is_row)
}

/// True if an operation by itself touches elements only in what it calls or copies. All other
/// accesses to memory are compiled on the assumption that a function's buffers are disjoint.
fn is_row(op: Op<'_>) -> bool {
    let is_buffer = |value: &Val<'_>| types::keeps_buffer(value.r#type());
    match super::op_name(op) {
        "memref.copy" | tir::CallExtern::NAME | tir::Buffer::NAME => true,
        tir::DmaCopy::NAME | tir::DmaStart::NAME | tir::DmaWait::NAME => true,
        _ if effects::view_source(op).is_some() || effects::is_own(op) => true,
        // A loop may carry tickets and buffers of what it begins.
        _ if op.region_count() > 0 => !effects::runs_at_once(op) && effects::touches_nothing(op),
        _ if super::results(op).iter().any(is_buffer) => false,
        _ => effects::frees(op) || effects::touches_nothing(op),
    }
}

/// Passes one more buffer, after all others. Gives the call, which may be a new operation.
pub fn pass_buffer<'c>(call: Op<'c>, group: Group, buffer: Val<'c>) -> Result<Op<'c>> {
    let Some(mut parts) = CallExtern::of(call) else {
        let mut operands = super::operands(call);
        operands.push(buffer);
        edit::replace_operands(call, &operands);
        return Ok(call);
    };
    let builder = Builder::before(call)?;
    parts.push(builder.context, group, buffer);
    let new = parts.build(&builder, &[])?;
    edit::erase(call);
    Ok(new)
}
