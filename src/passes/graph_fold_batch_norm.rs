//! `graph-fold-batch-norm`: batch normalization goes into the convolution before it.
//!
//! `(conv(x, w) + b - mean) * k + bias` with `k = scale / sqrt(var + epsilon)` is a convolution
//! with filters `w * k` and bias `(b - mean) * k + bias`. All of them are constants, so the new
//! ones are computed here. With `scale-and-shift`, what has no convolution to go into becomes a
//! multiplication and an addition, which fuse with other elementwise ops.

use crate::{
    Error, Result,
    host::kernel::{recognize::float_dims, weights},
    ir::{self, Builder, Op, Val, constant::Elements, edit, graph, view::OpView},
    parallel,
    pass::{OptionValues, Pass, PassError, PassOptions},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-fold-batch-norm",
    summary: "Fold batch normalization into the convolution before it",
    anchor: "",
    options: Options::SPECS,
    dialects: &["graph"],
    run,
};

crate::pass_options! {
    /// Options of `graph-fold-batch-norm`.
    pub struct Options {
        scale_and_shift: bool = "false", "Turn what cannot be folded into a mul and an add";
    }
}

fn run<'c>(root: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let mut count = 0;
    for op in edit::walk(root) {
        let Some(norm) = graph::BatchNorm::of(op) else { continue };
        if let Some(affine) = Affine::<f32>::of(norm) {
            fold(norm, &affine, &options, &mut count)?;
        } else if let Some(affine) = Affine::<f64>::of(norm) {
            fold(norm, &affine, &options, &mut count)?;
        }
    }
    Ok(())
}

fn fold<T: weights::Float>(
    norm: graph::BatchNorm<'_>,
    affine: &Affine<T>,
    options: &Options,
    count: &mut usize,
) -> Result<()> {
    if !fold_into_conv(norm, affine, count)? && options.scale_and_shift {
        to_scale_and_shift(norm, affine, count)?;
    }
    Ok(())
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
fn fold_into_conv<T: weights::Float>(
    norm: graph::BatchNorm<'_>,
    affine: &Affine<T>,
    count: &mut usize,
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
    let builder = Builder::before(norm.op())?;
    let new_w = constant(&builder, &dims(conv.w())?, scaled, count)?;
    let new_b = constant(&builder, &[bias.len() as i64], bias, count)?;
    let attributes = graph::ConvAttrs {
        strides: conv.strides(),
        pads: conv.pads(),
        dilations: conv.dilations(),
        group: conv.group(),
    };
    let folded = graph::Conv::build(&builder, conv.x(), new_w, Some(new_b), attributes)?;
    edit::replace_uses(norm.y(), folded.y());
    edit::erase(norm.op());
    edit::erase(conv.op());
    Ok(true)
}

fn to_scale_and_shift<T: weights::Float>(
    norm: graph::BatchNorm<'_>,
    affine: &Affine<T>,
    count: &mut usize,
) -> Result<()> {
    let Some(rank) = float_dims(norm.x()).map(|dims| dims.len()) else { return Ok(()) };
    let builder = Builder::before(norm.op())?;
    let mut shape = vec![1; rank.saturating_sub(1)];
    if let Some(first) = shape.first_mut() {
        *first = affine.factor.len() as i64;
    }
    let factor = constant(&builder, &shape, affine.factor.clone(), count)?;
    let offset = constant(&builder, &shape, affine.offset.clone(), count)?;
    let scaled = graph::Mul::build(&builder, norm.x(), factor)?;
    let shifted = graph::Add::build(&builder, scaled.y(), offset)?;
    edit::replace_uses(norm.y(), shifted.y());
    edit::erase(norm.op());
    Ok(())
}

fn dims(value: Val<'_>) -> Result<Vec<i64>> {
    float_dims(value).ok_or_else(|| Error::internal("a constant of unknown shape"))
}

fn constant<'c, T: weights::Number>(
    builder: &Builder<'c>,
    shape: &[i64],
    values: Vec<T>,
    count: &mut usize,
) -> Result<Val<'c>> {
    *count += 1;
    weights::constant(builder, shape, values, &format!("folded_{count}"))
}
