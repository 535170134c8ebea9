//! Running compiled models in this process, from memory or from a package.

mod devices;
mod executable;
mod jit;
mod library;
mod pool;
mod shared;
mod signature;

pub use executable::{Executable, Invoke};
pub use jit::jit;
pub use library::load;
pub use shared::{Library, load_libraries};
pub use signature::{Device, Port, Signature};
