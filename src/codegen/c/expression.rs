//! C expressions for index arithmetic: a sum of terms and a number.

use std::collections::BTreeSet;

/// C text of an expression or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The variables that it reads and that are assigned more than once, so that it means
    /// something else later.
    pub changing: BTreeSet<String>,
}

impl Text {
    /// Text that means the same everywhere.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), changing: BTreeSet::new() }
    }

    /// The name of a variable that is assigned more than once.
    pub fn changing(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { changing: BTreeSet::from([text.clone()]), text }
    }

    /// Appends text that means the same everywhere.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends other text.
    pub fn append(&mut self, other: Text) {
        self.text.push_str(&other.text);
        self.changing.extend(other.changing);
    }
}

/// `constant + factor * term + ...`.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    constant: i64,
    terms: Vec<(i64, Text)>,
}

impl Sum {
    /// A number.
    pub fn number(constant: i64) -> Self {
        Self { constant, terms: vec![] }
    }

    /// A term.
    pub fn term(text: Text) -> Self {
        Self { constant: 0, terms: vec![(1, text)] }
    }

    /// The value, if it is a number.
    pub fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// True for a sum that is a term alone.
    pub fn is_term(&self) -> bool {
        self.constant == 0 && matches!(self.terms[..], [(1, _)])
    }

    /// The sum of both.
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.constant += other.constant;
        for (factor, term) in &other.terms {
            match sum.terms.iter_mut().find(|(_, old)| old == term) {
                Some((old, _)) => *old += factor,
                None => sum.terms.push((*factor, term.clone())),
            }
        }
        sum.terms.retain(|(factor, _)| *factor != 0);
        sum
    }

    /// The sum times a number.
    pub fn times(&self, factor: i64) -> Self {
        if factor == 0 {
            return Self::number(0);
        }
        let terms = self.terms.iter().map(|(old, term)| (old * factor, term.clone())).collect();
        Self { constant: self.constant * factor, terms }
    }

    /// The C expression.
    pub fn text(&self) -> Text {
        let mut text = Text::default();
        for (factor, term) in &self.terms {
            let sign = if *factor < 0 { " - " } else { " + " };
            match (text.text.is_empty(), *factor < 0) {
                (true, true) => text.push("-"),
                (true, false) => {}
                _ => text.push(sign),
            }
            text.append(term.clone());
            if factor.abs() != 1 {
                text.push(&format!(" * {}", factor.abs()));
            }
        }
        match (text.text.is_empty(), self.constant) {
            (true, number) => text.push(&number.to_string()),
            (false, 0) => {}
            (false, number) if number < 0 => text.push(&format!(" - {}", number.unsigned_abs())),
            (false, number) => text.push(&format!(" + {number}")),
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_printed_as_people_write_them() {
        let i = Sum::term(Text::plain("i"));
        let print = |sum: &Sum| sum.text().text;
        assert_eq!(print(&Sum::number(-3)), "-3");
        assert_eq!(print(&i.times(4).plus(&Sum::number(8))), "i * 4 + 8");
        assert_eq!(print(&i.plus(&Sum::number(-1))), "i - 1");
        assert_eq!(print(&i.plus(&i)), "i * 2");
        assert_eq!(print(&i.plus(&i.times(-1))), "0");
    }
}
