//! Arithmetic of integer and boolean elements.

use super::float::{clip_bounds, find};
use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val},
    lower::generic::region,
};
use melior::ir::ValueLike;

const DIRECT: &[(&str, &str)] = &[
    ("add", "arith.addi"),
    ("sub", "arith.subi"),
    ("mul", "arith.muli"),
    ("and", "arith.andi"),
    ("or", "arith.ori"),
    ("xor", "arith.xori"),
    ("bitwise_and", "arith.andi"),
    ("bitwise_or", "arith.ori"),
    ("bitwise_xor", "arith.xori"),
];

const COMPARISONS: &[(&str, &str)] =
    &[("greater", "gt"), ("greater_or_equal", "ge"), ("less", "lt"), ("less_or_equal", "le")];

/// Emits an integer op; `None` when there is none of this name.
pub(super) fn emit<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    name: &str,
    args: &[Val<'c>],
    unsigned: bool,
) -> Result<Option<Val<'c>>> {
    let sign = if unsigned { "u" } else { "s" };
    if let (Some(direct), [x, y]) = (find(DIRECT, name), args) {
        return b.binary(direct, *x, *y).map(Some);
    }
    if let (Some(predicate), [x, y]) = (find(COMPARISONS, name), args) {
        return b.cmpi(&format!("{sign}{predicate}"), *x, *y).map(Some);
    }
    let value = match (name, args) {
        ("equal", [x, y]) => b.cmpi("eq", *x, *y)?,
        ("max", [x, y]) => b.binary(&format!("arith.max{sign}i"), *x, *y)?,
        ("min", [x, y]) => b.binary(&format!("arith.min{sign}i"), *x, *y)?,
        ("not" | "bitwise_not", [x]) => {
            b.binary("arith.xori", *x, b.constant_int(x.r#type(), -1)?)?
        }
        ("neg", [x]) => b.binary("arith.subi", b.constant_int(x.r#type(), 0)?, *x)?,
        ("abs" | "relu", [x]) if unsigned => *x,
        ("abs", [x]) => b.unary("math.absi", *x)?,
        ("relu", [x]) => b.binary("arith.maxsi", *x, b.constant_int(x.r#type(), 0)?)?,
        ("sign", [x]) => sign_of(b, *x, unsigned)?,
        ("prelu", [x, slope]) if unsigned => {
            let _ = slope;
            *x
        }
        ("prelu", [x, slope]) => {
            let negative = b.cmpi("slt", *x, b.constant_int(x.r#type(), 0)?)?;
            b.select(negative, b.binary("arith.muli", *x, *slope)?, *x)?
        }
        ("div", [x, y]) => divide(b, *x, *y, unsigned, false)?,
        ("mod", [x, y]) => modulo(b, op, *x, *y, unsigned)?,
        ("pow", [x, y]) => pow(b, *x, *y, unsigned, super::operand_unsigned(op, 1))?,
        ("bit_shift", [x, y]) => bit_shift(b, op, *x, *y)?,
        ("clip", [x, bounds @ ..]) => {
            let (low, high) = clip_bounds(op, bounds);
            let (max, min) = (format!("arith.max{sign}i"), format!("arith.min{sign}i"));
            let x = low.map_or(Ok(*x), |low| b.binary(&max, *x, low))?;
            high.map_or(Ok(x), |high| b.binary(&min, x, high))?
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn sign_of<'c>(b: &Builder<'c>, x: Val<'c>, unsigned: bool) -> Result<Val<'c>> {
    let ty = x.r#type();
    let (zero, one) = (b.constant_int(ty, 0)?, b.constant_int(ty, 1)?);
    if unsigned {
        return b.binary("arith.minui", x, one);
    }
    let negative = b.select(b.cmpi("slt", x, zero)?, b.constant_int(ty, -1)?, zero)?;
    b.select(b.cmpi("sgt", x, zero)?, one, negative)
}

/// Quotient truncated toward zero, or remainder; both 0 if the divisor is, and the least number over -1 is itself.
/// The instructions have no result for these two and stop the program on x86, so 0 and -1 as divisors are led around.
fn divide<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    y: Val<'c>,
    unsigned: bool,
    remainder: bool,
) -> Result<Val<'c>> {
    let ty = y.r#type();
    let (zero, one) = (b.constant_int(ty, 0)?, b.constant_int(ty, 1)?);
    let by_zero = b.cmpi("eq", y, zero)?;
    let safe = b.select(by_zero, one, y)?;
    if unsigned {
        let value = b.binary(if remainder { "arith.remui" } else { "arith.divui" }, x, safe)?;
        return if remainder { Ok(value) } else { b.select(by_zero, zero, value) };
    }
    let minus_one = b.cmpi("eq", y, b.constant_int(ty, -1)?)?;
    let safe = b.select(minus_one, one, safe)?;
    let value = b.binary(if remainder { "arith.remsi" } else { "arith.divsi" }, x, safe)?;
    if remainder {
        return Ok(value);
    }
    let value = b.select(by_zero, zero, value)?;
    b.select(minus_one, b.binary("arith.subi", zero, x)?, value)
}

/// The remainder with the sign of x (`fmod`), or of y.
fn modulo<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    x: Val<'c>,
    y: Val<'c>,
    unsigned: bool,
) -> Result<Val<'c>> {
    let remainder = divide(b, x, y, unsigned, true)?;
    if unsigned || ir::attr_bool(op, "fmod").unwrap_or(false) {
        return Ok(remainder);
    }
    let zero = b.constant_int(x.r#type(), 0)?;
    let different = b.cmpi("slt", b.binary("arith.xori", remainder, y)?, zero)?;
    let nonzero = b.cmpi("ne", remainder, zero)?;
    let adjust = b.binary("arith.andi", different, nonzero)?;
    b.select(adjust, b.binary("arith.addi", remainder, y)?, remainder)
}

/// Shifts by the width or more give 0; the instruction has no result for them.
fn bit_shift<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    let left = ir::attr_str(op, "direction").as_deref() == Some("LEFT");
    let shifted = b.binary(if left { "arith.shli" } else { "arith.shrui" }, x, y)?;
    let bits = melior::ir::r#type::IntegerType::try_from(ir::element_type(x.r#type()))
        .map_err(ir::unexpected)?
        .width();
    let fits = b.cmpi("ult", y, b.constant_int(y.r#type(), i64::from(bits))?)?;
    b.select(fits, shifted, b.constant_int(x.r#type(), 0)?)
}

/// `x^y` modulo the width of x, by squaring; a negative y gives the truncated fraction.
fn pow<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    y: Val<'c>,
    unsigned: bool,
    unsigned_exponent: bool,
) -> Result<Val<'c>> {
    let ty = x.r#type();
    if super::scalar_constant(y) == Some(2.0) {
        return b.binary("arith.muli", x, x);
    }
    let one = b.constant_int(ty, 1)?;
    let exponent = super::convert(b, y, unsigned_exponent, b.int(64), false)?;
    let raised = raise(b, x, exponent, one)?;
    if unsigned_exponent {
        return Ok(raised);
    }
    // 1 / x^|y| is 0 unless x is 1 or -1, whose powers of y and |y| are the same.
    let zero = b.constant_int(ty, 0)?;
    let magnitude = if unsigned { x } else { b.unary("math.absi", x)? };
    let unit = b.cmpi("eq", magnitude, one)?;
    let odd = b.binary("arith.andi", exponent, b.constant_int(b.int(64), 1)?)?;
    let odd = b.cmpi("ne", odd, b.constant_int(b.int(64), 0)?)?;
    let fraction = b.select(unit, b.select(odd, x, one)?, zero)?;
    let negative = b.cmpi("slt", exponent, b.constant_int(b.int(64), 0)?)?;
    b.select(negative, fraction, raised)
}

/// The loop of square and multiply: `while exponent > 0`.
fn raise<'c>(b: &Builder<'c>, x: Val<'c>, exponent: Val<'c>, one: Val<'c>) -> Result<Val<'c>> {
    let types = [x.r#type(), x.r#type(), exponent.r#type()];
    let before = region(b, &types, |b, state| {
        let zero = b.constant_int(state[2].r#type(), 0)?;
        let operands = [b.cmpi("sgt", state[2], zero)?, state[0], state[1], state[2]];
        b.create("scf.condition", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let after = region(b, &types, |b, state| {
        let [product, square, left] = [state[0], state[1], state[2]];
        let low = b.constant_int(left.r#type(), 1)?;
        let odd = b.cmpi("eq", b.binary("arith.andi", left, low)?, low)?;
        let next = b.select(odd, b.binary("arith.muli", product, square)?, product)?;
        let operands =
            [next, b.binary("arith.muli", square, square)?, b.binary("arith.shrui", left, low)?];
        b.create("scf.yield", OpSpec { operands: &operands, ..Default::default() })?;
        Ok(())
    })?;
    let op = b.create(
        "scf.while",
        OpSpec {
            operands: &[one, x, exponent],
            results: &types,
            regions: vec![before, after],
            ..Default::default()
        },
    )?;
    ir::result0(op)
}
