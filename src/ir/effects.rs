//! Effects of operations, those of `tir` among them.

use super::{Op, Val, tir, view::OpView};
pub use phaseline_toolkit::ir::effects::*;

/// True if an operation gives elements of the tensors and buffers that it is given, and computes none.
pub fn is_move(op: Op<'_>) -> bool {
    phaseline_toolkit::ir::effects::is_move(op) || tir::Concat::is(op)
}

/// An access to one element of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Element<'c> {
    /// The buffer.
    pub buffer: Val<'c>,
    /// The index of each dimension.
    pub indices: Vec<Val<'c>>,
    /// The place among the operands of the first index.
    pub first_index: usize,
    /// The element is written, not read.
    pub writes: bool,
}

/// The access of an operation that does nothing but read or write one element of a buffer.
pub(crate) fn element(op: Op<'_>) -> Option<Element<'_>> {
    let place = match super::op_name(op) {
        "memref.load" => 0,
        "memref.store" => 1,
        _ => return None,
    };
    let all = super::operands(op);
    let (buffer, indices) = all.get(place..)?.split_first()?;
    let indices = indices.to_vec();
    Some(Element { buffer: *buffer, indices, first_index: place + 1, writes: place == 1 })
}
