//! Phaseline: a compiler framework for neural networks on MLIR, in which targets register pass
//! pipelines at named phases.
//!
//! [`Session`] is where to start: it reads or imports a module, runs pipelines on it, and compiles
//! it ([`CompileOptions`]) to what can be loaded or written as a package ([`Compiled`]). Passes of
//! an embedder are declared as [`pass::Pass`], target kinds as [`targets::TargetKind`] with
//! [`hook::Hooks`].
//!
//! The modules are listed by layer, lowest first; each uses those of layers before its own only.

#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, unused_imports, reason = "the program uses them")
)]

// Errors, the C API as it is, threads, and the arithmetic of plans.
pub mod error;
pub(crate) mod ffi;
pub(crate) mod parallel;
pub(crate) mod plan;

// IR and phases; tensors, and the programs and files that a process owns.
pub mod ir;
pub mod phase;
pub(crate) mod process;
pub mod tensor;

// What is built on IR or on tensors alone: passes as such, files of tensors, expressions, artifacts.
pub(crate) mod approximate;
pub mod artifact;
pub mod expr;
pub mod io;
pub(crate) mod limits;
pub mod pass;

// Graphs as plain data; lowering to loops on tensors; planned memory, read back.
pub mod graph;
pub(crate) mod launch;
pub(crate) mod lower;
pub(crate) mod planned;
pub(crate) mod transfer;

// The host's layouts and kernels; work cut into tiles.
pub mod host;
pub(crate) mod patch;
pub(crate) mod pools;
pub(crate) mod tile;

// What a target can take.
pub mod pattern;

// Who takes what.
pub(crate) mod partition;

// Target kinds and instances.
pub mod targets;

// The session; partition of IR between targets; a target's own code.
pub mod hook;
pub(crate) mod outline;
pub mod session;

// Models in, code out.
pub mod codegen;
pub mod import;

// The table of passes; packages.
pub mod package;
pub mod passes;

// Running what a compile made.
pub mod runtime;

// The whole compile, which runs some of what it makes; the MLIR tools.
pub mod compile;
#[doc(hidden)]
pub mod driver;

// Tools for authors of targets.
#[cfg(feature = "cli")]
pub(crate) mod check;
pub mod measure;

// The program.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

pub use artifact::{Compiled, Interface, TensorInfo};
pub use compile::{Cache, CacheKey, CompileOptions};
pub use error::{Error, Result};
pub use phase::{Phase, Pipeline};
pub use session::Session;
pub use tensor::{DType, Tensor};

/// The MLIR bindings that the public API speaks.
pub use melior;
