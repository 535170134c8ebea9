//! `nest-concats`: a concatenation of all that an earlier one has, and more, is one of its result and the rest.
//!
//! ```text
//! %1 = graph.concat %a, %b            %1 = graph.concat %a, %b
//! ...                            -->  ...
//! %2 = graph.concat %a, %b, %c        %2 = graph.concat %1, %c
//! ```
//! Networks whose layers read the results of all earlier ones (DenseNet) have the first form, where
//! each part is copied into each concatenation. In the second form they share a buffer (in-place
//! concat, `host::joints`), or one copy replaces many.

use crate::{
    Result,
    ir::{
        self, Op, Val, edit, graph,
        rewrite::{Rewriter, Rule},
        view::OpView,
    },
    lower::normalize_axis,
};
use melior::ir::ValueLike;

/// The rule.
pub const RULE: Rule = Rule { name: "nest-concats", root: graph::Concat::NAME, benefit: 1, apply };

fn apply<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(concat) = graph::Concat::of(op) else { return Ok(false) };
    let Some((at, inner)) = longest(concat) else { return Ok(false) };
    let mut nested = ir::operands(op);
    nested.splice(at..at + ir::operands(inner.op()).len(), [inner.y()]);
    let b = r.before(op)?;
    let attributes = vec![("axis", b.i64_attr(concat.axis()))];
    let new = b.op1_with(graph::Concat::NAME, &nested, concat.y().r#type(), attributes)?;
    r.replace(op, &[new])?;
    Ok(true)
}

/// The earlier concatenation of the most operands that this one has, and more, next to each other, and their place.
fn longest<'c>(concat: graph::Concat<'c>) -> Option<(usize, graph::Concat<'c>)> {
    let inputs = ir::operands(concat.op());
    let axis = axis_of(concat);
    let is_known = |value: Val<'c>| ir::static_dims(value.r#type()).is_some();
    if !is_known(concat.y()) && inputs.iter().all(|input| is_known(*input)) {
        // The given type says less than could be known; its readers go by it.
        return None;
    }
    let from = |(at, first): (usize, &Val<'c>)| {
        let rest = &inputs[at..];
        let fits = move |inner: &graph::Concat<'c>| {
            let own = ir::operands(inner.op());
            axis_of(*inner) == axis
                && own.len() > 1
                && own.len() < rest.len() + at
                && rest.starts_with(&own)
                && edit::is_before(inner.op(), concat.op())
        };
        let earlier = ir::users(*first).into_iter().filter_map(graph::Concat::of);
        earlier.filter(fits).map(move |inner| (at, inner)).collect::<Vec<_>>()
    };
    let found = inputs.iter().enumerate().flat_map(from);
    found.max_by_key(|(at, inner)| (ir::operands(inner.op()).len(), usize::MAX - at))
}

fn axis_of(concat: graph::Concat<'_>) -> usize {
    normalize_axis(concat.axis(), ir::dims(concat.y().r#type()).len())
}
