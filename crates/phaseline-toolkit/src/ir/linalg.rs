//! Structured operations.

use super::{Op, edit};
use crate::ffi;
use melior::ir::Attribute;
use mlir_sys as sys;

/// The indexing map of each operand, also of an operation whose name implies them; none of other operations.
pub fn indexing_maps<'c>(op: Op<'c>) -> Vec<Attribute<'c>> {
    if !super::context::may_ask(op) {
        return vec![];
    }
    // SAFETY: the operation is live; others than structured ones have no such attribute.
    let maps = unsafe { sys::mlirLinalgGetIndexingMapsAttribute(op.to_raw()) };
    // SAFETY: an attribute lives as long as the context, which the operation is of.
    let maps = (!maps.ptr.is_null()).then(|| unsafe { Attribute::from_raw(maps) });
    maps.map(edit::array).unwrap_or_default()
}

/// True if an operation is a structured one: loops that its indexing maps tell, around a body on elements.
pub fn is_structured(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    super::context::may_ask(op)
        && unsafe { ffi::phlStructured(op.to_raw()) != ffi::PhlStructured::PHL_STRUCTURED_NONE }
}

/// True if an operation is a structured one without reductions.
pub fn is_parallel(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    super::context::may_ask(op)
        && unsafe { ffi::phlStructured(op.to_raw()) == ffi::PhlStructured::PHL_STRUCTURED_PARALLEL }
}
