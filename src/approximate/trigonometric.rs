//! Trigonometric functions, with the same relative error for arguments of any size.

use super::{BIAS, FRACTION, MAGNITUDE, Real, SIGN};
use crate::{Result, ir::Val};
use melior::ir::ValueLike;

/// (sin(r) - r) / r^3 by r^2 up to 1.
const SIN: &[f64] =
    &[-0.1666666716337204, 0.008333354257047176, -0.00019842384790536016, 2.726271304709371e-06];

/// (cos(r) - 1 + r^2 / 2) / r^4 by r^2 up to 1.
const COS: &[f64] = &[0.04166657477617264, -0.001388469710946083, 2.4201613996410742e-05];

/// The first bits of 2^-25 times 2 / pi, the greatest word first.
const TWO_OVER_PI: [i32; 7] = [
    0x0000_0051,
    0x7cc1_b727,
    0x220a_94fe,
    0x13ab_e8fa,
    0x9a6e_e06d_u32 as i32,
    0xb14a_cc9e_u32 as i32,
    0x21c8_20ff,
];

/// The magnitude of an argument as n quarter turns and an angle r of up to an eighth, or, if it is
/// less than 1, as no turns and itself.
struct Angle<'c> {
    /// The lowest two bits of n, as a word.
    turns: Val<'c>,
    sine: Val<'c>,
    cosine: Val<'c>,
    /// The bits of the argument.
    bits: Val<'c>,
    /// True for a finite argument, which has a sine.
    finite: Val<'c>,
}

/// sin x.
pub(super) fn sin<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let angle = reduce(f, x)?;
    let sign = f.apply("arith.andi", angle.bits, SIGN)?;
    wave(f, &angle, angle.turns, sign)
}

/// cos x.
pub(super) fn cos<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let angle = reduce(f, x)?;
    // A quarter turn ahead of the sine.
    wave(f, &angle, f.apply("arith.addi", angle.turns, 1)?, f.int(0)?)
}

/// tan x.
pub(super) fn tan<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    let angle = reduce(f, x)?;
    let odd = is_odd(f, angle.turns)?;
    let over = f.b.select(odd, angle.cosine, angle.sine)?;
    let under = f.b.select(odd, angle.sine, angle.cosine)?;
    let turned = f.apply("arith.shli", angle.turns, 31)?;
    let sign = f.b.binary("arith.xori", turned, f.apply("arith.andi", angle.bits, SIGN)?)?;
    finish(f, &angle, f.div(over, under)?, sign)
}

/// The sine after a number of quarter turns, with a sign.
fn wave<'c>(f: &Real<'c, '_>, angle: &Angle<'c>, turns: Val<'c>, sign: Val<'c>) -> Result<Val<'c>> {
    let value = f.b.select(is_odd(f, turns)?, angle.cosine, angle.sine)?;
    let second = f.apply("arith.shli", turns, 30)?;
    let turned = f.apply("arith.andi", second, SIGN)?;
    finish(f, angle, value, f.b.binary("arith.xori", turned, sign)?)
}

fn is_odd<'c>(f: &Real<'c, '_>, turns: Val<'c>) -> Result<Val<'c>> {
    f.b.cmpi("ne", f.apply("arith.andi", turns, 1)?, f.int(0)?)
}

fn finish<'c>(
    f: &Real<'c, '_>,
    angle: &Angle<'c>,
    value: Val<'c>,
    sign: Val<'c>,
) -> Result<Val<'c>> {
    let value = f.real(f.b.binary("arith.xori", f.bits(value)?, sign)?)?;
    f.b.select(angle.finite, value, f.number(f64::NAN)?)
}

fn reduce<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Angle<'c>> {
    let bits = f.bits(x)?;
    let magnitude = f.apply("arith.andi", bits, MAGNITUDE)?;
    let (turns, far) = reduce_from_1(f, magnitude)?;
    let near = f.b.cmpi("slt", magnitude, f.int(BIAS << FRACTION)?)?;
    let r = f.b.select(near, f.real(magnitude)?, far)?;
    let square = f.mul(r, r)?;
    let sine = f.mul_add(f.mul(f.polynomial(square, SIN)?, square)?, r, r)?;
    let rest = f.mul(f.polynomial(square, COS)?, f.mul(square, square)?)?;
    let cosine = f.add(f.sub(f.number(1.0)?, f.scale(square, 0.5)?)?, rest)?;
    Ok(Angle {
        turns: f.b.select(near, f.int(0)?, turns)?,
        sine,
        cosine,
        bits,
        finite: f.b.cmpi("slt", magnitude, f.int(0xff << FRACTION)?)?,
    })
}

