//! Planned memory, read back from the IR: which buffers a function puts where, and when each is in
//! use.
//!
//! What is found here rests on the IR alone, and shares nothing with the planner: neither its
//! lifetimes nor its list of buffers. So it can tell whether a plan is right, whoever wrote it.

pub mod capacity;
pub mod constants;
pub mod flow;
pub mod generated;
mod inside;
mod lifetime;
mod order;
mod overlap;
pub mod picture;
mod places;
pub mod pools;
pub mod queues;
#[cfg(test)]
mod tests;
pub mod users;
pub mod words;

pub use inside::{BufferUse, Effects, effects, uses_of};
pub use lifetime::spans;
pub use order::{Order, Span};
pub use overlap::{Use, clash};
pub(crate) use places::pool_of;
pub use places::{Memory, Place, places};
