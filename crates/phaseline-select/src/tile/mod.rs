//! Calls that are computed tile by tile in a device's own memory: what is decided about them.
//!
//! A pattern declares the loops of its work and which part of each tensor a tile has
//! (`[pattern.tile]`); [`crate::pattern`] makes a [`plan::Plan`] of it for a match, and [`choose`]
//! picks the sizes and the order that cost least. The loops are written elsewhere, on IR.

pub mod cascade;
pub mod choose;
pub mod formula;
pub mod keep;
pub mod pieces;
pub mod plan;
pub mod pool;
mod reference;
pub mod stay;
mod tiles;
pub mod value;

pub use reference::TileRef;
pub use tiles::Tiles;
