//! Transposed convolutions become convolutions.
//!
//! With stride s, the outputs whose position (counted from before the cut) is r modulo s see every
//! s-th tap only, the r-th and those after: `y[q * s + r] = sum over j of x[q - j] * w[r + s * j]`.
//! That is a convolution for each such phase r; all phases are channels of one, and a
//! transposition puts them side by side (depth to space).

use super::{Layout, int_list};
use crate::{
    Result,
    host::kernel::{
        recognize::{f32_dims, kernel_dims},
        weights,
    },
    ir::{self, Builder, Op, OpSpec, Val, edit, graph, view::OpView},
};
use melior::ir::ValueLike;

/// Elements of rewritten weights, at most: those of other phases than a tap's own, and between the
/// taps of a dilation, are 0.
const MAX_WEIGHTS: i64 = 1 << 26;

/// One spatial axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    stride: i64,
    dilation: i64,
    /// Taps of the transposed convolution.
    kernel: i64,
    /// Taps of the convolution.
    taps: i64,
    /// Zeros before and after the input.
    pads: [i64; 2],
    /// Points of the convolution.
    points: i64,
    /// Positions to cut off the front of the phases put side by side.
    cut: i64,
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
struct Plan {
    axes: Vec<Axis>,
    groups: i64,
    /// Input and output channels of a group.
    depth: i64,
    channels: i64,
}

impl Plan {
    fn of(conv: graph::ConvTranspose<'_>) -> Option<Self> {
        let (x, w) = (kernel_dims(conv.x())?, f32_dims(conv.w())?);
        let y = f32_dims(conv.y())?;
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

    fn phases(&self) -> i64 {
        self.axes.iter().map(|axis| axis.stride).product()
    }

    /// Whether each channel has an input of its own. Then each phase is a convolution, because
    /// that is what there is a kernel for.
    fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.depth == 1 && self.channels == 1
    }

