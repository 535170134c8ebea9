//! `fold-batch-norm`: batch normalization goes into the convolution before it.
//!
//! `(conv(x, w) + b - mean) * k + bias` with `k = scale / sqrt(var + epsilon)` is a convolution
//! with filters `w * k` and bias `(b - mean) * k + bias`. All of them are constants, so the new
//! ones are computed here. `scale-batch-norm`: a multiplication and an addition replace a
//! normalization without a convolution before it, and fuse with other elementwise operations.

use crate::{
    Error, Result,
    host::kernel::{recognize::float_dims, weights},
    ir::{
        self, Builder, Op, Val,
        constant::Elements,
        edit, graph,
        rewrite::{Rewriter, Rule},
        view::OpView,
    },
    parallel,
};

/// Into the convolution.
pub const FOLD: Rule = Rule {
    name: "fold-batch-norm",
    root: graph::BatchNorm::NAME,
    benefit: 2,
    apply: |r, op| with_affine(r, op, fold_into_conv::<f32>, fold_into_conv::<f64>),
};

/// Elementwise, after the convolution was tried.
pub const SCALE: Rule = Rule {
    name: "scale-batch-norm",
    root: graph::BatchNorm::NAME,
    benefit: 1,
    apply: |r, op| with_affine(r, op, to_scale_and_shift::<f32>, to_scale_and_shift::<f64>),
};

/// A change of a normalization of one type of floats.
type Change<T> =
    for<'c> fn(&mut Rewriter<'_, 'c>, graph::BatchNorm<'c>, &Affine<T>) -> Result<bool>;

fn with_affine<'c>(
    r: &mut Rewriter<'_, 'c>,
    op: Op<'c>,
    narrow: Change<f32>,
    wide: Change<f64>,
) -> Result<bool> {
    let Some(norm) = graph::BatchNorm::of(op) else { return Ok(false) };
    if let Some(affine) = Affine::<f32>::of(norm) {
        return narrow(r, norm, &affine);
    }
    Affine::<f64>::of(norm).map_or(Ok(false), |affine| wide(r, norm, &affine))
}

/// A normalization as `x * factor + offset` for each channel.
struct Affine<T> {
    factor: Vec<T>,
    offset: Vec<T>,
    mean: Vec<T>,
    bias: Vec<T>,
}

impl<T: weights::Float> Affine<T> {
    /// The normalization of such floats with constant parameters.
    fn of(norm: graph::BatchNorm<'_>) -> Option<Self> {
        let [scale, bias] = [norm.scale(), norm.bias()].map(weights::floats::<T>);
        let [mean, var] = [norm.mean(), norm.var()].map(weights::floats::<T>);
        let (scale, bias, mean, var) = (scale?, bias?, mean?, var?);
        let epsilon = norm.epsilon();
        let factor: Vec<T> = scale
            .iter()
            .zip(&var)
            .map(|(scale, var)| {
                let (scale, var): (f64, f64) = ((*scale).into(), (*var).into());
                T::of_f64(scale / (var + epsilon).sqrt())
            })
            .collect();
        let offset = (0..factor.len()).map(|c| bias[c] - mean[c] * factor[c]).collect();
        Some(Self { factor, offset, mean, bias })
    }
}

/// Folds into the convolution that computes the operand, if there is one that nothing else uses.
fn fold_into_conv<'c, T: weights::Float>(
    r: &mut Rewriter<'_, 'c>,
    norm: graph::BatchNorm<'c>,
    affine: &Affine<T>,
) -> Result<bool> {
    let conv = edit::defining_op(norm.x()).and_then(graph::Conv::of);
    let Some(conv) = conv.filter(|conv| ir::users(conv.y()).len() == 1) else { return Ok(false) };
    let elements = Elements::of_value(conv.w());
    let Some(w) = elements.as_ref().and_then(weights::floats_of::<T>) else { return Ok(false) };
    let b = match conv.b().map(weights::floats) {
        None => vec![T::default(); affine.factor.len()],
        Some(Some(b)) => b,
        Some(None) => return Ok(false),
    };
    if affine.factor.is_empty() || w.len() % affine.factor.len() != 0 {
        return Ok(false);
    }
    let per_filter = w.len() / affine.factor.len();
    let mut scaled = vec![T::default(); w.len()];
    let filters = w.chunks(per_filter.max(1)).zip(scaled.chunks_mut(per_filter.max(1)));
    let filters = filters.zip(&affine.factor).collect();
    parallel::each(filters, w.len(), |((filter, scaled), factor)| {
        scaled.iter_mut().zip(filter).for_each(|(to, value)| *to = *value * *factor);
    });
    let bias: Vec<T> =
        (0..b.len()).map(|c| (b[c] - affine.mean[c]) * affine.factor[c] + affine.bias[c]).collect();
    let builder = r.before(norm.op())?;
    let mut count = 2 * r.changes();
    let new_w = constant(&builder, &dims(conv.w())?, scaled, &mut count)?;
    let new_b = constant(&builder, &[bias.len() as i64], bias, &mut count)?;
    let attributes = graph::ConvAttrs {
        strides: conv.strides(),
        pads: conv.pads(),
        dilations: conv.dilations(),
        group: conv.group(),
    };
    let folded = graph::Conv::build(&builder, conv.x(), new_w, Some(new_b), attributes)?;
    r.replace(norm.op(), &[folded.y()])?;
    r.erase(conv.op())?;
    Ok(true)
}

fn to_scale_and_shift<'c, T: weights::Float>(
    r: &mut Rewriter<'_, 'c>,
    norm: graph::BatchNorm<'c>,
    affine: &Affine<T>,
) -> Result<bool> {
    let Some(rank) = float_dims(norm.x()).map(|dims| dims.len()) else { return Ok(false) };
    let builder = r.before(norm.op())?;
    let mut count = 2 * r.changes();
    let mut shape = vec![1; rank.saturating_sub(1)];
    if let Some(first) = shape.first_mut() {
        *first = affine.factor.len() as i64;
    }
    let factor = constant(&builder, &shape, affine.factor.clone(), &mut count)?;
    let offset = constant(&builder, &shape, affine.offset.clone(), &mut count)?;
    let scaled = graph::Mul::build(&builder, norm.x(), factor)?;
    let shifted = graph::Add::build(&builder, scaled.y(), offset)?;
    r.replace(norm.op(), &[shifted.y()])?;
    Ok(true)
}

fn dims(value: Val<'_>) -> Result<Vec<i64>> {
    float_dims(value).ok_or_else(|| Error::internal("a constant of unknown shape"))
}

fn constant<'c, T: weights::Number>(
    builder: &Builder<'c>,
    shape: &[i64],
    values: Vec<T>,
    count: &mut u64,
) -> Result<Val<'c>> {
    *count += 1;
    weights::constant(builder, shape, values, &format!("folded_{count}"))
}
