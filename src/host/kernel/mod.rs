//! Host kernels: convolutions, products and pools as loops over vector registers.
//!
//! A kernel is a function on memrefs, specialised on every size, with its element-wise epilogue in
//! registers. It does the tasks `lo..hi` of an outer loop that has `tasks()` of them, so that a
//! caller may share them out to threads. Constant weights come packed (see [`weights`]).

mod arithmetic;
mod attention;
mod choose;
mod contraction;
mod depthwise;
mod emit;
mod isa;
mod kind;
mod lanes;
pub mod program;
pub mod recognize;
mod scheduled;
pub mod start;
mod store;
mod tiling;
mod types;
pub mod weights;
pub mod window;
mod winograd;

/// Declares the kernels without packed weights, and the table of their kinds.
macro_rules! kinds {
    ($($module:ident),*) => {
        $(mod $module;)*
        /// All kinds, in the order in which an operation is offered to them.
        static KINDS: &[&Kind] = &[$(&$module::KIND),*];
    };
}

kinds!(planar, softmax);

pub use arithmetic::Arithmetic;
pub use attention::{Attention, AttentionBlocking, Programs};
pub use contraction::{Contraction, Epilogue, NoEpilogue, Section, View, Weights};
pub use depthwise::{Depthwise, DepthwiseBlocking, Fold};
pub use emit::{Emitter, Ix, argument_types, function};
pub use isa::{Dot, Extensions, Halves, Isa};
pub use kind::{Found, HostKernel, Kind};
pub use planar::Planar;
pub use scheduled::Scheduled;
pub use start::Start;
pub use tiling::{
    Blocking, ChannelTiles, Order, PointTiles, TaskSize, Width, split_channels, split_points,
};
pub use types::{Buffer, Element, Types};
pub use window::Window;
pub use winograd::{Tiles, Winograd};
