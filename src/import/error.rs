//! Errors of importing a model.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::io::IoError;

/// A reason why a model could not be imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file could not be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The file is not a model of the expected kind, or is damaged.
    #[error("{}: not {format}: {message}", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// The format, with its article.
        format: &'static str,
        /// The finding that shows it.
        message: String,
    },
    /// A stored tensor is wrong.
    #[error("{}: tensor `{tensor}`: {message}", path.display())]
    Tensor {
        /// The model file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// Description of the fault.
        message: String,
    },
    /// The graph's structure is wrong: names, order, types of inputs and outputs.
    #[error("{}: {message}", path.display())]
    Graph {
        /// The model file.
        path: PathBuf,
        /// Description of the fault.
        message: String,
    },
    /// A node cannot be imported.
    #[error("{}: node {node}: {message}", path.display())]
    Node {
        /// The model file.
        path: PathBuf,
        /// The node, described by name and operator.
        node: String,
        /// Description of the fault.
        message: String,
    },
    /// The model uses operators that are not supported: all of them.
    #[error("{}: {}", path.display(), UnsupportedList(ops))]
    Unsupported {
        /// The model file.
        path: PathBuf,
        /// The operators, in order of first use.
        ops: Vec<UnsupportedOp>,
    },
    /// An option of the import does not fit the model.
    #[error("{}: {message}", path.display())]
    Option {
        /// The model file.
        path: PathBuf,
        /// Description of the conflict.
        message: String,
    },
}

impl ImportError {
    pub(crate) fn not_a_model(
        path: &Path,
        format: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self::NotAModel { path: path.to_path_buf(), format, message: message.into() }
    }

    pub(crate) fn tensor(path: &Path, tensor: &str, message: impl Into<String>) -> Self {
        Self::Tensor {
            path: path.to_path_buf(),
            tensor: tensor.to_string(),
            message: message.into(),
        }
    }

    pub(crate) fn graph(path: &Path, message: impl Into<String>) -> Self {
        Self::Graph { path: path.to_path_buf(), message: message.into() }
    }
}

impl From<ImportError> for crate::Error {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Unsupported { .. } => Self::Unsupported(error.to_string()),
            _ => Self::Invalid(error.to_string()),
        }
    }
}

/// An operator that the importer does not know, and where the model uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedOp {
    /// Operator name.
    pub op: String,
    /// Domain; empty for standard ONNX.
    pub domain: String,
    /// Version of the domain's operator set in this model.
    pub opset: i64,
    /// Reason why it is not supported, when the operator itself is known.
    pub reason: Option<String>,
    /// Names of the nodes that use it.
    pub nodes: Vec<String>,
}

/// Nodes listed by name for each operator; the rest is counted.
const NODES_SHOWN: usize = 3;

impl fmt::Display for UnsupportedOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let domain = if self.domain.is_empty() { "ai.onnx" } else { &self.domain };
        write!(f, "{} ({domain} opset {}", self.op, self.opset)?;
        let count = self.nodes.len();
        write!(f, ", {count} node{}: ", if count == 1 { "" } else { "s" })?;
        let shown: Vec<_> = self.nodes.iter().take(NODES_SHOWN).map(|n| format!("`{n}`")).collect();
        f.write_str(&shown.join(", "))?;
        if count > NODES_SHOWN {
            write!(f, " and {} more", count - NODES_SHOWN)?;
        }
        f.write_str(")")?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

struct UnsupportedList<'a>(&'a [UnsupportedOp]);

impl fmt::Display for UnsupportedList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(f, "{count} unsupported operator{}: ", if count == 1 { "" } else { "s" })?;
        let ops: Vec<String> = self.0.iter().map(UnsupportedOp::to_string).collect();
        f.write_str(&ops.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_unsupported_operators_are_in_one_message() {
        let op = |op: &str, nodes: &[&str]| UnsupportedOp {
            op: op.to_string(),
            domain: String::new(),
            opset: 17,
            reason: None,
            nodes: nodes.iter().map(|n| n.to_string()).collect(),
        };
        let ops = vec![op("Loop", &["a"]), op("If", &["b", "c", "d", "e", "f"])];
        let message = ImportError::Unsupported { path: "m.onnx".into(), ops }.to_string();
        assert_eq!(
            message,
            "m.onnx: 2 unsupported operators: Loop (ai.onnx opset 17, 1 node: `a`); \
             If (ai.onnx opset 17, 5 nodes: `b`, `c`, `d` and 2 more)"
        );
    }
}
