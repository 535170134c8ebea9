//! Rules, folds and verifiers of the dialect, which MLIR's `canonicalize` and verifier run.

use crate::toy;
use phaseline_toolkit::{
    Toolkit,
    ir::{Attribute, body::Folded, elements, static_dims, type_of},
    rule,
};

rule! {
    /// `transpose(transpose(x))` is `x`.
    TWICE = "transpose-twice" on toy::Transpose: |rewriter, outer| {
        match toy::Transpose::making(outer.x()) {
            Some(inner) if type_of(inner.x()) == type_of(outer.y()) => {
                rewriter.replace(outer.op(), &[inner.x()])?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

rule! {
    /// `reshape(reshape(x))` is one reshape.
    RESHAPES = "merge-reshapes" on toy::Reshape: |rewriter, outer| {
        let Some(inner) = toy::Reshape::making(outer.x()) else { return Ok(false) };
        let builder = rewriter.before(outer.op())?;
        let made = toy::Reshape::build(&builder, inner.x(), &[type_of(outer.y())])?;
        rewriter.replace(outer.op(), &[made.y()])?;
        Ok(true)
    }
}

/// A reshape to the same shape is what it is given; that of a constant is a constant.
fn fold<'c>(op: toy::Reshape<'c>, operands: &[Option<Attribute<'c>>]) -> Option<Folded<'c>> {
    if type_of(op.x()) == type_of(op.y()) {
        return Some(Folded::Value(op.x()));
    }
    let data = elements::bytes((*operands.first()?)?).ok()?;
    elements::dense(type_of(op.y()), &data).ok().map(Folded::Constant)
}

fn verify(op: toy::Reshape<'_>) -> Result<(), String> {
    let count = |value| static_dims(type_of(value)).map(|dims| dims.iter().product::<i64>());
    match (count(op.x()), count(op.y())) {
        (Some(from), Some(to)) if from != to => {
            Err(format!("has {from} elements and cannot have {to}"))
        }
        _ => Ok(()),
    }
}

pub fn add_to(toolkit: Toolkit) -> Toolkit {
    let same = |op: toy::Cast<'_>| type_of(op.x()) == type_of(op.y());
    toolkit
        .canonicalize([TWICE, RESHAPES])
        .verifier::<toy::Reshape>(verify)
        .fold::<toy::Reshape>(fold)
        .fold::<toy::Cast>(move |op, _| same(op).then(|| Folded::Value(op.x())))
}
