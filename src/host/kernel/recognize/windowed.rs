//! Convolutions and pools on NHWC.

use super::{Form, IMAGE_RANKS, Kernel, Recognized, Scope, WeightsOperand, operand_view};
use crate::{
    host::kernel::{
        Contraction, Depthwise, Element, Fold, Found, Planar, Types, View, Weights, Window,
        weights::Source,
        window::{AXES, COL, PLANE, ROW, spread},
    },
    ir::{self, Op, Val, graph, op_name, view::OpView},
};

/// A window that needs more copies of its inner loop than this is left to the general lowering.
const MAX_EDGE_LOOPS: i64 = 96;

/// The view of a contiguous image with its channels last.
fn nhwc_view(dims: &[i64]) -> Option<View> {
    let (_, rest) = dims.split_first()?;
    let (channels, spatial) = rest.split_last()?;
    let [planes, rows, cols] = spread(spatial, 1)?;
    let (row, plane) = (cols * channels, rows * cols * channels);
    Some(View {
        offset: 0,
        batch: planes * plane,
        plane,
        row,
        col: *channels,
        channel: 1,
        ..Default::default()
    })
}

/// True if a row of `cols` points can be cut into register tiles. Tiles of columns whose window
/// reaches beyond the input, of four columns or more each, have loops of their own for each tap.
pub fn has_few_edges(window: &Window, cols: i64) -> bool {
    let edges = (0..cols).filter(|col| !window.columns_inside(*col, 1)).count() as i64;
    (edges + 3) / 4 * window.kernel[COL] <= MAX_EDGE_LOOPS
}

/// The window of a convolution or pool with these sizes of its kernel and its input, if it covers
/// nothing less than the input has.
pub fn window_of(op: Op<'_>, kernel: &[i64], input: &[i64]) -> Option<Window> {
    let list = |name: &str| match ir::attr_i64s(op, name).unwrap_or_default() {
        list if list.is_empty() => Some([1; AXES]),
        list if list.len() == kernel.len() => spread(&list, 1),
        _ => None,
    };
    let pads = ir::attr_i64s(op, "pads").unwrap_or_default();
    let pad = match pads.len() {
        0 => [0; AXES],
        _ if pads.iter().any(|pad| *pad < 0) || pads.len() != 2 * kernel.len() => return None,
        _ => spread(&pads[..kernel.len()], 0)?,
    };
    Some(Window {
        kernel: spread(kernel, 1)?,
        stride: list("strides")?,
        dilation: list("dilations")?,
        pad,
        input: spread(input, 1)?,
    })
}

/// The image and the fold of a pool that kernels have.
pub fn pool(op: Op<'_>) -> Option<(Val<'_>, Fold)> {
    match op_name(op) {
        graph::MaxPool::NAME => Some((graph::MaxPool::of(op)?.x(), Fold::Max)),
        graph::GlobalMaxPool::NAME => Some((graph::GlobalMaxPool::of(op)?.x(), Fold::Max)),
        graph::GlobalAveragePool::NAME => Some((graph::GlobalAveragePool::of(op)?.x(), Fold::Mean)),
        graph::AveragePool::NAME => {
            let pool = graph::AveragePool::of(op)?;
            let padded = pool.count_include_pad();
            Some((pool.x(), if padded { Fold::PaddedMean } else { Fold::Mean }))
        }
        _ => None,
    }
}

/// True if kernels fold elements of this type over windows on these output points.
fn folds(op: Op<'_>, fold: Fold, element: Element, (window, grid): (&Window, [i64; AXES])) -> bool {
    let folds = element.is_float() || fold == Fold::Max && element.is_byte();
    if !folds {
        return false;
    }
    if fold != Fold::PaddedMean {
        return true;
    }
    // In `ceil_mode` windows may reach beyond the padding, which counts nothing.
    let pads = ir::attr_i64s(op, "pads").unwrap_or_default();
    let Some(after) = spread(&pads[pads.len() / 2..], 0) else { return false };
    (0..AXES).all(|axis| {
        let last = window.position(axis, grid[axis] - 1, window.kernel[axis] - 1);
        last < window.input[axis] + after[axis]
    })
}

/// Filters of each group of a convolution by single channels whose vectors are of several groups. More filters fill a vector.
fn shares_channels(filters: i64, element: Element) -> bool {
    // A vector has the filters of a group, at least.
    filters == 1 || filters == 2 || filters == 4 && element.bytes() <= 4
}

/// A convolution whose groups have one channel and few filters each.
fn channel_by_channel(sum: Contraction) -> Depthwise {
    Depthwise {
        types: sum.types,
        fold: Fold::Weighted,
        batch: sum.batch,
        planes: sum.planes,
        rows: sum.rows,
        cols: sum.cols,
        channels: sum.groups * sum.channels,
        shared: sum.channels,
        window: sum.window,
        x: sum.x,
        weights: sum.weights,
        start: sum.start,
        y: sum.y,
        operands: sum.operands,
    }
}

