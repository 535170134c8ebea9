//! Convolutions and pools become composites on NHWC.

use super::{Layout, int_list, to_nchw, to_nhwc};
use crate::{
    Result,
    host::kernel::{
        recognize::{
            NHWC, points,
            windowed::{has_few_edges, window_of},
        },
        weights,
        window::{COL, ROW},
    },
    ir::{self, Builder, Op, OpSpec, Val, edit, graph, op_name, view::OpView},
};
use melior::ir::{Region, ValueLike};

impl<'c> Layout<'c> {
    /// Wraps a convolution or pool in a composite on NHWC, whose result is returned.
    pub(super) fn wrap(&mut self, op: Op<'c>) -> Result<Val<'c>> {
        let b = Builder::before(op)?;
        let rank = ir::dims(ir::result0(op)?.r#type()).len();
        let mut operands = ir::operands(op);
        let x = self.nhwc(&b, operands[0])?;
        operands[0] = pad_window(&b, op, x)?.unwrap_or(x);
        let region = Region::new();
        let types: Vec<_> = operands.iter().map(|v| (v.r#type(), b.location)).collect();
        let block = edit::append_block(&region, &types);
        let inner = Builder::at_end(b.context, block, b.location);
        let mut arguments = edit::arguments(block);
        arguments[0] = graph::Transpose::build(&inner, arguments[0], &to_nchw(rank))?.y();
        let copy = clone_at_end(block, op, &arguments)?;
        let result = graph::Transpose::build(&inner, ir::result0(copy)?, &to_nhwc(rank))?.y();
        graph::Yield::build(&inner, &[result], &[])?;
        let name = op_name(op).strip_prefix("graph.").unwrap_or_default();
        let attributes = vec![
            ("name", b.str_attr(&format!("{NHWC}{name}"))),
            ("target", b.str_attr(&self.target)),
        ];
        let composite = b.create(
            graph::Composite::NAME,
            OpSpec {
                operands: &operands,
                results: &[result.r#type()],
                attributes,
                regions: vec![region],
                infer: false,
            },
        )?;
        self.replace(&b, ir::result0(op)?, ir::result0(composite)?)?;
        edit::erase(op);
        ir::result0(composite)
    }
}

/// Puts the padding of a window around the NHWC image `x` itself if a kernel would have too many
/// loops at the edges of rows otherwise. The op is left without padding then.
fn pad_window<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>) -> Result<Option<Val<'c>>> {
    let (x_dims, y_dims) = (ir::dims(x.r#type()), ir::dims(ir::result0(op)?.r#type()));
    let Some(kernel) = kernel_shape(op) else { return Ok(None) };
    let Some(window) = window_of(op, &kernel, &x_dims[1..x_dims.len() - 1]) else {
        return Ok(None);
    };
    let pads = ir::attr_i64s(op, "pads").unwrap_or_default();
    let cols = y_dims.last().copied().unwrap_or(1);
    // Kernels have the rows of one column as columns of one row.
    let rows =
        y_dims[2..].iter().rev().nth(1).copied().filter(|_| cols == 1 && graph::Conv::is(op));
    let (axis, points, window) = match rows {
        Some(rows) => (ROW, rows, points::turned(&window)),
        None => (COL, cols, window),
    };
    if pads.is_empty() || has_few_edges(&window, points) {
        return Ok(None);
    }
    // In `ceil_mode` windows may reach beyond the padding.
    let after = pads[pads.len() - 1 - (COL - axis)];
    if window.position(COL, points - 1, window.kernel[COL] - 1) >= window.input[COL] + after {
        return Ok(None);
    }
    let Some(value) = padding(b, op)? else { return Ok(None) };
    let (begin, end) = pads.split_at(pads.len() / 2);
    let mut amounts = vec![0];
    amounts.extend(begin.iter().chain(&[0, 0]).chain(end));
    amounts.push(0);
    let half = amounts.len() / 2;
    let dims: Vec<i64> =
        x_dims.iter().enumerate().map(|(i, dim)| dim + amounts[i] + amounts[half + i]).collect();
    let list = int_list(b, &amounts)?;
    let segments = b.parse_attr("array<i32: 1, 1, 1, 0>")?;
    let attributes = vec![("operandSegmentSizes", segments), ("mode", b.str_attr("constant"))];
    let ty = b.tensor(&dims, ir::element_type(x.r#type()));
    let padded = b.op1_with(graph::Pad::NAME, &[x, list, value], ty, attributes)?;
    edit::set_attr(op, "pads", b.i64s_attr(&vec![0; pads.len()]));
    Ok(Some(padded))
}

/// The size of the window of a convolution or pool that may be padded.
fn kernel_shape(op: Op<'_>) -> Option<Vec<i64>> {
    match graph::Conv::of(op)
        .map(graph::Conv::w)
        .or(graph::ConvInteger::of(op).map(graph::ConvInteger::w))
    {
        Some(w) => ir::dims(w.r#type()).get(2..).map(<[i64]>::to_vec),
        None => ir::attr_i64s(op, "kernel_shape"),
    }
}

/// Value of a window's padding, if it is a number.
fn padding<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<Option<Val<'c>>> {
    if let Some(conv) = graph::ConvInteger::of(op) {
        let single = |zero: &Val<'c>| ir::dims(zero.r#type()).is_empty();
        return Ok(conv.x_zero_point().filter(single));
    }
    let element = ir::element_type(ir::result0(op)?.r#type());
    let value = match op_name(op) {
        graph::Conv::NAME => 0.0,
        graph::MaxPool::NAME => f64::NEG_INFINITY,
        graph::AveragePool::NAME if ir::attr_bool(op, "count_include_pad") == Some(true) => 0.0,
        _ => return Ok(None),
    };
    if element == b.f64() {
        return weights::splat(b, &[], value).map(Some);
    }
    if element != b.f32() {
        return Ok(None);
    }
    weights::splat(b, &[], value as f32).map(Some)
}

/// Appends a copy of `op` with other operands to a block.
fn clone_at_end<'c>(block: ir::Blk<'c>, op: Op<'c>, operands: &[Val<'c>]) -> Result<Op<'c>> {
    let clone = edit::clone_to_end(op, block);
    for (index, operand) in operands.iter().enumerate() {
        edit::set_operand(clone, index, *operand)?;
    }
    Ok(clone)
}
