//! Arithmetic on scalars: the dialect `arith`.
//!
//! Integers are without sign in MLIR and signed in C. What may wrap around is computed in the
//! unsigned type, because C leaves overflow of signed types undefined.

use super::{
    cast, compare,
    expression::{Sum, Text},
    scalar::{self, CType, Expr, Level, cast_to, fill, function_call, signed, unsigned},
    writer::{Scalar, Writer, c_type, unsupported},
};
use crate::{
    ir::{self, Op},
    pass::{PassError, PassResult},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Writes an operation of the dialect; an error for any other.
pub fn write<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let name = ir::op_name(op);
    let Some(result) = op.result(0).ok().filter(|_| op.regions().count() == 0) else {
        return Err(unsupported(op));
    };
    let result = result.into();
    if let Some(sum) = index_sum(writer, op)? {
        writer.know(result, Scalar::Sum(sum));
        return Ok(());
    }
    if name == "arith.constant" || name == "ub.poison" {
        let ty = c_type(op, result.r#type())?;
        writer.know(result, Scalar::Expr(constant(op, ty)?));
        return Ok(());
    }
    let expr = match &name[name.find('.').map_or(0, |dot| dot + 1)..] {
        _ if !name.starts_with("arith.") => return Err(unsupported(op)),
        "cmpi" => compare::integers(writer, op)?,
        "cmpf" => compare::floats(writer, op)?,
        "select" => select(writer, op)?,
        word if cast::is_cast(word) => cast::write(writer, op, word)?,
        word => match operands(writer, op)? {
            (ty, one) if one.len() == 1 && word == "negf" && ty.is_real() => {
                Expr::new(fill("-$0", &[one[0].at(Level::Atom)]), Level::Unary)
            }
            (ty, two) if two.len() == 2 && ty.is_real() => float(writer, op, word, ty, &two)?,
            (CType::Bool, two) if two.len() == 2 => boolean(op, word, &two)?,
            (ty, two) if two.len() == 2 => integer(op, word, ty, &two)?,
            _ => return Err(unsupported(op)),
        },
    };
    writer.define(op, expr)
}

/// Sums and products of indices, which are kept as sums.
fn index_sum<'c>(writer: &Writer<'_>, op: Op<'c>) -> PassResult<'c, Option<Sum>> {
    let result = ir::result0(op)?;
    if CType::of(result.r#type()) != Some(CType::Index) {
        return Ok(None);
    }
    let sums = || -> PassResult<'c, Vec<_>> {
        ir::operands(op).into_iter().map(|value| writer.sum(op, value)).collect()
    };
    Ok(match ir::op_name(op) {
        "arith.constant" => ir::attr_i64(op, "value").map(Sum::number),
        "arith.addi" => sums()?.first().zip(sums()?.get(1)).map(|(a, b)| a.plus(b)),
        "arith.subi" => sums()?.first().zip(sums()?.get(1)).map(|(a, b)| a.plus(&b.times(-1))),
        "arith.muli" => match &sums()?[..] {
            [a, b] if b.as_number().is_some() => b.as_number().map(|factor| a.times(factor)),
            [a, b] => a.as_number().map(|factor| b.times(factor)),
            _ => None,
        },
        "arith.remui" | "arith.remsi" | "arith.divui" | "arith.divsi" => match &sums()?[..] {
            [a, b] => {
                let rest = ir::op_name(op).starts_with("arith.rem");
                match (a.as_number(), b.as_number()) {
                    (Some(a), Some(b)) if b > 0 && (a >= 0 || ir::op_name(op).ends_with("si")) => {
                        Some(if rest { a % b } else { a / b })
                    }
                    _ => None,
                }
                .map(Sum::number)
            }
            _ => None,
        },
        _ => None,
    })
}

