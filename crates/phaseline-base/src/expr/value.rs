//! Values that predicates compute with.

use super::{Expr, ExprKind, Span};
use crate::tensor::{DType, ElementType, SmallType};
use std::{collections::BTreeMap, fmt};

/// The value of a target's option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// An integer, or a size in bytes.
    Int(i64),
    /// A float.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A text or one of a closed list of words.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Int(value) => write!(f, "{value}"),
            OptionValue::Float(value) => write!(f, "{value:?}"),
            OptionValue::Bool(value) => write!(f, "{value}"),
            OptionValue::Text(text) => f.write_str(text),
        }
    }
}

impl OptionValue {
    /// The value as IR writes it.
    pub fn attribute(&self) -> String {
        match self {
            OptionValue::Int(_) => format!("{self} : i64"),
            OptionValue::Float(value) => format!("{:#018x} : f64", value.to_bits()),
            OptionValue::Bool(_) => self.to_string(),
            OptionValue::Text(text) => {
                let plain = |byte: u8| (b' '..=b'~').contains(&byte) && !b"\"\\".contains(&byte);
                let bytes = text.bytes().map(|byte| match plain(byte) {
                    true => char::from(byte).to_string(),
                    false => format!("\\{byte:02X}"),
                });
                format!("\"{}\"", bytes.collect::<String>())
            }
        }
    }
}

/// The options of a target instance, by name.
pub type OptionValues = BTreeMap<String, OptionValue>;

/// The type of an option, as predicates see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// Integer.
    Int,
    /// Float.
    Float,
    /// Boolean.
    Bool,
    /// Text.
    Text,
}

/// The result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// The value belongs to a part of the pattern that the match does not have. A clause that
    /// depends on it holds.
    Absent,
    /// The value is not known at compile time; the text says why. A clause that depends on it
    /// does not hold.
    Unknown(String),
    /// Boolean.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// Float.
    Float(f64),
    /// Text.
    Str(String),
    /// Element type.
    Type(ElementType),
    /// List.
    List(Vec<Val>),
}

impl Val {
    /// The number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Val::Int(value) => Some(*value as f64),
            Val::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as part of an expression; none for element types and what has no value.
    pub fn literal(&self) -> Option<ExprKind> {
        Some(match self {
            Val::Bool(value) => ExprKind::Bool(*value),
            Val::Int(value) => ExprKind::Int(*value),
            Val::Float(value) => ExprKind::Float(*value),
            Val::Str(text) => ExprKind::Text(text.clone()),
            Val::List(items) => {
                let item =
                    |item: &Val| item.literal().map(|kind| Expr { kind, span: Span::default() });
                ExprKind::List(items.iter().map(item).collect::<Option<_>>()?)
            }
            Val::Absent | Val::Unknown(_) | Val::Type(_) => return None,
        })
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Val::Int(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<&OptionValue> for Val {
    fn from(value: &OptionValue) -> Self {
        match value {
            OptionValue::Int(value) => Val::Int(*value),
            OptionValue::Float(value) => Val::Float(*value),
            OptionValue::Bool(value) => Val::Bool(*value),
            OptionValue::Text(text) => Val::Str(text.clone()),
        }
    }
}

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Absent => f.write_str("absent"),
            Val::Unknown(reason) => write!(f, "unknown ({reason})"),
            Val::Bool(value) => write!(f, "{value}"),
            Val::Int(value) => write!(f, "{value}"),
            Val::Float(value) => write!(f, "{value:?}"),
            Val::Str(text) => write!(f, "'{text}'"),
            Val::Type(dtype) => f.write_str(dtype.mlir_name()),
            Val::List(items) => {
                let texts: Vec<String> = items
                    .iter()
                    .map(|item| match item {
                        Val::Unknown(_) => "?".to_owned(),
                        other => other.to_string(),
                    })
                    .collect();
                write!(f, "[{}]", texts.join(", "))
            }
        }
    }
}

/// The element type that a word of a predicate or manifest names: `f32`, `i8`, `u8`, `ui8`, `bool`.
pub fn dtype_of(name: &str) -> Option<DType> {
    match name {
        "u8" => Some(DType::U8),
        "u16" => Some(DType::U16),
        "u32" => Some(DType::U32),
        "u64" => Some(DType::U64),
        _ if name.chars().any(char::is_uppercase) => None,
        _ => DType::from_name(name),
    }
}

/// The element type of graphs that a word of a predicate or manifest names: those of [`dtype_of`],
/// `i4`, `u4`, `ui4`, `i2`, `u2`, `f8E4M3FN` and the like.
pub fn element_of(name: &str) -> Option<ElementType> {
    let small = || SmallType::from_name(name).map(ElementType::Small);
    dtype_of(name).map(ElementType::Plain).or_else(small)
}
