//! Finds matches of a pattern that end at a given operation.
//!
//! A search with backtracking over optional parts, alternatives and operand orders. The first
//! match in order of text whose conditions hold is taken: optional operations are tried before
//! their absence, alternatives from left to right. The closest attempt is kept for explanations.

mod objection;

use super::{
    Capabilities, Pattern,
    ast::{Call, Node, NodeKind},
    failure::{Failure, Reason, seen},
    found::Match,
    resolve::Choice,
};
use crate::{
    expr::Val,
    graph::{Bound, Evaluator, Facts, OpId, ValueId, eval::OpScope},
    tensor::{DType, ElementType},
};

/// Looks for a match that ends at `root` and has only operations that `allowed` accepts. `Err`
/// holds the closest attempt; nothing, if `root` is not even an operation that the pattern ends
/// with.
pub fn find_match(
    pattern: &Pattern,
    facts: Facts,
    rules: &Capabilities,
    root: OpId,
    allowed: &dyn Fn(OpId) -> bool,
) -> Result<Match, Option<Failure>> {
    let node = facts.graph.op(root);
    if !pattern.resolved.roots.contains(&node.name) {
        return Err(None);
    }
    let mut matcher = Matcher::new(pattern, facts, rules, root, allowed);
    matcher.search();
    matcher.found.ok_or(matcher.closest)
}

/// Sets of operations that end at `root` and fit the match expression, whether or not the conditions hold:
/// the first of all that there are.
pub fn find_forms(pattern: &Pattern, facts: Facts, rules: &Capabilities, root: OpId) -> Vec<Match> {
    let mut matcher = Matcher::new(pattern, facts, rules, root, &|_| true);
    matcher.forms = Some(vec![]);
    matcher.search();
    matcher.forms.unwrap_or_default()
}

/// Forms that [`find_forms`] gives at most.
const MAX_FORMS: usize = 8;

/// Steps after which the search for one match gives up.
const MAX_STEPS: usize = 20_000;

#[derive(Clone, Copy)]
struct Goal<'p> {
    node: &'p Node,
    value: Option<ValueId>,
}

#[derive(Clone)]
struct State<'p> {
    goals: Vec<Goal<'p>>,
    captures: Vec<Option<ValueId>>,
    slots: Vec<Option<(OpId, usize)>>,
    ops: Vec<OpId>,
}

struct Matcher<'p, 'a> {
    pattern: &'p Pattern,
    facts: Facts<'a>,
    rules: &'a Capabilities,
    root: OpId,
    allowed: &'a dyn Fn(OpId) -> bool,
    steps: usize,
    closest: Option<Failure>,
    found: Option<Match>,
    /// All matches of the match expression, if the search is for these.
    forms: Option<Vec<Match>>,
}

impl<'p, 'a> Matcher<'p, 'a> {
    fn new(
        pattern: &'p Pattern,
        facts: Facts<'a>,
        rules: &'a Capabilities,
        root: OpId,
        allowed: &'a dyn Fn(OpId) -> bool,
    ) -> Self {
        let (closest, found, forms) = (None, None, None);
        Self { pattern, facts, rules, root, allowed, steps: 0, closest, found, forms }
    }

    /// Looks at the results of the root, until there is a match.
    fn search(&mut self) {
        let node = self.facts.graph.op(self.root);
        for result in &node.results {
            let state = State {
                goals: vec![Goal { node: &self.pattern.expr.root, value: Some(*result) }],
                captures: vec![None; self.pattern.resolved.captures.len()],
                slots: vec![None; self.pattern.resolved.slots.len()],
                ops: vec![],
            };
            if self.solve(state) {
                return;
            }
        }
    }

