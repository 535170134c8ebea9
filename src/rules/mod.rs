//! Rules that rewrite graphs: one file each, and one line in the table here.
//!
//! `graph-simplify{rules=...}` applies those that it is given the names of, until none changes anything. A name may stand
//! for several ([`GROUPS`]).

pub(crate) mod expand_einsum;
pub(crate) mod expand_qlinear;
pub(crate) mod fold_batch_norm;
pub(crate) mod fold_pad;
pub(crate) mod group_heads;
pub(crate) mod hoist_gathers;
pub(crate) mod join_scale;
pub(crate) mod nest_concats;
pub(crate) mod prepare_quantized;
pub(crate) mod scatter_to_slices;

use crate::ir::{graph, rewrite::Rule};
use std::collections::BTreeSet;

/// Every rule on graphs.
pub static RULES: &[Rule] = &[
    expand_einsum::EINSUM,
    expand_einsum::GEMM,
    expand_qlinear::CONV,
    expand_qlinear::CONV_SUMS,
    expand_qlinear::MATMUL,
    expand_qlinear::MATMUL_SUMS,
    fold_batch_norm::FOLD,
    fold_batch_norm::SCALE,
    fold_pad::RULE,
    group_heads::RULE,
    hoist_gathers::RULE,
    join_scale::RULE,
    nest_concats::RULE,
    prepare_quantized::FOLD,
    prepare_quantized::LOWER,
    prepare_quantized::PARTS,
    prepare_quantized::RAISE,
    prepare_quantized::SEPARATE,
    scatter_to_slices::RULE,
];

/// Names that stand for several rules.
pub const GROUPS: &[(&str, &[&str])] = &[(
    "prepare-quantized",
    &[
        "fold-quantization",
        "join-scale",
        "lower-dequantizations",
        "raise-quantizations",
        "separate-dequantizations",
    ],
)];

/// Rules that bring operations into forms that more devices know, and the operations that there have to be for each.
pub const NORMAL: &[(Rule, &[&str])] = &[
    (expand_einsum::EINSUM, &[graph::Einsum::NAME]),
    (fold_pad::RULE, &[graph::Pad::NAME, graph::Conv::NAME]),
    (group_heads::RULE, &[graph::Expand::NAME, graph::MatMul::NAME]),
    (hoist_gathers::RULE, &[graph::Gather::NAME]),
    (nest_concats::RULE, &[graph::Concat::NAME]),
    (scatter_to_slices::RULE, &[graph::ScatterND::NAME]),
];

/// Rules from one operation of integers to its layer of real numbers. They are kept where a device
/// takes that layer; elsewhere the operation stays as hosts have kernels for it.
pub const FORMS: &[Rule] = &[
    expand_qlinear::CONV,
    expand_qlinear::CONV_SUMS,
    expand_qlinear::MATMUL,
    expand_qlinear::MATMUL_SUMS,
];

/// Rules that bring dequantizations next to their layers, and quantizations behind them. They are kept where devices
/// take more layers then.
pub const NEXT_TO_LAYERS: &[Rule] = &[
    join_scale::RULE,
    prepare_quantized::FOLD,
    prepare_quantized::LOWER,
    prepare_quantized::RAISE,
    prepare_quantized::SEPARATE,
];

/// The rules of [`NORMAL`] that may change something where there are operations of these names.
pub fn normal(names: &BTreeSet<&str>) -> Vec<Rule> {
    let fits = |needed: &[&str]| needed.iter().all(|name| names.contains(name));
    NORMAL.iter().filter(|(_, needed)| fits(needed)).map(|(rule, _)| *rule).collect()
}

/// The rules of a comma-separated list of names. Each comes once, in the order of the table.
///
/// # Errors
/// A name is neither that of a rule nor of a group: the message has all that there are.
pub fn named(list: &str) -> Result<Vec<Rule>, String> {
    let mut wanted = vec![];
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let group = GROUPS.iter().find(|(group, _)| *group == name);
        let rule = RULES.iter().find(|rule| rule.name == name);
        match (group, rule) {
            (Some((_, names)), _) => wanted.extend_from_slice(names),
            (None, Some(rule)) => wanted.push(rule.name),
            (None, None) => {
                let groups = GROUPS.iter().map(|(name, _)| *name);
                let mut known: Vec<_> = RULES.iter().map(|rule| rule.name).chain(groups).collect();
                known.sort_unstable();
                return Err(format!("there is no rule '{name}'; there are {}", known.join(", ")));
            }
        }
    }
    if wanted.is_empty() {
        return Err("names no rules; give some, as in graph-simplify{rules=fold-pad}".to_owned());
    }
    Ok(RULES.iter().filter(|rule| wanted.contains(&rule.name)).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_stand_for_one_thing() {
        let names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        let groups: Vec<_> = GROUPS.iter().map(|(name, _)| *name).collect();
        assert!(groups.iter().all(|name| !names.contains(name)));
        let mut known: Vec<_> = names.iter().chain(&groups).collect();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), names.len() + groups.len());
        for (_, rules) in GROUPS {
            assert!(rules.iter().all(|rule| names.contains(rule)), "{rules:?}");
        }
    }

    #[test]
    fn a_name_that_is_unknown_is_an_error_with_those_that_are_known() {
        let error = named("fold-pad, fold-pads").expect_err("is unknown");
        assert!(error.contains("no rule 'fold-pads'") && error.contains("fold-pad,"), "{error}");
        assert!(named(" , ").is_err());
        let found = named("fold-pad,prepare-quantized,fold-pad").expect("are known");
        assert_eq!(found.len(), 6);
    }
}
