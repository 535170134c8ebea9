//! Functions of 64-bit floats: the exponential function and what follows from it.

use super::Real;
use crate::{Result, ir::Val};

/// The natural logarithm of 2 in two parts: multiples of the first by whole numbers of up to 20 bits are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// Numbers of this magnitude have no fraction bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// Fraction bits.
const FRACTION: i64 = 52;
/// Exponent bias of an f64.
const BIAS: i64 = 1023;
/// Terms of the series of (e^r - 1 - r) / r^2: for |r| up to half of ln 2 what is left out is less than a rounding.
const TERMS: u32 = 12;

/// x = n ln 2 + r with a whole number n: returns n as a word, and e^r - 1.
fn reduce<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<(Val<'c>, Val<'c>)> {
    let shifted = f.mul_add(x, f.number(std::f64::consts::LOG2_E)?, f.number(WHOLE)?)?;
    let n = f.apply("arith.subi", f.bits(shifted)?, WHOLE.to_bits() as i64)?;
    let whole = f.sub(shifted, f.number(WHOLE)?)?;
    let r = f.sub(x, f.scale(whole, LN_2[0])?)?;
    let r = f.sub(r, f.scale(whole, LN_2[1])?)?;
    let series: Vec<f64> = (0..TERMS)
        .scan(1.0, |factorial, term| {
            *factorial *= f64::from(term + 2);
            Some(1.0 / *factorial)
        })
        .collect();
    let square = f.mul(r, r)?;
    Ok((n, f.mul_add(f.polynomial(r, &series)?, square, r)?))
}

/// 2^n for a word n from -1022 to 1023.
fn power_of_two<'c>(f: &Real<'c, '_>, n: Val<'c>) -> Result<Val<'c>> {
    f.real(f.apply("arith.shli", f.apply("arith.addi", n, BIAS)?, FRACTION)?)
}

/// e^x.
pub(super) fn exp<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    // Beyond these the result is 0 and infinity.
    let x = f.at_most(f.at_least(x, -746.0)?, 710.0)?;
    let (n, less_1) = reduce(f, x)?;
    let value = f.add(less_1, f.number(1.0)?)?;
    // In two steps, because 2^n may be less or more than there are numbers for when the result is not.
    let half = f.apply("arith.shrsi", n, 1)?;
    let other = f.b.binary("arith.subi", n, half)?;
    let value = f.mul(value, power_of_two(f, half)?)?;
    f.mul(value, power_of_two(f, other)?)
}

/// The hyperbolic tangent: t / (t + 2) with t = e^2x - 1 for the magnitude.
pub(super) fn tanh<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    // Beyond this the result is 1.
    let magnitude = f.at_most(f.abs(x)?, 20.0)?;
    let (n, less_1) = reduce(f, f.scale(magnitude, 2.0)?)?;
    let power = power_of_two(f, n)?;
    let t = f.mul_add(power, less_1, f.sub(power, f.number(1.0)?)?)?;
    let value = f.div(t, f.add(t, f.number(2.0)?)?)?;
    f.b.binary("math.copysign", value, x)
}
