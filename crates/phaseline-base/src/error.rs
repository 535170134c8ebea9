//! The one error type of the crate, and guesses at what was meant by a name that is unknown.

mod near;

pub use near::{near_misses, suggestion, suggestion_only};

use std::path::{Path, PathBuf};

/// Error of the crate: the fault, its place, and the remedy. The text of each variant is one
/// message fit for a user; `phaseline` prints it after `error: ` and exits with code 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The verb: "cannot read", "cannot write".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// MLIR reported errors; the text holds all of them, one a line, with locations.
    #[error("{0}")]
    Diagnostics(String),
    /// The input is not acceptable; the text says what, where and the remedy.
    #[error("{0}")]
    Invalid(String),
    /// Something that Phaseline does not do; the text names it and the place.
    #[error("{0}")]
    Unsupported(String),
    /// A program that was called (C compiler, linker) failed.
    #[error("{program} failed: {detail}")]
    Tool {
        /// Name of the program.
        program: String,
        /// Its output, shortened.
        detail: String,
    },
    /// A fault of Phaseline itself.
    #[error("internal error: {0} (please report this with the model or IR that caused it)")]
    Internal(String),
}

/// Result with the crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An I/O error of `action` on `path`.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }

    /// An [`Error::Invalid`] from anything printable.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// An [`Error::Unsupported`] from anything printable.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::Unsupported(message.into())
    }

    /// An [`Error::Internal`] from anything printable.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::Internal(message.into())
    }
}
