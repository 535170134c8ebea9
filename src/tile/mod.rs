//! Calls that are computed tile by tile in a device's own memory.
//!
//! A pattern declares the loops of its work and which part of each tensor a tile has
//! (`[pattern.tile]`); `crate::pattern` makes a [`plan::Plan`] of it for a match, [`choose`] picks
//! the sizes and the order that cost least, and [`emit`] writes the loops.

mod argument;
pub mod attribute;
pub mod cascade;
pub mod choose;
pub mod emit;
pub mod formula;
pub mod halves;
pub mod keep;
pub mod pieces;
pub mod plan;
pub mod pool;
mod reference;
pub mod room;
pub mod slice;
pub mod stay;
mod store;
pub mod tiled;
mod tiles;
pub mod told;
pub mod value;

pub use reference::TileRef;
pub use tiles::Tiles;
