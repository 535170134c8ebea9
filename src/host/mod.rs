//! Optimizations for the host: operands in a layout that suits its vectors, and kernels written
//! with explicit register tiles. `README.md` beside this file says how an operation becomes one.

pub(crate) mod fills;
pub(crate) mod halves;
pub(crate) mod joints;
pub mod kernel;
pub(crate) mod layout;
pub(crate) mod loops;
pub(crate) mod memory;
pub(crate) mod packed;
pub(crate) mod quantized;
pub(crate) mod repeat;
pub(crate) mod transpose;
