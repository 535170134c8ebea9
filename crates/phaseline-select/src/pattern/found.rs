//! A match, and what the names of its pattern stand for in it.

use super::{Pattern, resolve::Referent};
use crate::{
    expr::{Expr, Val},
    graph::{Bound, Evaluator, Facts, OpId, Scope, ValueId},
};

/// A set of operations that fits a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The last operation.
    pub root: OpId,
    /// The operations in program order.
    pub ops: Vec<OpId>,
    /// The captures that the match has, in order of text.
    pub captures: Vec<(String, Bound)>,
    /// Values from outside, in order of first use, without duplicates.
    pub inputs: Vec<ValueId>,
    /// Values that are used outside, in order of definition.
    pub outputs: Vec<ValueId>,
    /// For each call of the pattern, the operation and which of the call's choices it is.
    pub(super) slots: Vec<Option<(OpId, usize)>>,
}

/// The names of a pattern in a match of it.
pub struct MatchScope<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Its match.
    pub found: &'a Match,
}

impl Scope for MatchScope<'_> {
    fn lookup(&self, name: &str) -> Option<Bound> {
        let resolved = &self.pattern.resolved;
        match resolved.names.get(name)? {
            Referent::Capture => Some(self.found.capture(name).unwrap_or_default()),
            Referent::Slots(slots) => {
                let op = slots.iter().find_map(|slot| {
                    let (op, choice) = self.found.slots.get(*slot).copied().flatten()?;
                    let choice = resolved.slots.get(*slot)?.get(choice)?;
                    (choice.written == name || choice.op == name).then_some(op)
                });
                Some(Bound { value: None, op })
            }
        }
    }
}

impl Match {
    /// What a capture is bound to; `None` if the match does not have it.
    pub fn capture(&self, name: &str) -> Option<Bound> {
        self.captures.iter().find(|(other, _)| other == name).map(|(_, bound)| *bound)
    }

    /// All names of the pattern that stand for something in the match, with that, by name.
    pub fn names(&self, pattern: &Pattern) -> Vec<(String, Bound)> {
        let scope = MatchScope { pattern, found: self };
        let names = pattern.resolved.names.keys();
        let found = names.filter_map(|name| Some((name.clone(), scope.lookup(name)?)));
        found.filter(|(_, bound)| bound.value.is_some() || bound.op.is_some()).collect()
    }

    /// The value of an expression over the pattern's captures.
    pub fn eval(&self, pattern: &Pattern, facts: Facts, expr: &Expr) -> Val {
        let scope = MatchScope { pattern, found: self };
        Evaluator::new(facts, &scope).eval(expr)
    }
}
