//! `sink-reductions`: the parallel loops of a `linalg.generic` become the outer ones.
//!
//! Devices with a grid run the outer parallel loops at once and each reduction in order. Only loops of
//! other kinds change places, so that the terms of each sum stay in their order.

use crate::{
    ir::{self, Op, edit},
    lower::generic::{Aff, loop_index_of, map_attr},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, IntegerAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "sink-reductions",
    summary: "Make the parallel loops of linalg.generic the outer ones",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(function) {
        if ir::op_name(op) == "linalg.generic" {
            interchange(op);
        }
    }
    Ok(())
}

/// Changes the order of the loops; operations with maps that are no sums of loops stay as they are.
fn interchange(op: Op<'_>) -> Option<()> {
    let context = ir::context_of(op);
    let kinds = edit::array(op.attribute("iterator_types").ok()?);
    let is_parallel = |at: &usize| kinds[*at].to_string().contains("parallel");
    let (outer, inner): (Vec<usize>, Vec<usize>) = (0..kinds.len()).partition(is_parallel);
    let order = [outer, inner].concat();
    if order.is_sorted() {
        return None;
    }
    // Where each loop goes.
    let mut to = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        to[*old] = new;
    }
    let maps = edit::array(op.attribute("indexing_maps").ok()?);
    let maps: Vec<Attribute<'_>> = maps
        .into_iter()
        .map(|map| {
            let map = Aff::of_map(map)?;
            let map: Option<Vec<_>> = map.iter().map(|aff| aff.renamed(&to)).collect();
            Some(map_attr(context, order.len(), &map?))
        })
        .collect::<Option<_>>()?;
    let kinds: Vec<_> = order.iter().map(|old| kinds[*old]).collect();
    edit::set_attr(op, "indexing_maps", ArrayAttribute::new(context, &maps).into());
    edit::set_attr(op, "iterator_types", ArrayAttribute::new(context, &kinds).into());
    for inner in edit::walk(op) {
        if ir::op_name(inner) == "linalg.index"
            && let Some(new) = loop_index_of(inner).and_then(|old| to.get(old))
        {
            let number = IntegerAttribute::new(IntegerType::new(context, 64).into(), *new as i64);
            edit::set_attr(inner, "dim", number.into());
        }
    }
    Some(())
}