/// The reduction of a number of at least 1, given as its bits.
///
/// The number is m 2^e with 24 bits of m. Of 2^e 2 / pi it takes a window of 96 bits. Higher bits
/// only add whole turns to the product with m. Lower bits are less than the result's last place,
/// even of the number nearest to a multiple of a quarter turn. So the product is exact where it
/// matters, for any e. All is integer arithmetic, so no argument can make it undefined.
fn reduce_from_1<'c>(f: &Real<'c, '_>, magnitude: Val<'c>) -> Result<(Val<'c>, Val<'c>)> {
    let m = f.apply("arith.andi", magnitude, (1 << FRACTION) - 1)?;
    let m = f.apply("arith.ori", m, 1 << FRACTION)?;
    let [high, middle, low] = window(f, f.apply("arith.shrui", magnitude, FRACTION)?)?;
    let long = f.b.like(f.ty, f.b.int(64));
    let extend = |word| f.b.op1("arith.extui", &[word], long);
    let wide = extend(m)?;
    let low = f.b.binary("arith.muli", wide, extend(low)?)?;
    let low = f.apply("arith.shrui", low, 32)?;
    let sum = f.b.binary("arith.addi", f.b.binary("arith.muli", wide, extend(middle)?)?, low)?;
    let cut = |long| f.b.op1("arith.trunci", &[long], f.word);
    // Two bits of turns, and the fraction of one.
    let upper = f.b.binary(
        "arith.addi",
        cut(f.apply("arith.shrui", sum, 32)?)?,
        f.b.binary("arith.muli", m, high)?,
    )?;
    let turns = f.apply("arith.shrui", f.apply("arith.addi", upper, 1 << 29)?, 30)?;
    let upper = f.b.binary("arith.subi", upper, f.apply("arith.shli", turns, 30)?)?;
    Ok((turns, radians(f, upper, cut(sum)?)?))
}

/// Three words of 2 / pi for the biased exponent of a number of at least 1.
fn window<'c>(f: &Real<'c, '_>, exponent: Val<'c>) -> Result<[Val<'c>; 3]> {
    let position = f.apply("arith.subi", exponent, BIAS)?;
    let shift = f.apply("arith.andi", position, 31)?;
    let rest = f.b.binary("arith.subi", f.int(31)?, shift)?;
    let beyond = [32, 64, 96].map(|end| f.b.cmpi("sge", position, f.int(end)?));
    let [first, second, third] = beyond;
    let steps = [first?, second?, third?];
    let word = |at: usize| {
        let mut word = f.int(TWO_OVER_PI[at].into())?;
        for (step, is_beyond) in steps.iter().enumerate() {
            word = f.b.select(*is_beyond, f.int(TWO_OVER_PI[at + step + 1].into())?, word)?;
        }
        Ok::<_, crate::Error>(word)
    };
    let words = [word(0)?, word(1)?, word(2)?, word(3)?];
    let joined = |at: usize| {
        let upper = f.b.binary("arith.shli", words[at], shift)?;
        // In two steps, because a shift by 32 is undefined.
        let lower = f.apply("arith.shrui", words[at + 1], 1)?;
        f.b.binary("arith.ori", upper, f.b.binary("arith.shrui", lower, rest)?)
    };
    Ok([joined(0)?, joined(1)?, joined(2)?])
}

/// A fraction of a quarter turn, of which the upper word is signed and counts 2^-30, in radians.
fn radians<'c>(f: &Real<'c, '_>, upper: Val<'c>, lower: Val<'c>) -> Result<Val<'c>> {
    let double = f.b.like(f.ty, f.b.f64());
    let unit = std::f64::consts::FRAC_PI_2 * 2f64.powi(-30);
    let scaled = |word: Val<'c>, factor: f64| {
        let value = f.b.op1("arith.sitofp", &[word], double)?;
        f.mul(value, f.b.constant(value.r#type(), factor)?)
    };
    // Half of the lower word, which as a signed number is not negative.
    let lower = scaled(f.apply("arith.shrui", lower, 1)?, unit * 2f64.powi(-31))?;
    let sum = f.add(scaled(upper, unit)?, lower)?;
    f.b.op1("arith.truncf", &[sum], f.ty)
}