impl<'c> Scope<'_, 'c> {
    /// The window of a convolution or pool on the NHWC input `x`.
    fn window(&self, op: Op<'c>, x: &[i64], kernel: &[i64]) -> Option<Window> {
        let window = window_of(op, kernel, &x[1..x.len() - 1])?;
        let (_, grid) = self.grid()?;
        has_few_edges(&window, grid[COL]).then_some(window)
    }

    pub(super) fn conv(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let conv = graph::Conv::of(op)?;
        let (x, w) = (self.operand(conv.x())?, self.operand(conv.w())?);
        let bias = match conv.b() {
            Some(b) => Some((self.operand(b)?, 1.0)),
            None => None,
        };
        let types = self.floats(x, w)?;
        Some(Recognized { bias, ..self.windowed_sum(op, x, w, types)? })
    }

    /// The sums of products of a convolution. Filters that are no constants are read as they lie
    /// after a transposition; integers have to be constants.
    pub(super) fn windowed_sum(
        &self,
        op: Op<'c>,
        x: usize,
        w: usize,
        types: Types,
    ) -> Option<Recognized<'c>> {
        let (x_dims, w_dims) = (self.dims(x)?, self.dims(w)?);
        let constant = self.is_constant(w);
        if !IMAGE_RANKS.contains(&x_dims.len())
            || w_dims.len() != x_dims.len()
            || !(constant || types.sum.is_float())
        {
            return None;
        }
        let groups = ir::attr_i64(op, "group").unwrap_or(1);
        let (filters, depth) = (w_dims[0], w_dims[1]);
        let window = self.window(op, &x_dims, &w_dims[2..])?;
        let (batch, [planes, rows, cols]) = self.grid()?;
        let (x_view, y) = (nhwc_view(&x_dims)?, nhwc_view(self.out)?);
        let depthwise = groups > 1 && depth == 1 && shares_channels(filters / groups, types.sum);
        // Filters that lie one by one in memory are as good as groups.
        let (own_groups, own_filters) =
            if depthwise { (filters, 1) } else { (groups, filters / groups) };
        let source = Source::Filters {
            groups: own_groups as usize,
            filters: own_filters as usize,
            depth: depth as usize,
            taps: window.taps() as usize,
        };
        let weights = if constant { Weights::Packed } else { Weights::Rows(filters) };
        let sum = Contraction {
            types,
            batch,
            planes,
            rows,
            cols,
            groups,
            channels: filters / groups,
            sections: vec![],
            depth,
            window,
            x: x_view,
            weights,
            weights_batch: 0,
            weights_plane: 0,
            scales: None,
            start: None,
            amx: None,
            y,
            operands: vec![],
        };
        let (kind, kernel) = match depthwise {
            true => ("depthwise_conv", Kernel::Depthwise(channel_by_channel(sum))),
            false => ("conv", Kernel::Contraction(sum)),
        };
        let source = Some(source);
        let weights = Some(WeightsOperand {
            operand: w,
            source,
            scale: 1.0,
            integers: None,
            floats: None,
            scales: None,
        });
        Some(Recognized { weights, ..self.found(kind, kernel, x) })
    }

    pub(super) fn pool(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let (image, fold) = pool(op)?;
        let x = self.operand(image)?;
        let x_dims = self.dims(x)?;
        if !IMAGE_RANKS.contains(&x_dims.len()) {
            return None;
        }
        let rank = x_dims.len() - 2;
        let kernel = match ir::attr_i64s(op, "kernel_shape") {
            Some(kernel) => Some(kernel).filter(|kernel| kernel.len() == rank)?,
            None => x_dims[1..=rank].to_vec(),
        };
        let window = self.window(op, &x_dims, &kernel)?;
        let (batch, grid) = self.grid()?;
        let element =
            self.element(x).filter(|element| folds(op, fold, *element, (&window, grid)))?;
        let kind = if fold == Fold::Max { "max_pool" } else { "average_pool" };
        let kernel = Kernel::Depthwise(Depthwise {
            types: Types::uniform(element),
            fold,
            batch,
            planes: grid[PLANE],
            rows: grid[ROW],
            cols: grid[COL],
            channels: *self.out.last()?,
            shared: 1,
            window,
            x: nhwc_view(&x_dims)?,
            weights: Weights::Packed,
            start: None,
            y: nhwc_view(self.out)?,
            operands: vec![],
        });
        Some(self.found(kind, kernel, x))
    }

    /// A pool on an image with its channels first.
    pub fn planar_pool(&self, op: Op<'c>) -> Option<Found> {
        let (image, fold) = pool(op)?;
        let x = self.operand(image)?;
        let x_dims = self.dims(x)?;
        if !IMAGE_RANKS.contains(&x_dims.len()) || self.out.len() != x_dims.len() {
            return None;
        }
        let rank = x_dims.len() - 2;
        let kernel = ir::attr_i64s(op, "kernel_shape").filter(|kernel| kernel.len() == rank)?;
        let window = window_of(op, &kernel, &x_dims[2..])?;
        let grid = spread(&self.out[2..], 1)?;
        let element =
            self.element(x).filter(|element| folds(op, fold, *element, (&window, grid)))?;
        let spec = Planar {
            element,
            fold,
            batch: x_dims[0],
            channels: x_dims[1],
            rank,
            grid,
            window,
            y: operand_view(self.out, &ir::memref::row_major(self.out), Form::Images)?,
            operands: vec![],
        };
        spec.is_worthwhile().then(|| Found { kernel: Box::new(spec), x })
    }
}
