//! Importing models of other formats into the `graph` dialect.

mod error;
pub mod onnx;

pub use error::{ImportError, UnsupportedOp};