fn constant<'c>(op: Op<'c>, ty: CType) -> PassResult<'c, Expr> {
    if ir::op_name(op) == "ub.poison" {
        return Ok(scalar::integer(ty, 0));
    }
    let value = ir::attr_f64(op, "value");
    if matches!(ty, CType::Code(_)) {
        // The code of 0 is the same in all formats.
        let is_zero = value.is_some_and(|value| value.to_bits() == 0);
        return if is_zero { Ok(scalar::integer(ty, 0)) } else { Err(unsupported(op)) };
    }
    let real = value.map(|value| scalar::real(ty, value));
    let number = || ir::attr_i64(op, "value").map(|value| scalar::integer(ty, value));
    real.or_else(number).ok_or_else(|| unsupported(op))
}

/// The type of the first operand, and all operands.
pub fn operands<'c>(writer: &Writer<'_>, op: Op<'c>) -> PassResult<'c, (CType, Vec<Expr>)> {
    let values = ir::operands(op);
    let first = values.first().ok_or_else(|| unsupported(op))?;
    let ty = c_type(op, first.r#type())?;
    let exprs = values.into_iter().map(|value| writer.expr(op, value)).collect::<Result<_, _>>()?;
    Ok((ty, exprs))
}

fn float<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    word: &str,
    ty: CType,
    two: &[Expr],
) -> PassResult<'c, Expr> {
    let single = ty == CType::Float;
    let helper =
        |writer: &mut Writer<'_>, f32, f64| Ok(writer.helper(if single { f32 } else { f64 }, two));
    match word {
        "addf" => Ok(infix("$0 + $1", Level::Sum, two)),
        "subf" => Ok(infix("$0 - $1", Level::Sum, two)),
        "mulf" => Ok(infix("$0 * $1", Level::Product, two)),
        "divf" => Ok(infix("$0 / $1", Level::Product, two)),
        "maximumf" => helper(writer, "f32_max", "f64_max"),
        "minimumf" => helper(writer, "f32_min", "f64_min"),
        "maxnumf" => Ok(function_call(if single { "fmaxf" } else { "fmax" }, two)),
        "minnumf" => Ok(function_call(if single { "fminf" } else { "fmin" }, two)),
        "remf" => Ok(function_call(if single { "fmodf" } else { "fmod" }, two)),
        _ => Err(unsupported(op)),
    }
}

/// An operator that is evaluated from the left.
fn infix(template: &str, level: Level, two: &[Expr]) -> Expr {
    let right = if level == Level::Sum { Level::Product } else { Level::Unary };
    Expr::new(fill(template, &[two[0].at(level), two[1].at(right)]), level)
}

fn boolean<'c>(op: Op<'c>, word: &str, two: &[Expr]) -> PassResult<'c, Expr> {
    let parts = [two[0].at(Level::Unary), two[1].at(Level::Unary)];
    let template = match word {
        "andi" | "muli" | "minui" | "maxsi" => "$0 && $1",
        "ori" | "maxui" | "minsi" => "$0 || $1",
        "xori" if parts[1].text == "true" => {
            return Ok(Expr::new(fill("!$0", &[two[0].at(Level::Atom)]), Level::Unary));
        }
        "xori" | "addi" | "subi" => "$0 != $1",
        _ => return Err(unsupported(op)),
    };
    Ok(Expr::new(fill(template, &parts), Level::Weak))
}

