//! Loops of a region as kernels that its device runs over a grid.
//!
//! A device that is programmed in a language of kernels has no functions for operations. Each loop
//! nest of a region becomes a function of its own ([`kernel`]), and the region a row of calls that
//! launch them. The outer parallel loops are the grid; the rest of the nest is the work of one
//! item. Nests without parallel loops are a grid of one. Neighbours over one grid are one kernel
//! where they share buffers ([`fuse`]).

mod fuse;
mod grid;
pub mod kernel;

pub use grid::Grid;
pub use kernel::outline;
