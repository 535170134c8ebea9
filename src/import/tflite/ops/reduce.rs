//! Reductions, and operators that look at a whole dimension.

use super::{Entry, arithmetic::activated, op};
use crate::{
    import::tflite::{
        node::{Node, Outcome, positive},
        schema::{CumsumOptions, L2NormOptions, ReducerOptions, SoftmaxOptions},
        value::Layout,
    },
    ir::{self, Builder, Val, graph},
    tensor::DType,
};
use melior::ir::ValueLike;

macro_rules! reduce {
    ($($view:ident $attrs:ident),*) => {
        $(#[allow(non_snake_case, reason = "called after the operation")]
        fn $view(node: &mut Node<'_, '_>) -> Outcome<()> {
            reduced(node, |b, x, axes, keepdims| {
                Ok(graph::$view::build(b, x, graph::$attrs { axes, keepdims })?.y())
            })
        })*
    };
}
reduce!(ReduceMax ReduceMaxAttrs, ReduceMean ReduceMeanAttrs, ReduceMin ReduceMinAttrs,
        ReduceProd ReduceProdAttrs, ReduceSum ReduceSumAttrs);

pub(super) const OPS: &[Entry] = &[
    op(11, "L2_NORMALIZATION", 1..=1, l2_normalization),
    op(25, "SOFTMAX", 1..=1, softmax),
    op(40, "MEAN", 2..=2, mean),
    op(50, "LOG_SOFTMAX", 1..=1, log_softmax),
    op(56, "ARG_MAX", 2..=2, arg_max),
    op(74, "SUM", 2..=2, ReduceSum),
    op(79, "ARG_MIN", 2..=2, arg_min),
    op(81, "REDUCE_PROD", 2..=2, ReduceProd),
    op(82, "REDUCE_MAX", 2..=2, ReduceMax),
    op(89, "REDUCE_MIN", 2..=2, ReduceMin),
    op(128, "CUMSUM", 2..=2, cumsum),
];

fn keeps(node: &Node<'_, '_>) -> bool {
    node.table.options::<ReducerOptions<'_>>().is_some_and(ReducerOptions::keep_dims)
}

fn reduced<'c>(
    node: &mut Node<'_, 'c>,
    build: impl FnOnce(&Builder<'c>, Val<'c>, Vec<i64>, bool) -> crate::Result<Val<'c>>,
) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    let axes = node.axes(1, rank)?;
    let keepdims = keeps(node);
    // Without the image's dimensions what is left is in both layouts the same.
    let spatial = (1..rank.saturating_sub(1)).all(|dim| axes.contains(&dim));
    let layout = if keepdims || spatial { node.layout(&[0]) } else { Layout::Last };
    let x = node.real(0, layout)?;
    let mut places: Vec<i64> =
        axes.iter().map(|axis| layout.position(*axis, rank) as i64).collect();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        return node.set(0, x, layout);
    }
    let y = build(&node.builder, x, places, keepdims).map_err(|e| node.said(&e.to_string()))?;
    node.set(0, y, if keepdims { layout } else { Layout::Last })
}

/// A mean over whole images is the pool that targets know.
fn mean(node: &mut Node<'_, '_>) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    let mut axes = node.axes(1, rank)?;
    axes.sort_unstable();
    if rank != 4 || axes != [1, 2] || !super::window::is_real(node, 0)? {
        return ReduceMean(node);
    }
    let keepdims = keeps(node);
    let x = node.real(0, Layout::First)?;
    let y = node.done(graph::GlobalAveragePool::build(&node.builder, x))?.y();
    if keepdims {
        return node.set(0, y, Layout::First);
    }
    let dims = ir::dims(y.r#type());
    let y = node.reshaped(y, &dims[..2])?;
    node.set(0, y, Layout::Last)
}

fn softmax(node: &mut Node<'_, '_>) -> Outcome<()> {
    let beta = node.options::<SoftmaxOptions<'_>>()?.beta();
    let mut x = node.real(0, Layout::Last)?;
    if beta != 1.0 {
        let beta = node.number_constant(beta)?;
        x = node.done(graph::Mul::build(&node.builder, x, beta))?.y();
    }
    let attributes = graph::SoftmaxAttrs { axis: -1 };
    let y = node.done(graph::Softmax::build(&node.builder, x, attributes))?.y();
    node.set(0, y, Layout::Last)
}

fn log_softmax(node: &mut Node<'_, '_>) -> Outcome<()> {
    let x = node.real(0, Layout::Last)?;
    let attributes = graph::LogSoftmaxAttrs { axis: -1 };
    let y = node.done(graph::LogSoftmax::build(&node.builder, x, attributes))?.y();
    node.set(0, y, Layout::Last)
}

/// Along the last dimension; sums of squares are at least 1e-12, squared, as the format's kernels have it.
fn l2_normalization(node: &mut Node<'_, '_>) -> Outcome<()> {
    let activation = node.table.options::<L2NormOptions<'_>>().map_or(0, L2NormOptions::activation);
    let x = node.real(0, Layout::Last)?;
    let b = &node.builder;
    let attributes = graph::ReduceL2Attrs { axes: vec![-1], keepdims: true };
    let norm = node.done(graph::ReduceL2::build(b, x, attributes))?.y();
    let least = node.number_constant(1e-6)?;
    let norm = node.done(graph::Max::build(b, norm, least))?.y();
    let y = node.done(graph::Div::build(b, x, norm))?.y();
    let y = activated(node, y, activation)?;
    node.set(0, y, Layout::Last)
}

fn arg_max(node: &mut Node<'_, '_>) -> Outcome<()> {
    extreme(node, |b, x, axis| {
        let attributes = graph::ArgMaxAttrs { axis, keepdims: false, ..Default::default() };
        Ok(graph::ArgMax::build(b, x, attributes)?.y())
    })
}

fn arg_min(node: &mut Node<'_, '_>) -> Outcome<()> {
    extreme(node, |b, x, axis| {
        let attributes = graph::ArgMinAttrs { axis, keepdims: false, ..Default::default() };
        Ok(graph::ArgMin::build(b, x, attributes)?.y())
    })
}

/// The position of an extreme element, which integers have where their real numbers do.
fn extreme<'c>(
    node: &mut Node<'_, 'c>,
    build: impl FnOnce(&Builder<'c>, Val<'c>, i64) -> crate::Result<Val<'c>>,
) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    let axis = *node.axes(1, rank)?.first().ok_or("it has no axis")?;
    let x = node.stored(0, Layout::Last)?;
    let y = build(&node.builder, x, axis as i64).map_err(|e| node.said(&e.to_string()))?;
    let element = node.scalar(node.output(0)?.dtype.unwrap_or(DType::I64))?;
    let cast = graph::Cast::build(&node.builder, y, element, graph::CastAttrs::default());
    let y = node.done(cast)?.y();
    node.set_stored(0, y, Layout::Last)
}

fn cumsum(node: &mut Node<'_, '_>) -> Outcome<()> {
    let rank = node.tensor(0)?.dims.len();
    let axis = *node.integers(1)?.first().ok_or("it has no axis")?;
    let axis = positive(axis, rank)? as i64;
    let options = node.table.options::<CumsumOptions<'_>>();
    let (exclusive, reverse) = options.map_or((false, false), |o| (o.exclusive(), o.reverse()));
    let x = node.real(0, Layout::Last)?;
    let attributes = graph::CumSumAttrs { exclusive, reverse };
    let y = node.done(graph::CumSum::build(&node.builder, x, axis, attributes))?.y();
    node.set(0, y, Layout::Last)
}
