//! Comparisons: `arith.cmpi` and `arith.cmpf`.

use super::{
    scalar::{CType, Expr, Level, fill, signed, unsigned},
    writer::{Writer, c_type, unsupported},
};
use crate::ir::{self, Op, Val};
use crate::pass::PassResult;
use melior::ir::ValueLike;

/// The operands, their type and the number of the predicate.
fn parts<'c>(op: Op<'c>) -> PassResult<'c, (Val<'c>, Val<'c>, CType, i64)> {
    let [a, b] = ir::operands(op)[..] else { return Err(unsupported(op)) };
    let predicate = ir::attr_i64(op, "predicate").ok_or_else(|| unsupported(op))?;
    Ok((a, b, c_type(op, a.r#type())?, predicate))
}

/// `arith.cmpi`
pub fn integers<'c>(writer: &Writer<'_>, op: Op<'c>) -> PassResult<'c, Expr> {
    let (a, b, ty, predicate) = parts(op)?;
    let (a, b) = (writer.expr(op, a)?, writer.expr(op, b)?);
    if ty.odd_width().is_some() {
        return Err(unsupported(op));
    }
    let operator = match predicate {
        0 => "==",
        1 => "!=",
        2 | 6 => "<",
        3 | 7 => "<=",
        4 | 8 => ">",
        _ => ">=",
    };
    // As integers of one bit, true is the least number.
    let swap = ty == CType::Bool && (2..6).contains(&predicate);
    let (a, b) = if swap { (b, a) } else { (a, b) };
    let (a, b) = if predicate >= 6 && ty != CType::Bool {
        (unsigned(ty, &a), unsigned(ty, &b))
    } else {
        (signed(ty, &a), signed(ty, &b))
    };
    let level = if ty == CType::Bool { Level::Unary } else { Level::Sum };
    Ok(Expr::new(fill(&format!("$0 {operator} $1"), &[a.at(level), b.at(level)]), Level::Weak))
}

/// `arith.cmpf`
pub fn floats<'c>(writer: &Writer<'_>, op: Op<'c>) -> PassResult<'c, Expr> {
    let (a, b, ty, predicate) = parts(op)?;
    if !ty.is_real() {
        return Err(unsupported(op));
    }
    let same = a.to_raw().ptr == b.to_raw().ptr;
    let (a, b) = (writer.expr(op, a)?, writer.expr(op, b)?);
    let template = match predicate {
        0 => return Ok(Expr::atom("false")),
        15 => return Ok(Expr::atom("true")),
        14 if same => return Ok(Expr::new(fill("isnan($0)", &[a.text()]), Level::Unary)),
        7 if same => return Ok(Expr::new(fill("!isnan($0)", &[a.text()]), Level::Unary)),
        1 => "$0 == $1",
        2 => "$0 > $1",
        3 => "$0 >= $1",
        4 => "$0 < $1",
        5 => "$0 <= $1",
        6 => "$0 < $1 || $0 > $1",
        7 => "!isnan($0) && !isnan($1)",
        8 => "!($0 < $1 || $0 > $1)",
        9 => "!($0 <= $1)",
        10 => "!($0 < $1)",
        11 => "!($0 >= $1)",
        12 => "!($0 > $1)",
        13 => "$0 != $1",
        14 => "isnan($0) || isnan($1)",
        _ => return Err(unsupported(op)),
    };
    Ok(Expr::new(fill(template, &[a.at(Level::Sum), b.at(Level::Sum)]), Level::Weak))
}
