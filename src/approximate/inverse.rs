//! The inverses of trigonometric functions.

use super::Real;
use crate::{Result, ir::Val};

/// Half of pi in two parts.
const HALF_PI: [f64; 2] = [1.570_796_370_506_286_6, -4.371_139_000_186_243e-8];

/// (asin(x) - x) / x^3 by x^2 up to 1/4.
const ASIN: &[f64] = &[
    0.166_667_520_999_908_45,
    0.074_953_064_322_471_62,
    0.045_469_772_070_646_286,
    0.024_181_771_782_994_27,
    0.042_166_423_052_549_36,
];

/// (atan(x) - x) / x^3 by x^2 up to 1.
const ATAN: &[f64] = &[
    -0.333_332_985_639_572_14,
    0.199_985_295_534_133_9,
    -0.142_640_158_534_05,
    0.109_508_782_625_198_36,
    -0.083_992_742_002_010_35,
    0.057_880_047_708_749_77,
    -0.031_094_543_635_845_184,
    0.010_866_640_135_645_866,
    -0.001_782_173_872_925_341_1,
];

/// True if |x| is more than one half, and an arcsine. It is that of |x| for |x| up to one half,
/// else that of the root of (1 - |x|) / 2, which is half of the arccosine of |x|. Not a number
/// beyond 1.
fn arcsine<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<(Val<'c>, Val<'c>)> {
    let magnitude = f.abs(x)?;
    let large = f.is("ogt", magnitude, 0.5)?;
    let half_gap = f.scale(f.sub(f.number(1.0)?, magnitude)?, 0.5)?;
    let square = f.b.select(large, half_gap, f.mul(x, x)?)?;
    let root = f.arith("math.sqrt", &[square])?;
    let y = f.b.select(large, root, magnitude)?;
    let rest = f.mul(f.polynomial(square, ASIN)?, square)?;
    Ok((large, f.mul_add(rest, y, y)?))
}

/// Half of pi less x.
fn complement<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    f.sub(f.number(HALF_PI[0])?, f.sub(x, f.number(HALF_PI[1])?)?)
}

/// The arcsine.
pub(super) fn asin<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let (large, angle) = arcsine(f, x)?;
    let other = complement(f, f.scale(angle, 2.0)?)?;
    f.with_sign(f.b.select(large, other, angle)?, x)
}

/// The arccosine.
pub(super) fn acos<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let (large, angle) = arcsine(f, x)?;
    let double = f.scale(angle, 2.0)?;
    let pi = f.number(2.0 * HALF_PI[0])?;
    let obtuse = f.sub(pi, f.sub(double, f.number(2.0 * HALF_PI[1])?)?)?;
    let end = f.b.select(f.is("olt", x, 0.0)?, obtuse, double)?;
    f.b.select(large, end, complement(f, f.with_sign(angle, x)?)?)
}

/// The arctangent.
pub(super) fn atan<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let magnitude = f.abs(x)?;
    let large = f.is("ogt", magnitude, 1.0)?;
    let y = f.b.select(large, f.div(f.number(1.0)?, magnitude)?, magnitude)?;
    let square = f.mul(y, y)?;
    let angle = f.mul_add(f.mul(f.polynomial(square, ATAN)?, square)?, y, y)?;
    f.with_sign(f.b.select(large, complement(f, angle)?, angle)?, x)
}
