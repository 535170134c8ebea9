//! Types with room for the greatest sizes.

use crate::{
    Error, Result,
    ir::{self, Builder},
};
use melior::ir::Type;
use phaseline_base::size::{Dim, Symbol};

/// The type of a buffer with room for these dimensions.
///
/// # Errors
/// The room is beyond what a tensor may have.
pub fn bounded<'c>(
    b: &Builder<'c>,
    ty: Type<'c>,
    dims: &[Dim],
    symbols: &[Symbol],
) -> Result<Type<'c>> {
    let rooms: Vec<_> = dims.iter().map(|dim| dim.room(symbols)).collect();
    let total = rooms.iter().try_fold(1i64, |product, room| product.checked_mul(*room));
    if total.is_none_or(|total| total > i64::from(i32::MAX) * 16) {
        let text: Vec<_> = dims.iter().map(|dim| dim.text(symbols)).collect();
        return Err(Error::invalid(format!(
            "has room for {rooms:?} elements at the greatest sizes of [{}], which is beyond all buffers: give \
             smaller ranges",
            text.join(", ")
        )));
    }
    b.tensor_type(&rooms, ir::element_type(ty))
}
