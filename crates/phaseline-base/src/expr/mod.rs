//! The language of expressions in manifests, patterns and ODS: its text, its trees, and arithmetic
//! on their values.
//!
//! Names are not resolved here: `phaseline::graph` evaluates expressions on a graph, and
//! `phaseline::pattern` checks them against the captures of a pattern.

pub mod arith;
mod error;
pub mod functions;
pub mod parse;
pub mod token;
mod tree;
mod value;

pub use error::{PatternError, PatternResult, Span};
pub use functions::quantize_multiplier;
pub use tree::{BinaryOp, CompareOp, Expr, ExprKind};
pub use value::{OptionType, OptionValue, OptionValues, Val, dtype_of, element_of};
