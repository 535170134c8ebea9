//! Option values under which a pattern may match.

use crate::{
    pattern::{Expr, ExprKind, Pattern},
    target::{OptionKind, TargetInstance},
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
        // What the user asked for stays.
        let given = written.split_whitespace().any(|word| {
            let word = word.trim_start_matches('-');
            word.split('=').next() == Some(option.name.as_str())
        });
        if given {
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
