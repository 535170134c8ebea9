//! Convolutions and pools, on images with the channels first.

use super::{Entry, arithmetic::activated, op};
use crate::{
    import::tflite::{
        node::{Node, Outcome},
        schema::{Conv2DOptions, DepthwiseConv2DOptions, Pool2DOptions, TransposeConvOptions},
        value::{Layout, permuted},
    },
    ir::{self, Val, graph},
    tensor::DType,
};
use melior::ir::ValueLike;

pub(super) const OPS: &[Entry] = &[
    op(1, "AVERAGE_POOL_2D", 1..=1, average_pool),
    op(3, "CONV_2D", 2..=3, conv),
    op(4, "DEPTHWISE_CONV_2D", 2..=3, depthwise),
    op(12, "L2_POOL_2D", 1..=1, l2_pool),
    op(17, "MAX_POOL_2D", 1..=1, max_pool),
    op(67, "TRANSPOSE_CONV", 3..=4, transpose_conv),
];

/// The windows of an operator; heights come first.
struct Windows {
    same: bool,
    kernel: [i64; 2],
    strides: [i64; 2],
    dilations: [i64; 2],
}

impl Windows {
    fn check(&self) -> Outcome<()> {
        let all = self.kernel.iter().chain(&self.strides).chain(&self.dilations);
        if all.copied().min().is_some_and(|least| least >= 1) {
            return Ok(());
        }
        Err(format!(
            "kernel {:?}, strides {:?} and dilations {:?} must be positive",
            self.kernel, self.strides, self.dilations
        ))
    }

