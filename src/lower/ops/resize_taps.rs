//! Sources of the elements of a resized axis: positions and weights, known at compile time.
//!
//! The formulas are those of ONNX's `Resize` (opset 19). Positions beyond the ends of the axis
//! stand for the first or last element. The nearest element is found with exact numbers, weights
//! with floats.

use super::resize_exact::{self, Exact};

/// Parameters of the sampling of an axis.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Interpolation between elements.
    pub mode: Mode,
    /// Point of the operand that a point of the result lies on.
    pub transformation: Transformation,
    /// The parameter of cubic interpolation.
    pub cubic_coefficient: f64,
    /// True if elements beyond the ends have no weight.
    pub exclude_outside: bool,
    /// True if the kernel grows with the elements that fall together.
    pub antialias: bool,
}

/// Interpolation between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The nearest element; how halves are rounded.
    Nearest(Rounding),
    /// Between two elements.
    Linear,
    /// Between four elements.
    Cubic,
}

/// Choice of the nearest of two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The nearest, of two equally near ones the first.
    PreferFloor,
    /// The nearest, of two equally near ones the second.
    PreferCeil,
    /// The first.
    Floor,
    /// The second.
    Ceil,
}

/// ONNX's `coordinate_transformation_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transformation {
    /// Elements are unit intervals.
    HalfPixel,
    /// The same, about the centers of both.
    HalfPixelSymmetric,
    /// The same, but for results of one element.
    PytorchHalfPixel,
    /// First and last elements coincide.
    AlignCorners,
    /// First elements coincide.
    Asymmetric,
    /// First and last elements are those of a region.
    Crop,
}

/// One axis to resize.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Elements of the operand.
    pub from: i64,
    /// Elements of the result.
    pub to: i64,
    /// The factor that was asked for, of which `to` is a rounding.
    pub scale: f64,
    /// The same without rounding, if there is such a number.
    pub exact: Option<Exact>,
    /// Start and end of the region, relative to the axis.
    pub region: (f64, f64),
}

/// Positions and weights in the operand for each element of a result axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Taps {
    /// Number of positions for each element.
    pub count: usize,
    /// Positions in the operand, `count` for each element.
    pub positions: Vec<i64>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// Elements that lie outside of the operand.
    pub outside: Vec<bool>,
}

impl Axis {
    /// True if the axis stays as it is.
    pub fn is_identity(&self, sampling: &Sampling) -> bool {
        let whole = sampling.transformation != Transformation::Crop || self.region == (0.0, 1.0);
        self.from == self.to && (self.scale - 1.0).abs() < 1e-9 && whole
    }

    /// Computes positions and weights.
    pub fn taps(&self, sampling: &Sampling) -> Taps {
        let mut taps = Taps { count: 0, positions: vec![], weights: vec![], outside: vec![] };
        let crop = sampling.transformation == Transformation::Crop;
        for element in 0..self.to {
            let (outside, first, mut weights) = match self.nearest(sampling, element) {
                Some((outside, at)) => (outside, at, vec![1.0]),
                None => {
                    let x = self.coordinate(sampling.transformation, element as f32);
                    let last = (self.from - 1) as f64;
                    let (first, weights) = self.window(sampling, x);
                    (!(0.0..=last).contains(&x), first, weights)
                }
            };
            taps.outside.push(crop && outside);
            taps.count = weights.len();
            let positions = first..first + weights.len() as i64;
            if sampling.exclude_outside && !matches!(sampling.mode, Mode::Nearest(_)) {
                drop_outside(self.from, positions.clone(), &mut weights);
            }
            taps.positions.extend(positions.map(|at| at.clamp(0, (self.from - 1).max(0))));
            taps.weights.extend(weights);
        }
        taps
    }

    /// For the mode nearest: the element that is, and whether its point lies outside of the operand.
    fn nearest(&self, sampling: &Sampling, y: i64) -> Option<(bool, i64)> {
        let Mode::Nearest(rounding) = sampling.mode else { return None };
        let x = self.exact_coordinate(sampling.transformation, y)?;
        let range = Exact::from(0)..=Exact::from(i128::from(self.from) - 1);
        Some((!range.contains(&x), resize_exact::nearest(x, rounding)?))
    }

