//! Errors as exceptions: `phaseline._errors` has the classes, which take file, line and remedy out of the text.

use phaseline_runtime::Error;
use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// The exception of an error.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let (kind, file) = match error {
        Error::Io { path, .. } => ("io", Some(path.display().to_string())),
        Error::Diagnostics(_) => ("diagnostics", None),
        Error::Invalid(_) => ("invalid", None),
        Error::Unsupported(_) => ("unsupported", None),
        Error::Tool { program, .. } => ("tool", Some(program.clone())),
        _ => ("internal", None),
    };
    let made = py
        .import("phaseline._errors")
        .and_then(|module| module.call_method1("made", (kind, error.to_string(), file)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(_) => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Turns errors into exceptions.
pub trait OrRaise<T> {
    /// The value, or the exception of the error.
    ///
    /// # Errors
    /// There is an error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for phaseline_runtime::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, &error))
    }
}
