//! Compilers on MLIR in safe Rust: IR that is built and rewritten, passes that MLIR knows by name, sessions, and the
//! drivers and the language server for one's own dialects. Nothing here knows neural networks.
//!
//! The modules are listed by layer, lowest first; each uses those of layers before its own only.

pub(crate) use phaseline_base::io;
pub use phaseline_base::{error, op_info};

pub(crate) mod ffi;

pub mod ir;

pub mod pass;

pub(crate) mod session;

pub(crate) mod driver;

pub(crate) mod toolkit;

pub use error::{Error, Result};
pub use session::{Diagnostic, Note, Session, Severity, Verified};
pub use toolkit::{Dialect, Toolkit};

/// melior, the bindings of MLIR whose handles the public API speaks, as they are.
pub use melior as raw;
