//! Types with room for the greatest sizes.

use crate::{
    Error, Result,
    ir::{self, Builder},
};
use melior::ir::Type;
use phaseline_base::size::{Dim, GREATEST, Symbol};

/// Elements of a buffer, at most, where sizes are known at run time.
const MOST_ELEMENTS: i64 = 1 << 31;

/// Fails for dimensions that no buffer has room for at their greatest sizes.
///
/// # Errors
/// The message has the rooms and the dimensions.
pub fn check(dims: &[Dim], symbols: &[Symbol]) -> Result<()> {
    let rooms: Vec<_> = dims.iter().map(|dim| dim.room(symbols)).collect();
    let open = dims.iter().zip(&rooms).filter(|(dim, _)| !dim.is_known());
    let most = open.map(|(_, room)| *room).max();
    let total = rooms.iter().fold(1i64, |product, room| product.saturating_mul(*room));
    if most.is_none_or(|most| most <= GREATEST && total <= MOST_ELEMENTS) {
        return Ok(());
    }
    let text: Vec<_> = dims.iter().map(|dim| dim.text(symbols)).collect();
    Err(Error::invalid(format!(
        "has room for {rooms:?} elements at the greatest sizes of [{}], more than {GREATEST} along one dimension or \
         {MOST_ELEMENTS} in all: give smaller ranges",
        text.join(", ")
    )))
}

/// The type of a buffer with room for these dimensions.
///
/// # Errors
/// The room is beyond what a buffer may have.
pub fn bounded<'c>(
    b: &Builder<'c>,
    ty: Type<'c>,
    dims: &[Dim],
    symbols: &[Symbol],
) -> Result<Type<'c>> {
    check(dims, symbols)?;
    let rooms: Vec<_> = dims.iter().map(|dim| dim.room(symbols)).collect();
    b.tensor_type(&rooms, ir::element_type(ty))
}
