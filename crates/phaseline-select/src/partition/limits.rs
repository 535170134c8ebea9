//! Limits of regions as a whole (`[region]` of a manifest).

use super::{Device, Request, candidates::Candidates, cost};
use crate::{
    expr::{Expr, ExprKind, Val},
    graph::{Bound, Evaluator, Facts, OpId, Scope, ValueId},
    pattern::substitute,
};
use std::collections::BTreeSet;

/// Says which limit of its device a region of these operations and matches would break, and with which values.
pub fn broken(
    request: &Request,
    candidates: &Candidates,
    device: usize,
    (mut ops, matches): (Vec<OpId>, &[usize]),
) -> Option<String> {
    let device = &request.devices[device];
    let limits = &device.capabilities.region;
    if let Some(most) = &limits.max_operations {
        let most = evaluate(request, device, most);
        if !matches!(most, Val::Int(most) if ops.len() as i64 <= most) {
            return Some(format!("{} operations; max-operations is {most}", ops.len()));
        }
    }
    for once in &limits.once {
        let is_one =
            |number: &&usize| device.patterns[candidates.matches[**number].pattern].name() == once;
        let count = matches.iter().filter(is_one).count();
        if count > 1 {
            return Some(format!("{count} matches of '{once}'; `once` allows one"));
        }
    }
    let name = |number: usize| device.patterns[candidates.matches[number].pattern].name();
    let mut first: Option<(&str, Val)> = None;
    for number in matches {
        let pinned = limits.queues.iter().find(|(pattern, _)| pattern == name(*number));
        let Some((pattern, queue)) = pinned else { continue };
        let queue = evaluate(request, device, queue);
        match &first {
            Some((other, one)) if *one != queue => {
                return Some(format!(
                    "'{other}' of queue {one} beside '{pattern}' of queue {queue}"
                ));
            }
            Some(_) => {}
            None => first = Some((pattern, queue)),
        }
    }
    if limits.conditions.is_empty() {
        return None;
    }
    ops.sort_unstable();
    let facts = RegionFacts::new(request, &ops);
    limits.conditions.iter().find_map(|(text, expr)| {
        let filled = substitute(expr, &|name| facts.value(name, expr));
        match evaluate(request, device, &filled) {
            Val::Bool(true) | Val::Absent => None,
            _ => Some(format!("`{text}` as in {}", facts.shown(expr))),
        }
    })
}

/// The bytes of a region's values; none for those of which a dimension is not known.
struct RegionFacts {
    operations: i64,
    lists: [(&'static str, Vec<Option<i64>>); 4],
}

impl RegionFacts {
    fn new(request: &Request, ops: &[OpId]) -> Self {
        let graph = request.graph;
        let (inputs, outputs) = graph.boundary(ops);
        let (constants, inputs): (Vec<ValueId>, Vec<ValueId>) =
            inputs.into_iter().partition(|value| graph.is_constant(*value));
        let made = ops.iter().flat_map(|op| graph.op(*op).results.iter().copied());
        let values: BTreeSet<ValueId> = inputs.iter().copied().chain(made).collect();
        let bytes = |value: ValueId| {
            let known = graph.value(value).ty.elements().is_some();
            known.then(|| cost::bytes(graph, value).ceil() as i64)
        };
        let list = |values: Vec<ValueId>| values.into_iter().map(bytes).collect();
        Self {
            operations: ops.len() as i64,
            lists: [
                ("inputs", list(inputs)),
                ("outputs", list(outputs)),
                ("constants", list(constants)),
                ("values", list(values.into_iter().collect())),
            ],
        }
    }

    /// The value of a name; a value whose size is not known keeps a name that nothing has.
    fn value(&self, name: &str, of: &Expr) -> Option<ExprKind> {
        if name == "operations" {
            return Some(ExprKind::Int(self.operations));
        }
        let (_, list) = self.lists.iter().find(|(known, _)| *known == name)?;
        let unknown = || ExprKind::Name("unknown".to_owned());
        let item = |bytes: &Option<i64>| Expr {
            kind: bytes.map_or_else(unknown, ExprKind::Int),
            span: of.span,
        };
        Some(ExprKind::List(list.iter().map(item).collect()))
    }

    /// The names of an expression with their values.
    fn shown(&self, expr: &Expr) -> String {
        let seen = std::cell::RefCell::new(BTreeSet::new());
        substitute(expr, &|name| {
            seen.borrow_mut().insert(name.to_owned());
            None
        });
        let text = |name: &String| {
            if name == "operations" {
                return Some(format!("operations = {}", self.operations));
            }
            let (_, list) = self.lists.iter().find(|(known, _)| known == name)?;
            let item =
                |bytes: &Option<i64>| bytes.map_or_else(|| "?".to_owned(), |b| b.to_string());
            let items: Vec<String> = list.iter().map(item).collect();
            Some(format!("{name} = [{}]", items.join(", ")))
        };
        seen.into_inner().iter().filter_map(text).collect::<Vec<_>>().join(", ")
    }
}

fn evaluate(request: &Request, device: &Device, expr: &Expr) -> Val {
    struct NoNames;
    impl Scope for NoNames {
        fn lookup(&self, _: &str) -> Option<Bound> {
            None
        }
    }
    let facts = Facts { graph: request.graph, table: request.table, options: device.options };
    Evaluator::new(facts, &NoNames).eval(expr)
}
