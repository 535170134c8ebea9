//! The phases of a transposed convolution.
//!
//! With stride s, the outputs whose position (counted from before the cut) is r modulo s see every
//! s-th tap only, the r-th and those after: `y[q * s + r] = sum over j of x[q - j] * w[r + s * j]`.
//! That is a convolution for each such phase r.

use crate::{host::kernel::recognize::computed_dims, ir::graph};
use std::ops::Range;

/// Elements of rewritten weights, at most: those of other phases than a tap's own, and between the
/// taps of a dilation, are 0.
const MAX_WEIGHTS: i64 = 1 << 26;

/// One spatial axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub stride: i64,
    pub dilation: i64,
    /// Taps of the transposed convolution.
    pub kernel: i64,
    /// Taps of the convolution.
    pub taps: i64,
    /// Zeros before and after the input.
    pub pads: [i64; 2],
    /// Points of the convolution.
    pub points: i64,
    /// Positions to cut off the front of the phases put side by side.
    pub cut: i64,
}

impl Axis {
    fn new(kernel: i64, (stride, dilation): (i64, i64), pad: i64, input: i64, output: i64) -> Self {
        let taps = ((kernel - 1) * dilation + 1 + stride - 1) / stride;
        let first = (pad / stride).min(taps - 1);
        let cut = pad - first * stride;
        let least = (output + cut + stride - 1) / stride;
        let before = taps - 1 - first;
        let after = (least - 1 + taps - input - before).max(0);
        let points = input + before + after - taps + 1;
        Self { stride, dilation, kernel, taps, pads: [before, after], points, cut }
    }

    /// The tap of the transposed convolution that is tap `tap` of a phase.
    fn source(&self, phase: i64, tap: i64) -> Option<i64> {
        let at = phase + self.stride * (self.taps - 1 - tap);
        let fits = at % self.dilation == 0 && at / self.dilation < self.kernel;
        fits.then_some(at / self.dilation)
    }
}

/// A transposed convolution with all its sizes.
pub struct Plan {
    pub axes: Vec<Axis>,
    pub groups: i64,
    /// Input and output channels of a group.
    pub depth: i64,
    pub channels: i64,
}

impl Plan {
    /// The plan for one whose sizes are known, if its filters do not become too large.
    pub fn of(conv: graph::ConvTranspose<'_>) -> Option<Self> {
        let (x, w, y) =
            (computed_dims(conv.x())?, computed_dims(conv.w())?, computed_dims(conv.y())?);
        let rank = super::image_dims(conv.x())?.len() - 2;
        let list = |given: Vec<i64>, default: i64, len: usize| match given.len() {
            0 => Some(vec![default; len]),
            given_len => (given_len == len).then_some(given),
        };
        let strides = list(conv.strides(), 1, rank)?;
        let dilations = list(conv.dilations(), 1, rank)?;
        let pads = list(conv.pads(), 0, 2 * rank)?;
        let sizes = [&x, &w, &y].into_iter().all(|dims| dims.iter().all(|dim| *dim > 0));
        if !sizes || pads.iter().any(|pad| *pad < 0) || w.len() != rank + 2 {
            return None;
        }
        let axis = |i: usize| {
            let steps = (strides[i], dilations[i]);
            Axis::new(w[2 + i], steps, pads[i], x[2 + i], y[2 + i])
        };
        let groups = conv.group();
        let axes = (0..rank).map(axis).collect();
        let plan = Self { axes, groups, depth: x[1] / groups, channels: w[1] };
        let taps: i64 = plan.axes.iter().map(|axis| axis.taps).product();
        (plan.phases() * taps * w[0] * w[1] <= MAX_WEIGHTS).then_some(plan)
    }

    /// Number of phases.
    pub fn phases(&self) -> i64 {
        self.axes.iter().map(|axis| axis.stride).product()
    }

    /// Zeros before the image along each axis, and then those after it.
    pub fn pads(&self) -> Vec<i64> {
        let side = |end: usize| self.axes.iter().map(move |axis| axis.pads[end]);
        side(0).chain(side(1)).collect()
    }

