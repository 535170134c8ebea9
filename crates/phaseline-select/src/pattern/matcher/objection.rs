//! Reasons for refusing a match that fits the match expression.

use super::Matcher;
use crate::{
    expr::Val,
    graph::{Evaluator, GraphView, OpId, ValueId},
    pattern::{
        call::Param,
        failure::{Reason, seen},
        found::{Match, MatchScope},
    },
    tensor::ElementType,
};

impl Matcher<'_, '_> {
    /// Reason for refusing a match that fits the match expression; none if it is sound.
    pub(super) fn objection(&self, found: &Match) -> Option<Reason> {
        for clause in &self.pattern.clauses {
            let scope = MatchScope { pattern: self.pattern, found };
            let mut evaluator = Evaluator::new(self.facts, &scope);
            let value = evaluator.eval(&clause.expr);
            if !matches!(value, Val::Bool(true) | Val::Absent) {
                let values = seen(&value, evaluator.into_trace());
                return Some(Reason::Clause { clause: clause.text.clone(), values });
            }
        }
        let graph = self.facts.graph;
        let own = self.pattern.spec.dtypes.as_ref();
        let dtypes = own.unwrap_or(&self.rules.dtypes);
        let tensors = found.inputs.iter().chain(&found.outputs);
        for value in tensors.filter(|value| self.asks_for_type(found, **value)) {
            let ty = &graph.value(*value).ty;
            let fits = ty.dtype.is_some_and(|dtype| dtypes.contains(&dtype));
            if !dtypes.is_empty() && !fits {
                let names: Vec<&str> = dtypes.iter().map(|d| d.mlir_name()).collect();
                let of = if own.is_some() { "pattern" } else { "target" };
                let (found, supported) = (ty.to_string(), names.join(", "));
                return Some(Reason::Dtype { found, of, supported });
            }
        }
        let mut tensors = found.inputs.iter().chain(&found.outputs);
        let dynamic = tensors.find(|value| graph.value(**value).ty.elements().is_none());
        if let (Some(value), true) = (dynamic, self.rules.static_only) {
            return Some(Reason::Dynamic { found: graph.value(*value).ty.to_string() });
        }
        let read: Vec<ValueId> = graph.boundary(&found.ops).1;
        let tap = read
            .iter()
            .find(|value| graph.definer(**value).is_some_and(|(op, _)| op != found.root));
        if let (Some(tap), false) = (tap, self.rules.taps && self.rules.multi_output) {
            return Some(tap_reason(graph, &found.ops, *tap));
        }
        let count = read.len();
        if count > 1 && !self.rules.multi_output {
            return Some(Reason::Outputs { count });
        }
        let call = self.pattern.call.as_ref()?;
        let bound = call.bind(self.pattern, found, self.facts);
        bound.err().map(|detail| Reason::Argument { detail })
    }
}

impl Matcher<'_, '_> {
    /// True if a value's element type has to be one of the target's. Exempt are constants that the
    /// call is not given, and those with a condition on their type. So are integers and lists of
    /// them that say where or how much, which are for the compiler.
    fn asks_for_type(&self, found: &Match, value: ValueId) -> bool {
        let graph = self.facts.graph;
        if !graph.is_constant(value) {
            return true;
        }
        let ty = &graph.value(value).ty;
        let counts = [ElementType::I32, ElementType::I64];
        if ty.shape.len() < 2 && ty.dtype.is_some_and(|dtype| counts.contains(&dtype)) {
            return false;
        }
        let stands =
            |name: &str| found.capture(name).is_some_and(|bound| bound.value == Some(value));
        let given = self.pattern.call.as_ref().is_none_or(|call| {
            let params = call.params.iter().flat_map(Param::flat);
            params.into_iter().any(|param| match param {
                Param::In { capture, .. } => stands(capture),
                _ => false,
            })
        });
        given && !self.pattern.typed.iter().any(|name| stands(name))
    }
}

fn tap_reason(graph: &GraphView, ops: &[OpId], tap: ValueId) -> Reason {
    let outside = graph.value(tap).uses.iter().find(|u| ops.binary_search(&u.op).is_err());
    let producer = graph.definer(tap).map(|(op, _)| graph.describe(op)).unwrap_or_default();
    let user = outside.map_or_else(|| "the outputs".to_owned(), |u| graph.describe(u.op));
    Reason::Tap { producer, user }
}
