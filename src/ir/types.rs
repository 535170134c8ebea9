//! Types, those of `tir` among them.

use super::Type;
use crate::ffi;
use melior::ir::TypeLike;
pub use phaseline_toolkit::ir::types::*;

/// True if the type is that of a transfer under way.
pub fn is_token(ty: Type<'_>) -> bool {
    // SAFETY: takes any type.
    unsafe { ffi::phlTirTypeIsToken(ty.to_raw()) }
}
