//! Data dependences of operations: the part of each operand that a part of the result needs.

use super::network::ints;
use crate::{
    ir::{self, Op, graph, view, view::OpView},
    lower::normalize_axis,
};
use melior::ir::ValueLike;

/// Positions `start` up to but without `end` of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first position.
    pub start: i64,
    /// The position behind the last one.
    pub end: i64,
}

impl Span {
    /// Number of positions.
    pub fn len(self) -> i64 {
        self.end - self.start
    }

    /// The least span with both.
    pub fn hull(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Sliding windows over a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Positions that a window covers, those between its taps included.
    pub reach: i64,
    /// Distance of windows.
    pub stride: i64,
    /// Padding before the first position.
    pub begin: i64,
}

/// Dependence of a part of the result on an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The whole operand.
    Whole,
    /// The same part. The operand lacks so many of the result's first dimensions.
    Same(usize),
    /// The windows; one for each dimension, none for those that windows do not slide over.
    Windows(Vec<Option<Window>>),
}

/// A part of a dimension of an operand, and the padding around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Positions.
    pub span: Span,
    /// Padding before and after them.
    pub pads: (i64, i64),
}

impl Access {
    /// The part of an operand with `size` positions along `axis` that these positions of the
    /// result, of `out`, need. None if it is all of the dimension whatever the positions are, and an
    /// error if there are no such positions, since all is padding.
    pub fn part(
        &self,
        axis: usize,
        size: &[i64],
        out: i64,
        need: Span,
    ) -> Result<Option<Part>, ()> {
        match self {
            Self::Whole => Ok(None),
            Self::Same(missing) => {
                let own = axis.checked_sub(*missing).and_then(|own| size.get(own).copied());
                Ok(own.filter(|own| *own == out).map(|_| Part { span: need, pads: (0, 0) }))
            }
            Self::Windows(windows) => {
                let Some(window) = windows.get(axis).copied().flatten() else {
                    return Ok(Some(Part { span: need, pads: (0, 0) }));
                };
                let start = need.start * window.stride - window.begin;
                let end = (need.end - 1) * window.stride - window.begin + window.reach;
                let inside = Span { start: start.max(0), end: end.min(size[axis]) };
                let pads = (inside.start - start, end - inside.end);
                if inside.len() <= 0 {
                    return Err(());
                }
                Ok(Some(Part { span: inside, pads }))
            }
        }
    }
}

/// Accesses to each operand; none for an operation that is not known here.
pub fn accesses(op: Op<'_>) -> Option<Vec<Access>> {
    let count = ir::operands(op).len();
    let first = |access: Access| {
        let mut all = vec![Access::Whole; count];
        *all.first_mut()? = access;
        Some(all)
    };
    match ir::op_name(op) {
        graph::Conv::NAME | graph::QLinearConv::NAME => first(Access::Windows(windows(op)?)),
        graph::MaxPool::NAME | graph::AveragePool::NAME | graph::LpPool::NAME => {
            let rounds_up = ir::attr_bool(op, "ceil_mode").unwrap_or(false);
            if rounds_up { None } else { first(Access::Windows(windows(op)?)) }
        }
        graph::Pad::NAME => first(Access::Windows(padding(op)?)),
        graph::QuantizeLinear::NAME
        | graph::DequantizeLinear::NAME
        | graph::Lookup::NAME
        | graph::BatchNorm::NAME
        | graph::Lrn::NAME => first(Access::Same(0)),
        graph::Concat::NAME => Some(vec![Access::Same(0); count]),
        _ if view::is_elementwise(op) => elementwise(op),
        _ => None,
    }
}

/// The axes of its result that an operation cannot be cut along, though it can along others.
pub fn uncut_axes(op: Op<'_>) -> Option<Vec<usize>> {
    let rank = ir::dims(ir::result0(op).ok()?.r#type()).len();
    let axis = |default| normalize_axis(ir::attr_i64(op, "axis").unwrap_or(default), rank);
    let mut uncut = vec![0, 1];
    match ir::op_name(op) {
        graph::Concat::NAME => uncut.push(axis(0)),
        graph::QuantizeLinear::NAME | graph::DequantizeLinear::NAME => {
            if ir::attr_i64(op, "block_size").unwrap_or(0) != 0 {
                return None;
            }
            let scale = ir::operands(op).get(1)?.r#type();
            if !ir::dims(scale).is_empty() && ir::dims(scale).iter().product::<i64>() != 1 {
                uncut.push(axis(1));
            }
        }
        _ => {}
    }
    Some(uncut)
}

fn elementwise(op: Op<'_>) -> Option<Vec<Access>> {
    let rank = ir::dims(ir::result0(op).ok()?.r#type()).len();
    let access = |value: ir::Val<'_>| {
        let own = ir::dims(value.r#type()).len();
        rank.checked_sub(own).map(Access::Same)
    };
    ir::operands(op).into_iter().map(access).collect()
}

/// The windows of a convolution or a pool.
fn windows(op: Op<'_>) -> Option<Vec<Option<Window>>> {
    let info = view::info(op)?;
    let rank = ir::dims(ir::operands(op).first()?.r#type()).len();
    let spatial = rank.checked_sub(2)?;
    let kernel = match info.weights.and_then(|name| info.operand(name)) {
        Some(weights) => ir::dims(ir::operands(op).get(weights)?.r#type()).get(2..)?.to_vec(),
        None => ir::attr_i64s(op, "kernel_shape")?,
    };
    let list = |name: &str, count: usize, default: i64| {
        let given = ir::attr_i64s(op, name).unwrap_or_default();
        if given.is_empty() { vec![default; count] } else { given }
    };
    let (strides, dilations) = (list("strides", spatial, 1), list("dilations", spatial, 1));
    let pads = list("pads", 2 * spatial, 0);
    let full = [kernel.len(), strides.len(), dilations.len(), pads.len() / 2];
    if full.iter().any(|count| *count != spatial) {
        return None;
    }
    let window = |at: usize| Window {
        reach: (kernel[at] - 1) * dilations[at] + 1,
        stride: strides[at],
        begin: pads[at],
    };
    Some([None, None].into_iter().chain((0..spatial).map(|at| Some(window(at)))).collect())
}

/// Padding as windows of one position.
fn padding(op: Op<'_>) -> Option<Vec<Option<Window>>> {
    let pad = graph::Pad::of(op)?;
    let rank = ir::dims(pad.x().r#type()).len();
    let given = ints(pad.pads())?;
    let axes = match pad.axes() {
        Some(axes) => ints(axes)?,
        None => (0..rank as i64).collect(),
    };
    if pad.mode() != "constant" || given.len() != 2 * axes.len() {
        return None;
    }
    let mut begins = vec![0; rank];
    for (axis, amount) in axes.iter().zip(&given) {
        *begins.get_mut(normalize_axis(*axis, rank))? = *amount;
    }
    Some(begins.into_iter().map(|begin| Some(Window { reach: 1, stride: 1, begin })).collect())
}
