//! The language of expressions in manifests, patterns and ODS: its text, its trees, and arithmetic
//! on what they come to.
//!
//! What names stand for is not known here: [`crate::graph`] evaluates expressions on a graph, and
//! [`crate::pattern`] checks them against what a pattern captures.

pub(crate) mod arith;
mod error;
pub(crate) mod functions;
pub(crate) mod parse;
pub(crate) mod token;
mod tree;
mod value;

pub use error::{PatternError, PatternResult, Span};
pub use functions::quantize_multiplier;
pub use tree::{BinaryOp, CompareOp, Expr, ExprKind};
pub use value::{OptionType, OptionValue, OptionValues, Val, dtype_of, element_of};
