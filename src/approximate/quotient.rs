//! Odd functions that tend to 1, as quotients of polynomials.

use super::Real;
use crate::{Result, ir::Val};

/// x P(x^2) / Q(x^2) up to `end`, where it exceeds 1 by more than rounding takes away. There and
/// beyond it is cut to 1 with the sign of x.
struct Quotient {
    end: f64,
    over: &'static [f64],
    under: &'static [f64],
}

const TANH: Quotient = Quotient {
    end: 9.3,
    over: &[
        1.0,
        0.133_797_168_731_689_45,
        0.003_494_032_891_467_213_6,
        2.058_345_489_786_006_5e-5,
        1.331_903_742_851_636_7e-8,
    ],
    under: &[
        1.0,
        0.467_130_333_185_195_9,
        0.025_871_066_376_566_887,
        0.000_328_309_019_096_195_7,
        7.762_005_225_231_405e-7,
    ],
};

const ERF: Quotient = Quotient {
    end: 4.05,
    over: &[
        1.128_379_106_521_606_4,
        0.190_783_858_299_255_37,
        0.052_790_291_607_379_91,
        0.003_779_610_618_948_936_5,
        0.000_284_808_716_969_564_56,
        2.041_971_583_821_578e-6,
    ],
    under: &[
        1.0,
        0.502_410_531_044_006_3,
        0.114_257_536_828_517_91,
        0.014_997_440_390_288_83,
        0.001_165_213_296_189_904_2,
        3.800_409_103_860_147e-5,
    ],
};

/// The hyperbolic tangent.
pub(super) fn tanh<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    emit(f, &TANH, x)
}

/// The error function.
pub(super) fn erf<'c>(f: &Real<'c, '_>, x: Val<'c>) -> Result<Val<'c>> {
    emit(f, &ERF, x)
}

fn emit<'c>(f: &Real<'c, '_>, quotient: &Quotient, x: Val<'c>) -> Result<Val<'c>> {
    let x = f.at_least(f.at_most(x, quotient.end)?, -quotient.end)?;
    let square = f.mul(x, x)?;
    let over = f.mul(x, f.polynomial(square, quotient.over)?)?;
    let value = f.div(over, f.polynomial(square, quotient.under)?)?;
    f.at_least(f.at_most(value, 1.0)?, -1.0)
}
