//! Effects of operations, those of `tir` among them.

use super::{Op, tir, view::OpView};
pub use phaseline_toolkit::ir::effects::*;

/// True if an operation gives elements of the tensors and buffers that it is given, and computes none.
pub fn is_move(op: Op<'_>) -> bool {
    phaseline_toolkit::ir::effects::is_move(op) || tir::Concat::is(op)
}
