//! C types and expressions of scalars.

use super::expression::Text;
use crate::{ir, tensor::SmallType};
use melior::ir::{Type, TypeLike};

/// The C type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CType {
    /// `bool`
    Bool,
    /// A signed integer of so many bits. Widths that C has no type for are in the next one that
    /// it has, with any bits above their own.
    Int(u32),
    /// The bits of a float of 8 or 4 bits, in a byte. They are only moved and cast.
    Code(u32),
    /// The bits of a binary16.
    Half,
    /// The bits of a bfloat16.
    Brain,
    /// `float`
    Float,
    /// `double`
    Double,
    /// `ptrdiff_t`
    Index,
}

impl CType {
    /// The C type for an MLIR type, if there is one.
    pub fn of(ty: Type<'_>) -> Option<Self> {
        if let Some(width) = ir::integer_width(ty) {
            return match width {
                1 => Some(Self::Bool),
                2..=64 => Some(Self::Int(width)),
                _ => None,
            };
        }
        Some(match () {
            () if ty.is_f32() => Self::Float,
            () if ty.is_f64() => Self::Double,
            () if ty.is_f16() => Self::Half,
            () if ty.is_bf16() => Self::Brain,
            () if ty.is_index() => Self::Index,
            () => {
                let small = SmallType::from_name(&ty.to_string()).filter(|_| ty.is_float());
                return small.map(|small| Self::Code(small.bits() as u32));
            }
        })
    }

    /// Its name in C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int(width) => match storage(width) {
                8 => "int8_t",
                16 => "int16_t",
                32 => "int32_t",
                _ => "int64_t",
            },
            Self::Code(_) => "uint8_t",
            Self::Half | Self::Brain => "uint16_t",
            Self::Float => "float",
            Self::Double => "double",
            Self::Index => "ptrdiff_t",
        }
    }

    /// The name of the unsigned type of the same size; of integers.
    pub fn unsigned_name(self) -> &'static str {
        match self.storage_bits() {
            8 => "uint8_t",
            16 => "uint16_t",
            32 => "uint32_t",
            _ if self == Self::Index => "size_t",
            _ => "uint64_t",
        }
    }

    /// Bits of the C type.
    pub fn storage_bits(self) -> u32 {
        match self {
            Self::Bool | Self::Code(_) => 8,
            Self::Int(width) => storage(width),
            Self::Half | Self::Brain => 16,
            Self::Float => 32,
            Self::Double | Self::Index => 64,
        }
    }

    /// Bytes of an element in memory.
    pub fn bytes(self) -> i64 {
        i64::from(self.storage_bits() / 8)
    }

    /// Bits of the value, if it is an integer of a width that C has no type for.
    pub fn odd_width(self) -> Option<u32> {
        match self {
            Self::Int(width) if storage(width) != width => Some(width),
            _ => None,
        }
    }

    /// True for `float` and `double`.
    pub fn is_real(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }
}

fn storage(width: u32) -> u32 {
    width.next_power_of_two().max(8)
}

/// Precedence of the outermost operator of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Weaker than sums: comparisons, conditions, shifts.
    Weak,
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `-a`, casts.
    Unary,
    /// Names, numbers, calls.
    Atom,
}

/// A C expression.
#[derive(Clone, Debug)]
pub struct Expr {
    text: Text,
    level: Level,
    /// The text has the unsigned type of the value's size.
    unsigned: bool,
}

impl Expr {
    /// An expression whose outermost operator binds as `level` says.
    pub fn new(text: Text, level: Level) -> Self {
        Self { text, level, unsigned: false }
    }

    /// A name, number or call.
    pub fn atom(text: impl Into<String>) -> Self {
        Self::new(Text::plain(text), Level::Atom)
    }

    /// The same text, known to have an unsigned type.
    pub fn into_unsigned(mut self) -> Self {
        self.unsigned = true;
        self
    }

    /// True if the text has an unsigned type.
    pub fn is_unsigned(&self) -> bool {
        self.unsigned
    }

    /// True for a name or number, which costs nothing to repeat.
    pub fn is_simple(&self) -> bool {
        self.level >= Level::Unary && !self.text.text.contains(['(', ' '])
    }

    /// The text alone.
    pub fn text(&self) -> Text {
        self.text.clone()
    }

    /// The text as an operand, in parentheses if it binds weaker than `level`.
    pub fn at(&self, level: Level) -> Text {
        if self.level >= level { self.text() } else { fill("($0)", &[self.text()]) }
    }

    /// The integer that it is, if it is written as one.
    pub fn as_number(&self) -> Option<i64> {
        self.text.text.parse().ok()
    }

