//! `bits-rotate`: two shifts whose results are joined are a rotation.

use crate::{bits, dialect::MERGE};
use phaseline_toolkit::{
    Context, Result,
    ir::{Op, Val, attr, attribute, edit, integer_width, op_name, operands, type_of},
    pass::{PassCx, PassResult, RunPass},
    pass_options, rule,
};

pass_options! {
    /// Options of `bits-rotate`.
    pub struct RotateOptions {
        merge: bool = "true", "Make rotations of rotations one";
    }
}

pub struct Rotate(RotateOptions);

/// The operation that makes a value, if it has that name.
fn made_by<'c>(value: Val<'c>, name: &str) -> Option<Op<'c>> {
    edit::defining_op(value).filter(|op| op_name(*op) == name)
}

/// The value that is shifted, and by how much, if that is constant.
fn shift<'c>(value: Val<'c>, name: &str) -> Option<(Val<'c>, i64)> {
    let shift = operands(made_by(value, name)?);
    let places = attr(made_by(shift[1], "arith.constant")?, "value").and_then(attribute::int)?;
    Some((shift[0], places))
}

/// The value that an `or` rotates, and by how much.
fn rotation(or: Op<'_>) -> Option<(Val<'_>, i64)> {
    let sides = operands(or);
    let bits = i64::from(integer_width(type_of(sides[0]))?);
    [(sides[0], sides[1]), (sides[1], sides[0])].into_iter().find_map(|(left, right)| {
        let (x, up) = shift(left, "arith.shli")?;
        let (same, down) = shift(right, "arith.shrui")?;
        (x == same && up > 0 && up + down == bits).then_some((x, up))
    })
}

rule! {
    /// `x << k | x >> (bits - k)` is a rotation by `k`.
    FIND = "find-rotation" on "arith.ori": |rewriter, or| {
        let Some((x, by)) = rotation(or) else { return Ok(false) };
        let made = bits::Rotate::build(&rewriter.before(or)?, x, by, &[type_of(x)])?;
        rewriter.replace(or, &[made.y()])?;
        Ok(true)
    }
}

impl RunPass for Rotate {
    const NAME: &'static str = "bits-rotate";
    const SUMMARY: &'static str = "Find rotations in shifts";
    const ANCHOR: &'static str = "builtin.module";
    const DIALECTS: &'static [&'static str] = &["bits"];
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("rotations", "Rotations found")];
    type Options = RotateOptions;

    fn new(options: RotateOptions, _: &Context) -> Result<Self> {
        Ok(Self(options))
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let found = cx.rewrite(&[FIND])?;
        cx.count("rotations", found as usize);
        if self.0.merge {
            cx.rewrite(&[MERGE])?;
        }
        Ok(())
    }
}
