//! Normalization of channels, or groups of them, of images with their channels last.
//!
//! Groups are what they are called, or, as PyTorch exports them to older opsets, instances of an image whose groups
//! were made its channels: `reshape` to `[N, groups, ...]`, `instance_norm`, and `reshape` back.
//!
//! As in NCHW the variance is the mean of squared differences. Means are taken along the rows first: sums of few
//! elements lose fewer digits, and rows are tasks.

use super::{Layout, image_dims, int_list};
use crate::{
    Result,
    host::kernel::{Element, weights},
    ir::{self, Builder, Op, Val, edit, graph, view::OpView},
};
use melior::ir::ValueLike;

/// `graph.instance_norm` or `graph.group_norm`.
struct Norm<'c> {
    x: Val<'c>,
    scale: Val<'c>,
    bias: Val<'c>,
    y: Val<'c>,
    epsilon: f64,
    groups: Option<i64>,
}

impl<'c> Norm<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        if let Some(norm) = graph::InstanceNorm::of(op) {
            let (x, scale, bias, y) = (norm.x(), norm.scale(), norm.bias(), norm.y());
            return Some(Self { x, scale, bias, y, epsilon: norm.epsilon(), groups: None });
        }
        let norm = graph::GroupNorm::of(op)?;
        let (x, scale, bias, y) = (norm.x(), norm.scale(), norm.bias(), norm.y());
        Some(Self { x, scale, bias, y, epsilon: norm.epsilon(), groups: Some(norm.num_groups()) })
    }

    /// The normalization of groups that `self`, of each channel, is between two reshapes.
    fn of_groups(self, b: &Builder<'c>, layout: &Layout<'c>) -> Result<Option<Self>> {
        let made = edit::defining_op(self.x).and_then(graph::Reshape::of);
        let [user] = ir::users(self.y)[..] else { return Ok(None) };
        let (Some(made), Some(back)) = (made, graph::Reshape::of(user)) else { return Ok(None) };
        let (x, y, grouped) = (made.x(), back.y(), ir::dims(self.x.r#type()));
        let Some(dims) = image_dims(x).filter(|dims| *dims == ir::dims(y.r#type())) else {
            return Ok(None);
        };
        let groups = grouped[1];
        let fits =
            layout.is_nhwc(x) && grouped[0] == dims[0] && groups > 0 && dims[1] % groups == 0;
        if !fits || self.groups.is_some() {
            return Ok(None);
        }
        let each = |value| -> Result<Val<'c>> {
            let value = reshape(b, value, &[groups, 1])?;
            let value = graph::Expand::build(b, value, int_list(b, &[groups, dims[1] / groups])?)?;
            reshape(b, value.y(), &[dims[1]])
        };
        let (scale, bias) = (each(self.scale)?, each(self.bias)?);
        Ok(Some(Self { x, y, scale, bias, groups: Some(groups), ..self }))
    }
}

fn reshape<'c>(b: &Builder<'c>, x: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
    let attributes = graph::ReshapeAttrs::default();
    Ok(graph::Reshape::build(b, x, int_list(b, dims)?, attributes)?.y())
}

/// Moves a normalization of an NHWC image there. False if `op` is none.
pub(super) fn normalize<'c>(layout: &mut Layout<'c>, op: Op<'c>) -> Result<bool> {
    let Some(norm) = Norm::of(op) else { return Ok(false) };
    let b = Builder::before(op)?;
    if layout.is_nhwc(norm.x) {
        if move_to_nhwc(layout, &b, &norm)? {
            edit::erase(op);
            return Ok(true);
        }
        return Ok(false);
    }
    // What was between the reshapes is left without users.
    match norm.of_groups(&b, layout)? {
        Some(norm) => move_to_nhwc(layout, &b, &norm),
        None => Ok(false),
    }
}

/// Puts the same on NHWC in place of the result; false for elements that kernels do not have.
fn move_to_nhwc<'c>(layout: &mut Layout<'c>, b: &Builder<'c>, norm: &Norm<'c>) -> Result<bool> {
    let (Some(dims), Some(element)) = (image_dims(norm.x), Element::of(norm.x.r#type())) else {
        return Ok(false);
    };
    if !element.is_float() || dims.contains(&0) {
        return Ok(false);
    }
    let x = layout.nhwc(b, norm.x)?;
    let shape = Shape { batch: dims[0], channels: dims[1], rank: dims.len(), groups: norm.groups };
    let epsilon = match element {
        Element::F64 => weights::splat(b, &[], norm.epsilon)?,
        _ => weights::splat(b, &[], norm.epsilon as f32)?,
    };
    let mean = shape.mean(b, x)?;
    // The other way round than below, so that each difference is part of the loop that reads it.
    let difference = graph::Sub::build(b, mean, x)?.y();
    let variance = shape.mean(b, graph::Mul::build(b, difference, difference)?.y())?;
    let deviation = graph::Sqrt::build(b, graph::Add::build(b, variance, epsilon)?.y())?.y();
    let factor = graph::Div::build(b, norm.scale, deviation)?.y();
    let y = graph::Sub::build(b, x, mean)?.y();
    let y = graph::Mul::build(b, y, factor)?.y();
    let y = graph::Add::build(b, y, norm.bias)?.y();
    layout.replace(b, norm.y, y)?;
    Ok(true)
}

/// Dimensions of a normalized image.
struct Shape {
    batch: i64,
    channels: i64,
    rank: usize,
    /// Groups of channels; none if each channel is one.
    groups: Option<i64>,
}

impl Shape {
    /// The mean over the image for each channel, or over its group: `[N, 1, ..., C]`.
    fn mean<'c>(&self, b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
        let along = |x: Val<'c>, axis: usize| -> Result<Val<'c>> {
            let attributes = graph::ReduceMeanAttrs { axes: vec![axis as i64], keepdims: true };
            Ok(graph::ReduceMean::build(b, x, attributes)?.y())
        };
        let mean = (1..self.rank - 1).rev().try_fold(x, along)?;
        let Some(groups) = self.groups else { return Ok(mean) };
        let grouped = [self.batch, groups, self.channels / groups];
        let mean = along(reshape(b, mean, &grouped)?, 2)?;
        let mean = graph::Expand::build(b, mean, int_list(b, &grouped)?)?.y();
        let mut whole = vec![1; self.rank];
        (whole[0], whole[self.rank - 1]) = (self.batch, self.channels);
        reshape(b, mean, &whole)
    }
}
