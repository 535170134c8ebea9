//! Errors of reading and writing tensors.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::tensor::TensorError;

/// Error of reading or writing tensors.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The action that failed: "read", "write", ...
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file, or an entry of it, is not what it should be.
    #[error("{place}: {message}")]
    Format {
        /// File, and entry within it.
        place: String,
        /// The fault, and the expectation.
        message: String,
    },
    /// The path cannot serve for this purpose.
    #[error("{}: {message}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// The fault, and the path to give instead.
        message: String,
    },
    /// A model input has no value.
    #[error("{}: no value for input `{name}`: {message}", path.display())]
    MissingInput {
        /// File or directory of inputs.
        path: PathBuf,
        /// The input's name in the model.
        name: String,
        /// The place of the search, and its contents.
        message: String,
    },
}

impl IoError {
    pub(crate) fn file(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }

    pub(crate) fn format(place: impl Into<String>, message: impl ToString) -> Self {
        Self::Format { place: place.into(), message: message.to_string() }
    }

    pub(crate) fn path(path: &Path, message: impl Into<String>) -> Self {
        Self::Path { path: path.to_path_buf(), message: message.into() }
    }

    pub(crate) fn tensor(place: &str, error: TensorError) -> Self {
        Self::format(place, error)
    }
}

impl From<IoError> for crate::Error {
    fn from(error: IoError) -> Self {
        Self::Invalid(error.to_string())
    }
}
