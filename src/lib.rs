//! Phaseline: a compiler framework for neural networks on MLIR, in which targets register pass
//! pipelines at named phases.

pub mod check;
pub mod cli;
pub mod codegen;
pub mod compile;
pub mod driver;
pub mod error;
pub mod ffi;
pub mod hook;
pub mod import;
pub mod interface;
pub mod io;
pub mod ir;
pub mod kernel;
pub mod layout;
pub mod lower;
pub mod outline;
pub mod package;
pub mod partition;
pub mod pass;
pub mod passes;
pub mod pattern;
pub mod phase;
pub mod plan;
pub mod profile;
pub mod runtime;
pub mod session;
pub mod stage;
pub mod target;
pub mod tensor;
pub mod tile;

pub use compile::{CompileOptions, Compiled};
pub use error::{Error, Result};
pub use interface::{Interface, TensorInfo};
pub use phase::{Phase, Pipeline};
pub use session::Session;
pub use tensor::{DType, Tensor};

/// The MLIR bindings that the public API speaks.
pub use melior;
