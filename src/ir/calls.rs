//! Which function of a module calls which.

use super::{Builder, Op, Val, call_extern::CallExtern, call_extern::Group, edit, func, tir};
use crate::{Error, Result};
use indexmap::IndexMap;
use std::collections::BTreeSet;

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
