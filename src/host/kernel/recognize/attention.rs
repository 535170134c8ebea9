//! Attention: a product, softmax of its rows, and a product with the result.

use super::{
    Form, Kernel, Recognized, Scope, broadcast_strides, f32_dims, kernel_dims, operand_view,
};
use crate::{
    host::kernel::{
        Attention, Contraction, Types, View, Weights, Window,
        attention::{Programs, row_step},
        program::Arg,
        tiling::ceil_div,
    },
    ir::{self, Op, Val, graph, view::OpView},
    lower::normalize_axis,
};

/// Rows that a task of the kernel has, about.
const TASK_ROWS: i64 = 8;
/// Tasks from which on attention is one kernel.
const LEAST_TASKS: i64 = 8;

/// A composite that is attention.
pub struct Attended<'c> {
    /// The kernel.
    pub spec: Attention,
    scores: Recognized<'c>,
    weights: Recognized<'c>,
    values: Recognized<'c>,
    v: usize,
    k: usize,
}

impl<'c> Attended<'c> {
    /// The operands of the composite as the kernel takes them.
    pub fn operands(&self) -> Vec<usize> {
        let mut all = vec![self.scores.x, self.k];
        all.extend(&self.scores.operands);
        all.extend(&self.weights.operands);
        all.push(self.v);
        all.extend(&self.values.operands);
        all
    }

    /// Elementwise operations besides products and softmax.
    pub fn programs(&self) -> Programs<'_, 'c> {
        Programs {
            scores: &self.scores.program,
            weights: &self.weights.program,
            values: &self.values.program,
        }
    }
}

/// True for a softmax that attention can have: of f32, along the last dimension.
pub fn is_softmax_of_rows(op: Op<'_>) -> bool {
    let Some(softmax) = graph::Softmax::of(op) else { return false };
    f32_dims(softmax.x())
        .is_some_and(|dims| normalize_axis(softmax.axis(), dims.len()) + 1 == dims.len())
}

/// True if attention with these scores is faster as one kernel. Its tasks are rows of the scores;
/// the products alone have tasks along columns, too, which a few rows with many columns need.
pub fn pays(scores: Val<'_>) -> bool {
    let dims = f32_dims(scores);
    dims.as_deref().and_then(split).is_some_and(|(lead, [rows, _])| {
        lead.iter().product::<i64>() * ceil_div(rows, TASK_ROWS) >= LEAST_TASKS
    })
}

/// Looks at a composite whose operations are a product, elementwise ones, softmax, elementwise ones,
/// a product, and elementwise ones.
pub fn attention<'c>(composite: Op<'c>) -> Option<Attended<'c>> {
    let body = ir::ops_of(composite);
    let at = body.iter().position(|op| is_softmax_of_rows(*op))?;
    let second = at + 1 + body[at + 1..].iter().position(|op| graph::MatMul::is(*op))?;
    let softmax = graph::Softmax::of(body[at])?;
    let (first, last) = (graph::MatMul::of(body[0])?, graph::MatMul::of(body[second])?);
    let results = ir::results(composite);
    let [result] = results[..] else { return None };
    let (dims, out) = (f32_dims(softmax.x())?, kernel_dims(result)?);
    let (lead, [rows, columns]) = split(&dims)?;
    let (out_lead, [out_rows, channels]) = split(&out)?;
    if lead != out_lead || rows != out_rows || dims.iter().chain(&out).any(|dim| *dim == 0) {
        return None;
    }
    let scope = |out| Scope { composite, out, form: Form::Planes(1) };
    let (inner, outer) = (scope(&dims), scope(&out));

    let (q, k, v) =
        (inner.operand(first.a())?, inner.operand(first.b())?, outer.operand(last.b())?);
    let depth = *inner.singles(q)?.last()?;
    let step = row_step(columns);
    let memory = View { row: 1, col: step, channel: 1, ..View::default() };
    let x = inner.view(q, &[lead, &[rows, depth]].concat())?;
    let product = Product { lead, rows, depth, channels: columns };
    let scores = product.spec((x, memory), inner.view(k, &[lead, &[depth, columns]].concat())?);
    let y = View {
        batch: lead.last().copied().unwrap_or(1) * rows * channels,
        plane: rows * channels,
        col: channels,
        channel: 1,
        ..View::default()
    };
    let product = Product { lead, rows, depth: columns, channels };
    let values = product.spec((memory, y), outer.view(v, &[lead, &[columns, channels]].concat())?);

    let start =
        |spec: &Contraction, x| inner.found("attention", Kernel::Contraction(spec.clone()), x);
    let (mut before, mut between, mut after) =
        (start(&scores, q), start(&scores, q), start(&values, v));
    let end = body.len() - 1;
    let yielded = ir::operands(body[end]);
    let [yielded] = yielded[..] else { return None };
    let root = Arg::Value(0);
    inner.steps(&mut before, (first.y(), root), &body[1..at], softmax.x())?;
    inner.steps(&mut between, (softmax.y(), root), &body[at + 1..second], last.a())?;
    outer.steps(&mut after, (last.y(), root), &body[second + 1..end], yielded)?;
    let spec = Attention {
        scores: contraction(&before)?,
        operands: contraction(&between)?.operands,
        values: contraction(&after)?,
    };
    Some(Attended { spec, scores: before, weights: between, values: after, v, k })
}

fn contraction(found: &Recognized<'_>) -> Option<Contraction> {
    match &found.kernel {
        Kernel::Contraction(spec) => Some(spec.clone()),
        Kernel::Depthwise(_) | Kernel::Other { .. } => None,
    }
}

/// The dimensions before the last two, and those.
fn split(dims: &[i64]) -> Option<(&[i64], [i64; 2])> {
    let (lead, matrix) = dims.split_last_chunk::<2>()?;
    Some((lead, *matrix))
}

/// The sizes of a product.
struct Product<'d> {
    lead: &'d [i64],
    rows: i64,
    depth: i64,
    channels: i64,
}

impl Product<'_> {
    fn spec(&self, (x, y): (View, View), weights: View) -> Contraction {
        let (planes, batch) = match self.lead {
            [batch @ .., planes] => (*planes, batch.iter().product()),
            [] => (1, 1),
        };
        Contraction {
            types: Types::F32,
            batch,
            planes,
            rows: 1,
            cols: self.rows,
            groups: 1,
            channels: self.channels,
            sections: vec![],
            depth: self.depth,
            window: Window::point([planes, 1, self.rows]),
            x,
            weights: Weights::Rows(self.channels),
            weights_batch: weights.batch,
            weights_plane: weights.plane,
            scales: None,
            start: None,
            amx: None,
            y,
            operands: vec![],
        }
    }
}

impl<'c> Scope<'_, 'c> {
    fn singles(&self, operand: usize) -> Option<Vec<i64>> {
        f32_dims(self.outer(operand)?)
    }

    /// The view of an operand that broadcasts to these dimensions, all but the last two.
    fn view(&self, operand: usize, dims: &[i64]) -> Option<View> {
        let own = self.singles(operand)?;
        let strides = broadcast_strides(&own, dims)?;
        (own.last_chunk::<2>() == dims.last_chunk::<2>())
            .then(|| operand_view(dims, &strides, Form::Planes(1)))?
    }
}
