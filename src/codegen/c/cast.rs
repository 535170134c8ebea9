//! Casts of scalars: those of the dialect `arith`.
//!
//! Floats of 16 bits are words of their bits here: a cast is of the number, and what C would round twice is refused.

use super::{
    arith::operands,
    scalar::{CType, Expr, Level, cast_to, fill, signed, unsigned},
    writer::{Writer, c_type, unsupported},
};
use crate::{
    ir::{self, Op},
    pass::{PassError, PassResult},
};
use melior::ir::ValueLike;

/// True if an operation of the dialect `arith` is a cast.
pub fn is_cast(word: &str) -> bool {
    matches!(
        word,
        "extsi"
            | "extui"
            | "trunci"
            | "sitofp"
            | "uitofp"
            | "fptosi"
            | "fptoui"
            | "extf"
            | "truncf"
            | "index_cast"
            | "index_castui"
            | "bitcast"
    )
}

/// Writes a cast.
pub fn write<'c>(writer: &mut Writer<'_>, op: Op<'c>, word: &str) -> PassResult<'c, Expr> {
    let (from, operands) = operands(writer, op)?;
    let to = c_type(op, ir::result0(op)?.r#type())?;
    let value = &operands[0];
    let is_code = |ty| matches!(ty, CType::Code(_));
    if word != "bitcast" && (is_code(from) || is_code(to)) {
        return Err(unsupported(op));
    }
    let is_half = |ty| matches!(ty, CType::Half | CType::Brain);
    if matches!(word, "sitofp" | "uitofp") && is_half(to) {
        return half_of_integer(writer, op, word, (from, to), value);
    }
    if matches!(word, "fptosi" | "fptoui") && is_half(from) {
        let wide = float_cast(writer, op, from, CType::Float, value)?;
        return Ok(integer_of_real(word, to, &wide));
    }
    Ok(match word {
        "extsi" | "sitofp" | "index_cast" => extended(from, to, value, true),
        "extui" | "uitofp" | "index_castui" => extended(from, to, value, false),
        "trunci" if to == CType::Bool => {
            let value = signed(from, value);
            Expr::new(fill("($0 & 1) != 0", &[value.at(Level::Unary)]), Level::Weak)
        }
        "trunci" => cast_to(to.name(), value),
        "fptosi" | "fptoui" => integer_of_real(word, to, value),
        "extf" | "truncf" => float_cast(writer, op, from, to, value)?,
        _ => bit_cast(writer, op, from, to, value)?,
    })
}

/// An integer in a wider type, or as `float` or `double`.
fn extended(from: CType, to: CType, value: &Expr, sign: bool) -> Expr {
    match from {
        CType::Bool if sign => {
            let wide = cast_to(to.name(), value);
            Expr::new(fill("-$0", &[wide.at(Level::Unary)]), Level::Unary)
        }
        CType::Bool => cast_to(to.name(), value),
        _ if sign || from.odd_width().is_some() => {
            cast_to(to.name(), &low_bits(from, &signed(from, value), sign))
        }
        _ => cast_to(to.name(), &unsigned(from, value)),
    }
}

/// A `float` or `double` without its fraction.
fn integer_of_real(word: &str, to: CType, value: &Expr) -> Expr {
    match (word, to) {
        // C's cast to `bool` asks whether it is 0, fraction and all.
        (_, CType::Bool) => {
            let whole = cast_to("int32_t", value);
            Expr::new(fill("$0 != 0", &[whole.at(Level::Sum)]), Level::Weak)
        }
        // By way of a signed type where that holds all values: the other way is slow on many
        // machines.
        ("fptoui", _) if to.storage_bits() < 64 => cast_to(to.name(), &cast_to("int64_t", value)),
        ("fptoui", _) => cast_to(to.name(), &cast_to(to.unsigned_name(), value)),
        _ => cast_to(to.name(), value),
    }
}

/// An integer as a float of 16 bits, rounded once. What `float` rounds is beyond all finite binary16;
/// for a bfloat16 it has to be exact.
fn half_of_integer<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    word: &str,
    (from, to): (CType, CType),
    value: &Expr,
) -> PassResult<'c, Expr> {
    let bits = from.odd_width().unwrap_or_else(|| from.storage_bits());
    if to == CType::Brain && bits > 24 {
        return Err(inexact(op, from, to));
    }
    let single = extended(from, CType::Float, value, word == "sitofp");
    float_cast(writer, op, CType::Float, to, &single)
}

/// The error for a cast whose result C would round twice.
fn inexact(op: Op<'_>, from: CType, to: CType) -> PassError<'_> {
    let name = |ty| match ty {
        CType::Brain => "bfloat16",
        _ => CType::name(ty),
    };
    PassError::at(
        &op,
        format!(
            "has no exact form in C: {} to {} would be rounded twice; cast to f32 first",
            name(from),
            name(to)
        ),
    )
}

/// An integer of a width that C has no type for, from its lowest bits.
fn low_bits(ty: CType, value: &Expr, sign: bool) -> Expr {
    let Some(width) = ty.odd_width() else { return value.clone() };
    let mask = (1_u64 << width) - 1;
    let part = fill(&format!("($0 & {mask})"), &[value.at(Level::Unary)]);
    if !sign {
        return Expr::new(part, Level::Atom);
    }
    let half = 1_u64 << (width - 1);
    Expr::new(fill(&format!("(($0 ^ {half}) - {half})"), &[part]), Level::Atom)
}

fn float_cast<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    from: CType,
    to: CType,
    value: &Expr,
) -> PassResult<'c, Expr> {
    if (from, to) == (CType::Double, CType::Brain) {
        return Err(inexact(op, from, to));
    }
    let wide = match from {
        CType::Half => writer.helper("f16_to_f32", std::slice::from_ref(value)),
        CType::Brain => writer.helper("bf16_to_f32", std::slice::from_ref(value)),
        _ => value.clone(),
    };
    Ok(match to {
        CType::Half => writer.helper("f64_to_f16", &[wide]),
        CType::Brain => writer.helper("f32_to_bf16", &[wide]),
        CType::Float if from != CType::Double => wide,
        _ => cast_to(to.name(), &wide),
    })
}

fn bit_cast<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    from: CType,
    to: CType,
    value: &Expr,
) -> PassResult<'c, Expr> {
    let value = signed(from, value);
    Ok(match (from, to) {
        (CType::Float, CType::Int(32)) => writer.helper("f32_bits", &[value]),
        (CType::Int(32), CType::Float) => writer.helper("f32_of_bits", &[value]),
        (CType::Double, CType::Int(64)) => writer.helper("f64_bits", &[value]),
        (CType::Int(64), CType::Double) => writer.helper("f64_of_bits", &[value]),
        (CType::Half | CType::Brain, CType::Int(16))
        | (CType::Int(16), CType::Half | CType::Brain) => cast_to(to.name(), &value),
        (CType::Code(bits), CType::Int(same)) | (CType::Int(same), CType::Code(bits))
            if bits == same =>
        {
            cast_to(to.name(), &value)
        }
        _ if from == to => value,
        _ => return Err(unsupported(op)),
    })
}
