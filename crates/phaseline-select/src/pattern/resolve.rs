//! Checks a match expression against the table of operations, and resolves its names.

use super::ast::{Call, MatchExpr, Node, NodeKind, Part};
use crate::{
    error::suggestion,
    expr::{Expr, PatternError, PatternResult},
    graph::{Alias, OpDecl, OpTable},
};
use std::collections::{BTreeMap, BTreeSet};

/// One operation that a call accepts.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The name in the pattern, maybe an alias.
    pub written: String,
    /// The operation's name.
    pub op: String,
    /// The alias's conditions on `self`.
    pub guards: Vec<Expr>,
}

/// Referent of a name in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Referent {
    /// A capture.
    Capture,
    /// The operation of one of these calls; at most one of them is in a match.
    Slots(Vec<usize>),
}

/// A match expression, resolved against a table of operations.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// For each call, the operations that it accepts.
    pub slots: Vec<Vec<Choice>>,
    /// Capture names in order of text.
    pub captures: Vec<String>,
    /// Captures that every match has.
    pub always: BTreeSet<String>,
    /// All names that predicates may use.
    pub names: BTreeMap<String, Referent>,
    /// For each name, the operations that it may stand for.
    pub entities: Vec<(String, Vec<String>)>,
    /// Names of operations that occur more than once in a match.
    pub ambiguous: Vec<String>,
    /// Operations that a match can end with.
    pub roots: BTreeSet<String>,
}

/// Checks `expr` and resolves its names.
pub fn resolve(text: &str, expr: &MatchExpr, table: &OpTable) -> PatternResult<Resolved> {
    let mut resolver = Resolver { text, expr, table, parts: BTreeMap::new() };
    let calls = expr.calls();
    let slots: Vec<Vec<Choice>> =
        calls.iter().map(|call| resolver.choices(call)).collect::<PatternResult<_>>()?;
    resolver.summarize_parts(&slots);
    resolver.check_parts()?;
    if !resolver.has_op(&expr.root) {
        let message = "the pattern may match without any operation; make one not optional";
        return Err(PatternError::new(text, expr.root.span, message));
    }
    let captures = expr.captures();
    let (names, ambiguous) = resolver.names(&slots, &captures);
    let mut resolved = Resolved {
        roots: resolver.roots(&expr.root, &slots),
        always: resolver.always(&expr.root),
        slots,
        captures,
        names,
        entities: vec![],
        ambiguous,
    };
    resolved.entities = resolver.entities(&resolved);
    Ok(resolved)
}

struct Resolver<'a> {
    text: &'a str,
    expr: &'a MatchExpr,
    table: &'a OpTable,
    parts: BTreeMap<&'a str, Summary>,
}

/// Facts about a part that are needed wherever it is named.
#[derive(Clone)]
struct Summary {
    has_op: bool,
    roots: BTreeSet<String>,
    always: BTreeSet<String>,
}

