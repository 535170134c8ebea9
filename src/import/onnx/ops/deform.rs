//! Deformable convolution: what lies under each tap is sampled where the offsets say, then
//! multiplied with the filters as any product.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;
use super::conv::{Window, kernel_of};

pub(super) const OPS: &[OpEntry] = &[OpEntry::with("DeformConv", 19, 3..=5, deform_conv)];

/// Most regular positions, which become a constant.
const MOST: i64 = 1 << 24;

/// Sizes of the operands.
struct Sizes {
    batch: i64,
    channels: i64,
    filters: i64,
    image: Vec<i64>,
    /// Spatial dimensions of the result.
    out: Vec<i64>,
    window: Window,
    groups: i64,
    offset_groups: i64,
}

impl Sizes {
    fn new(node: &NodeContext<'_, '_>) -> OpResult<Self> {
        let dims = |index: usize, what: &str| node.static_dims(node.input(index, what)?, what);
        let (x, w, offset) = (dims(0, "X")?, dims(1, "W")?, dims(2, "offset")?);
        let window = Window::read(node, kernel_of(node, node.input(1, "W")?)?)?;
        if x.len() != w.len() {
            return Err(format!("X has {} dimensions, but W has {}", x.len(), w.len()).into());
        }
        let spatial = window.kernel.len();
        let out = (0..spatial).map(|axis| {
            let padded = x[axis + 2] + window.pads[axis] + window.pads[axis + spatial];
            (padded - window.extent(axis)).div_euclid(window.strides[axis]) + 1
        });
        let sizes = Self {
            batch: x[0],
            channels: x[1],
            filters: w[0],
            image: x[2..].to_vec(),
            out: out.collect(),
            window,
            groups: node.attributes.int_or("group", 1)?,
            offset_groups: node.attributes.int_or("offset_group", 1)?,
        };
        let taps = sizes.window.kernel.iter().try_fold(1i64, |all, n| all.checked_mul(*n));
        if taps.is_none_or(|taps| taps > MOST) {
            return Err(OpError::Unsupported(format!("a kernel of {:?}", sizes.window.kernel)));
        }
        sizes.check(&w, &offset)?;
        Ok(sizes)
    }

    fn check(&self, w: &[i64], offset: &[i64]) -> OpResult<()> {
        let Self { channels, filters, groups, offset_groups, image, .. } = self;
        let divides = |parts: i64, whole: i64| parts > 0 && whole % parts == 0;
        if !divides(*groups, *channels)
            || !divides(*groups, *filters)
            || !divides(*offset_groups, *channels)
            || w[1] != channels / groups
        {
            return Err(format!(
                "{channels} channels and filters {w:?} do not go into {groups} groups and \
                 {offset_groups} groups of offsets"
            )
            .into());
        }
        let coordinates = [self.taps(), *offset_groups, image.len() as i64];
        let numbers = coordinates.iter().try_fold(1i64, |all, n| all.checked_mul(*n));
        let mut wanted = vec![self.batch, numbers.unwrap_or(i64::MAX)];
        wanted.extend(&self.out);
        if offset != wanted {
            return Err(format!("offset is {offset:?}, expected {wanted:?}").into());
        }
        let positions = self.out.iter().try_fold(self.taps(), |all, n| all.checked_mul(*n));
        if image.contains(&0) || self.out.contains(&0) || positions.is_none_or(|n| n > MOST) {
            let reason = format!("an image {image:?} with a result {:?}", self.out);
            return Err(OpError::Unsupported(reason));
        }
        Ok(())
    }

    fn taps(&self) -> i64 {
        self.window.kernel.iter().product()
    }

    fn points(&self) -> i64 {
        self.out.iter().product()
    }

