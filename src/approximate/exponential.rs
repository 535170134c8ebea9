//! The exponential function.

use super::Real;
use crate::{Result, ir::Val};

/// The natural logarithm of 2 in two parts: multiples of the first by whole numbers of up to 15
/// bits are exact.
pub(super) const LN_2: [f64; 2] = [0.693359375, -0.000_212_194_440_054_690_57];

/// (e^r - 1 - r) / r^2 for |r| up to half of ln 2.
const REST: &[f64] = &[
    0.4999999701976776,
    0.16666541993618011,
    0.041667431592941284,
    0.008366876281797886,
    0.0013871878618374467,
];

/// x = n ln 2 + r with a whole number n: returns n as a word, and e^r - 1. For NaN the word is any
/// number and the other result NaN.
fn reduce<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<(Val<'c>, Val<'c>)> {
    // Numbers of this magnitude have no fraction bits, so that adding one rounds to whole numbers,
    // which are then the low bits. A conversion to an integer would be undefined for NaN.
    const WHOLE: f64 = 12_582_912.0;
    let shifted = f.mul_add(x, f.number(std::f64::consts::LOG2_E)?, f.number(WHOLE)?)?;
    let n = f.apply("arith.subi", f.bits(shifted)?, i64::from((WHOLE as f32).to_bits()))?;
    let whole = f.sub(shifted, f.number(WHOLE)?)?;
    let r = f.sub(x, f.scale(whole, LN_2[0])?)?;
    let r = f.sub(r, f.scale(whole, LN_2[1])?)?;
    let square = f.mul(r, r)?;
    Ok((n, f.mul_add(f.polynomial(r, REST)?, square, r)?))
}

/// e^x.
pub(super) fn exp<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    // Beyond these the result is 0 and infinity.
    let x = f.at_most(f.at_least(x, -105.0)?, 90.0)?;
    let (n, less_1) = reduce(f, x)?;
    let value = f.add(less_1, f.number(1.0)?)?;
    // In two steps, because 2^n may be less or more than an f32 holds when the result is not.
    let half = f.apply("arith.shrsi", n, 1)?;
    let other = f.b.binary("arith.subi", n, half)?;
    let value = f.mul(value, f.power_of_two(half)?)?;
    f.mul(value, f.power_of_two(other)?)
}

/// e^x for an x that is at most 0. What is less than the least normal number is 0.
pub(super) fn exp_of_most_zero<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let (n, less_1) = reduce(f, x)?;
    let value = f.add(less_1, f.number(1.0)?)?;
    // A product, so that NaN stays NaN.
    let value = f.mul(value, f.power_of_two(n)?)?;
    f.b.select(f.is("olt", x, -87.0)?, f.number(0.0)?, value)
}

/// e^x - 1, without loss for small x.
pub(super) fn exp_minus_1<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    // Beyond these the result is -1 and infinity.
    let bounded = f.at_most(f.at_least(x, -30.0)?, 89.0)?;
    let (n, less_1) = reduce(f, bounded)?;
    // Half of the result, because 2^n may be more than an f32 holds.
    let half = f.power_of_two(f.apply("arith.subi", n, 1)?)?;
    let value = f.mul_add(half, less_1, f.sub(half, f.number(0.5)?)?)?;
    // The half of a subnormal is not exact.
    let tiny = f.is("olt", f.abs(x)?, 2f64.powi(-25))?;
    f.b.select(tiny, x, f.scale(value, 2.0)?)
}
