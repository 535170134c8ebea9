//! Positions of a resized axis as fractions. Rounding decides which element is the nearest, so that
//! a position that is a whole number, or half way between two elements, must not be off by a bit.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};

use super::resize_taps::{Axis, Rounding, Transformation};

/// A number without rounding.
pub type Exact = Ratio<i128>;

/// The fraction of the least denominator that an f32 may stand for: 0.6 is 3/5, though no f32 is.
/// `None` for what is no finite number or too small or large for it.
pub fn fraction(value: f64) -> Option<Exact> {
    let value = value as f32;
    if value == 0.0 {
        return Some(Exact::from(0));
    }
    // Outside, a fraction may need more bits than there are.
    if !(-60.0..=25.0).contains(&value.abs().log2()) {
        return None;
    }
    // Numbers between are nearer to the value than to its neighbours. No fraction that matters is as near to half
    // way.
    let (near, middle) = (Exact::new((1 << 20) - 1, 1 << 21), dyadic(value.abs())?);
    let towards = |other: f32| middle.checked_add(&(dyadic(other)? - middle).checked_mul(&near)?);
    let found = simplest(towards(value.abs().next_down())?, towards(value.abs().next_up())?)?;
    Some(if value < 0.0 { -found } else { found })
}

/// The quotient of two sizes; `None` if the second is 0.
pub fn quotient(to: i64, from: i64) -> Option<Exact> {
    Exact::from(i128::from(to)).checked_div(&Exact::from(i128::from(from)))
}

/// The value of a positive f32 as it is.
fn dyadic(value: f32) -> Option<Exact> {
    let scale = 2f64.powi(100);
    let scaled = f64::from(value) * scale;
    (scaled < 2f64.powi(126) && scaled.fract() == 0.0)
        .then(|| Exact::new(scaled as i128, 1i128 << 100))
}

/// The fraction of the least denominator from `low` to `high`, both positive: by continued fractions.
fn simplest(low: Exact, high: Exact) -> Option<Exact> {
    let whole = low.ceil();
    if whole <= high {
        return Some(whole);
    }
    let floor = low.floor();
    let one = Exact::from(1);
    let rest = simplest(one.checked_div(&(high - floor))?, one.checked_div(&(low - floor))?)?;
    floor.checked_add(&one.checked_div(&rest)?)
}

impl Axis {
    /// The point of the operand on which element `y` of the result lies; `None` where numbers are
    /// too large for fractions, or there is none.
    pub fn exact_coordinate(&self, transformation: Transformation, y: i64) -> Option<Exact> {
        let whole = |value: i64| Exact::from(i128::from(value));
        let (y, from, scale) = (whole(y), whole(self.from), self.exact?);
        let (one, half) = (Exact::from(1), Exact::new(1, 2));
        let to = scale.checked_mul(&from)?;
        let last = from - one;
        let half_pixel = || (y + half).checked_div(&scale)?.checked_sub(&half);
        // What a step along the result is of all but the last element.
        let part = || y.checked_div(&(to - one));
        match transformation {
            Transformation::PytorchHalfPixel | Transformation::AlignCorners if to == one => {
                Some(Exact::from(0))
            }
            Transformation::HalfPixel | Transformation::PytorchHalfPixel => half_pixel(),
            Transformation::HalfPixelSymmetric => {
                let left_over = one.checked_sub(&whole(self.to).checked_div(&to)?)?;
                (from * half).checked_mul(&left_over)?.checked_add(&half_pixel()?)
            }
            Transformation::AlignCorners => part()?.checked_mul(&last),
            Transformation::Asymmetric => y.checked_div(&scale),
            Transformation::Crop => {
                let (start, end) = (fraction(self.region.0)?, fraction(self.region.1)?);
                let part = if to == one { half } else { part()? };
                let inside = end.checked_sub(&start)?.checked_mul(&part)?;
                start.checked_add(&inside)?.checked_mul(&last)
            }
        }
    }
}

/// The nearest element to a position.
pub fn nearest(x: Exact, rounding: Rounding) -> Option<i64> {
    let half = Exact::new(1, 2);
    let rounded = match rounding {
        Rounding::PreferFloor => x.checked_sub(&half)?.ceil(),
        Rounding::PreferCeil => x.checked_add(&half)?.floor(),
        Rounding::Floor => x.floor(),
        Rounding::Ceil => x.ceil(),
    };
    i64::try_from(rounded.to_integer()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_f32_stands_for_the_simplest_fraction() {
        for (value, numerator, denominator) in [
            (0.0, 0, 1),
            (2.0, 2, 1),
            (0.6, 3, 5),
            (f64::from(4.0f32 / 3.0), 4, 3),
            (-0.1, -1, 10),
            (f64::from(2.0f32.powi(-20)), 1, 1 << 20),
            (16777216.0, 16777216, 1),
            (7.0 / 4093.0, 7, 4093),
        ] {
            assert_eq!(fraction(value), Some(Exact::new(numerator, denominator)), "{value}");
        }
        for value in [f64::NAN, f64::INFINITY, 1e30, 1e-30] {
            assert_eq!(fraction(value), None, "{value}");
        }
    }

    #[test]
    fn a_fraction_rounds_to_the_number_it_stands_for() {
        let mut bits = 0x3000_0001u32;
        while bits < 0x4c00_0000 {
            let value = f32::from_bits(bits);
            let found = fraction(f64::from(value)).expect("in range");
            assert_eq!((*found.numer() as f64 / *found.denom() as f64) as f32, value, "{found}");
            bits += 0x0012_3457;
        }
    }
}
