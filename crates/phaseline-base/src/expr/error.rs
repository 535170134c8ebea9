//! Errors of pattern text, with the place marked.

use std::fmt;

/// A range of bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A fault in a match expression, a predicate or a prototype, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PatternError {
    /// The text that has the fault.
    pub text: String,
    /// The place in it.
    pub span: Span,
    /// The fault and the remedy.
    pub message: String,
    /// The place of the text: `pattern 'conv2d', where[1]`.
    pub context: String,
}

/// Result with a [`PatternError`].
pub type PatternResult<T> = Result<T, PatternError>;

impl PatternError {
    /// A fault of `text` at `span`.
    pub fn new(text: &str, span: Span, message: impl Into<String>) -> Self {
        Self { text: text.to_owned(), span, message: message.into(), context: String::new() }
    }

    /// Says what the text is part of.
    #[must_use]
    pub fn within(mut self, context: impl Into<String>) -> Self {
        let outer = context.into();
        self.context = match (outer.is_empty(), self.context.is_empty()) {
            (_, true) => outer,
            (true, false) => self.context,
            (false, false) => format!("{outer}, {}", self.context),
        };
        self
    }

    /// Line and column of the fault in the text, both from 1.
    pub fn position(&self) -> (usize, usize) {
        let before = self.text.get(..self.span.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        if !self.context.is_empty() {
            write!(f, "{}: ", self.context)?;
        }
        writeln!(f, "column {column}: {}", self.message)?;
        let text = self.text.lines().nth(line - 1).unwrap_or_default();
        let marked = self.text.get(self.span.start..self.span.end).unwrap_or_default();
        let room = text.chars().count().saturating_sub(column - 1).max(1);
        let width = marked.chars().take_while(|c| *c != '\n').count().clamp(1, room);
        writeln!(f, "  {text}")?;
        write!(f, "  {}{}", " ".repeat(column - 1), "^".repeat(width))
    }
}

impl From<PatternError> for crate::Error {
    fn from(error: PatternError) -> Self {
        crate::Error::invalid(error.to_string())
    }
}