    /// The point of the operand on which element `y` of the result lies. In f32, as onnxruntime
    /// computes it.
    fn coordinate(&self, transformation: Transformation, y: f32) -> f64 {
        let (from, scale) = (self.from as f32, self.scale as f32);
        let to = scale * from;
        let half_pixel = (y + 0.5) / scale - 0.5;
        let x = match transformation {
            Transformation::HalfPixel => half_pixel,
            Transformation::PytorchHalfPixel if to == 1.0 => 0.0,
            Transformation::PytorchHalfPixel => half_pixel,
            Transformation::HalfPixelSymmetric => {
                from / 2.0 * (1.0 - self.to as f32 / to) + half_pixel
            }
            Transformation::AlignCorners if to == 1.0 => 0.0,
            Transformation::AlignCorners => y * (from - 1.0) / (to - 1.0),
            Transformation::Asymmetric => y / scale,
            Transformation::Crop => {
                let (start, end) = (self.region.0 as f32, self.region.1 as f32);
                let offset = if to == 1.0 {
                    (end - start) * (from - 1.0) / 2.0
                } else {
                    y * (end - start) * (from - 1.0) / (to - 1.0)
                };
                start * (from - 1.0) + offset
            }
        };
        f64::from(x)
    }

    /// The first position that counts at `x`, and the weights from it on.
    fn window(&self, sampling: &Sampling, x: f64) -> (i64, Vec<f64>) {
        // A coordinate that is no number (an empty axis, a scale of 0) must not become a huge one.
        let x = if x.is_finite() { x } else { 0.0 };
        let whole = x == x.floor();
        // The element left of x, and how far x is from it: from 0 on, without 0.
        let (left, ratio) =
            if whole { (x as i64 - 1, 1.0) } else { (x.floor() as i64, x - x.floor()) };
        let shrink = if sampling.antialias { self.scale.min(1.0) } else { 1.0 };
        match sampling.mode {
            Mode::Nearest(rounding) => {
                let second = match rounding {
                    _ if whole => true,
                    Rounding::PreferFloor => ratio > 0.5,
                    Rounding::PreferCeil => ratio >= 0.5,
                    Rounding::Floor => false,
                    Rounding::Ceil => true,
                };
                (left + i64::from(second), vec![1.0])
            }
            Mode::Linear => kernel(left, ratio, 1.0, shrink, |x| (1.0 - x).max(0.0)),
            Mode::Cubic => {
                let a = sampling.cubic_coefficient;
                kernel(left, ratio, 2.0, shrink, |x| cubic(x, a))
            }
        }
    }
}

/// The weights that a kernel, which reaches `reach` far to both sides and is stretched by
/// `1 / shrink`, gives to the elements around `left + ratio`.
fn kernel(
    left: i64,
    ratio: f64,
    reach: f64,
    shrink: f64,
    weight: impl Fn(f64) -> f64,
) -> (i64, Vec<f64>) {
    let first = (-reach / shrink).floor() as i64 + 1;
    let mut weights: Vec<_> =
        (first..2 - first).map(|i| weight(((i as f64 - ratio) * shrink).abs())).collect();
    if shrink < 1.0 {
        normalize(&mut weights);
    }
    (left + first, weights)
}

fn cubic(x: f64, a: f64) -> f64 {
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    } else {
        0.0
    }
}

fn normalize(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    if sum != 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
}

