//! `fold-pad`: zeros that are put around an image only for a convolution become its pads.

use crate::{
    Result,
    ir::{
        self, Op,
        constant::Elements,
        graph,
        rewrite::{Rewriter, Rule},
        view::OpView,
    },
    lower::normalize_axis,
};
use melior::ir::{ValueLike, attribute::DenseI64ArrayAttribute};

/// The rule.
pub const RULE: Rule = Rule { name: "fold-pad", root: graph::Pad::NAME, benefit: 1, apply };

fn apply<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(pad) = graph::Pad::of(op) else { return Ok(false) };
    let Some((conv, pads)) = foldable(pad) else { return Ok(false) };
    let pads = DenseI64ArrayAttribute::new(r.context(), &pads).into();
    r.set_attr(conv.op(), "pads", pads)?;
    r.retype_operand(conv.op(), 0, pad.x())?;
    r.erase(op)?;
    Ok(true)
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

/// Amounts of padding before and after each dimension, if they are known and zero is added.
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
