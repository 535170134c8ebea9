//! Cuts operations out of a network as a network of their own.

use crate::{
    Error, Result, Session,
    graph::{Def, OpId, ValueId},
    ir::{self, Builder, Op, Val, edit, func, names},
    outline::{self, View},
};
use melior::ir::{Location, Module, ValueLike};
use std::collections::HashMap;

/// The work to extract, and the target that runs it.
pub struct Extract<'a> {
    /// The operations, in program order.
    pub ops: &'a [OpId],
    /// Values from outside.
    pub inputs: &'a [ValueId],
    /// Values that are used outside.
    pub outputs: &'a [ValueId],
    /// Id of the target, or `host`.
    pub target: &'a str,
    /// The pattern that has to take them.
    pub pattern: Option<&'a str>,
    /// Number of runs of the operations, each output fed to the next run. More than once takes one
    /// input and one output of the same type.
    pub times: usize,
}

impl Extract<'_> {
    /// The one input that is no constant and the one output, if they are of the same type.
    pub fn chain(&self, view: &View<'_>) -> Option<(ValueId, ValueId)> {
        let moved: Vec<_> = self.inputs.iter().filter(|v| !view.graph.is_constant(**v)).collect();
        let ([input], [output]) = (&moved[..], self.outputs) else { return None };
        let same = view.graph.value(**input).ty == view.graph.value(*output).ty;
        same.then_some((**input, *output))
    }

    /// The network.
    pub fn module<'c>(&self, session: &'c Session, view: &View<'c>) -> Result<Module<'c>> {
        let module = Module::new(Location::unknown(session.context()));
        let (function, b) = func::new_main(session.context(), &module)?;
        let results = self.fill(&b, view)?;
        func::end(&b, function, &results)?;
        Ok(module)
    }

    /// Copies the operations into a block; gives the outputs.
    fn fill<'c>(&self, b: &Builder<'c>, view: &View<'c>) -> Result<Vec<Val<'c>>> {
        let lost = || Error::internal("a value of a match is not in the network");
        let values: HashMap<ValueId, Val<'c>> = view.values.iter().copied().collect();
        let original = |id: &ValueId| values.get(id).copied().ok_or_else(lost);
        let mut copies: HashMap<ir::Id, Val<'c>> = HashMap::new();
        for id in self.inputs {
            let value = original(id)?;
            let copy = match (view.graph.value(*id).def, outline::definer(value)) {
                (Def::Constant, Some(constant)) => ir::result0(b.insert_clone(constant))?,
                _ => edit::add_argument(b.block(), value.r#type(), b.location),
            };
            copies.insert(ir::id(value), copy);
        }
        for time in 0..self.times {
            if time > 0 {
                let (input, output) = self.chain(view).ok_or_else(lost)?;
                let made = copies[&ir::id(original(&output)?)];
                copies.insert(ir::id(original(&input)?), made);
            }
            for id in self.ops {
                let op = view.ops.get(id.index()).copied().ok_or_else(lost)?;
                self.copy(b, op, &mut copies)?;
            }
        }
        let copy = |id| copies.get(&ir::id(original(id)?)).copied().ok_or_else(lost);
        self.outputs.iter().map(copy).collect()
    }

    fn copy<'c>(
        &self,
        b: &Builder<'c>,
        op: Op<'c>,
        copies: &mut HashMap<ir::Id, Val<'c>>,
    ) -> Result<()> {
        let copy = b.insert_clone(op);
        for (index, operand) in ir::operands(op).into_iter().enumerate() {
            let known = copies.get(&ir::id(operand)).copied();
            let value = known.ok_or_else(|| Error::internal("an operand of a match is lost"))?;
            edit::set_operand(copy, index, value)?;
        }
        for (old, new) in ir::results(op).into_iter().zip(ir::results(copy)) {
            copies.insert(ir::id(old), new);
        }
        edit::set_attr(copy, names::TARGET, b.str_attr(self.target));
        match self.pattern {
            Some(pattern) => edit::set_attr(copy, names::PATTERN, b.str_attr(pattern)),
            None => drop(edit::remove_attr(copy, names::PATTERN)),
        }
        Ok(())
    }
}
