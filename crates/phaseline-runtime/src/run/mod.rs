//! Running compiled models in this process.

mod buffer;
mod chrome;
mod devices;
mod executable;
mod library;
mod memory;
mod pool;
mod trace;

pub use buffer::{DeviceBuffer, Input, Output};
pub use executable::{Executable, Invoke};
pub use library::load;
pub use memory::{Block, Constants};
pub use trace::Event;
