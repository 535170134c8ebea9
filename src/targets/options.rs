//! Typed options of targets.

use crate::expr::{OptionType, OptionValue};
use serde::Serialize;
use std::fmt;

/// Values that an option may have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum OptionKind {
    /// An integer in a range.
    Int {
        /// Least value.
        min: Option<i64>,
        /// Greatest value.
        max: Option<i64>,
    },
    /// A float in a range.
    Float {
        /// Least value.
        min: Option<f64>,
        /// Greatest value.
        max: Option<f64>,
    },
    /// `true` or `false`; the option's name alone means true.
    Bool,
    /// Any text.
    String,
    /// One of these words.
    Enum {
        /// The words.
        values: Vec<String>,
    },
    /// A number of bytes: `65536`, `64k`, `1m`.
    Size {
        /// Least value.
        min: Option<i64>,
        /// Greatest value.
        max: Option<i64>,
    },
}

/// The declaration of an option.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionDecl {
    /// Name, without dashes before it.
    pub name: String,
    /// Values that it may have.
    pub kind: OptionKind,
    /// Its value unless the user gives one; an option without default may be not set at all.
    pub default: Option<OptionValue>,
    /// True if a check tries other values of its own accord.
    pub vary: bool,
    /// One line of help.
    pub doc: String,
}

impl OptionDecl {
    /// The type that predicates see.
    pub fn ty(&self) -> OptionType {
        match self.kind {
            OptionKind::Int { .. } | OptionKind::Size { .. } => OptionType::Int,
            OptionKind::Float { .. } => OptionType::Float,
            OptionKind::Bool => OptionType::Bool,
            OptionKind::String | OptionKind::Enum { .. } => OptionType::Text,
        }
    }

    /// Reads a value; `None` stands for the option's name alone. The error says what is expected.
    pub fn parse(&self, text: Option<&str>) -> Result<OptionValue, String> {
        let Some(text) = text else {
            return match self.kind {
                OptionKind::Bool => Ok(OptionValue::Bool(true)),
                _ => Err(format!("is to be given as -{}=VALUE, {}", self.name, self.expected())),
            };
        };
        let wrong = || format!("is '{text}', {}", self.expected());
        match &self.kind {
            OptionKind::Int { min, max } => {
                let value: i64 = text.parse().map_err(|_| wrong())?;
                in_range(value, *min, *max).then_some(OptionValue::Int(value)).ok_or_else(wrong)
            }
            OptionKind::Size { min, max } => {
                let value = parse_size(text).ok_or_else(wrong)?;
                in_range(value, *min, *max).then_some(OptionValue::Int(value)).ok_or_else(wrong)
            }
            OptionKind::Float { min, max } => {
                let value: f64 = text.parse().map_err(|_| wrong())?;
                let fits = value.is_finite() && in_range(value, *min, *max);
                fits.then_some(OptionValue::Float(value)).ok_or_else(wrong)
            }
            OptionKind::Bool => text.parse().map(OptionValue::Bool).map_err(|_| wrong()),
            OptionKind::String => Ok(OptionValue::Text(text.to_owned())),
            OptionKind::Enum { values } => {
                let known = values.iter().any(|value| value == text);
                known.then(|| OptionValue::Text(text.to_owned())).ok_or_else(|| {
                    wrong()
                        + &crate::error::suggestion_only(text, values.iter().map(|v| v.as_str()))
                })
            }
        }
    }

    /// A value as text that [`OptionDecl::parse`] reads.
    pub fn format(&self, value: &OptionValue) -> String {
        match (&self.kind, value) {
            (OptionKind::Size { .. }, OptionValue::Int(bytes)) => format_size(*bytes),
            (_, value) => value.to_string(),
        }
    }

    /// Expected form of a value, as the end of a sentence.
    pub fn expected(&self) -> String {
        let range = |min: Option<String>, max: Option<String>| match (min, max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            (Some(min), None) => format!(" of at least {min}"),
            (None, Some(max)) => format!(" of at most {max}"),
            (None, None) => String::new(),
        };
        match &self.kind {
            OptionKind::Int { min, max } => {
                let text = |value: &Option<i64>| value.map(|value| value.to_string());
                format!("expected an integer{}", range(text(min), text(max)))
            }
            OptionKind::Size { min, max } => {
                let text = |value: &Option<i64>| value.map(format_size);
                format!("expected a size like 4096, 64k or 1m{}", range(text(min), text(max)))
            }
            OptionKind::Float { min, max } => {
                let text = |value: &Option<f64>| value.map(|value| value.to_string());
                format!("expected a number{}", range(text(min), text(max)))
            }
            OptionKind::Bool => "expected true or false".to_owned(),
            OptionKind::String => "expected a text".to_owned(),
            OptionKind::Enum { values } => format!("expected one of {}", values.join(", ")),
        }
    }

    /// Usage as in help: `-sram=SIZE`.
    pub fn usage(&self) -> String {
        let value = match &self.kind {
            OptionKind::Bool => return format!("-{}", self.name),
            OptionKind::Int { .. } => "INT",
            OptionKind::Float { .. } => "FLOAT",
            OptionKind::String => "TEXT",
            OptionKind::Size { .. } => "SIZE",
            OptionKind::Enum { values } => return format!("-{}={}", self.name, values.join("|")),
        };
        format!("-{}={value}", self.name)
    }
}

fn in_range<T: PartialOrd>(value: T, min: Option<T>, max: Option<T>) -> bool {
    min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

/// Bytes of `65536`, `64k`, `64KiB`, `1M`, `2g`; units are powers of 1024.
pub fn parse_size(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: i64 = text.get(..digits)?.parse().ok()?;
    let unit: i64 = match text.get(digits..)?.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// A number of bytes in the largest unit that leaves no remainder.
pub fn format_size(bytes: i64) -> String {
    let units = [(1 << 30, 'g'), (1 << 20, 'm'), (1 << 10, 'k')];
    let fits = units.iter().find(|(unit, _)| bytes > 0 && bytes % unit == 0);
    fits.map_or_else(|| bytes.to_string(), |(unit, letter)| format!("{}{letter}", bytes / unit))
}

impl fmt::Display for OptionDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.usage())?;
        match &self.default {
            Some(value) if self.format(value).is_empty() => Ok(()),
            Some(value) => write!(f, " (default {})", self.format(value)),
            None => Ok(()),
        }
    }
}
