//! A match, with the bindings of its pattern's names.

use super::{GivenLayout, Layout, Param, Pattern, resolve::Referent};
use crate::{
    expr::{Expr, Val},
    graph::{Bound, Evaluator, Facts, GraphView, OpId, Scope, ValueId},
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
    /// The layout of what its call takes as neighbours have it; none for that of the model.
    pub given: Option<GivenLayout>,
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
    fn given(&self, graph: &GraphView) -> Option<Val> {
        let value = self.found.given_value(self.pattern)?;
        let shape: Option<Vec<i64>> = graph.value(value).ty.shape.iter().copied().collect();
        let Some(shape) = shape else {
            return Some(Val::Unknown("a dimension is dynamic".to_owned()));
        };
        let extents = match &self.found.given {
            Some(given) => given.layout.extents(&shape),
            None => shape,
        };
        Some(Val::List(extents.into_iter().map(Val::Int).collect()))
    }

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
    /// Binding of a capture; `None` if the match does not have it.
    pub fn capture(&self, name: &str) -> Option<Bound> {
        self.captures.iter().find(|(other, _)| other == name).map(|(_, bound)| *bound)
    }

    /// The match with what its call takes as neighbours have it in a layout.
    #[must_use]
    pub fn in_layout(&self, given: Option<GivenLayout>) -> Self {
        Self { given, ..self.clone() }
    }

    /// The first value that the call takes, or makes, as neighbours have it.
    pub fn given_value(&self, pattern: &Pattern) -> Option<ValueId> {
        let mut outputs = self.outputs.iter().copied();
        let params = pattern.call.iter().flat_map(|call| &call.params).flat_map(Param::flat);
        let value = |param: &Param| match param {
            Param::In { capture, .. } => self.capture(capture)?.value,
            Param::Out { name, .. } => {
                self.capture(name).and_then(|bound| bound.value).or_else(|| outputs.next())
            }
            _ => None,
        };
        let given = params.filter(|param| param.layout() == Some(&Layout::Given));
        given.filter_map(value).next()
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
