//! A defect in the text of a file.

use serde::Serialize;
use std::ops::Range;

/// Kinds of defects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slip {
    /// Another operator.
    Operator,
    /// Another number.
    Constant,
    /// A loop that begins or ends one off.
    Bound,
    /// A condition that is the opposite.
    Condition,
    /// A statement that is missing.
    Statement,
    /// Two arguments that have changed places.
    Arguments,
}

impl Slip {
    /// Description in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Operator => "another operator",
            Self::Constant => "another number",
            Self::Bound => "a loop that is one off",
            Self::Condition => "the opposite condition",
            Self::Statement => "a statement left out",
            Self::Arguments => "arguments exchanged",
        }
    }
}

/// A defect: other text in a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Kind of the defect.
    pub slip: Slip,
    /// Name of the file.
    pub file: String,
    /// The function that it is in.
    pub function: String,
    /// The bytes that are replaced.
    pub place: Range<usize>,
    /// Replacement text.
    pub new: String,
    /// The byte behind the brace that opens the block around it.
    pub block: usize,
}

impl Defect {
    /// The text of the file with the defect.
    pub fn planted(&self, text: &str) -> String {
        let before = text.get(..self.place.start).unwrap_or_default();
        let after = text.get(self.place.end..).unwrap_or_default();
        format!("{before}{}{after}", self.new)
    }

    /// The line that it begins on, from 1.
    pub fn line(&self, text: &str) -> usize {
        text.get(..self.place.start).unwrap_or_default().matches('\n').count() + 1
    }
}