    /// True if each channel has an input of its own. Then each phase is a convolution, because that
    /// is what there is a kernel for.
    pub fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.depth == 1 && self.channels == 1
    }

    /// The filters `[group][phase][channel][input channel][taps]` for some phases.
    ///
    /// `zero` is what stands where a phase has no tap.
    pub fn filters<T: Copy>(&self, w: &[T], zero: T, phases: Range<i64>) -> Vec<T> {
        let kernels: Vec<i64> = self.axes.iter().map(|axis| axis.kernel).collect();
        let strides: Vec<i64> = self.axes.iter().map(|axis| axis.stride).collect();
        let all: Vec<i64> = self.axes.iter().map(|axis| axis.taps).collect();
        let (taps, kernel): (i64, i64) = (all.iter().product(), kernels.iter().product());
        let mut filters = vec![];
        for group in 0..self.groups {
            for phase in phases.clone() {
                let phase = coordinates(phase, &strides);
                // Where each tap comes from, which is the same for all channels.
                let sources: Vec<Option<i64>> = (0..taps)
                    .map(|tap| {
                        let taps = coordinates(tap, &all);
                        self.axes.iter().enumerate().try_fold(0, |at, (i, axis)| {
                            Some(at * axis.kernel + axis.source(phase[i], taps[i])?)
                        })
                    })
                    .collect();
                for channel in 0..self.channels {
                    for depth in 0..self.depth {
                        let from =
                            ((group * self.depth + depth) * self.channels + channel) * kernel;
                        let value =
                            |at: &Option<i64>| at.map_or(zero, |at| w[(from + at) as usize]);
                        filters.extend(sources.iter().map(value));
                    }
                }
            }
        }
        filters
    }

    /// A list with an element for each channel as `[group][phase][channel]`.
    pub fn by_channel<T: Copy>(&self, list: &[T], phases: i64) -> Vec<T> {
        let channels = list.chunks(self.channels.max(1) as usize);
        channels.flat_map(|group| group.repeat(phases as usize)).collect()
    }
}

/// The coordinates of the element at a place of an array.
fn coordinates(mut place: i64, sizes: &[i64]) -> Vec<i64> {
    let mut at: Vec<i64> = sizes
        .iter()
        .rev()
        .map(|size| {
            let here = place % size;
            place /= size;
            here
        })
        .collect();
    at.reverse();
    at
}

#[cfg(test)]
mod tests {
    use super::Axis;

    /// The transposed convolution of a row, and the phases of its rewriting side by side.
    fn both(kernel: i64, steps: (i64, i64), pad: i64, input: i64, output: i64) -> [Vec<i64>; 2] {
        let (x, w) = (|i: i64| 3 * i + 1, |k: i64| 7 * k + 2);
        let mut plain = vec![0; output as usize];
        for i in 0..input {
            for k in 0..kernel {
                let at = i * steps.0 + k * steps.1 - pad;
                if (0..output).contains(&at) {
                    plain[at as usize] += x(i) * w(k);
                }
            }
        }
        let axis = Axis::new(kernel, steps, pad, input, output);
        let mut phases = vec![];
        for point in 0..axis.points {
            for phase in 0..axis.stride {
                let taps = (0..axis.taps).filter_map(|tap| {
                    let at = point + tap - axis.pads[0];
                    let inside = (0..input).contains(&at);
                    inside.then(|| axis.source(phase, tap).map_or(0, |k| x(at) * w(k)))
                });
                phases.push(taps.sum());
            }
        }
        let kept = phases.into_iter().skip(axis.cut as usize).take(output as usize);
        [plain, kept.collect()]
    }

    #[test]
    fn phases_of_a_convolution_are_a_transposed_one() {
        for kernel in 1..6 {
            for steps in [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (2, 3), (3, 2)] {
                for pad in 0..=(kernel - 1) * steps.1 + 1 {
                    for extra in 0..steps.0 {
                        let whole = steps.0 * 4 + (kernel - 1) * steps.1 + 1 + extra;
                        for after in 0..3 {
                            let output = whole - pad - after;
                            if output < 1 {
                                continue;
                            }
                            let [plain, phases] = both(kernel, steps, pad, 5, output);
                            assert_eq!(plain, phases, "{kernel} {steps:?} {pad} {output}");
                        }
                    }
                }
            }
        }
    }
}