    /// Positions of the taps for each point of the result without offsets, `[taps, points, n]`, the
    /// last dimension first.
    fn regular(&self) -> Vec<f64> {
        let index = |mut at: i64, dims: &[i64]| -> Vec<i64> {
            let mut found: Vec<i64> = dims
                .iter()
                .rev()
                .map(|dim| {
                    let digit = at % dim;
                    at /= dim;
                    digit
                })
                .collect();
            found.reverse();
            found
        };
        let mut all = vec![];
        for tap in 0..self.taps() {
            let tap = index(tap, &self.window.kernel);
            for point in 0..self.points() {
                let point = index(point, &self.out);
                all.extend((0..self.image.len()).rev().map(|axis| {
                    let Window { strides, pads, dilations, .. } = &self.window;
                    let start = point[axis] * strides[axis] - pads[axis];
                    (start + tap[axis] * dilations[axis]) as f64
                }));
            }
        }
        all
    }
}

fn deform_conv<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let sizes = Sizes::new(node)?;
    let sampled = samples(node, &sizes)?;
    let Sizes { batch, filters, groups, channels, .. } = sizes;
    let (taps, points) = (sizes.taps(), sizes.points());
    let columns = node.reshape(sampled, &[batch, groups, channels / groups * taps, points])?;
    let rows = [1, groups, filters / groups, channels / groups * taps];
    let w = node.reshape(node.input(1, "W")?, &rows)?;
    let y = node.binary("matmul", w, columns)?;
    let shape: Vec<i64> = [batch, filters].into_iter().chain(sizes.out.iter().copied()).collect();
    let y = node.reshape(y, &shape)?;
    let Some(bias) = node.optional(3) else { return Ok(vec![y]) };
    let mut wide = vec![1; shape.len()];
    wide[1] = filters;
    Ok(vec![node.binary("add", y, node.reshape(bias, &wide)?)?])
}

/// The elements of the image under each tap, `[batch, channels, taps, points]` in order.
fn samples<'c>(node: &NodeContext<'_, 'c>, sizes: &Sizes) -> OpResult<Val<'c>> {
    let x = node.input(0, "X")?;
    let (taps, points, n) = (sizes.taps(), sizes.points(), sizes.image.len() as i64);
    let images = sizes.batch * sizes.offset_groups;
    let each = sizes.channels / sizes.offset_groups;
    let offset = node.reshape(node.input(2, "offset")?, &[images, taps, n, points])?;
    let offset = node.transpose(offset, &[0, 1, 3, 2])?;
    let order = node.i64s(&(0..n).rev().collect::<Vec<_>>())?;
    let offset = node.op("gather", &[offset, order], &[("axis", 3.into())])?;
    let dtype = node.dtype(offset)?;
    let number = |values: &[f64], shape: &[usize]| node.constant_of(dtype, shape, values);
    let regular = number(&sizes.regular(), &[taps as usize, points as usize, n as usize])?;
    let at = node.binary("add", offset, regular)?;
    // From positions to what a grid has: -1 and 1 are the outer borders of the image.
    let scales: Vec<f64> = sizes.image.iter().rev().map(|size| 2.0 / *size as f64).collect();
    let starts: Vec<f64> = sizes.image.iter().rev().map(|size| 1.0 / *size as f64 - 1.0).collect();
    let at = node.binary("mul", at, number(&scales, &[n as usize])?)?;
    let at = node.binary("add", at, number(&starts, &[n as usize])?)?;
    let mut grid = vec![images];
    grid.extend(vec![1; sizes.image.len() - 1]);
    grid.extend([taps * points, n]);
    let mut image = vec![images, each];
    image.extend(&sizes.image);
    let (x, at) = (node.reshape(x, &image)?, node.reshape(at, &grid)?);
    let y = node.op(
        "grid_sample",
        &[x, at],
        &[("mode", "linear".into()), ("padding_mode", "zeros".into())],
    )?;
    let Some(mask) = node.optional(4) else { return Ok(y) };
    let y = node.reshape(y, &[images, each, taps, points])?;
    node.binary("mul", y, node.reshape(mask, &[images, 1, taps, points])?)
}
