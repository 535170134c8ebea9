//! Convolutions and pools on NHWC.

use super::{Kernel, Recognized, Scope, WeightsOperand};
use crate::{
    host::kernel::{
        Contraction, Depthwise, Element, Fold, Types, View, Weights, Window, weights::Source,
    },
    ir::{self, Op, op_name},
};
use melior::ir::operation::OperationLike;

/// A window that needs more copies of its inner loop than this is left to the general lowering.
const MAX_EDGE_LOOPS: i64 = 96;

fn nhwc_view(dims: &[i64]) -> View {
    View {
        offset: 0,
        batch: dims[1] * dims[2] * dims[3],
        row: dims[2] * dims[3],
        col: dims[3],
        channel: 1,
    }
}

impl<'c> Scope<'_, 'c> {
    /// The window of a convolution or pool on the NHWC input `x`.
    fn window(&self, op: Op<'c>, x: &[i64], kernel: [i64; 2]) -> Option<Window> {
        let list = |name: &str, default: i64| -> Option<[i64; 2]> {
            match ir::attr_i64s(op, name).unwrap_or_default()[..] {
                [] => Some([default; 2]),
                [a, b] => Some([a, b]),
                _ => None,
            }
        };
        let pad = match ir::attr_i64s(op, "pads").unwrap_or_default()[..] {
            [] => [0; 2],
            [top, left, bottom, right] if [top, left, bottom, right].iter().all(|p| *p >= 0) => {
                [top, left]
            }
            _ => return None,
        };
        let window = Window {
            kernel,
            stride: list("strides", 1)?,
            dilation: list("dilations", 1)?,
            pad,
            input: [x[1], x[2]],
        };
        let cols = self.out[2];
        let edges = (0..cols).filter(|col| !window.columns_inside(*col, 1)).count() as i64;
        (edges * kernel[1] <= MAX_EDGE_LOOPS).then_some(window)
    }

    pub(super) fn conv(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let x = self.operand(op.operand(0).ok()?)?;
        let w = self.operand(op.operand(1).ok()?)?;
        let bias = match op.operand(2) {
            Ok(b) => Some((self.operand(b)?, 1.0)),
            Err(_) => None,
        };
        if self.element(x)? != Element::F32 || self.element(w)? != Element::F32 {
            return None;
        }
        Some(Recognized { bias, ..self.windowed_sum(op, x, w, Types::F32)? })
    }

    /// The sums of products of a convolution with constant filters.
    pub(super) fn windowed_sum(
        &self,
        op: Op<'c>,
        x: usize,
        w: usize,
        types: Types,
    ) -> Option<Recognized<'c>> {
        let (x_dims, w_dims) = (self.dims(x)?, self.dims(w)?);
        if x_dims.len() != 4 || w_dims.len() != 4 || !self.is_constant(w) {
            return None;
        }
        let groups = ir::attr_i64(op, "group").unwrap_or(1);
        let (filters, depth) = (w_dims[0], w_dims[1]);
        let window = self.window(op, &x_dims, [w_dims[2], w_dims[3]])?;
        let source = Source::Filters {
            groups: groups as usize,
            filters: (filters / groups) as usize,
            depth: depth as usize,
            taps: (w_dims[2] * w_dims[3]) as usize,
        };
        let out = self.out;
        let (x_view, y) = (nhwc_view(&x_dims), nhwc_view(out));
        let depthwise = groups > 1 && depth == 1 && filters == groups;
        let kernel = if depthwise {
            Kernel::Depthwise(Depthwise {
                types,
                fold: Fold::Weighted,
                batch: out[0],
                rows: out[1],
                cols: out[2],
                channels: out[3],
                window,
                x: x_view,
                start: None,
                y,
                operands: vec![],
            })
        } else {
            Kernel::Contraction(Contraction {
                types,
                batch: out[0],
                rows: out[1],
                cols: out[2],
                groups,
                channels: filters / groups,
                depth,
                window,
                x: x_view,
                weights: Weights::Packed,
                weights_batch: 0,
                start: None,
                y,
                operands: vec![],
            })
        };
        let kind = if depthwise { "depthwise_conv" } else { "conv" };
        let source = Some(source);
        let weights = Some(WeightsOperand { operand: w, source, scale: 1.0, integers: None });
        Some(Recognized { weights, ..self.found(kind, kernel, x) })
    }

    pub(super) fn pool(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let x = self.operand(op.operand(0).ok()?)?;
        let x_dims = self.dims(x)?;
        if x_dims.len() != 4 {
            return None;
        }
        let name = op_name(op);
        let whole = name.starts_with("graph.global_");
        let kernel = if whole {
            [x_dims[1], x_dims[2]]
        } else {
            match ir::attr_i64s(op, "kernel_shape")?[..] {
                [h, w] => [h, w],
                _ => return None,
            }
        };
        let window = self.window(op, &x_dims, kernel)?;
        let fold = match name {
            "graph.max_pool" | "graph.global_max_pool" => Fold::Max,
            "graph.global_average_pool" => Fold::Mean,
            "graph.average_pool" if ir::attr_bool(op, "count_include_pad") == Some(true) => {
                // In `ceil_mode` windows may reach beyond the padding, which counts nothing.
                let pads = ir::attr_i64s(op, "pads").unwrap_or_default();
                let fits = |axis: usize| {
                    let pad = pads.get(2 + axis).copied().unwrap_or(0);
                    let last = window.position(axis, self.out[1 + axis] - 1, kernel[axis] - 1);
                    last < window.input[axis] + pad
                };
                if !fits(0) || !fits(1) {
                    return None;
                }
                Fold::PaddedMean
            }
            "graph.average_pool" => Fold::Mean,
            _ => return None,
        };
        let element = self.element(x)?;
        if element != Element::F32 && !(fold == Fold::Max && element.is_byte()) {
            return None;
        }
        let kind = if fold == Fold::Max { "max_pool" } else { "average_pool" };
        let kernel = Kernel::Depthwise(Depthwise {
            types: Types::uniform(element),
            fold,
            batch: self.out[0],
            rows: self.out[1],
            cols: self.out[2],
            channels: self.out[3],
            window,
            x: nhwc_view(&x_dims),
            start: None,
            y: nhwc_view(self.out),
            operands: vec![],
        });
        Some(self.found(kind, kernel, x))
    }
}