    /// Reaches all goals, or notes why not.
    fn solve(&mut self, mut state: State<'p>) -> bool {
        while let Some(Goal { node, value }) = state.goals.pop() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                self.note(&state.ops, Reason::Effort);
                return false;
            }
            let Some(value) = value else {
                if node.optional {
                    continue;
                }
                return self.refuse(&state, || format!("operand '{node}' is absent"));
            };
            if let Some(name) = &node.capture
                && !self.bind(&mut state, name, value)
            {
                return self.refuse(&state, || format!("'{name}' would be two different values"));
            }
            match &node.kind {
                NodeKind::Any => {}
                NodeKind::Const => {
                    if !self.facts.graph.is_constant(value) {
                        return self.refuse(&state, || format!("operand '{node}' is no constant"));
                    }
                }
                NodeKind::Number { value: number, tolerance } => {
                    if !self.is_number(value, *number, *tolerance) {
                        let found = self.number_text(value);
                        return self.refuse(&state, || {
                            format!("expected the constant {number}, found {found}")
                        });
                    }
                }
                NodeKind::Part(name) => {
                    let fresh = self.capture_of(&state, name).is_none();
                    if !self.bind(&mut state, name, value) {
                        return self
                            .refuse(&state, || format!("'{name}' would be two different values"));
                    }
                    if let (true, Some(node)) = (fresh, self.pattern.expr.part(name)) {
                        state.goals.push(Goal { node, value: Some(value) });
                    }
                }
                NodeKind::Alt(nodes) => {
                    return nodes.iter().any(|node| {
                        let mut branch = state.clone();
                        branch.goals.push(Goal { node, value: Some(value) });
                        self.solve(branch)
                    });
                }
                NodeKind::Call(call) => return self.solve_call(call, value, state),
            }
        }
        self.accept(state)
    }

    fn solve_call(&mut self, call: &'p Call, value: ValueId, state: State<'p>) -> bool {
        if self.solve_present(call, value, &state) {
            return true;
        }
        let Some(first) = call.args.first().filter(|_| call.optional) else { return false };
        let mut branch = state;
        branch.goals.push(Goal { node: first, value: Some(value) });
        self.solve(branch)
    }

    /// Matches an operation and its operands, in each order and for each name it may have.
    fn solve_present(&mut self, call: &'p Call, value: ValueId, state: &State<'p>) -> bool {
        let graph = self.facts.graph;
        let names = || call.ops.join(" or ");
        let Some((op, index)) = graph.definer(value) else {
            let what = if graph.is_constant(value) { "a constant" } else { "an input" };
            return self.refuse(state, || format!("expected {}, found {what}", names()));
        };
        let node = graph.op(op);
        if let Some(detail) = self.misfit(call, (op, index), state) {
            return self.refuse(state, || detail);
        }
        let pattern = self.pattern;
        let choices = pattern.resolved.slots.get(call.slot).map(Vec::as_slice).unwrap_or_default();
        let swap = self.facts.table.is_commutative(&node.name)
            && call.args.len() == 2
            && node.operands.len() == 2;
        let orders: &[[usize; 2]] = if swap { &[[0, 1], [1, 0]] } else { &[[0, 1]] };
        for (index, choice) in choices.iter().enumerate().filter(|(_, c)| c.op == node.name) {
            let mut next = state.clone();
            next.ops.push(op);
            if let Some(slot) = next.slots.get_mut(call.slot) {
                *slot = Some((op, index));
            }
            if !self.guards_hold(choice, op, &next) {
                continue;
            }
            if let Some(name) = self.bind_results(call, &node.results, &mut next) {
                return self.refuse(state, || format!("'{name}' would be two different values"));
            }
            for order in orders {
                let mut branch = next.clone();
                // The first operand is to be matched first, so its goal is the last one.
                for (place, node_of_arg) in call.args.iter().enumerate().rev() {
                    let place = order.get(place).copied().unwrap_or(place);
                    let value = node.operands.get(place).copied().flatten();
                    branch.goals.push(Goal { node: node_of_arg, value });
                }
                if self.solve(branch) {
                    return true;
                }
            }
        }
        false
    }

    /// Reason that result `index` of `op` does not fit the call, its operands aside.
    fn misfit(&self, call: &Call, (op, index): (OpId, usize), state: &State<'p>) -> Option<String> {
        let graph = self.facts.graph;
        let node = graph.op(op);
        let choices = self.pattern.resolved.slots.get(call.slot)?;
        if !choices.iter().any(|choice| choice.op == node.name) {
            let found = graph.describe(op);
            return Some(format!("expected {}, found {found}", call.ops.join(" or ")));
        }
        if let Some(results) = &call.results {
            let (named, has) = (results.names.len(), node.results.len());
            if named > has || named < has && !results.rest {
                let more = if results.rest { " or more" } else { "" };
                return Some(format!("{} has {has} results, not {named}{more}", node.name));
            }
        } else if index != call.result {
            let wanted = call.result;
            return Some(format!("expected result #{wanted} of {}, found #{index}", node.name));
        }
        if state.ops.contains(&op) {
            return Some(format!("{} occurs twice", graph.describe(op)));
        }
        if node.side_effects || !(self.allowed)(op) {
            return Some(format!("{} is not free", graph.describe(op)));
        }
        let present = node.operands.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let listed = call.args.len();
        if present <= listed || call.rest {
            return None;
        }
        let decl = self.facts.table.get(&node.name);
        Some(match decl.and_then(|decl| decl.operands.get(listed)) {
            Some(operand) if present == listed + 1 => {
                format!(
                    "{} has an operand '{}' that the pattern does not list: list it, or end the \
                     operands with `...`",
                    node.name, operand.name
                )
            }
            _ => format!("{} has {} operands more than the pattern", node.name, present - listed),
        })
    }

    fn guards_hold(&mut self, choice: &Choice, op: OpId, state: &State<'p>) -> bool {
        let scope = OpScope { op };
        for guard in &choice.guards {
            let mut evaluator = Evaluator::new(self.facts, &scope);
            let value = evaluator.eval(guard);
            if value != Val::Bool(true) {
                let clause = format!("{guard} (of {})", choice.written);
                let values = seen(&value, evaluator.into_trace());
                self.note(&state.ops, Reason::Clause { clause, values });
                return false;
            }
        }
        true
    }

    /// Binds a capture; false if it is bound to another value.
    fn bind(&self, state: &mut State<'p>, name: &str, value: ValueId) -> bool {
        let place = self.pattern.resolved.captures.iter().position(|capture| capture == name);
        match place.and_then(|place| state.captures.get_mut(place)) {
            Some(bound) => *bound.get_or_insert(value) == value,
            None => true,
        }
    }

    /// Binds the names of an operation's results; the name that is bound to another value, if any.
    fn bind_results(
        &self,
        call: &'p Call,
        results: &[ValueId],
        state: &mut State<'p>,
    ) -> Option<&'p str> {
        let named = call.results.as_ref()?.names.iter().zip(results);
        let mut named = named.filter_map(|(name, value)| Some((name.as_deref()?, *value)));
        named.find(|(name, value)| !self.bind(state, name, *value)).map(|(name, _)| name)
    }

    fn capture_of(&self, state: &State<'p>, name: &str) -> Option<ValueId> {
        let place = self.pattern.resolved.captures.iter().position(|capture| capture == name)?;
        state.captures.get(place).copied().flatten()
    }

    fn is_number(&self, value: ValueId, number: f64, tolerance: Option<f64>) -> bool {
        let node = self.facts.graph.value(value);
        let usual = match node.ty.dtype {
            Some(ElementType::Plain(DType::F16 | DType::BF16)) => 1e-2,
            _ => 1e-5,
        };
        let tolerance = tolerance.unwrap_or(usual) * number.abs();
        let found = node.payload.as_ref().and_then(|payload| payload.uniform());
        self.facts.graph.is_constant(value)
            && found.is_some_and(|found| (found - number).abs() <= tolerance)
    }

    fn number_text(&self, value: ValueId) -> String {
        let node = self.facts.graph.value(value);
        match node.payload.as_ref().and_then(|payload| payload.uniform()) {
            Some(found) => format!("{found:?}"),
            None if self.facts.graph.is_constant(value) => {
                "a constant of several values".to_owned()
            }
            None => "no constant".to_owned(),
        }
    }

    /// Checks what concerns the match as a whole and keeps it.
    fn accept(&mut self, state: State<'p>) -> bool {
        if !state.ops.contains(&self.root) {
            return false;
        }
        let mut ops = state.ops.clone();
        ops.sort_unstable();
        let (inputs, mut outputs) = self.facts.graph.boundary(&ops);
        let unread = self.unread_results(&state);
        if !unread.is_empty() {
            outputs.extend(unread);
            outputs.sort_unstable();
        }
        let is_inside = |value: &ValueId| {
            self.facts.graph.definer(*value).filter(|(op, _)| ops.binary_search(op).is_ok())
        };
        let captures = self.pattern.resolved.captures.iter().zip(&state.captures);
        let captures = captures
            .filter_map(|(name, value)| {
                let value = (*value)?;
                let op = is_inside(&value).map(|(op, _)| op);
                Some((name.clone(), Bound { value: Some(value), op }))
            })
            .collect();
        let slots = state.slots;
        let found = Match { root: self.root, ops, captures, inputs, outputs, given: None, slots };
        if let Some(forms) = &mut self.forms {
            forms.push(found);
            return forms.len() >= MAX_FORMS;
        }
        match self.objection(&found) {
            None => {
                self.found = Some(found);
                true
            }
            Some(reason) => {
                self.note(&found.ops, reason);
                false
            }
        }
    }

    /// Results with a name that nothing reads: the device makes them all the same.
    fn unread_results(&self, state: &State<'p>) -> Vec<ValueId> {
        let is_read = |value: ValueId| {
            let node = self.facts.graph.value(value);
            node.returned || !node.uses.is_empty()
        };
        let named = self.pattern.expr.calls().into_iter().filter_map(|call| call.results.as_ref());
        let names = named.flat_map(|results| results.names.iter().flatten());
        let values = names.filter_map(|name| self.capture_of(state, name));
        values.filter(|value| !is_read(*value)).collect()
    }

    fn refuse(&mut self, state: &State<'p>, detail: impl FnOnce() -> String) -> bool {
        let closer = self.closest.as_ref().is_none_or(|closest| {
            matches!(closest.reason, Reason::Structure { .. })
                && state.ops.len() > closest.ops.len()
        });
        if closer {
            self.note(&state.ops, Reason::Structure { detail: detail() });
        }
        false
    }

    fn note(&mut self, ops: &[OpId], reason: Reason) {
        let failure = Failure { ops: ops.to_vec(), reason };
        if self.closest.as_ref().is_none_or(|closest| failure.is_closer_than(closest)) {
            self.closest = Some(failure);
        }
    }
}
