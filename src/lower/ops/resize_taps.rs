//! Where the elements of a resized axis come from: positions and weights, known at compile time.
//!
//! The formulas are those of ONNX's `Resize` (opset 19). Positions beyond the ends of the axis
//! stand for the first or last element.

/// How an axis is sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Interpolation between elements.
    pub mode: Mode,
    /// Which point of the operand a point of the result lies on.
    pub transformation: Transformation,
    /// The parameter of cubic interpolation.
    pub cubic_coefficient: f64,
    /// Whether elements beyond the ends have no weight.
    pub exclude_outside: bool,
    /// Whether the kernel grows with the elements that fall together.
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

/// Which of two elements is the nearest.
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
    /// Start and end of the region, relative to the axis.
    pub region: (f64, f64),
}

/// What the elements of a result axis are made of.
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
    /// Whether the axis stays as it is.
    pub fn is_identity(&self, sampling: &Sampling) -> bool {
        let whole = sampling.transformation != Transformation::Crop || self.region == (0.0, 1.0);
        self.from == self.to && (self.scale - 1.0).abs() < 1e-9 && whole
    }

    /// Computes positions and weights.
    pub fn taps(&self, sampling: &Sampling) -> Taps {
        let mut taps = Taps { count: 0, positions: vec![], weights: vec![], outside: vec![] };
        for element in 0..self.to {
            let x = self.coordinate(sampling.transformation, element as f32);
            let last = (self.from - 1) as f64;
            let crop = sampling.transformation == Transformation::Crop;
            taps.outside.push(crop && !(0.0..=last).contains(&x));
            let (first, mut weights) = self.window(sampling, x);
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

    /// The point of the operand on which element `y` of the result lies. In f32, as onnxruntime
    /// computes it: rounding decides which element is the nearest.
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
        Axis { from, to, scale: to as f64 / from as f64, region: (0.0, 1.0) }
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
        let axis = Axis { from: 4, to: 3, scale: 0.75, region: (0.5, 1.5) };
        assert_eq!(axis.taps(&crop).outside, [false, false, true]);
    }

    #[test]
    fn odd_axes_do_not_panic() {
        for transformation in [Transformation::HalfPixel, Transformation::AlignCorners] {
            let axis = Axis { from: 0, to: 2, scale: f64::INFINITY, region: (0.0, 1.0) };
            let taps = axis.taps(&sampling(Mode::Linear, transformation));
            assert!(taps.positions.iter().all(|at| *at == 0));
        }
    }
}
