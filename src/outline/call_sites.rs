//! Placements of calls: a target in the attribute of a call is that of what is called.

use crate::{
    ir::{
        self, Op, edit, func,
        names::{TARGET, symbol_name},
    },
    partition::placement::HOST,
};
use melior::ir::{
    attribute::{FlatSymbolRefAttribute, StringAttribute},
    operation::OperationLike,
};
use std::collections::{BTreeSet, HashMap};

/// Moves the targets that calls demand to the functions that they call. Functions that are called in
/// other ways too are copied first; calls inside of a function demand what is demanded for it, unless
/// they say something else. Only calls of functions with a body are meant. `host` is the host's id.
pub fn place_calls<'c>(module: Op<'c>, host: &str) {
    let context = ir::context_of(module);
    let mut symbols: BTreeSet<String> =
        func::functions(module).into_iter().map(func::symbol).collect();
    let mut copies: HashMap<(String, String), String> = HashMap::new();
    loop {
        let calls = calls(module);
        let functions = func::functions(module);
        let body = |name: &str| {
            let is = |f: &&Op<'c>| func::symbol(**f) == name && edit::entry_block(**f).is_some();
            functions.iter().find(is).copied()
        };
        let demands = |(call, callee): &(Op<'c>, String)| {
            let function = body(callee).filter(|_| call.has_attribute(TARGET))?;
            Some((*call, callee.clone(), function))
        };
        let Some((call, callee, function)) = calls.iter().find_map(demands) else { return };
        let target = ir::attr_str(call, TARGET).unwrap_or_default();
        // The id of the host on a function says that it is divided.
        let target = if target == host { HOST.to_owned() } else { target };
        edit::remove_attr(call, TARGET);
        if ir::attr_str(function, TARGET).as_ref() == Some(&target) {
            continue;
        }
        let shared = calls.iter().filter(|(_, other)| *other == callee).count() > 1;
        let placed = if shared || function.has_attribute(TARGET) {
            let key = (callee.clone(), target.clone());
            let known = copies.get(&key).cloned();
            let name = known.clone().unwrap_or_else(|| {
                let word = crate::artifact::c_identifier(&target);
                let name = func::free_symbol(symbol_name(&callee, &word), &symbols);
                symbols.insert(name.clone());
                copies.insert(key, name.clone());
                name
            });
            let reference = FlatSymbolRefAttribute::new(context, &name).into();
            edit::set_attr(call, "callee", reference);
            if known.is_some() {
                continue;
            }
            let copy = edit::clone_before(function, function);
            edit::set_attr(copy, "sym_name", StringAttribute::new(context, &name).into());
            copy
        } else {
            function
        };
        let attribute = StringAttribute::new(context, &target).into();
        edit::set_attr(placed, TARGET, attribute);
        for (inner, _) in calls_in(placed).into_iter().filter(|(c, _)| !c.has_attribute(TARGET)) {
            edit::set_attr(inner, TARGET, attribute);
        }
    }
}

/// The calls of functions that have a body, outside of what is divided already.
fn calls<'c>(module: Op<'c>) -> Vec<(Op<'c>, String)> {
    func::functions(module).into_iter().flat_map(calls_in).collect()
}

fn calls_in<'c>(function: Op<'c>) -> Vec<(Op<'c>, String)> {
    let calls = edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "func.call");
    calls.filter_map(|op| Some((op, func::symbol_ref(op, "callee")?))).collect()
}
