//! Transposed convolutions become convolutions: all [`phases`](super::phases) are channels of one,
//! and a transposition puts them side by side (depth to space). What follows element by element
//! comes before that, where it is part of the convolution's kernel.

use super::{Layout, int_list, phases::Plan, to_nchw};
use crate::{
    Result,
    host::{
        kernel::{recognize::is_step, weights},
        quantized::{
            layers::Sums,
            parameters::{Bias, Quantized, dequantized, products},
        },
    },
    ir::{
        self, Builder, Op, OpSpec, Val, constant::Elements, edit, graph, types::with_element,
        view::OpView,
    },
};
use melior::ir::ValueLike;
use std::ops::Range;

/// The filters and the bias of a transposed convolution.
enum Filters<'c> {
    Floats(Vec<f32>, Option<Vec<f32>>),
    Doubles(Vec<f64>, Option<Vec<f64>>),
    /// Bytes on a quantized image, which may be in NHWC, with their zero point.
    Bytes {
        x: Quantized<'c>,
        is_nhwc: bool,
        w: Quantized<'c>,
        values: Vec<i64>,
        zero: i64,
        bias: Option<Bias>,
    },
}

impl<'c> Filters<'c> {
    fn of(conv: graph::ConvTranspose<'c>, nhwc: Option<Val<'c>>) -> Option<Self> {
        Self::bytes(conv, nhwc).or_else(|| Self::floats(conv)).or_else(|| Self::doubles(conv))
    }

    fn doubles(conv: graph::ConvTranspose<'c>) -> Option<Self> {
        let bias = match conv.b() {
            None => None,
            Some(bias) => Some(weights::floats(bias)?),
        };
        Some(Self::Doubles(weights::floats(conv.w())?, bias))
    }

    fn floats(conv: graph::ConvTranspose<'c>) -> Option<Self> {
        let read = |value| weights::floats(value).or_else(|| dequantized(value));
        let bias = match conv.b() {
            None => None,
            Some(bias) => Some(read(bias)?),
        };
        Some(Self::Floats(read(conv.w())?, bias))
    }

    fn bytes(conv: graph::ConvTranspose<'c>, nhwc: Option<Val<'c>>) -> Option<Self> {
        let x = Quantized::of(nhwc.unwrap_or(conv.x()), usize::MAX)?;
        let w = Quantized::of(conv.w(), 1)?;
        let zeros = w.zero.and_then(Elements::of_value).map_or(vec![0], |zeros| zeros.ints());
        let zero = *zeros.first()?;
        if !x.is_per_tensor() || zeros.iter().any(|other| *other != zero) {
            return None;
        }
        let values = Elements::of_value(w.value)?.ints();
        let bias = match conv.b() {
            None => None,
            Some(bias) => Some(Bias::of(bias, &scales_of(conv, &x, &w))?),
        };
        Some(Self::Bytes { x, is_nhwc: nhwc.is_some(), w, values, zero, bias })
    }
}

/// The scale of the sums of each channel, or one for all.
fn scales_of(conv: graph::ConvTranspose<'_>, x: &Quantized<'_>, w: &Quantized<'_>) -> Vec<f32> {
    let scales = products(&x.scales, &w.scales);
    if scales.len() == 1 { scales } else { scales.repeat(conv.group() as usize) }
}

