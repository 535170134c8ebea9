//! Deprecated passes: their names and options stay, with a warning.

use super::graph_simplify::apply;
use crate::{
    ir::Op,
    pass::{self, OptionKind, OptionSpec, OptionValues, Pass, PassError},
};

/// A pass of an old name that warns, and applies rules.
macro_rules! alias {
    ($name:literal, $anchor:literal, $rules:literal) => {
        alias!($name, $anchor, &[], |_: &OptionValues| $rules)
    };
    ($name:literal, $anchor:literal, $options:expr, $rules:expr) => {{
        fn run<'c>(op: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
            let rules = ($rules)(values);
            pass::warn(
                op,
                format!("runs '{}', which is 'graph-simplify{{rules={rules}}}' now", $name),
            );
            apply(op, rules)
        }
        Pass {
            name: $name,
            summary: "Old name of graph-simplify with rules",
            anchor: $anchor,
            options: $options,
            dialects: &["graph"],
            run,
        }
    }};
}

const SCALE_AND_SHIFT: &[OptionSpec] = &[OptionSpec {
    name: "scale-and-shift",
    help: "Turn what cannot be folded into a mul and an add",
    kind: OptionKind::Bool,
    default: "false",
}];

const JOINS: &[OptionSpec] = &[OptionSpec {
    name: "joins",
    help: "Join integers where what is joined is quantized",
    kind: OptionKind::Bool,
    default: "false",
}];

/// The old names.
pub static ALIASES: &[Pass] = &[
    alias!("graph-expand-einsum", "func.func", "expand-einsum,plain-gemm"),
    alias!("graph-fold-batch-norm", "", SCALE_AND_SHIFT, |values: &OptionValues| {
        match values.text(0) {
            "true" => "fold-batch-norm,scale-batch-norm",
            _ => "fold-batch-norm",
        }
    }),
    alias!("graph-fold-pad", "func.func", "fold-pad"),
    alias!("graph-group-heads", "func.func", "group-heads"),
    alias!("graph-hoist-gathers", "func.func", "hoist-gathers"),
    alias!("graph-nest-concats", "func.func", "nest-concats"),
    alias!("graph-prepare-quantized", "func.func", JOINS, |values: &OptionValues| {
        match values.text(0) {
            "true" => "prepare-quantized,quantize-parts",
            _ => "prepare-quantized",
        }
    }),
    alias!("graph-scatter-to-slices", "func.func", "scatter-to-slices"),
];