fn integer<'c>(op: Op<'c>, word: &str, ty: CType, two: &[Expr]) -> PassResult<'c, Expr> {
    if let Some(width) = ty.odd_width() {
        return Err(PassError::at(
            &op,
            format!("computes with integers of {width} bits, which have no C equivalent"),
        ));
    }
    let plain = |template: &str| {
        let parts = [signed(ty, &two[0]).at(Level::Unary), signed(ty, &two[1]).at(Level::Unary)];
        Expr::new(fill(template, &parts), Level::Weak)
    };
    let unsigned = |template: &str| {
        let parts = [unsigned(ty, &two[0]), unsigned(ty, &two[1])];
        Expr::new(fill(template, &parts.map(|part| part.at(Level::Unary))), Level::Weak)
    };
    let small = ty.storage_bits() < 32;
    Ok(match word {
        "addi" => wrapping(ty, "+", Level::Sum, two),
        "subi" => wrapping(ty, "-", Level::Sum, two),
        "muli" => wrapping(ty, "*", Level::Product, two),
        "andi" => plain("$0 & $1"),
        "ori" => plain("$0 | $1"),
        "xori" => plain("$0 ^ $1"),
        "minsi" => plain("$0 < $1 ? $0 : $1"),
        "maxsi" => plain("$0 > $1 ? $0 : $1"),
        "minui" => narrow(ty, unsigned("$0 < $1 ? $0 : $1")),
        "maxui" => narrow(ty, unsigned("$0 > $1 ? $0 : $1")),
        "divsi" if small => cast_to(ty.name(), &plain("$0 / $1")),
        "divsi" => plain("$0 / $1"),
        "remsi" => plain("$0 % $1"),
        // Nothing here counts below zero where it divides as if it did not.
        "divui" if ty == CType::Index => plain("$0 / $1"),
        "remui" if ty == CType::Index => plain("$0 % $1"),
        "divui" => narrow(ty, unsigned("$0 / $1")),
        "remui" => narrow(ty, unsigned("$0 % $1")),
        "shli" | "shrui" | "shrsi" => shift(word, ty, two),
        _ => return Err(unsupported(op)),
    })
}

/// The result of unsigned operations: promoted to `int` if it is small.
fn narrow(ty: CType, expr: Expr) -> Expr {
    if ty.storage_bits() < 32 { cast_to(ty.name(), &expr) } else { expr.into_unsigned() }
}

/// An operation that wraps around. Indices never do.
fn wrapping(ty: CType, operator: &str, level: Level, two: &[Expr]) -> Expr {
    let template = format!("$0 {operator} $1");
    match ty {
        CType::Index => infix(&template, level, two),
        _ if ty.storage_bits() < 32 => cast_to(ty.name(), &infix(&template, level, two)),
        _ => {
            let two = [unsigned(ty, &two[0]), unsigned(ty, &two[1])];
            infix(&template, level, &two).into_unsigned()
        }
    }
}

/// Shifts by more bits than there are have no meaning; C may then do anything, so the number is
/// kept in range.
fn shift(word: &str, ty: CType, two: &[Expr]) -> Expr {
    let bits = ty.storage_bits();
    let by = match two[1].as_number() {
        Some(_) => two[1].text(),
        None => fill(&format!("($0 & {})", bits - 1), &[signed(ty, &two[1]).at(Level::Unary)]),
    };
    let parts = |value: Expr, by: Text| [value.at(Level::Unary), by];
    match word {
        "shrsi" => Expr::new(fill("$0 >> $1", &parts(signed(ty, &two[0]), by)), Level::Weak),
        "shli" if bits < 32 => {
            let value = cast_to("uint32_t", &signed(ty, &two[0]));
            cast_to(ty.name(), &Expr::new(fill("$0 << $1", &parts(value, by)), Level::Weak))
        }
        _ => {
            let template = if word == "shli" { "$0 << $1" } else { "$0 >> $1" };
            let value = unsigned(ty, &two[0]);
            narrow(ty, Expr::new(fill(template, &parts(value, by)), Level::Weak))
        }
    }
}

fn select<'c>(writer: &Writer<'_>, op: Op<'c>) -> PassResult<'c, Expr> {
    let values = ir::operands(op);
    let [condition, yes, no] = values[..] else { return Err(unsupported(op)) };
    let ty = c_type(op, yes.r#type())?;
    let condition = writer.expr(op, condition)?.at(Level::Unary);
    let (yes, no) = (signed(ty, &writer.expr(op, yes)?), signed(ty, &writer.expr(op, no)?));
    let parts = [condition, yes.at(Level::Sum), no.at(Level::Sum)];
    Ok(Expr::new(fill("$0 ? $1 : $2", &parts), Level::Weak))
}
