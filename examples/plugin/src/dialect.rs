//! The verifier of a rotation, its fold, and a rule of it, which MLIR runs.

use crate::bits;
use phaseline_toolkit::{
    Toolkit,
    ir::{Attribute, body::Folded, integer_width, type_of},
    rule,
};

rule! {
    /// A rotation of a rotation is one.
    pub MERGE = "merge-rotations" on bits::Rotate: |rewriter, outer| {
        let Some(inner) = bits::Rotate::making(outer.x()) else { return Ok(false) };
        let ty = type_of(outer.y());
        let Some(bits) = integer_width(ty).map(i64::from) else { return Ok(false) };
        let by = (inner.by() + outer.by()) % bits;
        let made = bits::Rotate::build(&rewriter.before(outer.op())?, inner.x(), by, &[ty])?;
        rewriter.replace(outer.op(), &[made.y()])?;
        Ok(true)
    }
}

fn verify(op: bits::Rotate<'_>) -> Result<(), String> {
    match integer_width(type_of(op.y())).map(i64::from) {
        Some(bits) if !(0..bits).contains(&op.by()) => {
            Err(format!("rotates {bits} bits by {}, which is 0 to {}", op.by(), bits - 1))
        }
        _ => Ok(()),
    }
}

/// A rotation by nothing is what it is given.
fn fold<'c>(op: bits::Rotate<'c>, _: &[Option<Attribute<'c>>]) -> Option<Folded<'c>> {
    (op.by() == 0).then(|| Folded::Value(op.x()))
}

pub fn add_to(toolkit: Toolkit) -> Toolkit {
    toolkit.canonicalize([MERGE]).verifier::<bits::Rotate>(verify).fold::<bits::Rotate>(fold)
}
