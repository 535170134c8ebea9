//! Calls that are computed tile by tile in a device's own memory.
//!
//! A pattern declares the loops of its work and the part of each tensor that a tile has
//! (`[pattern.tile]`); `crate::pattern` makes a [`plan::Plan`] of it for a match, [`choose`] picks
//! the sizes and the order that cost least, and [`emit`] writes the loops. Plan and choice are
//! those of `phaseline-select`.

mod argument;
pub mod attribute;
pub mod emit;
pub mod halves;
pub mod rings;
pub mod room;
pub mod slice;
mod store;
pub mod tiled;
pub mod told;

pub use phaseline_select::tile::{
    TileRef, Tiles, cascade, choose, keep, pieces, plan, pool, stay, value,
};
