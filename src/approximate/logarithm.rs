//! The natural logarithm.

use super::{BIAS, FRACTION, Real, exponential::LN_2};
use crate::{Result, ir::Val};

/// (ln(1 + f) - f + f^2 / 2) / f^3 for 1 + f from the root of one half to the root of 2.
const REST: &[f64] = &[
    0.3333333134651184,
    -0.2500081956386566,
    0.2000124156475067,
    -0.1662341058254242,
    0.14201585948467255,
    -0.13159598410129547,
    0.12762142717838287,
    -0.07636362314224243,
];

/// The bits of the root of one half.
const LEAST: i64 = 0x3f35_04f3;

/// The exponent k, a word, and m of a normal positive number m 2^k, where m is between the root of
/// one half and the root of 2.
fn split<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<(Val<'c>, Val<'c>)> {
    let bits = f.bits(x)?;
    let above = f.apply("arith.subi", bits, LEAST)?;
    let k = f.apply("arith.shrsi", above, FRACTION)?;
    let exponent = f.apply("arith.shli", k, FRACTION)?;
    Ok((k, f.real(f.b.binary("arith.subi", bits, exponent)?)?))
}

/// `ln(1 + fraction) + k ln 2`.
fn join<'c>(f: &Real<'c, '_>, fraction: Val<'c>, k: Val<'c>) -> Result<Val<'c>> {
    let k = f.b.op1("arith.sitofp", &[k], f.ty)?;
    let square = f.mul(fraction, fraction)?;
    let rest = f.mul(f.polynomial(fraction, REST)?, f.mul(square, fraction)?)?;
    let rest = f.add(rest, f.scale(k, LN_2[1])?)?;
    let rest = f.sub(rest, f.scale(square, 0.5)?)?;
    let value = f.add(rest, fraction)?;
    f.add(value, f.scale(k, LN_2[0])?)
}

/// The logarithm of `x`, which is `value` for positive numbers, at the ends of its range: NaN below
/// zero, and else of x itself.
fn with_ends<'c>(f: &Real<'c, '_>, x: Val<'c>, value: Val<'c>) -> Result<Val<'c>> {
    let value = f.b.select(f.is("olt", x, f64::INFINITY)?, value, x)?;
    let value = f.b.select(f.is("olt", x, 0.0)?, f.number(f64::NAN)?, value)?;
    f.b.select(f.is("oeq", x, 0.0)?, f.number(f64::NEG_INFINITY)?, value)
}

/// ln x.
pub(super) fn log<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let subnormal = f.is("olt", x, f64::from(f32::MIN_POSITIVE))?;
    let normal = f.b.select(subnormal, f.scale(x, 2f64.powi(FRACTION as i32))?, x)?;
    let (k, m) = split(f, normal)?;
    let k = f.b.select(subnormal, f.apply("arith.subi", k, FRACTION)?, k)?;
    let value = join(f, f.sub(m, f.number(1.0)?)?, k)?;
    with_ends(f, x, value)
}

/// ln(1 + x), without loss for small x.
pub(super) fn log_of_1_plus<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let one = f.number(1.0)?;
    let sum = f.add(x, one)?;
    // The rounding error of the sum, in units of 2^k.
    let lost = f.sub(x, f.sub(sum, one)?)?;
    let (k, m) = split(f, sum)?;
    let unit = f.b.binary("arith.subi", f.int(BIAS)?, k)?;
    let unit = f.real(f.apply("arith.shli", unit, FRACTION)?)?;
    let fraction = f.mul_add(lost, unit, f.sub(m, one)?)?;
    let value = with_ends(f, sum, join(f, fraction, k)?)?;
    let tiny = f.is("olt", f.abs(x)?, 2f64.powi(-25))?;
    f.b.select(tiny, x, value)
}
