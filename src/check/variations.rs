//! Option values under which a pattern may match.

use crate::{
    expr::{Expr, ExprKind},
    pattern::Pattern,
    targets::{OptionKind, TargetInstance},
};
use std::collections::BTreeSet;

/// Specs of the target: as the user wrote it, then with other values of the options that the
/// pattern's conditions mention.
pub fn specs(written: &str, device: &TargetInstance, pattern: &Pattern) -> Vec<String> {
    let mut specs = vec![written.to_owned()];
    for option in &device.kind.options {
        if !mentioned(pattern).contains(&option.name.replace('-', "_")) {
            continue;
        }
        if is_given(written, &option.name) {
            continue;
        }
        let values = match &option.kind {
            OptionKind::Bool => vec!["true".to_owned(), "false".to_owned()],
            OptionKind::Enum { values } => values.clone(),
            _ => vec![],
        };
        let spec = |value: String| format!("{written} -{}={value}", option.name);
        specs.extend(values.into_iter().map(spec));
    }
    specs
}

/// Specs with each other value of an option that the pattern, the pools or the device's C depend
/// on.
///
/// Values are the other truth, the other words, the ends and the middle of a range of integers. A
/// timeout only takes its greatest value: the least one is too short for the device's work.
pub fn others(written: &str, device: &TargetInstance, pattern: &Pattern) -> Vec<String> {
    let kind = &device.kind;
    let text = format!(
        "{:?}{:?}{:?}{:?}{:?}{:?}{:?}",
        pattern.spec, kind.pools, kind.codegen, kind.pipelines, kind.queue, kind.memory, kind.hooks
    );
    let limit = kind.queue.as_ref().and_then(|queue| queue.timeout.as_ref());
    let limit = limit.map(ToString::to_string).unwrap_or_default().replace('-', "_");
    let mut specs: Vec<Vec<String>> = vec![];
    for option in &kind.options {
        let name = format!("option.{}", option.name.replace('-', "_"));
        if !option.vary || is_given(written, &option.name) || !text.contains(&name) {
            continue;
        }
        let values: Vec<String> = match &option.kind {
            OptionKind::Bool => vec!["true".to_owned(), "false".to_owned()],
            OptionKind::Enum { values } => values.clone(),
            OptionKind::Int { max, .. } if limit.contains(&name) => {
                max.iter().map(i64::to_string).collect()
            }
            OptionKind::Int { min, max } | OptionKind::Size { min, max } => {
                let middle = min.zip(*max).and_then(|(min, max)| middle(min, max));
                [*min, *max, middle].into_iter().flatten().map(|n| n.to_string()).collect()
            }
            _ => vec![],
        };
        let now = device.options.get(&option.name.replace('-', "_")).map(ToString::to_string);
        let others = values.into_iter().filter(|value| Some(value) != now.as_ref());
        specs.push(others.map(|value| format!("{written} -{}={value}", option.name)).collect());
    }
    // Each option has its turn.
    let turns = specs.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn =
        (0..turns).flat_map(|turn| specs.iter().filter_map(move |of| of.get(turn).cloned()));
    in_turn.take(MOST).collect()
}

/// A number between two, by their proportion: of 1 to 16 about 4.
fn middle(min: i64, max: i64) -> Option<i64> {
    let middle = ((min.max(1) as f64) * (max.max(1) as f64)).sqrt() as i64;
    (min < middle && middle < max).then_some(middle)
}

/// Specs that [`others`] gives at most.
const MOST: usize = 6;

/// True if the user chose an option's value, which stays.
fn is_given(written: &str, name: &str) -> bool {
    written
        .split_whitespace()
        .any(|word| word.trim_start_matches('-').split('=').next() == Some(name))
}

/// Options in a pattern's conditions.
fn mentioned(pattern: &Pattern) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for clause in &pattern.clauses {
        clause.expr.visit(&mut |expr: &Expr| {
            if let ExprKind::Field(base, name) = &expr.kind
                && matches!(&base.kind, ExprKind::Name(base) if base == "option")
            {
                names.insert(name.clone());
            }
        });
    }
    names
}
