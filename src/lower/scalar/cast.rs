//! Conversions between element types.

use super::small_float::{decode, encode, is_small_float};
use crate::{
    Result,
    ir::{self, Builder, Op, Val},
};
use melior::ir::{Type, TypeLike, ValueLike};

/// `graph.cast` of one element.
pub(super) fn emit<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>, unsigned: bool) -> Result<Val<'c>> {
    let result: Val<'c> = op.result(0).map_err(ir::unexpected)?.into();
    let to_unsigned = super::is_unsigned(result.r#type());
    let element = super::element_of_result(b, op)?;
    if is_small_float(element) && ir::attr_bool(op, "saturate") == Some(false) {
        let single = convert(b, x, unsigned, b.like(x.r#type(), b.f32()), false)?;
        return encode(b, single, element, false);
    }
    let to = b.like(x.r#type(), element);
    convert(b, x, unsigned, to, to_unsigned)
}

/// `graph.bitcast` of one element.
pub(super) fn reinterpret<'c>(b: &Builder<'c>, x: Val<'c>, to: Type<'c>) -> Result<Val<'c>> {
    let to = b.like(x.r#type(), to);
    // Signed and unsigned integers are one type here.
    if x.r#type() == to { Ok(x) } else { b.op1("arith.bitcast", &[x], to) }
}

/// The type to compute in for elements of a type: f32 for floats of 16 bits or less, else the type itself.
pub fn wide_type<'c>(b: &Builder<'c>, element: Type<'c>) -> Type<'c> {
    let small = is_f16(element) || is_bf16(element) || is_small_float(element);
    if small { b.f32() } else { element }
}

/// A float of 16 bits or less as f32; other values are returned as they are.
pub fn widen<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let element = ir::element_type(x.r#type());
    let wide = b.like(x.r#type(), b.f32());
    if is_bf16(element) {
        return widen_bf16(b, x);
    }
    if is_small_float(element) {
        return decode(b, x);
    }
    if is_f16(element) { b.op1("arith.extf", &[x], wide) } else { Ok(x) }
}

/// An f32 as the float type `element` of 16 bits or less; any value when `element` is another type is
/// returned as it is.
pub fn narrow<'c>(b: &Builder<'c>, x: Val<'c>, element: Type<'c>) -> Result<Val<'c>> {
    if !ir::is_float(x.r#type()) || bits(ir::element_type(x.r#type())) != 32 {
        return Ok(x);
    }
    if is_bf16(element) {
        return narrow_bf16(b, x);
    }
    if is_small_float(element) {
        return encode(b, x, element, true);
    }
    let to = b.like(x.r#type(), element);
    if is_f16(element) { b.op1("arith.truncf", &[x], to) } else { Ok(x) }
}

/// Converts a number to the type `to` (a scalar or vector type like x's), as `graph.cast` does.
pub fn convert<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    from_unsigned: bool,
    to: Type<'c>,
    to_unsigned: bool,
) -> Result<Val<'c>> {
    let (from_element, to_element) = (ir::element_type(x.r#type()), ir::element_type(to));
    if from_element == to_element {
        return Ok(x);
    }
    match (from_element.is_float(), to_element.is_float()) {
        (true, true) => float_to_float(b, x, to_element),
        (true, false) => float_to_int(b, widen(b, x)?, to, to_unsigned),
        (false, true) => {
            // f64 holds what f32 rounds once; 16-bit floats are rounded from f32.
            let wide = if bits(to_element) == 64 { b.f64() } else { b.f32() };
            let op = if from_unsigned { "arith.uitofp" } else { "arith.sitofp" };
            let value = b.op1(op, &[x], b.like(to, wide))?;
            narrow(b, value, to_element)
        }
        (false, false) => int_to_int(b, x, from_unsigned, to),
    }
}

fn float_to_float<'c>(b: &Builder<'c>, x: Val<'c>, to: Type<'c>) -> Result<Val<'c>> {
    let x = widen(b, x)?;
    let single = b.like(x.r#type(), b.f32());
    match (bits(ir::element_type(x.r#type())), bits(to)) {
        (32, 64) => b.op1("arith.extf", &[x], b.like(x.r#type(), to)),
        (64, 32) => b.op1("arith.truncf", &[x], single),
        (64, _) => narrow(b, b.op1("arith.truncf", &[x], single)?, to),
        _ => narrow(b, x, to),
    }
}

/// Truncates toward zero; what is too large or too small becomes the nearest integer of the type, NaN 0. As
/// booleans all numbers but 0 are true, NaN too. The conversion itself is only given numbers that it has a
/// result for: without one it is poison, and undefined in C.
fn float_to_int<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    to: Type<'c>,
    to_unsigned: bool,
) -> Result<Val<'c>> {
    let real = x.r#type();
    let width = bits(ir::element_type(to));
    if width == 1 {
        return b.cmpf("une", x, b.constant(real, 0.0)?);
    }
    let magnitude = if to_unsigned { width } else { width - 1 };
    let mantissa = if ir::element_type(real) == b.f64() { 53 } else { 24 };
    let (low, above) =
        (if to_unsigned { 0.0 } else { -exponential(magnitude) }, exponential(magnitude));
    // The greatest integer of the type, or the next smaller one that is a float.
    let is_exact = magnitude <= mantissa;
    let high = above - if is_exact { 1.0 } else { exponential(magnitude - mantissa) };
    // Not above the lowest is NaN too, and that is 0 where nothing is negative.
    let number = match to_unsigned {
        true => x,
        false => b.select(b.cmpf("ord", x, x)?, x, b.constant(real, 0.0)?)?,
    };
    let (low, high) = (b.constant(real, low)?, b.constant(real, high)?);
    let inside = b.select(b.cmpf("ogt", number, low)?, number, low)?;
    let inside = b.select(b.cmpf("olt", inside, high)?, inside, high)?;
    let integer = match width {
        64 if to_unsigned => b.op1("arith.fptoui", &[inside], to)?,
        32 if !to_unsigned => b.op1("arith.fptosi", &[inside], to)?,
        64 => b.op1("arith.fptosi", &[inside], to)?,
        _ => {
            let wide = b.int(if width >= 32 { 64 } else { 32 });
            let value = b.op1("arith.fptosi", &[inside], b.like(to, wide))?;
            b.op1("arith.trunci", &[value], to)?
        }
    };
    if is_exact {
        return Ok(integer);
    }
    let greatest = b.constant_int(to, if to_unsigned { -1 } else { i64::MAX >> (64 - width) })?;
    b.select(b.cmpf("oge", x, b.constant(real, above)?)?, greatest, integer)
}

fn exponential(power: u32) -> f64 {
    2f64.powi(power as i32)
}

fn int_to_int<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    from_unsigned: bool,
    to: Type<'c>,
) -> Result<Val<'c>> {
    let (from_bits, to_bits) = (bits(ir::element_type(x.r#type())), bits(ir::element_type(to)));
    if to_bits == 1 {
        return b.cmpi("ne", x, b.constant_int(x.r#type(), 0)?);
    }
    match from_bits.cmp(&to_bits) {
        std::cmp::Ordering::Equal => Ok(x),
        std::cmp::Ordering::Greater => b.op1("arith.trunci", &[x], to),
        std::cmp::Ordering::Less if from_unsigned => b.op1("arith.extui", &[x], to),
        std::cmp::Ordering::Less => b.op1("arith.extsi", &[x], to),
    }
}

/// bf16 is the upper half of f32. Spelled out because without hardware support LLVM calls a
/// library function that need not exist.
fn widen_bf16<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let (short, word) = (b.like(x.r#type(), b.int(16)), b.like(x.r#type(), b.int(32)));
    let raw = b.op1("arith.extui", &[b.op1("arith.bitcast", &[x], short)?], word)?;
    let raw = b.binary("arith.shli", raw, b.constant_int(word, 16)?)?;
    b.op1("arith.bitcast", &[raw], b.like(x.r#type(), b.f32()))
}

/// Rounds to nearest, ties to even, by adding just under half of the last place; a NaN keeps its
/// upper half, with the quiet bit set.
fn narrow_bf16<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let (short, word) = (b.like(x.r#type(), b.int(16)), b.like(x.r#type(), b.int(32)));
    let raw = b.op1("arith.bitcast", &[x], word)?;
    let sixteen = b.constant_int(word, 16)?;
    let upper = b.binary("arith.shrui", raw, sixteen)?;
    let odd = b.binary("arith.andi", upper, b.constant_int(word, 1)?)?;
    let bias = b.binary("arith.addi", odd, b.constant_int(word, 0x7fff)?)?;
    let rounded = b.binary("arith.shrui", b.binary("arith.addi", raw, bias)?, sixteen)?;
    let nan = b.binary("arith.ori", upper, b.constant_int(word, 0x40)?)?;
    let chosen = b.select(b.cmpf("uno", x, x)?, nan, rounded)?;
    let half = b.op1("arith.trunci", &[chosen], short)?;
    b.op1("arith.bitcast", &[half], b.like(x.r#type(), Type::bfloat16(b.context)))
}

fn bits(element: Type<'_>) -> u32 {
    ir::types::bits(element).unwrap_or_default()
}

/// True for the type of IEEE's 16-bit floats.
pub fn is_f16(ty: Type<'_>) -> bool {
    ty.is_f16()
}

/// True for the type of 16-bit floats with eight bits of exponent.
pub fn is_bf16(ty: Type<'_>) -> bool {
    ty.is_bf16()
}
