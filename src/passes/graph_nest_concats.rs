//! `graph-nest-concats`: a concatenation of all that an earlier one has, and more, is one of its result and the rest.
//!
//! ```text
//! %1 = graph.concat %a, %b            %1 = graph.concat %a, %b
//! ...                            -->  ...
//! %2 = graph.concat %a, %b, %c        %2 = graph.concat %1, %c
//! ```
//! Networks whose layers read what all earlier ones computed (DenseNet) say it in the first form, where each part is copied
//! into each concatenation. In the second one they share a buffer (`host::joints`), or one copy is made of what there were
//! many of.

use crate::{
    ir::{self, Builder, Op, Val, edit, graph, view::OpView},
    lower::normalize_axis,
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-nest-concats",
    summary: "Make concatenations of earlier ones that have some of their operands in the same order",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

/// A concatenation as it was given.
struct Earlier<'c> {
    inputs: Vec<Val<'c>>,
    axis: usize,
    result: Val<'c>,
}

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut earlier: HashMap<usize, Vec<Earlier<'c>>> = HashMap::new();
    for op in edit::entry_block(function).map(ir::ops).unwrap_or_default() {
        let Some(concat) = graph::Concat::of(op) else { continue };
        let inputs = ir::operands(op);
        let axis = normalize_axis(concat.axis(), ir::dims(concat.y().r#type()).len());
        let mut result = concat.y();
        if let Some((at, inner)) = longest(&earlier, &inputs, axis) {
            let mut nested = inputs.clone();
            nested.splice(at..at + inner.inputs.len(), [inner.result]);
            let b = Builder::before(op)?;
            let new = graph::Concat::build(&b, &nested, concat.axis())?;
            if new.y().r#type() == result.r#type() {
                edit::replace_uses(result, new.y());
                edit::erase(op);
                result = new.y();
            } else {
                // The given type says less than could be known; its readers go by it.
                edit::erase(new.op());
            }
        }
        if let Some(first) = inputs.first().filter(|_| inputs.len() > 1) {
            earlier.entry(address(*first)).or_default().push(Earlier { inputs, axis, result });
        }
    }
    Ok(())
}

/// The earlier concatenation of the most operands that `inputs` has, and more, next to each other.
fn longest<'e, 'c>(
    earlier: &'e HashMap<usize, Vec<Earlier<'c>>>,
    inputs: &[Val<'c>],
    axis: usize,
) -> Option<(usize, &'e Earlier<'c>)> {
    let from = |(at, first): (usize, &Val<'c>)| {
        let rest = &inputs[at..];
        let fits = move |inner: &&Earlier<'c>| {
            inner.axis == axis && inner.inputs.len() < inputs.len() && rest.starts_with(&inner.inputs)
        };
        let known = earlier.get(&address(*first)).into_iter().flatten();
        known.filter(fits).map(move |inner| (at, inner))
    };
    let found = inputs.iter().enumerate().flat_map(from);
    found.max_by_key(|(_, inner)| inner.inputs.len())
}

fn address(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}