impl Resolver<'_> {
    /// Looks at each part once. A part names only parts before it, so that those are known then.
    fn summarize_parts(&mut self, slots: &[Vec<Choice>]) {
        for part in &self.expr.parts {
            let summary = Summary {
                has_op: self.has_op(&part.node),
                roots: self.roots(&part.node, slots),
                always: self.always(&part.node),
            };
            for name in &part.names {
                self.parts.insert(name, summary.clone());
            }
        }
    }

    fn choices(&self, call: &Call) -> PatternResult<Vec<Choice>> {
        let mut choices = vec![];
        for written in &call.ops {
            let (ops, guards) = match Alias::get(written) {
                _ if self.table.find(written).is_some() => {
                    let name = self.table.find(written).map_or(written, |op| &op.name);
                    (vec![name.as_str()], vec![])
                }
                Some(alias) => (alias.ops.to_vec(), alias.guard_exprs()?),
                None => return Err(self.unknown_op(call, written)),
            };
            for op in ops {
                let Some(decl) = self.table.get(op) else {
                    return Err(self.unknown_op(call, written));
                };
                self.check_operands(call, decl)?;
                choices.push(Choice {
                    written: written.clone(),
                    op: op.to_owned(),
                    guards: guards.clone(),
                });
            }
        }
        Ok(choices)
    }

    fn unknown_op(&self, call: &Call, name: &str) -> PatternError {
        let known = self.table.iter().map(|op| op.name.as_str());
        let known = known.chain(Alias::all().iter().map(|alias| alias.name));
        let known = known.chain(self.table.operator_words());
        let message = format!("there is no operation '{name}'{}", suggestion(name, known));
        PatternError::new(self.text, call.span, message)
    }

    fn check_operands(&self, call: &Call, decl: &OpDecl) -> PatternResult<()> {
        let fault = |message: String| Err(PatternError::new(self.text, call.span, message));
        let (least, most) = decl.operand_range();
        let needed = call.args.iter().filter(|arg| !arg.optional).count();
        if most.is_some_and(|most| needed > most) {
            let most = most.unwrap_or_default();
            return fault(format!("'{decl}' has at most {most} operands, not {needed}"));
        }
        if !call.rest && call.args.len() < least {
            return fault(format!(
                "'{decl}' has at least {least} operands; name them, or write '_' for one or '...' \
                 for all that follow"
            ));
        }
        if !decl.variadic_results && call.result >= decl.results.len().max(1) {
            return fault(format!("'{decl}' has no result #{}", call.result));
        }
        if let Some(results) = call.results.as_ref().filter(|_| !decl.variadic_results) {
            let (named, has) = (results.names.len(), decl.results.len());
            if named > has || named < has && !results.rest {
                let results = if has == 1 { "result" } else { "results" };
                return fault(format!("'{decl}' has {has} {results}, not {named}"));
            }
        }
        Ok(())
    }

    fn check_parts(&self) -> PatternResult<()> {
        let mut used = BTreeSet::new();
        let nodes = self.expr.parts.iter().map(|part| &part.node).chain([&self.expr.root]);
        nodes.for_each(|node| {
            node.visit(&mut |node| {
                if let NodeKind::Part(name) = &node.kind {
                    used.insert(name.as_str());
                }
            });
        });
        let is_used = |part: &Part| part.names.iter().any(|name| used.contains(name.as_str()));
        match self.expr.parts.iter().find(|part| !is_used(part)) {
            Some(part) => {
                let message = format!("part '{}' is not used", part.names.join(", "));
                Err(PatternError::new(self.text, part.node.span, message))
            }
            None => Ok(()),
        }
    }

    /// True if each match of the node has an operation.
    fn has_op(&self, node: &Node) -> bool {
        match &node.kind {
            NodeKind::Call(call) if call.optional => {
                call.args.first().is_some_and(|arg| self.has_op(arg))
            }
            NodeKind::Call(_) => true,
            NodeKind::Alt(nodes) => nodes.iter().all(|node| self.has_op(node)),
            NodeKind::Part(name) => self.parts.get(&**name).is_some_and(|part| part.has_op),
            NodeKind::Any | NodeKind::Const | NodeKind::Number { .. } => false,
        }
    }

    /// The operations that can define the node's value within a match.
    fn roots(&self, node: &Node, slots: &[Vec<Choice>]) -> BTreeSet<String> {
        match &node.kind {
            NodeKind::Call(call) => {
                let choices = slots.get(call.slot).map(Vec::as_slice).unwrap_or_default();
                let mut ops: BTreeSet<String> = choices.iter().map(|c| c.op.clone()).collect();
                if let (true, Some(first)) = (call.optional, call.args.first()) {
                    ops.extend(self.roots(first, slots));
                }
                ops
            }
            NodeKind::Alt(nodes) => nodes.iter().flat_map(|node| self.roots(node, slots)).collect(),
            NodeKind::Part(name) => {
                self.parts.get(&**name).map(|part| part.roots.clone()).unwrap_or_default()
            }
            NodeKind::Any | NodeKind::Const | NodeKind::Number { .. } => BTreeSet::new(),
        }
    }

    /// The captures that each match of the node has.
    fn always(&self, node: &Node) -> BTreeSet<String> {
        if node.optional {
            return BTreeSet::new();
        }
        let mut names: BTreeSet<String> = match &node.kind {
            NodeKind::Call(call) => {
                let sure = if call.optional { 1 } else { call.args.len() };
                call.args.iter().take(sure).flat_map(|arg| self.always(arg)).collect()
            }
            NodeKind::Alt(nodes) => {
                let sets = nodes.iter().map(|node| self.always(node));
                sets.reduce(|a, b| a.intersection(&b).cloned().collect()).unwrap_or_default()
            }
            NodeKind::Part(name) => {
                let mut names =
                    self.parts.get(&**name).map(|part| part.always.clone()).unwrap_or_default();
                names.insert(name.clone());
                names
            }
            NodeKind::Any | NodeKind::Const | NodeKind::Number { .. } => BTreeSet::new(),
        };
        names.extend(node.names());
        names
    }

    /// The meaning of each name, and the names of operations that mean more than one.
    fn names(
        &self,
        slots: &[Vec<Choice>],
        captures: &[String],
    ) -> (BTreeMap<String, Referent>, Vec<String>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let nodes = self.expr.parts.iter().map(|part| &part.node).chain([&self.expr.root]);
        for node in nodes {
            for (name, count) in count_names(node, slots) {
                *counts.entry(name).or_default() += count;
            }
        }
        let mut names = BTreeMap::new();
        let mut ambiguous = vec![];
        for (name, count) in counts {
            let has = |choices: &Vec<Choice>| {
                choices.iter().any(|choice| choice.written == name || choice.op == name)
            };
            let places = slots.iter().enumerate().filter(|(_, choices)| has(choices));
            let places = places.map(|(slot, _)| slot).collect();
            match count {
                1 => _ = names.insert(name, Referent::Slots(places)),
                _ => ambiguous.push(name),
            }
        }
        names.extend(captures.iter().map(|capture| (capture.clone(), Referent::Capture)));
        (names, ambiguous)
    }

    fn entities(&self, resolved: &Resolved) -> Vec<(String, Vec<String>)> {
        let of_capture = |capture: &str| {
            let mut ops = BTreeSet::new();
            let parts = self.expr.parts.iter().map(|part| &part.node);
            for node in parts.chain([&self.expr.root]) {
                node.visit(&mut |node| {
                    if node.names().iter().any(|name| name == capture) {
                        ops.extend(self.roots(node, &resolved.slots));
                    }
                });
            }
            if let Some(node) = self.expr.part(capture) {
                ops.extend(self.roots(node, &resolved.slots));
            }
            ops
        };
        let ops_of = |name: &str, referent: &Referent| -> Vec<String> {
            let ops: BTreeSet<String> = match referent {
                Referent::Capture => of_capture(name),
                Referent::Slots(slots) => slots
                    .iter()
                    .filter_map(|slot| resolved.slots.get(*slot))
                    .flatten()
                    .filter(|choice| choice.written == name || choice.op == name)
                    .map(|choice| choice.op.clone())
                    .collect(),
            };
            ops.into_iter().collect()
        };
        let names = resolved.names.iter();
        names.map(|(name, referent)| (name.clone(), ops_of(name, referent))).collect()
    }
}

/// Greatest number of operations of each name in a match of the node.
fn count_names(node: &Node, slots: &[Vec<Choice>]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    match &node.kind {
        NodeKind::Call(call) => {
            let choices = slots.get(call.slot).map(Vec::as_slice).unwrap_or_default();
            let names: BTreeSet<&String> =
                choices.iter().flat_map(|choice| [&choice.written, &choice.op]).collect();
            names.into_iter().for_each(|name| _ = counts.insert(name.clone(), 1));
            for arg in &call.args {
                for (name, count) in count_names(arg, slots) {
                    *counts.entry(name).or_default() += count;
                }
            }
        }
        NodeKind::Alt(nodes) => {
            for (name, count) in nodes.iter().flat_map(|node| count_names(node, slots)) {
                let most = counts.entry(name).or_default();
                *most = count.max(*most);
            }
        }
        NodeKind::Part(_) | NodeKind::Any | NodeKind::Const | NodeKind::Number { .. } => {}
    }
    counts
}
