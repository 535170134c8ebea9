//! Mathematical functions: the dialect `math`, as those of `<math.h>`.

use super::{
    scalar::{CType, Expr, Level, cast_to, fill, function_call, signed},
    writer::{Writer, c_type, unsupported},
};
use crate::ir::{self, Op};
use crate::pass::PassResult;
use melior::ir::ValueLike;

/// Functions by the names of their operations, where these differ from C's.
const NAMES: &[(&str, &str)] = &[
    ("absf", "fabs"),
    ("powf", "pow"),
    // In the rounding mode that programs start with.
    ("roundeven", "rint"),
];

/// Functions that have the same name.
const SAME: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "fma", "log", "log10", "log1p", "log2",
    "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];

/// Writes an operation of the dialect.
pub fn write<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    let word = ir::op_name(op).trim_start_matches("math.");
    let values = ir::operands(op);
    let first = values.first().ok_or_else(|| unsupported(op))?;
    let ty = c_type(op, first.r#type())?;
    let operands: Vec<_> =
        values.iter().map(|value| writer.expr(op, *value)).collect::<Result<_, _>>()?;
    let expr = match (word, ty) {
        ("isnan" | "isinf" | "isfinite", _) if ty.is_real() => {
            let test = fill(&format!("{word}($0)"), &[operands[0].text()]);
            Expr::new(fill("($0 != 0)", &[test]), Level::Atom)
        }
        ("rsqrt", _) if ty.is_real() => {
            let root = function_call(&of_type("sqrt", ty), &operands);
            let one = if ty == CType::Float { "1.0f / $0" } else { "1.0 / $0" };
            Expr::new(fill(one, &[root.text()]), Level::Product)
        }
        ("fpowi", _) if ty.is_real() && exponent_is_exact(op, ty)? => {
            let exponent = cast_to(ty.name(), &operands[1]);
            function_call(&of_type("pow", ty), &[operands[0].clone(), exponent])
        }
        ("absi", CType::Int(_)) if ty.odd_width().is_none() => {
            let value = signed(ty, &operands[0]);
            let unsigned = cast_to(ty.unsigned_name(), &value).at(Level::Unary);
            let parts = [value.at(Level::Unary), unsigned];
            let expr = Expr::new(fill("$0 < 0 ? 0 - $1 : $1", &parts), Level::Weak);
            cast_to(ty.name(), &expr)
        }
        _ if ty.is_real() => {
            let renamed = NAMES.iter().find(|(name, _)| *name == word).map(|(_, c)| *c);
            let name = renamed.or_else(|| SAME.iter().find(|name| **name == word).copied());
            let name = name.ok_or_else(|| unsupported(op))?;
            function_call(&of_type(name, ty), &operands)
        }
        _ => return Err(unsupported(op)),
    };
    writer.define(op, expr)
}

/// True if the integer exponent of a power is a number of the type of its base.
fn exponent_is_exact<'c>(op: Op<'c>, base: CType) -> PassResult<'c, bool> {
    let exponent = ir::operands(op).get(1).copied().ok_or_else(|| unsupported(op))?;
    let exponent = c_type(op, exponent.r#type())?;
    Ok(exponent.storage_bits() <= if base == CType::Float { 24 } else { 32 })
}

/// The name of a function of `<math.h>` for a type.
fn of_type(name: &str, ty: CType) -> String {
    if ty == CType::Float { format!("{name}f") } else { name.to_owned() }
}

/// Other names of the standard library that generated code may call, on numbers.
const OTHERS: [&str; 9] =
    ["fmax", "fmin", "fmod", "fabs", "isnan", "isinf", "isfinite", "ldexp", "frexp"];

/// The names of the standard library that generated code may call.
pub fn names() -> impl Iterator<Item = String> {
    let all = functions().chain(["memcpy", "signbit", "memset"]);
    all.flat_map(|name| [name.to_owned(), format!("{name}f"), format!("{name}l")])
}

/// The functions of `<math.h>`, by their names on `double`.
pub fn functions() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(_, name)| *name).chain(SAME.iter().copied()).chain(OTHERS)
}
