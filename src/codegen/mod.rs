//! Code generation: from planned buffers to what a linker or compiler of the target takes.

pub mod c;
pub mod llvm;
pub mod part;
pub mod stream;
