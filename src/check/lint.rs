//! Static checks of a target's patterns, without running anything.

use super::{report::Note, subsumption};
use crate::{
    codegen,
    expr::{Expr, ExprKind},
    pattern::{Param, Pattern, ast::NodeKind},
    targets::TargetInstance,
};
use std::collections::BTreeSet;

/// Duplicates, patterns that never get a turn, and captures that nothing uses.
pub fn patterns(device: &TargetInstance, patterns: &[Pattern]) -> Vec<Note> {
    let mut notes = vec![];
    let manifest = &device.kind.manifest;
    for (index, pattern) in patterns.iter().enumerate() {
        let same = |other: &&Pattern| {
            other.expr == pattern.expr && other.spec.clauses == pattern.spec.clauses
        };
        if let Some(other) = patterns[..index].iter().find(same) {
            notes.push(Note::error(format!(
                "{manifest}: patterns '{}' and '{}' match the same; remove one",
                other.name(),
                pattern.name()
            )));
        }
        let covering = patterns.iter().enumerate().find(|(place, other)| {
            *place != index
                && !(other.expr == pattern.expr && other.spec.clauses == pattern.spec.clauses)
                && subsumption::comes_first((other, *place), (pattern, index))
                && subsumption::covers(other, pattern)
        });
        if let Some((_, other)) = covering {
            notes.push(Note::warning(format!(
                "{manifest}: pattern '{}' matches all that '{}' matches and comes before it; \
                 remove '{1}', or give it a condition or a benefit of its own",
                other.name(),
                pattern.name()
            )));
        }
        notes.extend(unused_captures(manifest, pattern));
    }
    if patterns.is_empty() {
        notes.push(Note::error(format!(
            "{manifest}: the target has no pattern, so it does nothing"
        )));
    }
    notes
}

/// References of operators that cannot be read.
#[cfg(feature = "onnx")]
pub fn references(device: &TargetInstance) -> Vec<Note> {
    let operators = device.kind.operators.iter();
    let fault = |operator: &std::sync::Arc<crate::targets::OperatorDecl>| {
        let reference = operator.reference.as_ref()?;
        crate::import::onnx::declared_function(operator, reference).err().map(Note::error)
    };
    operators.filter_map(fault).collect()
}

/// Without a reader of ONNX nothing can be said of them.
#[cfg(not(feature = "onnx"))]
pub fn references(_: &TargetInstance) -> Vec<Note> {
    vec![]
}

/// Says that a pattern has an operator that nothing but the device computes, if it has one.
pub fn closed(device: &TargetInstance, pattern: &Pattern) -> Option<Note> {
    let operators = &device.kind.operators;
    let closed = |op: &str| {
        let known = operators.iter().find(|operator| operator.decl.name == op);
        known.filter(|operator| operator.reference.is_none())
    };
    let operator = pattern.ops().find_map(closed)?;
    Some(Note::warning(format!(
        "{}: operator {} has no reference, so that there is nothing to compare the device with; add \
         one with reference",
        operator.place,
        operator.key()
    )))
}

/// Captures that neither conditions nor the call mention and that tie nothing together.
fn unused_captures(manifest: &str, pattern: &Pattern) -> Vec<Note> {
    let Some(call) = &pattern.call else { return vec![] };
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut mention = |expr: &Expr| {
        expr.visit(&mut |expr| {
            if let ExprKind::Name(name) = &expr.kind {
                used.insert(name.clone());
            }
        });
    };
    pattern.clauses.iter().for_each(|clause| mention(&clause.expr));
    pattern.cost.iter().for_each(&mut mention);
    pattern.tile.iter().for_each(|tile| tile.exprs().for_each(&mut mention));
    let params: Vec<&Param> = call.params.iter().flat_map(Param::flat).collect();
    for param in &params {
        match param {
            Param::Scalar { value, .. } | Param::Value(value) => mention(value),
            Param::Const { values, .. } => mention(values),
            Param::Scratch { bytes } => mention(bytes),
            _ => {}
        }
    }
    for param in params {
        match param {
            Param::In { capture, .. } => _ = used.insert(capture.clone()),
            Param::Out { name, over, .. } => used.extend([name].into_iter().chain(over).cloned()),
            _ => {}
        }
    }
    let parts: BTreeSet<&String> = pattern.expr.parts.iter().flat_map(|part| &part.names).collect();
    let mut counts: Vec<(String, usize)> = vec![];
    let nodes = pattern.expr.parts.iter().map(|part| &part.node).chain([&pattern.expr.root]);
    nodes.for_each(|node| {
        node.visit(&mut |node| {
            if let (Some(name), false) = (&node.capture, matches!(node.kind, NodeKind::Part(_))) {
                match counts.iter_mut().find(|(known, _)| known == name) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((name.clone(), 1)),
                }
            }
        });
    });
    counts
        .into_iter()
        .filter(|(name, count)| *count == 1 && !used.contains(name) && !parts.contains(name))
        .map(|(name, _)| {
            Note::warning(format!(
                "{manifest}: pattern '{}' captures '{name}' and does not use it; write '_' if it \
                 does not matter",
                pattern.name()
            ))
        })
        .collect()
}

/// Compiles the target's own C, with warnings as errors.
pub fn sources(device: &TargetInstance) -> Vec<Note> {
    let generator = codegen::generator(device.kind.codegen.kind);
    let result = generator.check_sources(device);
    result.err().map(|error| Note::error(error.to_string())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph::OpTable, targets::Registry};

    #[test]
    fn what_only_a_store_is_given_is_used() {
        let registry = Registry::builtin().expect("the built-in targets are right");
        let kind = registry.get("gemm16").expect("is built in");
        let table = OpTable::of(crate::ir::graph::OPS).expect("the table is right");
        let mut patterns = kind.load_patterns(&table).expect("are right");
        let named = |pattern: &&mut Pattern| pattern.name() == "qlinear_conv";
        let pattern = patterns.iter_mut().find(named).expect("is there");
        pattern.clauses.clear();
        pattern.cost = None;
        let says = |pattern: &Pattern, name: &str| {
            let part = format!("captures '{name}'");
            unused_captures("here", pattern).iter().any(|note| note.text.contains(&part))
        };
        assert!(!says(pattern, "sy") && !says(pattern, "zy"));
        pattern.tile = None;
        assert!(says(pattern, "zy"));
    }
}