fn drop_outside(size: i64, positions: std::ops::Range<i64>, weights: &mut [f64]) {
    for (position, weight) in positions.zip(weights.iter_mut()) {
        if !(0..size).contains(&position) {
            *weight = 0.0;
        }
    }
    normalize(weights);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(mode: Mode, transformation: Transformation) -> Sampling {
        Sampling {
            mode,
            transformation,
            cubic_coefficient: -0.75,
            exclude_outside: false,
            antialias: false,
        }
    }

    fn axis(from: i64, to: i64) -> Axis {
        let scale = to as f64 / from as f64;
        Axis { from, to, scale, exact: resize_exact::quotient(to, from), region: (0.0, 1.0) }
    }

    #[test]
    fn nearest_rounds_as_told() {
        let positions = |rounding| {
            axis(2, 4)
                .taps(&sampling(Mode::Nearest(rounding), Transformation::Asymmetric))
                .positions
        };
        assert_eq!(positions(Rounding::Floor), [0, 0, 1, 1]);
        assert_eq!(positions(Rounding::Ceil), [0, 1, 1, 1]);
        assert_eq!(positions(Rounding::PreferFloor), [0, 0, 1, 1]);
        assert_eq!(positions(Rounding::PreferCeil), [0, 1, 1, 1]);
    }

    #[test]
    fn positions_that_are_exact_numbers_are_exact() {
        let positions = |axis: Axis, rounding, transformation| {
            axis.taps(&sampling(Mode::Nearest(rounding), transformation)).positions
        };
        let (floor, up) = (Rounding::Floor, Rounding::PreferCeil);
        let corners = positions(axis(21, 6), floor, Transformation::AlignCorners);
        assert_eq!(corners, [0, 4, 8, 12, 16, 20]);
        assert_eq!(positions(axis(14, 4), floor, Transformation::Asymmetric), [0, 3, 7, 10]);
        assert_eq!(positions(axis(14, 4), up, Transformation::Asymmetric), [0, 4, 7, 11]);
        // 0.6 is no f32, but 3 / 0.6 is 5.
        let given = Axis { exact: resize_exact::fraction(f64::from(0.6f32)), ..axis(10, 6) };
        assert_eq!(positions(given, floor, Transformation::Asymmetric), [0, 1, 3, 5, 6, 8]);
    }

    /// All sizes, against integers: no position is off by one anywhere.
    #[test]
    fn whole_positions_of_all_sizes() {
        for (from, to) in (1..40i64).flat_map(|from| (1..40i64).map(move |to| (from, to))) {
            let at = |transformation, y: i64| {
                let taps =
                    axis(from, to).taps(&sampling(Mode::Nearest(Rounding::Floor), transformation));
                taps.positions[y as usize]
            };
            let y = to / 2;
            assert_eq!(at(Transformation::Asymmetric, y), y * from / to, "{from} to {to}");
            let corner = if to == 1 { 0 } else { y * (from - 1) / (to - 1) };
            assert_eq!(at(Transformation::AlignCorners, y), corner, "{from} to {to}");
            let center = ((2 * y + 1) * from - to).div_euclid(2 * to).clamp(0, from - 1);
            assert_eq!(at(Transformation::HalfPixel, y), center, "{from} to {to}");
        }
    }

    #[test]
    fn linear_blends_neighbours_and_repeats_the_edge() {
        let taps = axis(2, 4).taps(&sampling(Mode::Linear, Transformation::HalfPixel));
        assert_eq!(taps.count, 2);
        assert_eq!(taps.positions, [0, 0, 0, 1, 0, 1, 1, 1]);
        assert_eq!(taps.weights, [0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.75, 0.25]);
    }

    #[test]
    fn cubic_weights_sum_to_one() {
        let taps = axis(5, 3).taps(&sampling(Mode::Cubic, Transformation::HalfPixel));
        assert_eq!(taps.count, 4);
        for weights in taps.weights.chunks(4) {
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn antialiasing_widens_the_kernel() {
        let wide =
            Sampling { antialias: true, ..sampling(Mode::Linear, Transformation::HalfPixel) };
        assert_eq!(axis(8, 2).taps(&wide).count, 8);
        assert_eq!(axis(2, 8).taps(&wide).count, 2);
    }

    #[test]
    fn a_region_may_lie_outside() {
        let crop = sampling(Mode::Nearest(Rounding::Floor), Transformation::Crop);
        let axis = Axis { region: (0.5, 1.5), ..axis(4, 3) };
        assert_eq!(axis.taps(&crop).outside, [false, false, true]);
    }

    #[test]
    fn odd_axes_do_not_panic() {
        for transformation in [Transformation::HalfPixel, Transformation::AlignCorners] {
            let axis = axis(0, 2);
            let taps = axis.taps(&sampling(Mode::Linear, transformation));
            assert!(taps.positions.iter().all(|at| *at == 0));
        }
    }
}
