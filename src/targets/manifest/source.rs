//! The texts that a manifest is made of, for places in messages.

use crate::{Error, Result};
use std::{fmt::Display, ops::Range};

/// The manifest, the parts that it includes, and the manifests that it extends. They are read as if
/// they stood one after another, so that a place in any of them is one number.
#[derive(Default)]
pub struct Source {
    files: Vec<File>,
}

struct File {
    name: String,
    text: String,
    /// Ends of its lines, in order.
    ends: Vec<usize>,
    /// The bytes and the lines of the files before it.
    bytes: usize,
    lines: usize,
}

/// Map from lines of all texts to files. Lines count from 1 in the first file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<(usize, String)>);

impl Places {
    /// File and line of a line of all texts.
    pub fn name(&self, line: usize) -> Option<String> {
        let (before, name) = self.0.iter().rfind(|(before, _)| *before < line)?;
        Some(format!("{name}:{}", line - before))
    }

    /// True if a line is of the manifest itself.
    pub fn is_own(&self, line: usize) -> bool {
        self.0.get(1).is_none_or(|(before, _)| line <= *before)
    }
}

impl Source {
    /// Adds a file. Gives its text behind as much space as takes it to its place.
    pub fn add(&mut self, name: &str, text: &str) -> String {
        let (bytes, lines) = self.files.last().map_or((0, 0), |last| {
            (last.bytes + last.text.len() + 1, last.lines + last.ends.len() + 1)
        });
        let (name, text) = (name.to_owned(), text.to_owned());
        let padded = " ".repeat(bytes) + &text;
        let ends = text.match_indices('\n').map(|(place, _)| place).collect();
        self.files.push(File { name, text, ends, bytes, lines });
        padded
    }

    /// Map from lines to files.
    pub fn places(&self) -> Places {
        Places(self.files.iter().map(|file| (file.lines, file.name.clone())).collect())
    }

    /// The line of a place, among those of all files.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let Some(file) = self.files.iter().rfind(|file| file.bytes <= span.start) else { return 1 };
        let place = (span.start - file.bytes).min(file.text.len());
        file.lines + file.ends.partition_point(|end| *end < place) + 1
    }

    /// File and line of a place.
    pub fn place(&self, span: &Range<usize>) -> String {
        self.places().name(self.line(span)).unwrap_or_default()
    }

    /// A fault at a place, with its line.
    pub fn fault(&self, span: &Range<usize>, message: impl Display) -> Error {
        self.fault_at(self.line(span), message)
    }

    /// A fault on a line.
    pub fn fault_at(&self, line: usize, message: impl Display) -> Error {
        let Some(file) = self.files.iter().rfind(|file| file.lines < line) else {
            return Error::invalid(message.to_string());
        };
        let line = line - file.lines;
        let text = file.text.lines().nth(line - 1).unwrap_or_default();
        Error::invalid(format!("{}:{line}: {message}\n  {}", file.name, text.trim_end()))
    }

    /// Parses a text that [`Source::add`] gave.
    pub fn parse<T: serde::de::DeserializeOwned>(&self, padded: &str) -> Result<T> {
        toml::from_str(padded).map_err(|error| {
            let start = self.files.last().map_or(0, |file| file.bytes);
            let span = error.span().filter(|span| span.start >= start).unwrap_or(start..start);
            self.fault(&span, error.message().replace('\n', "; "))
        })
    }
}
