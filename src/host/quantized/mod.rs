//! Quantized layers as sums of integers, which kernels compute exactly.
//!
//! `(x - x_zero) * x_scale` times `(w - w_zero) * w_scale`, summed up, is the sum of the products
//! of integers times both scales: `graph.dequantize_linear` of `graph.conv_integer` or
//! `graph.matmul_integer`. A quantization behind it divides by its scale; both become one factor.

mod dynamic;
pub(super) mod layers;
pub(super) mod parameters;
mod requantize;

use crate::{
    Result,
    ir::{self, Op, edit, graph, op_name, view::OpView},
};

/// Rewrites the layers in the first block of a function.
pub fn rewrite(function: Op<'_>) -> Result<()> {
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    for op in ir::ops(block) {
        match op_name(op) {
            graph::Conv::NAME => layers::conv(op)?,
            graph::MatMul::NAME => layers::matmul(op)?,
            graph::Gemm::NAME => layers::gemm(op)?,
            graph::QLinearConv::NAME => layers::qlinear_conv(op)?,
            graph::QLinearMatMul::NAME => layers::qlinear_matmul(op)?,
            graph::MatMulInteger::NAME => dynamic::matmul_integer(op)?,
            _ => {}
        }
    }
    for op in ir::ops(block) {
        if matches!(op_name(op), graph::Conv::NAME | graph::MatMul::NAME | graph::Gemm::NAME) {
            layers::fold_weights(op)?;
        }
        if let Some(dequantize) = graph::DequantizeLinear::of(op) {
            parameters::fold(dequantize)?;
        }
        if graph::QuantizeLinear::is(op) {
            requantize::merge_scales(op)?;
            requantize::take_pool(op)?;
        }
    }
    // Uses stand after what they use.
    for op in ir::ops(block).into_iter().rev() {
        let unused = ir::results(op).iter().all(|value| ir::users(*value).is_empty());
        if unused && (graph::DequantizeLinear::is(op) || graph::Constant::is(op)) {
            edit::erase(op);
        }
    }
    Ok(())
}