    /// Characters of the text.
    pub fn width(&self) -> usize {
        self.text.text.len()
    }
}

/// Puts texts in the places `$0`, `$1`, ... of a template.
pub fn fill(template: &str, parts: &[Text]) -> Text {
    let mut text = Text::default();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        text.push(before);
        let digit = after.as_bytes().first().map_or(0, |byte| usize::from(byte.wrapping_sub(b'0')));
        if let Some(part) = parts.get(digit) {
            text.append(part.clone());
        }
        rest = after.get(1..).unwrap_or_default();
    }
    text.push(rest);
    text
}

/// `(type)value`
pub fn cast_to(ty: &str, value: &Expr) -> Expr {
    Expr::new(fill(&format!("({ty})$0"), &[value.at(Level::Unary)]), Level::Unary)
}

/// The value with the signed type.
pub fn signed(ty: CType, value: &Expr) -> Expr {
    if value.is_unsigned() { cast_to(ty.name(), value) } else { value.clone() }
}

/// The value with the unsigned type.
pub fn unsigned(ty: CType, value: &Expr) -> Expr {
    match value.as_number() {
        _ if value.is_unsigned() => value.clone(),
        Some(number) if number >= 0 && ty.storage_bits() == 32 => {
            Expr::atom(format!("{number}u")).into_unsigned()
        }
        _ => cast_to(ty.unsigned_name(), value).into_unsigned(),
    }
}

/// A call of a C function without effects.
pub fn function_call(name: &str, arguments: &[Expr]) -> Expr {
    let mut text = Text::plain(format!("{name}("));
    for (index, argument) in arguments.iter().enumerate() {
        text.push(if index > 0 { ", " } else { "" });
        text.append(argument.text());
    }
    text.push(")");
    Expr::new(text, Level::Atom)
}

/// An integer constant of a type.
pub fn integer(ty: CType, value: i64) -> Expr {
    match (ty, value) {
        (CType::Bool, 0) => Expr::atom("false"),
        (CType::Bool, _) => Expr::atom("true"),
        (CType::Int(64), i64::MIN) => Expr::atom("INT64_MIN"),
        (CType::Int(_), value) if i32::try_from(value).is_err() => {
            Expr::atom(format!("INT64_C({value})"))
        }
        (CType::Int(_), value) if value == i64::from(i32::MIN) => Expr::atom("INT32_MIN"),
        (_, value) if value < 0 => Expr::new(Text::plain(value.to_string()), Level::Unary),
        (_, value) => Expr::atom(value.to_string()),
    }
}

/// A float constant of a type.
pub fn real(ty: CType, value: f64) -> Expr {
    match ty {
        CType::Half => return Expr::atom(format!("{:#06x}", half::f16::from_f64(value).to_bits())),
        CType::Brain => {
            return Expr::atom(format!("{:#06x}", half::bf16::from_f64(value).to_bits()));
        }
        _ => {}
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let text = match (ty, value.abs()) {
        (_, value) if value.is_nan() => return Expr::atom("NAN"),
        (_, value) if value.is_infinite() => "INFINITY".to_owned(),
        (CType::Float, value) => format!("{:?}f", value as f32),
        (_, value) => format!("{value:?}"),
    };
    let level = if sign.is_empty() { Level::Atom } else { Level::Unary };
    Expr::new(Text::plain(format!("{sign}{text}")), level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_valid_c() {
        let print = |expr: Expr| expr.text().text;
        assert_eq!(print(real(CType::Float, 1.0)), "1.0f");
        assert_eq!(print(real(CType::Float, f64::from(0.1_f32))), "0.1f");
        assert_eq!(print(real(CType::Float, 1e-5_f32.into())), "1e-5f");
        assert_eq!(print(real(CType::Double, -2.5)), "-2.5");
        assert_eq!(print(real(CType::Float, f64::NEG_INFINITY)), "-INFINITY");
        assert_eq!(print(real(CType::Half, 1.0)), "0x3c00");
        assert_eq!(print(integer(CType::Int(32), i32::MIN.into())), "INT32_MIN");
        assert_eq!(print(integer(CType::Int(64), 1 << 40)), "INT64_C(1099511627776)");
        assert_eq!(print(integer(CType::Bool, -1)), "true");
    }

    #[test]
    fn operands_have_parentheses_where_they_bind_weaker() {
        let sum = Expr::new(Text::plain("a + b"), Level::Sum);
        assert_eq!(sum.at(Level::Sum).text, "a + b");
        assert_eq!(sum.at(Level::Product).text, "(a + b)");
        assert_eq!(
            fill("$0 * $1", &[sum.at(Level::Product), Text::plain("c")]).text,
            "(a + b) * c"
        );
    }
}
