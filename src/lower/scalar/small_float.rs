//! The floats of 8 and 4 bits, whose arithmetic no processor has: they are computed in f32 and
//! converted by integer operations, on scalars or on vectors.

use crate::{
    Result,
    ir::{self, Builder, Val},
};
use melior::ir::{Type, TypeLike, ValueLike};

/// The layout of a format: sign, exponent, mantissa; all codes are positive.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Format {
    width: u32,
    mantissa: u32,
    bias: i32,
    /// The greatest finite number.
    max: i64,
    infinity: Option<i64>,
    /// 4-bit floats have none.
    nan: Option<i64>,
    /// The one NaN is where -0 would be.
    nan_is_negative_zero: bool,
}

const E4M3FN: Format = Format {
    width: 8,
    mantissa: 3,
    bias: 7,
    max: 0x7e,
    infinity: None,
    nan: Some(0x7f),
    nan_is_negative_zero: false,
};
const E4M3FNUZ: Format =
    Format { bias: 8, max: 0x7f, nan: Some(0x80), nan_is_negative_zero: true, ..E4M3FN };
const E5M2: Format =
    Format { mantissa: 2, bias: 15, max: 0x7b, infinity: Some(0x7c), nan: Some(0x7e), ..E4M3FN };
const E5M2FNUZ: Format = Format { mantissa: 2, bias: 16, ..E4M3FNUZ };
const E2M1FN: Format = Format { width: 4, mantissa: 1, bias: 1, max: 7, nan: None, ..E4M3FN };

/// A small float type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Signed(Format),
    /// f8E8M0FNU: an exponent alone.
    Exponent,
}

fn kind(element: Type<'_>) -> Option<Kind> {
    match element {
        _ if element.is_float8e4m3fn() => Some(Kind::Signed(E4M3FN)),
        _ if element.is_float8e4m3fnuz() => Some(Kind::Signed(E4M3FNUZ)),
        _ if element.is_float8e5m2() => Some(Kind::Signed(E5M2)),
        _ if element.is_float8e5m2fnuz() => Some(Kind::Signed(E5M2FNUZ)),
        _ if element.is_float_4_e_2_m_1_fn() => Some(Kind::Signed(E2M1FN)),
        _ if element.is_float8e8m0fnu() => Some(Kind::Exponent),
        _ => None,
    }
}

/// True for an element type that this module converts.
pub fn is_small_float(element: Type<'_>) -> bool {
    kind(element).is_some()
}

/// Constants of a type, and the operations that this module is made of.
struct Words<'c, 's> {
    b: &'s Builder<'c>,
    word: Type<'c>,
    real: Type<'c>,
}

