//! Phaseline: a compiler framework for neural networks on MLIR, in which targets register pass
//! pipelines at named phases.
//!
//! The entry point is [`Session`]: it reads or imports a module, runs pipelines on it, and compiles
//! it ([`CompileOptions`]). The result ([`Compiled`]) can be loaded or written as a package. Passes
//! of an embedder are declared as [`pass::Pass`], target kinds as [`targets::TargetKind`] with
//! [`hook::Hooks`].
//!
//! The modules are listed by layer, lowest first; each uses those of layers before its own only.

#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, unused_imports, reason = "the program uses them")
)]

// Below all of them: what does not know MLIR.
pub use phaseline_base::{error, expr, io, tensor};
pub(crate) use phaseline_base::{identifier, parallel, plan, process};
pub(crate) use phaseline_select::partition;
pub use phaseline_select::{graph, pattern};
pub use phaseline_toolkit::{pass, pass_choice, pass_options, report};

// The C API as it is.
pub(crate) mod ffi;

// IR and phases.
pub mod ir;
pub mod phase;

// Layer on top of IR: passes as such, formulas, artifacts.
pub(crate) mod approximate;
pub mod artifact;
pub(crate) mod limits;

// Lowering to loops on tensors; planned memory, read back.
pub(crate) mod launch;
pub(crate) mod lower;
pub(crate) mod planned;
pub(crate) mod transfer;

// The host's layouts and kernels; work cut into tiles.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod host;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "benchmarks use it")]
pub(crate) mod host;
pub(crate) mod patch;
pub(crate) mod pools;
pub(crate) mod tile;

// Target kinds and instances.
pub(crate) mod rules;
pub(crate) mod sizes;
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
pub(crate) mod toolkit;

// Tools for authors of targets.
#[cfg(feature = "cli")]
pub(crate) mod check;
pub mod measure;

// The program.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

pub mod prelude;

pub use artifact::{Compiled, Interface, TensorInfo};
pub use compile::{Cache, CacheKey, CompileOptions};
pub use error::{Error, Result};
pub use phase::{Phase, Pipeline};
pub use session::Session;
pub use tensor::{DType, Tensor};
pub use toolkit::Toolkit;

pub use phaseline_toolkit::raw;