    /// The filters `[group][phase][channel][input channel][taps]` for some phases.
    fn filters(&self, w: &[f32], phases: std::ops::Range<i64>) -> Vec<f32> {
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
                        let value = |at: &Option<i64>| at.map_or(0.0, |at| w[(from + at) as usize]);
                        filters.extend(sources.iter().map(value));
                    }
                }
            }
        }
        filters
    }

    /// The bias `[group][phase][channel]`.
    fn bias(&self, b: &[f32], phases: i64) -> Vec<f32> {
        let channels = b.chunks(self.channels.max(1) as usize);
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

impl<'c> Layout<'c> {
    /// Rewrites a transposed convolution with constant filters.
    pub(super) fn visit_transposed(&mut self, op: Op<'c>) -> Result<()> {
        let Some(conv) = graph::ConvTranspose::of(op) else { return Ok(()) };
        let (Some(plan), Some(w)) = (Plan::of(conv), weights::floats(conv.w())) else {
            return Ok(());
        };
        let bias = match conv.b() {
            None => None,
            Some(bias) => match weights::floats(bias) {
                None => return Ok(()),
                known => known,
            },
        };
        let b = Builder::before(op)?;
        let per_conv = if plan.is_depthwise() { 1 } else { plan.phases() };
        let mut parts = vec![];
        for first in (0..plan.phases()).step_by(per_conv as usize) {
            let made =
                self.convolution(&b, conv, &plan, (&w, bias.as_deref(), first..first + per_conv))?;
            parts.push(self.wrap(made)?);
        }
        let y = self.side_by_side(&b, &plan, &parts)?;
        let y = cut(&b, &plan, y, conv)?;
        self.replace(&b, conv.y(), y)?;
        edit::erase(op);
        Ok(())
    }

    /// The convolution of some phases, on NCHW.
    fn convolution(
        &mut self,
        b: &Builder<'c>,
        conv: graph::ConvTranspose<'c>,
        plan: &Plan,
        (w, bias, phases): (&[f32], Option<&[f32]>, std::ops::Range<i64>),
    ) -> Result<Op<'c>> {
        let count = phases.end - phases.start;
        let channels = plan.groups * count * plan.channels;
        let mut shape = vec![channels, plan.depth];
        shape.extend(plan.axes.iter().map(|axis| axis.taps));
        self.constants += 1;
        let name = format!("transposed_{}", self.constants);
        let filters = weights::constant(b, &shape, plan.filters(w, phases), &name)?;
        let mut operands = vec![conv.x(), filters];
        if let Some(bias) = bias {
            let values = plan.bias(bias, count);
            operands.push(weights::constant(b, &[channels], values, &format!("{name}_bias"))?);
        }
        let mut dims = vec![ir::dims(conv.x().r#type())[0], channels];
        dims.extend(plan.axes.iter().map(|axis| axis.points));
        let side = |end: usize| plan.axes.iter().map(move |axis| axis.pads[end]);
        let pads: Vec<i64> = side(0).chain(side(1)).collect();
        let ones = vec![1; plan.axes.len()];
        let attributes = vec![
            ("strides", b.i64s_attr(&ones)),
            ("dilations", b.i64s_attr(&ones)),
            ("pads", b.i64s_attr(&pads)),
            ("group", b.i64_attr(plan.groups)),
        ];
        let results = [b.tensor(&dims, b.f32())];
        let spec =
            OpSpec { operands: &operands, results: &results, attributes, ..Default::default() };
        b.create(graph::Conv::NAME, spec)
    }

    /// The phases, which are channels, as neighbouring points.
    fn side_by_side(&mut self, b: &Builder<'c>, plan: &Plan, parts: &[Val<'c>]) -> Result<Val<'c>> {
        let dims = ir::dims(parts[0].r#type());
        let rank = plan.axes.len();
        let all = match parts {
            [one] => *one,
            _ => {
                let mut dims = dims.clone();
                dims[rank + 1] *= parts.len() as i64;
                let axis = vec![("axis", b.i64_attr(rank as i64 + 1))];
                b.op1_with(graph::Concat::NAME, parts, b.tensor(&dims, b.f32()), axis)?
            }
        };
        if plan.phases() == 1 {
            return Ok(all);
        }
        // Channels are [group][phase][channel], or [phase][channel of all groups].
        let (groups, channels) = match plan.is_depthwise() {
            true => (1, plan.groups),
            false => (plan.groups, plan.channels),
        };
        let mut split = dims[..=rank].to_vec();
        split.push(groups);
        split.extend(plan.axes.iter().map(|axis| axis.stride));
        split.push(channels);
        let mut perm = vec![0];
        for axis in 1..=rank {
            perm.extend([axis, rank + 1 + axis]);
        }
        perm.extend([rank + 1, 2 * rank + 2]);
        let moved: Vec<i64> = perm.iter().map(|axis| split[*axis]).collect();
        let perm: Vec<i64> = perm.into_iter().map(|axis| axis as i64).collect();
        let mut merged = vec![dims[0]];
        merged.extend(plan.axes.iter().map(|axis| axis.points * axis.stride));
        merged.push(plan.groups * plan.channels);
        let apart = self.reshape(b, all, &split)?;
        let ty = b.tensor(&moved, b.f32());
        let attributes = vec![("perm", b.i64s_attr(&perm))];
        let moved = b.op1_with(graph::Transpose::NAME, &[apart], ty, attributes)?;
        self.reshape(b, moved, &merged)
    }

    fn reshape(&mut self, b: &Builder<'c>, value: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
        let shape = int_list(b, dims)?;
        let ty = b.tensor(dims, ir::element_type(value.r#type()));
        b.op1(graph::Reshape::NAME, &[value, shape], ty)
    }
}

/// The part of the NHWC image `y` that is the result.
fn cut<'c>(
    b: &Builder<'c>,
    plan: &Plan,
    y: Val<'c>,
    conv: graph::ConvTranspose<'c>,
) -> Result<Val<'c>> {
    let result = ir::dims(conv.y().r#type());
    let mut dims = vec![result[0]];
    dims.extend(&result[2..]);
    dims.push(result[1]);
    if ir::dims(y.r#type()) == dims {
        return Ok(y);
    }
    let starts: Vec<i64> = plan.axes.iter().map(|axis| axis.cut).collect();
    let ends: Vec<i64> =
        starts.iter().zip(&result[2..]).map(|(start, size)| start + size).collect();
    let axes: Vec<i64> = (1..=plan.axes.len() as i64).collect();
    let lists = [&starts, &ends, &axes];
    let mut operands = vec![y];
    for list in lists {
        operands.push(int_list(b, list)?);
    }
    let segments = b.parse_attr("array<i32: 1, 1, 1, 1, 0>")?;
    let attributes = vec![("operandSegmentSizes", segments)];
    b.op1_with(graph::Slice::NAME, &operands, b.tensor(&dims, b.f32()), attributes)
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