    /// Zeros before both dimensions, then behind: with "same" as many as give each stride one
    /// window, the odd one behind.
    fn pads(&self, image: Val<'_>) -> Outcome<Vec<i64>> {
        self.check()?;
        let dims = ir::dims(image.r#type());
        if dims.len() != 4 {
            return Err(format!("its image has {} dimensions, not 4", dims.len()));
        }
        if !self.same {
            return Ok(vec![0; 4]);
        }
        let mut pads = vec![0; 4];
        for dim in 0..2 {
            let size = dims[2 + dim];
            if size == ir::DYNAMIC {
                return Err("its padding depends on a size that is not known: give --shape".into());
            }
            let windows = (size + self.strides[dim] - 1) / self.strides[dim];
            let extent = (self.kernel[dim] - 1) * self.dilations[dim] + 1;
            let total = ((windows - 1) * self.strides[dim] + extent - size).max(0);
            pads[dim] = total / 2;
            pads[2 + dim] = total - total / 2;
        }
        Ok(pads)
    }
}

fn pair(h: i32, w: i32) -> [i64; 2] {
    [i64::from(h), i64::from(w)]
}

/// Filters, whose dimensions are put into that order, as real numbers with a scale for each position along
/// the new dimension `channels`.
fn filters<'c>(node: &mut Node<'_, 'c>, index: usize, perm: &[i64]) -> Outcome<Val<'c>> {
    let operand = node.tensor(index)?;
    if operand.dims.len() != perm.len() {
        return Err(format!("its filters have {} dimensions, not 4", operand.dims.len()));
    }
    let stored = match &operand.constant {
        Some(tensor) if !operand.is_sparse => {
            node.constant(&permuted(tensor, perm)?, &operand.name)?
        }
        _ => {
            let stored = node.stored(index, Layout::Last)?;
            node.transposed(stored, perm)?
        }
    };
    let Some(scales) = &operand.scales else { return Ok(stored) };
    let axis = perm.iter().position(|dim| *dim == scales.dimension as i64).unwrap_or(0);
    node.dequantized(stored, scales, operand, axis)
}

fn bias<'c>(node: &mut Node<'_, 'c>, index: usize) -> Outcome<Option<Val<'c>>> {
    match node.operand_if_present(index) {
        None => Ok(None),
        Some(_) => node.real(index, Layout::Last).map(Some),
    }
}

/// Filters in the image's type, where these are stored as halves.
fn in_type_of<'c>(node: &Node<'_, 'c>, x: Val<'c>, w: Val<'c>) -> Outcome<Val<'c>> {
    let element = ir::element_type(x.r#type());
    if ir::element_type(w.r#type()) == element {
        return Ok(w);
    }
    node.done(graph::Cast::build(&node.builder, w, element, graph::CastAttrs::default()))
        .map(|op| op.y())
}

fn conv(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: Conv2DOptions<'_> = node.options()?;
    let x = node.real(0, Layout::First)?;
    let w = filters(node, 1, &[0, 3, 1, 2])?;
    let windows = Windows {
        same: options.padding() == 0,
        kernel: kernel(w),
        strides: pair(options.stride_h(), options.stride_w()),
        dilations: pair(options.dilation_h(), options.dilation_w()),
    };
    let (image, filter) = (channels(x), channels(w));
    // Filters of a part of the channels make groups.
    if filter < 1 || image % filter != 0 {
        return Err(format!("filters of {filter} channels do not divide an image of {image}"));
    }
    convolve(node, (x, w), &windows, image / filter, options.activation())
}

fn depthwise(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: DepthwiseConv2DOptions<'_> = node.options()?;
    let x = node.real(0, Layout::First)?;
    let w = filters(node, 1, &[3, 0, 1, 2])?;
    let windows = Windows {
        same: options.padding() == 0,
        kernel: kernel(w),
        strides: pair(options.stride_h(), options.stride_w()),
        dilations: pair(options.dilation_h(), options.dilation_w()),
    };
    convolve(node, (x, w), &windows, channels(x), options.activation())
}

fn convolve<'c>(
    node: &mut Node<'_, 'c>,
    (x, w): (Val<'c>, Val<'c>),
    windows: &Windows,
    group: i64,
    activation: i8,
) -> Outcome<()> {
    let w = in_type_of(node, x, w)?;
    let b = bias(node, 2)?;
    let attributes = graph::ConvAttrs {
        strides: windows.strides.to_vec(),
        pads: windows.pads(x)?,
        dilations: windows.dilations.to_vec(),
        group,
    };
    let y = node.done(graph::Conv::build(&node.builder, x, w, b, attributes))?.y();
    let y = activated(node, y, activation)?;
    node.set(0, y, Layout::First)
}

fn channels(value: Val<'_>) -> i64 {
    ir::dims(value.r#type()).get(1).copied().unwrap_or(0)
}

/// The last two dimensions of filters.
fn kernel(w: Val<'_>) -> [i64; 2] {
    let dims = ir::dims(w.r#type());
    [dims.get(2).copied().unwrap_or(0), dims.get(3).copied().unwrap_or(0)]
}

fn pooled<'c>(node: &mut Node<'_, 'c>) -> Outcome<(Val<'c>, Windows, Vec<i64>, i8)> {
    let options: Pool2DOptions<'_> = node.options()?;
    let windows = Windows {
        same: options.padding() == 0,
        kernel: pair(options.filter_h(), options.filter_w()),
        strides: pair(options.stride_h(), options.stride_w()),
        dilations: [1, 1],
    };
    let x = node.real(0, Layout::First)?;
    let pads = windows.pads(x)?;
    Ok((x, windows, pads, options.activation()))
}

fn average_pool(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (x, windows, pads, activation) = pooled(node)?;
    let strides = windows.strides.to_vec();
    let attributes = graph::AveragePoolAttrs { strides, pads, ..Default::default() };
    let y =
        node.done(graph::AveragePool::build(&node.builder, x, &windows.kernel, attributes))?.y();
    let y = activated(node, y, activation)?;
    node.set(0, y, Layout::First)
}

fn max_pool(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (x, windows, pads, activation) = pooled(node)?;
    let strides = windows.strides.to_vec();
    let attributes = graph::MaxPoolAttrs { strides, pads, ..Default::default() };
    let y = node.done(graph::MaxPool::build(&node.builder, x, &windows.kernel, attributes))?.y();
    let y = activated(node, y, activation)?;
    node.set(0, y, Layout::First)
}

/// The root of the mean of squares.
fn l2_pool(node: &mut Node<'_, '_>) -> Outcome<()> {
    let (x, windows, pads, activation) = pooled(node)?;
    let squares = node.done(graph::Mul::build(&node.builder, x, x))?.y();
    let strides = windows.strides.to_vec();
    let attributes = graph::AveragePoolAttrs { strides, pads, ..Default::default() };
    let mean = graph::AveragePool::build(&node.builder, squares, &windows.kernel, attributes);
    let mean = node.done(mean)?.y();
    let y = node.done(graph::Sqrt::build(&node.builder, mean))?.y();
    let y = activated(node, y, activation)?;
    node.set(0, y, Layout::First)
}

fn transpose_conv(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: TransposeConvOptions<'_> = node.options()?;
    let to = node.integers(0)?;
    let x = node.real(2, Layout::First)?;
    let w = filters(node, 1, &[3, 0, 1, 2])?;
    let w = in_type_of(node, x, w)?;
    let strides = pair(options.stride_h(), options.stride_w());
    let windows = Windows { same: false, kernel: kernel(w), strides, dilations: [1, 1] };
    windows.check()?;
    let from = ir::dims(x.r#type());
    if from.len() != 4 || to.len() != 4 || from.contains(&ir::DYNAMIC) {
        return Err("its image and the shape of its result must have 4 known dimensions".into());
    }
    let (mut pads, mut output_padding) = (vec![0; 4], vec![0; 2]);
    for dim in 0..2 {
        let full = strides[dim] * (from[2 + dim] - 1) + windows.kernel[dim];
        let cut = full - to[1 + dim];
        // With "same" padding the odd one is cut off behind.
        pads[dim] = cut.max(0) / 2;
        pads[2 + dim] = cut.max(0) - pads[dim];
        output_padding[dim] = (-cut).max(0);
    }
    let b = bias(node, 3)?;
    let attributes = graph::ConvTransposeAttrs {
        strides: strides.to_vec(),
        pads,
        output_padding,
        ..Default::default()
    };
    let y = node.done(graph::ConvTranspose::build(&node.builder, x, w, b, attributes))?.y();
    let y = activated(node, y, options.activation())?;
    node.set(0, y, Layout::First)
}

/// True for an operand that holds real numbers or stands for them.
pub(super) fn is_real(node: &Node<'_, '_>, index: usize) -> Outcome<bool> {
    let operand = node.tensor(index)?;
    Ok(operand.scales.is_some() || operand.dtype.is_some_and(DType::is_float))
}
