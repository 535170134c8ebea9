//! Conversions between element types.

use super::small_float::{decode, encode, is_small_float};
use crate::{
    Result,
    ir::{self, Builder, Op, Val},
};
use melior::ir::{Type, TypeLike, ValueLike};

/// `graph.cast` of one element.
pub(super) fn emit<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>, unsigned: bool) -> Result<Val<'c>> {
    let result: Val<'c> = op.result(0)?.into();
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

/// Truncates toward zero. Narrow results go through 32 or 64 bits and keep the low bits, which
/// gives negative numbers their two's complement in unsigned types as C compilers do.
fn float_to_int<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    to: Type<'c>,
    to_unsigned: bool,
) -> Result<Val<'c>> {
    let width = bits(ir::element_type(to));
    match width {
        1 => b.cmpf("une", x, b.constant(x.r#type(), 0.0)?),
        64 if to_unsigned => {
            let zero = b.constant(x.r#type(), 0.0)?;
            let negative = b.cmpf("olt", x, zero)?;
            let signed = b.op1("arith.fptosi", &[x], to)?;
            b.select(negative, signed, b.op1("arith.fptoui", &[x], to)?)
        }
        64 => b.op1("arith.fptosi", &[x], to),
        32 if !to_unsigned => b.op1("arith.fptosi", &[x], to),
        _ => {
            let wide = b.int(if width == 32 { 64 } else { 32 });
            let value = b.op1("arith.fptosi", &[x], b.like(to, wide))?;
            b.op1("arith.trunci", &[value], to)
        }
    }
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

/// Whether a type is that of IEEE's 16-bit floats.
pub fn is_f16(ty: Type<'_>) -> bool {
    ty.is_f16()
}

/// Whether a type is that of 16-bit floats with eight bits of exponent.
pub fn is_bf16(ty: Type<'_>) -> bool {
    ty.is_bf16()
}
