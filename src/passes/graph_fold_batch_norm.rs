//! `graph-fold-batch-norm`: batch normalization goes into the convolution before it.
//!
//! `(conv(x, w) + b - mean) * k + bias` with `k = scale / sqrt(var + epsilon)` is a convolution
//! with filters `w * k` and bias `(b - mean) * k + bias`. All of them are constants, so the new
//! ones are computed here. With `scale-and-shift`, what has no convolution to go into becomes a
//! multiplication and an addition, which fuse with other elementwise ops.

use crate::{
    Error, Result,
    ir::{self, Builder, Op, OpSpec, Val, edit, op_name},
    kernel::{recognize::f32_dims, weights},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{ValueLike, operation::OperationLike};

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
        if op_name(op) != "graph.batch_norm" {
            continue;
        }
        let Some(affine) = Affine::of(op) else { continue };
        let folded = fold_into_conv(op, &affine, &mut count)?;
        if !folded && options.scale_and_shift {
            to_scale_and_shift(op, &affine, &mut count)?;
        }
    }
    Ok(())
}

/// A normalization as `x * factor + offset` for each channel.
struct Affine {
    factor: Vec<f32>,
    offset: Vec<f32>,
    mean: Vec<f32>,
    bias: Vec<f32>,
}

impl Affine {
    /// The normalization of f32 with constant parameters.
    fn of(op: Op<'_>) -> Option<Self> {
        let list = |index| weights::floats(op.operand(index).ok()?);
        let (scale, bias, mean, var) = (list(1)?, list(2)?, list(3)?, list(4)?);
        let epsilon = ir::attr_f64(op, "epsilon").unwrap_or(1e-5);
        let factor: Vec<f32> = scale
            .iter()
            .zip(&var)
            .map(|(scale, var)| (f64::from(*scale) / (f64::from(*var) + epsilon).sqrt()) as f32)
            .collect();
        let offset = (0..factor.len()).map(|c| bias[c] - mean[c] * factor[c]).collect();
        Some(Self { factor, offset, mean, bias })
    }
}

/// Folds into the convolution that computes the operand, if there is one that nothing else uses.
fn fold_into_conv(op: Op<'_>, affine: &Affine, count: &mut usize) -> Result<bool> {
    let Some(conv) = op.operand(0).ok().and_then(edit::defining_op) else { return Ok(false) };
    if op_name(conv) != "graph.conv" || ir::users(ir::result0(conv)).len() != 1 {
        return Ok(false);
    }
    let (given_w, given_b) = (conv.operand(1)?, conv.operand(2).ok());
    let Some(mut w) = weights::floats(given_w) else { return Ok(false) };
    let b = match given_b.map(weights::floats) {
        None => vec![0.0; affine.factor.len()],
        Some(Some(b)) => b,
        Some(None) => return Ok(false),
    };
    if affine.factor.is_empty() || w.len() % affine.factor.len() != 0 {
        return Ok(false);
    }
    let per_filter = w.len() / affine.factor.len();
    for (filter, factor) in w.chunks_mut(per_filter.max(1)).zip(&affine.factor) {
        filter.iter_mut().for_each(|value| *value *= factor);
    }
    let bias: Vec<f32> =
        (0..b.len()).map(|c| (b[c] - affine.mean[c]) * affine.factor[c] + affine.bias[c]).collect();
    let builder = Builder::before(op)?;
    let new_w = constant(&builder, &dims(given_w)?, w, count)?;
    let new_b = constant(&builder, &[bias.len() as i64], bias, count)?;
    let attributes: Vec<_> = conv
        .attributes()
        .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or("").to_owned(), value))
        .collect();
    let folded = builder.create(
        "graph.conv",
        OpSpec {
            operands: &[conv.operand(0)?, new_w, new_b],
            results: &[ir::result0(op).r#type()],
            attributes: attributes.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
            ..Default::default()
        },
    )?;
    edit::replace_uses(ir::result0(op), ir::result0(folded));
    edit::erase(op);
    edit::erase(conv);
    Ok(true)
}

fn to_scale_and_shift(op: Op<'_>, affine: &Affine, count: &mut usize) -> Result<()> {
    let x = op.operand(0)?;
    let Some(rank) = f32_dims(x).map(|dims| dims.len()) else { return Ok(()) };
    let builder = Builder::before(op)?;
    let mut shape = vec![1; rank.saturating_sub(1)];
    if let Some(first) = shape.first_mut() {
        *first = affine.factor.len() as i64;
    }
    let factor = constant(&builder, &shape, affine.factor.clone(), count)?;
    let offset = constant(&builder, &shape, affine.offset.clone(), count)?;
    let scaled = builder.op1("graph.mul", &[x, factor], x.r#type())?;
    let shifted = builder.op1("graph.add", &[scaled, offset], ir::result0(op).r#type())?;
    edit::replace_uses(ir::result0(op), shifted);
    edit::erase(op);
    Ok(())
}

fn dims(value: Val<'_>) -> Result<Vec<i64>> {
    f32_dims(value).ok_or_else(|| Error::internal("a constant of unknown shape"))
}

fn constant<'c>(
    builder: &Builder<'c>,
    shape: &[i64],
    values: Vec<f32>,
    count: &mut usize,
) -> Result<Val<'c>> {
    *count += 1;
    weights::constant(builder, shape, values, &format!("folded_{count}"))
}