impl<'c, 's> Words<'c, 's> {
    /// For values of the shape of `like`.
    fn new(b: &'s Builder<'c>, like: Val<'c>) -> Self {
        let (word, real) = (b.like(like.r#type(), b.int(32)), b.like(like.r#type(), b.f32()));
        Self { b, word, real }
    }

    fn int(&self, value: i64) -> Result<Val<'c>> {
        self.b.constant_int(self.word, value)
    }

    fn apply(&self, name: &str, x: Val<'c>, y: i64) -> Result<Val<'c>> {
        self.b.binary(name, x, self.int(y)?)
    }

    fn as_real(&self, word: Val<'c>) -> Result<Val<'c>> {
        self.b.op1("arith.bitcast", &[word], self.real)
    }

    fn as_word(&self, real: Val<'c>) -> Result<Val<'c>> {
        self.b.op1("arith.bitcast", &[real], self.word)
    }
}

/// A small float as f32.
pub fn decode<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let element = ir::element_type(x.r#type());
    let Some(kind) = kind(element) else { return Ok(x) };
    let width = if let Kind::Signed(format) = kind { format.width } else { 8 };
    let words = Words::new(b, x);
    let code = b.op1("arith.bitcast", &[x], b.like(x.r#type(), b.int(width)))?;
    let code = b.op1("arith.extui", &[code], words.word)?;
    match kind {
        Kind::Exponent => decode_exponent(&words, code),
        Kind::Signed(format) => decode_signed(&words, format, code),
    }
}

fn decode_exponent<'c>(w: &Words<'c, '_>, code: Val<'c>) -> Result<Val<'c>> {
    let normal = w.apply("arith.shli", code, 23)?;
    // The exponent 0 is the subnormal 2^-127, 255 is NaN.
    let least = w.b.cmpi("eq", code, w.int(0)?)?;
    let bits = w.b.select(least, w.int(0x0040_0000)?, normal)?;
    let nan = w.b.cmpi("eq", code, w.int(255)?)?;
    w.as_real(w.b.select(nan, w.int(0x7fc0_0000)?, bits)?)
}

fn decode_signed<'c>(w: &Words<'c, '_>, format: Format, code: Val<'c>) -> Result<Val<'c>> {
    let b = w.b;
    let sign_at = i64::from(format.width - 1);
    let magnitude = w.apply("arith.andi", code, (1 << sign_at) - 1)?;
    // With the mantissas aligned, what differs is the bias: a power of two, exact for subnormals.
    let aligned = w.apply("arith.shli", magnitude, i64::from(23 - format.mantissa))?;
    let scale = b.constant(w.real, 2f64.powi(127 - format.bias))?;
    let value = b.binary("arith.mulf", w.as_real(aligned)?, scale)?;
    let mut bits = w.as_word(value)?;
    if let Some(infinity) = format.infinity {
        let hit = b.cmpi("eq", magnitude, w.int(infinity)?)?;
        bits = b.select(hit, w.int(0x7f80_0000)?, bits)?;
    }
    let sign = w.apply("arith.shrui", code, sign_at)?;
    let sign = w.apply("arith.shli", sign, 31)?;
    bits = b.binary("arith.ori", bits, sign)?;
    if let Some(nan) = format.nan {
        let hit = if format.nan_is_negative_zero {
            b.cmpi("eq", code, w.int(nan)?)?
        } else {
            let greatest = format.infinity.unwrap_or(format.max);
            b.cmpi("sgt", magnitude, w.int(greatest)?)?
        };
        bits = b.select(hit, w.int(0x7fc0_0000)?, bits)?;
    }
    w.as_real(bits)
}

/// An f32 as the small float type `element`: rounded to nearest, ties to even (up, to the next
/// power of two, for f8E8M0FNU). What is too large becomes the greatest finite number when
/// `saturate` is set, else infinity or NaN.
pub fn encode<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    element: Type<'c>,
    saturate: bool,
) -> Result<Val<'c>> {
    let words = Words::new(b, x);
    let (code, width) = match kind(element) {
        None => return Ok(x),
        Some(Kind::Exponent) => (encode_exponent(&words, x, saturate)?, 8),
        Some(Kind::Signed(format)) => (encode_signed(&words, format, x, saturate)?, format.width),
    };
    let code = b.op1("arith.trunci", &[code], b.like(x.r#type(), b.int(width)))?;
    b.op1("arith.bitcast", &[code], b.like(x.r#type(), element))
}

fn encode_exponent<'c>(w: &Words<'c, '_>, x: Val<'c>, saturate: bool) -> Result<Val<'c>> {
    let b = w.b;
    let magnitude = w.apply("arith.andi", w.as_word(x)?, 0x7fff_ffff)?;
    let up = w.apply("arith.addi", magnitude, 0x007f_ffff)?;
    let code = w.apply("arith.shrui", up, 23)?;
    let greatest = w.int(if saturate { 254 } else { 255 })?;
    let code = b.binary("arith.minsi", code, greatest)?;
    let finite = b.cmpi("slt", magnitude, w.int(0x7f80_0000)?)?;
    b.select(finite, code, w.int(255)?)
}

fn encode_signed<'c>(
    w: &Words<'c, '_>,
    format: Format,
    x: Val<'c>,
    saturate: bool,
) -> Result<Val<'c>> {
    let b = w.b;
    let bits = w.as_word(x)?;
    let magnitude = w.apply("arith.andi", bits, 0x7fff_ffff)?;
    let code = round(w, format, magnitude)?;
    // Compared as integers, infinity is the greatest of all; NaN is overridden below.
    let beyond = if saturate { None } else { format.infinity.or(format.nan) };
    let beyond = beyond.unwrap_or(format.max);
    let too_large = b.cmpi("sgt", code, w.int(format.max)?)?;
    let code = b.select(too_large, w.int(beyond)?, code)?;
    let sign = w.apply("arith.shrui", bits, 31)?;
    let sign = w.apply("arith.shli", sign, i64::from(format.width - 1))?;
    let mut signed = b.binary("arith.ori", code, sign)?;
    if format.nan_is_negative_zero {
        let zero = b.cmpi("eq", code, w.int(0)?)?;
        // The one NaN has the code of -0, so neither has a sign of its own.
        let unsigned = b.binary("arith.ori", zero, b.cmpi("eq", code, w.int(0x80)?)?)?;
        signed = b.select(unsigned, code, signed)?;
    }
    let is_nan = b.cmpi("sgt", magnitude, w.int(0x7f80_0000)?)?;
    // Without a NaN it becomes -0, as in ONNX's reference.
    let nan = format.nan.unwrap_or(1 << (format.width - 1));
    b.select(is_nan, w.int(nan)?, signed)
}

/// The code of a positive f32 as if the exponent had no end.
fn round<'c>(w: &Words<'c, '_>, format: Format, magnitude: Val<'c>) -> Result<Val<'c>> {
    let b = w.b;
    let shift = i64::from(23 - format.mantissa);
    let lowest = w.apply("arith.shrui", magnitude, shift)?;
    let lowest = w.apply("arith.andi", lowest, 1)?;
    let almost_half = w.apply("arith.addi", magnitude, (1 << (shift - 1)) - 1)?;
    let rounded = b.binary("arith.addi", almost_half, lowest)?;
    let rounded = w.apply("arith.shrui", rounded, shift)?;
    let normal = w.apply("arith.subi", rounded, i64::from(127 - format.bias) << format.mantissa)?;
    // Adding a number whose last place is that of the subnormals rounds to it.
    let magic = 2f64.powi(24 - format.bias - format.mantissa as i32);
    let value = w.as_real(magnitude)?;
    let magic = b.constant(w.real, magic)?;
    let sum = b.binary("arith.addf", value, magic)?;
    let subnormal = b.binary("arith.subi", w.as_word(sum)?, w.as_word(magic)?)?;
    let least = b.constant(w.real, 2f64.powi(1 - format.bias))?;
    b.select(b.cmpf("olt", value, least)?, subnormal, normal)
}
