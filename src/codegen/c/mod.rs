//! C code of accelerators: from the emitc dialect through C text and a C compiler to object files.

pub mod call;
pub mod compile;
pub mod expression;
pub mod format;
pub mod function;
pub mod target;

pub use compile::{CArtifacts, COptions, compile, translate};
pub use target::{device, options};
