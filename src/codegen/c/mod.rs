//! C code of accelerators and of the host `c`: from the emitc dialect through C text and a C compiler to object files.

pub mod arith;
pub mod call;
pub mod compare;
pub mod compile;
pub mod control;
pub mod declare;
pub mod expression;
pub mod format;
pub mod function;
pub mod helpers;
pub mod math;
pub mod memory;
pub mod scalar;
pub mod target;
pub mod tool;
pub mod writer;

pub use compile::{CArtifacts, COptions, compile, translate};
pub use target::{device, options};
