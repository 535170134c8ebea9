//! The remainder of a division of f32, on f64 values.
//!
//! A step subtracts a multiple of the divisor. Its quotient has so few bits that its product with
//! the divisor is exact. So is the difference: both are multiples of the last place of the divisor,
//! and less than 2^53 of it are left. So all machines get the number that the C library does,
//! without a branch.

use super::Real;
use crate::{
    Result,
    ir::{Builder, Val},
};
use melior::ir::ValueLike;

/// Bits of an f64 that a quotient of a step has to leave out: with 29 bits, and the 24 of the divisor, there are 53.
const LEFT_OUT: i64 = (1 << 24) - 1;
/// The greatest quotient is less than 2^277, and a step leaves less than 2^-27.9 of it, and a half.
const STEPS: usize = 10;

/// Added and taken off again it rounds what is less than 2^51. What is more, and has 29 bits, stays.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Emits `fmod(x, y)`.
pub(super) fn emit<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    let wide = |value: Val<'c>| b.op1("arith.extf", &[value], b.like(value.r#type(), b.f64()));
    let (x, y, narrow) = (wide(x)?, wide(y)?, x.r#type());
    let f = Real::new(b, x)?;
    let (whole, divisor) = (f.abs(x)?, f.abs(y)?);
    let inverse = f.div(f.number(1.0)?, divisor)?;
    let mut rest = whole;
    for _ in 0..STEPS {
        let quotient = f.apply("arith.andi", f.bits(f.mul(rest, inverse)?)?, !LEFT_OUT)?;
        let quotient = f.sub(f.add(f.real(quotient)?, f.number(WHOLE)?)?, f.number(WHOLE)?)?;
        rest = f.sub(rest, f.mul(quotient, divisor)?)?;
    }
    // Quotients were rounded to the nearest.
    rest = b.select(f.is("olt", rest, 0.0)?, f.add(rest, divisor)?, rest)?;
    // Nothing is left of an infinite divisor's inverse.
    let infinite = f.is("oeq", divisor, f64::INFINITY)?;
    let finite = f.is("olt", whole, f64::INFINITY)?;
    rest = b.select(b.binary("arith.andi", infinite, finite)?, whole, rest)?;
    b.op1("arith.truncf", &[b.binary("math.copysign", rest, x)?], narrow)
}
