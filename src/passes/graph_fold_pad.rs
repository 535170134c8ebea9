//! `graph-fold-pad`: zeros that are put around an image only for a convolution become its pads.

use crate::{
    ir::{self, Op, constant::Elements, edit, graph, view::OpView},
    lower::normalize_axis,
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{ValueLike, attribute::DenseI64ArrayAttribute};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-fold-pad",
    summary: "Fold zero padding into the convolution that it is for",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(function) {
        if let Some(pad) = graph::Pad::of(op)
            && let Some((conv, pads)) = foldable(pad)
        {
            fold(pad, conv, &pads)?;
        }
    }
    Ok(())
}

/// The convolution that is the only user of a pad, and the pads that it has after folding.
fn foldable<'c>(pad: graph::Pad<'c>) -> Option<(graph::Conv<'c>, Vec<i64>)> {
    let users = ir::users(pad.y());
    let [user] = users[..] else { return None };
    let conv = graph::Conv::of(user)?;
    if conv.x() != pad.y() || pad.mode() != "constant" {
        return None;
    }
    let added = amounts(pad)?;
    let rank = added.len() / 2;
    let (before, after) = added.split_at(rank);
    let outside = before[..2].iter().chain(&after[..2]).any(|amount| *amount != 0);
    if rank < 3 || outside || added.iter().any(|amount| *amount < 0) {
        return None;
    }
    let mut pads = conv.pads();
    for (pad, amount) in pads.iter_mut().zip(before[2..].iter().chain(&after[2..])) {
        // Negative pads cut off what the zeros add; together they are not one padding.
        if *pad < 0 {
            return None;
        }
        *pad += amount;
    }
    Some((conv, pads))
}

/// What is added before and after each dimension, if that is known and zero is added.
fn amounts(pad: graph::Pad<'_>) -> Option<Vec<i64>> {
    if let Some(value) = pad.value()
        && Elements::of_value(value)?.floats().iter().any(|value| *value != 0.0)
    {
        return None;
    }
    let rank = ir::dims(pad.x().r#type()).len();
    let given = Elements::of_value(pad.pads())?.ints();
    let axes = match pad.axes() {
        Some(axes) => Elements::of_value(axes)?.ints(),
        None => (0..rank as i64).collect(),
    };
    if given.len() != 2 * axes.len() || rank < 2 {
        return None;
    }
    let mut amounts = vec![0; 2 * rank];
    for (index, axis) in axes.iter().enumerate() {
        let axis = normalize_axis(*axis, rank);
        *amounts.get_mut(axis)? = given[index];
        *amounts.get_mut(rank + axis)? = given[axes.len() + index];
    }
    Some(amounts)
}

fn fold<'c>(pad: graph::Pad<'c>, conv: graph::Conv<'c>, pads: &[i64]) -> crate::Result<()> {
    let attribute = DenseI64ArrayAttribute::new(ir::context_of(conv.op()), pads).into();
    edit::set_attr(conv.op(), "pads", attribute);
    edit::set_operand(conv.op(), 0, pad.x())?;
    edit::erase(pad.op());
    Ok(())
}
