//! Decisions on calls that are computed tile by tile in a device's own memory.
//!
//! A pattern declares the loops of its work and the part of each tensor that a tile has
//! (`[pattern.tile]`). The module [`crate::pattern`] makes a [`plan::Plan`] of this for a match,
//! and [`choose`] picks the sizes and the order that cost least. The loops are written elsewhere,
//! on IR.

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