/// The steps of an epilogue after a transposed convolution: each reads the one before and
/// parameters without dimensions, and nothing else reads it.
fn steps_after(op: Op<'_>) -> Vec<Op<'_>> {
    let mut steps = vec![];
    let mut last = op;
    while let Ok(value) = ir::result0(last)
        && let [user] = ir::users_of(last)[..]
        && is_step(user)
        && let Ok(result) = ir::result0(user)
        && let [first, parameters @ ..] = &ir::operands(user)[..]
        && *first == value
        && parameters.iter().all(|parameter| ir::dims(parameter.r#type()).is_empty())
        && ir::dims(result.r#type()) == ir::dims(value.r#type())
    {
        steps.push(user);
        last = user;
    }
    steps
}

impl<'c> Layout<'c> {
    /// Rewrites a transposed convolution with constant filters.
    pub(super) fn visit_transposed(&mut self, op: Op<'c>) -> Result<()> {
        let Some(conv) = graph::ConvTranspose::of(op) else { return Ok(()) };
        let nhwc = self.nhwc_of.get(&ir::id(conv.x())).copied();
        let (Some(plan), Some(filters)) = (Plan::of(conv), Filters::of(conv, nhwc)) else {
            return Ok(());
        };
        let steps = steps_after(op);
        let last = steps.last().copied().unwrap_or(op);
        let b = Builder::before(last)?;
        let per_conv = if plan.is_depthwise() { 1 } else { plan.phases() };
        let mut parts = vec![];
        for first in (0..plan.phases()).step_by(per_conv as usize) {
            let phases = first..first + per_conv;
            let mut part = match &filters {
                Filters::Floats(w, bias) => {
                    self.convolution(&b, conv, &plan, (w, bias.as_deref(), phases))?
                }
                Filters::Doubles(w, bias) => {
                    self.convolution(&b, conv, &plan, (w, bias.as_deref(), phases))?
                }
                Filters::Bytes { .. } => self.integers(&b, conv, &plan, (&filters, phases))?,
            };
            for step in &steps {
                let copy = edit::clone_before(*step, last);
                let result = ir::result0(copy)?;
                edit::set_operand(copy, 0, part)?;
                let element = ir::element_type(result.r#type());
                edit::set_type(result, with_element(part.r#type(), element));
                part = result;
            }
            parts.push(part);
        }
        let y = self.side_by_side(&b, &plan, &parts)?;
        let result = ir::result0(last)?;
        let y = cut(&b, &plan, y, &ir::dims(result.r#type()))?;
        self.replace(&b, result, y)?;
        self.made.push(op);
        self.made.extend(steps);
        Ok(())
    }

    /// The convolution of some phases of an image in NCHW, as NHWC.
    fn convolution<T: weights::Float>(
        &mut self,
        b: &Builder<'c>,
        conv: graph::ConvTranspose<'c>,
        plan: &Plan,
        (w, bias, phases): (&[T], Option<&[T]>, Range<i64>),
    ) -> Result<Val<'c>> {
        let count = phases.end - phases.start;
        let (shape, name) = self.filters(plan, count);
        let filters = weights::constant(b, &shape, plan.filters(w, T::default(), phases), &name)?;
        let mut operands = vec![conv.x(), filters];
        if let Some(bias) = bias {
            let values = plan.by_channel(bias, count);
            operands.push(weights::constant(b, &shape[..1], values, &format!("{name}_bias"))?);
        }
        let [batch, ..] = ir::dims(conv.x().r#type())[..] else { return Ok(conv.y()) };
        let mut dims = vec![batch, shape[0]];
        dims.extend(plan.axes.iter().map(|axis| axis.points));
        let ones = vec![1; plan.axes.len()];
        let attributes = vec![
            ("strides", b.i64s_attr(&ones)),
            ("dilations", b.i64s_attr(&ones)),
            ("pads", b.i64s_attr(&plan.pads())),
            ("group", b.i64_attr(plan.groups)),
        ];
        let results = [b.tensor(&dims, T::ELEMENT.r#type(b))];
        let spec =
            OpSpec { operands: &operands, results: &results, attributes, ..Default::default() };
        let made = b.create(graph::Conv::NAME, spec)?;
        self.wrap(made)
    }

    /// The same of bytes: sums, and the numbers that they stand for.
    fn integers(
        &mut self,
        b: &Builder<'c>,
        conv: graph::ConvTranspose<'c>,
        plan: &Plan,
        (filters, phases): (&Filters<'c>, Range<i64>),
    ) -> Result<Val<'c>> {
        let Filters::Bytes { x, is_nhwc, w, values, zero, bias } = filters else {
            return Ok(conv.y());
        };
        let count = phases.end - phases.start;
        let (shape, name) = self.filters(plan, count);
        let values = plan.filters(values, *zero, phases);
        let ty = with_element(b.tensor(&shape, b.int(8)), ir::element_type(w.value.r#type()));
        let filters = weights::bytes(b, ty, &values, &name)?;
        let zero = match zero {
            0 => None,
            zero => {
                let ty = with_element(b.tensor(&[], b.int(8)), ir::element_type(ty));
                Some(weights::bytes(b, ty, &[*zero], &format!("{name}_zero"))?)
            }
        };
        let ones = vec![1; plan.axes.len()];
        let attributes = graph::ConvIntegerAttrs {
            strides: ones.clone(),
            pads: plan.pads(),
            dilations: ones,
            group: plan.groups,
        };
        let mut image = x.value;
        if *is_nhwc {
            image = self.permute(b, x.value, &to_nchw(ir::dims(x.value.r#type()).len()))?;
            self.nhwc_of.insert(ir::id(image), x.value);
        }
        let made = graph::ConvInteger::build(b, image, filters, x.zero, zero, attributes)?;
        let value = self.wrap(made.op())?;
        let scales = scales_of(conv, x, w);
        let scales = if scales.len() == 1 { scales } else { plan.by_channel(&scales, count) };
        let bias = bias.as_ref().map(|bias| match bias {
            Bias::Integers(list) => Bias::Integers(plan.by_channel(list, count)),
            Bias::Reals(list) => Bias::Reals(plan.by_channel(list, count)),
        });
        let axis = ir::dims(value.r#type()).len() as i64 - 1;
        Sums { value, axis, behind: 0, scales }.reals(b, bias)
    }

    /// The shape of the filters of some phases, and a name.
    fn filters(&mut self, plan: &Plan, phases: i64) -> (Vec<i64>, String) {
        let mut shape = vec![plan.groups * phases * plan.channels, plan.depth];
        shape.extend(plan.axes.iter().map(|axis| axis.taps));
        self.constants += 1;
        (shape, format!("transposed_{}", self.constants))
    }

    /// The phases, which are channels, as neighbouring points.
    fn side_by_side(&mut self, b: &Builder<'c>, plan: &Plan, parts: &[Val<'c>]) -> Result<Val<'c>> {
        let dims = ir::dims(parts[0].r#type());
        let rank = plan.axes.len();
        let element = ir::element_type(parts[0].r#type());
        let all = match parts {
            [one] => *one,
            _ => {
                let mut dims = dims.clone();
                dims[rank + 1] *= parts.len() as i64;
                let axis = vec![("axis", b.i64_attr(rank as i64 + 1))];
                b.op1_with(
                    graph::Concat::NAME,
                    parts,
                    with_element(b.tensor(&dims, b.f32()), element),
                    axis,
                )?
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
        let ty = with_element(b.tensor(&moved, b.f32()), element);
        let attributes = vec![("perm", b.i64s_attr(&perm))];
        let moved = b.op1_with(graph::Transpose::NAME, &[apart], ty, attributes)?;
        self.reshape(b, moved, &merged)
    }

    fn reshape(&mut self, b: &Builder<'c>, value: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
        let shape = int_list(b, dims)?;
        let ty = with_element(b.tensor(dims, b.f32()), ir::element_type(value.r#type()));
        b.op1(graph::Reshape::NAME, &[value, shape], ty)
    }
}

/// The part of the NHWC image `y` that is the result, whose sizes in NCHW are given.
fn cut<'c>(b: &Builder<'c>, plan: &Plan, y: Val<'c>, result: &[i64]) -> Result<Val<'c>> {
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
    let ty = with_element(b.tensor(&dims, b.f32()), ir::element_type(y.r#type()));
    b.op1_with(graph::Slice::NAME, &operands, ty, attributes)
}
