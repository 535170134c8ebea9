//! Reasons for failed matches of patterns: data for `phaseline partition`.

use crate::{expr::Val, graph::OpId};
use serde::Serialize;
use std::fmt;

/// The best attempt at a match of a pattern, and the reason for its failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// The operations that had been matched.
    pub ops: Vec<OpId>,
    /// The reason for the failure.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Reason for a failed match.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// The operations around are not those of the pattern.
    Structure {
        /// The expectation and the finding, as text.
        detail: String,
    },
    /// A condition does not hold.
    Clause {
        /// The condition.
        clause: String,
        /// The values that it looked at.
        values: Vec<(String, String)>,
    },
    /// A tensor has an element type that the target or the pattern does not have.
    Dtype {
        /// The tensor's type.
        found: String,
        /// Owner of the element types, as a word: the target or the pattern.
        of: &'static str,
        /// The element types.
        supported: String,
    },
    /// A tensor's size is not known when compiling, as it has to be for the target.
    Dynamic {
        /// The tensor's type.
        found: String,
    },
    /// A value inside is used outside, which the target does not allow.
    Tap {
        /// The operation that makes the value.
        producer: String,
        /// The operation that uses it, or the outputs of the function.
        user: String,
    },
    /// There are several outputs, which the target does not allow.
    Outputs {
        /// Number of outputs.
        count: usize,
    },
    /// An argument of the call cannot be computed.
    Argument {
        /// The argument and the fault, as text.
        detail: String,
    },
    /// The search took too long.
    Effort,
}

impl Reason {
    /// Closeness to a match: of several attempts the closest is told.
    fn rank(&self) -> u8 {
        match self {
            Reason::Structure { .. } => 0,
            Reason::Effort => 1,
            Reason::Clause { .. } => 2,
            Reason::Dtype { .. } | Reason::Dynamic { .. } => 3,
            Reason::Tap { .. } => 4,
            Reason::Outputs { .. } => 5,
            Reason::Argument { .. } => 6,
        }
    }
}

/// Values that a failed condition looked at. If it could not be computed, only the value that was
/// unknown, or else all of them with the reason.
pub(super) fn seen(outcome: &Val, trace: Vec<(String, String)>) -> Vec<(String, String)> {
    if !matches!(outcome, Val::Unknown(_)) {
        return trace;
    }
    let unknown = outcome.to_string();
    let is_part = |value: &str| value.starts_with('[') && value.contains('?');
    let whole = trace.iter().find(|(_, value)| *value == unknown);
    let found = whole.or_else(|| trace.iter().find(|(_, value)| is_part(value))).cloned();
    match found {
        Some(found) => vec![found],
        None => trace.into_iter().chain([("the condition".to_owned(), unknown)]).collect(),
    }
}

impl Failure {
    /// True if this attempt came closer to a match than the other.
    pub fn is_closer_than(&self, other: &Failure) -> bool {
        (self.reason.rank(), self.ops.len()) > (other.reason.rank(), other.ops.len())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Structure { detail } => f.write_str(detail),
            Reason::Clause { clause, values } => {
                write!(f, "`{clause}` does not hold")?;
                let texts: Vec<String> =
                    values.iter().map(|(path, value)| format!("{path} = {value}")).collect();
                if texts.is_empty() { Ok(()) } else { write!(f, ": {}", texts.join(", ")) }
            }
            Reason::Dtype { found, of, supported } => {
                write!(f, "a tensor is {found}; the {of} computes with {supported}")
            }
            Reason::Dynamic { found } => {
                write!(f, "a tensor is {found}, whose size is not known")
            }
            Reason::Tap { producer, user } => {
                write!(f, "the result of {producer} is also used by {user}")
            }
            Reason::Outputs { count } => {
                write!(f, "the match has {count} outputs; the target allows one")
            }
            Reason::Argument { detail } => f.write_str(detail),
            Reason::Effort => f.write_str("the search for a match took too many steps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_shown_alone() {
        let trace = |rows: &[(&str, &str)]| -> Vec<(String, String)> {
            rows.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect()
        };
        let rows =
            trace(&[("w.shape[0]", "8"), ("x.shape[0]", "unknown (dynamic)"), ("x.rank", "4")]);
        let unknown = Val::Unknown("dynamic".into());
        assert_eq!(seen(&Val::Bool(false), rows.clone()), rows);
        assert_eq!(seen(&unknown, rows), trace(&[("x.shape[0]", "unknown (dynamic)")]));
        let rows = trace(&[("w.shape", "[8, 4]"), ("x.shape", "[?, 4]")]);
        assert_eq!(seen(&unknown, rows), trace(&[("x.shape", "[?, 4]")]));
        let differ = Val::Unknown("the lists differ in length".into());
        let rows = trace(&[("w.shape", "[8, 4]"), ("x.shape", "[4]")]);
        let text = "unknown (the lists differ in length)";
        let all = [("w.shape", "[8, 4]"), ("x.shape", "[4]"), ("the condition", text)];
        assert_eq!(seen(&differ, rows), trace(&all));
    }
}
