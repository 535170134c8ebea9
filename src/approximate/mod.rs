//! Approximations of f32 functions, and of some f64 functions, by arithmetic that vectorizes.
//!
//! Each function takes a scalar or a vector of any shape and is made of float arithmetic, bit
//! operations and selects only. It has no branch, no call, and no conversion that is undefined for
//! NaN, infinity or numbers that are too large. The only operations that may be contracted are
//! products that are added to something; the errors that docs/explanation/semantics.md states hold with and
//! without.
//!
//! Polynomials were fitted by the exchange algorithm with relative weights, their coefficients
//! rounded to f32 one after the other, and the rest fitted again after each.

mod double;
mod exponential;
mod inverse;
mod logarithm;
mod quotient;
mod remainder;
mod trigonometric;

use crate::{
    Result,
    ir::{self, Builder, Val},
};
use melior::ir::{Attribute, Type, ValueLike};

/// The operations of the `math` dialect that [`emit`] knows.
pub const OPERATIONS: &[&str] = &[
    "math.acos",
    "math.asin",
    "math.atan",
    "math.cos",
    "math.erf",
    "math.exp",
    "math.expm1",
    "math.log",
    "math.log1p",
    "math.sin",
    "math.tan",
    "math.tanh",
];

/// Emits the function of an operation of the `math` dialect for an f32 or a vector of them; `None`
/// when there is no approximation of it.
pub fn emit<'c>(b: &Builder<'c>, operation: &str, x: Val<'c>) -> Result<Option<Val<'c>>> {
    let real = Real::new(b, x)?;
    let value = match operation {
        "math.acos" => inverse::acos(&real, x)?,
        "math.asin" => inverse::asin(&real, x)?,
        "math.atan" => inverse::atan(&real, x)?,
        "math.cos" => trigonometric::cos(&real, x)?,
        "math.erf" => quotient::erf(&real, x)?,
        "math.exp" => exponential::exp(&real, x)?,
        "math.expm1" => exponential::exp_minus_1(&real, x)?,
        "math.log" => logarithm::log(&real, x)?,
        "math.log1p" => logarithm::log_of_1_plus(&real, x)?,
        "math.sin" => trigonometric::sin(&real, x)?,
        "math.tan" => trigonometric::tan(&real, x)?,
        "math.tanh" => quotient::tanh(&real, x)?,
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// e^x for an x that is at most 0, in few operations: what is less than the least normal number is 0.
pub fn exp_of_most_zero<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    exponential::exp_of_most_zero(&Real::new(b, x)?, x)
}

/// Emits the function of an operation of the `math` dialect for an f64 or a vector of them; `None` when there is no
/// approximation of it.
pub fn emit_double<'c>(b: &Builder<'c>, operation: &str, x: Val<'c>) -> Result<Option<Val<'c>>> {
    let real = Real::new(b, x)?;
    match operation {
        "math.exp" => double::exp(&real, x).map(Some),
        "math.tanh" => double::tanh(&real, x).map(Some),
        _ => Ok(None),
    }
}

/// The remainder of f32 values or vectors of them, `arith.remf`: exact, as that of the C library.
pub fn emit_remainder<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    remainder::emit(b, x, y)
}

/// The bits of an f32 other than its sign.
const MAGNITUDE: i64 = 0x7fff_ffff;
/// The sign of an f32.
const SIGN: i64 = i32::MIN as i64;
/// Fraction bits of an f32.
const FRACTION: i64 = 23;
/// Exponent bias of an f32.
const BIAS: i64 = 127;

/// Builds arithmetic on f32 values of one shape and on their bits, or on f64 values.
struct Real<'c, 's> {
    b: &'s Builder<'c>,
    /// f32 or f64, or a vector of it.
    ty: Type<'c>,
    /// An integer of as many bits, or a vector of it.
    word: Type<'c>,
    contract: Attribute<'c>,
}

impl<'c, 's> Real<'c, 's> {
    fn new(b: &'s Builder<'c>, like: Val<'c>) -> Result<Self> {
        let ty = like.r#type();
        let bits = if ir::element_type(ty) == b.f64() { 64 } else { 32 };
        let word = b.like(ty, b.int(bits));
        Ok(Self { b, ty, word, contract: b.parse_attr("#arith.fastmath<contract>")? })
    }

    fn number(&self, value: f64) -> Result<Val<'c>> {
        self.b.constant(self.ty, value)
    }

    fn int(&self, value: i64) -> Result<Val<'c>> {
        self.b.constant_int(self.word, value)
    }

    fn arith(&self, name: &str, operands: &[Val<'c>]) -> Result<Val<'c>> {
        let flags = vec![("fastmath", self.contract)];
        self.b.op1_with(name, operands, operands[0].r#type(), flags)
    }

    fn add(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
        self.arith("arith.addf", &[x, y])
    }

    fn sub(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
        self.arith("arith.subf", &[x, y])
    }

    fn mul(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
        self.arith("arith.mulf", &[x, y])
    }

    fn div(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
        self.arith("arith.divf", &[x, y])
    }

    /// `x * factor`.
    fn scale(&self, x: Val<'c>, factor: f64) -> Result<Val<'c>> {
        self.mul(x, self.number(factor)?)
    }

    /// `x * y + z`, which may be one instruction.
    fn mul_add(&self, x: Val<'c>, y: Val<'c>, z: Val<'c>) -> Result<Val<'c>> {
        self.add(self.mul(x, y)?, z)
    }

    /// A polynomial by Horner's rule; the constant coefficient comes first.
    fn polynomial(&self, x: Val<'c>, coefficients: &[f64]) -> Result<Val<'c>> {
        let mut rest = coefficients.iter().rev();
        let last = rest.next().copied().unwrap_or_default();
        rest.try_fold(self.number(last)?, |sum, next| self.mul_add(sum, x, self.number(*next)?))
    }

    /// The magnitude.
    fn abs(&self, x: Val<'c>) -> Result<Val<'c>> {
        self.b.unary("math.absf", x)
    }

    /// The magnitude of one value with the sign of another.
    fn with_sign(&self, magnitude: Val<'c>, sign: Val<'c>) -> Result<Val<'c>> {
        let sign = self.apply("arith.andi", self.bits(sign)?, SIGN)?;
        let magnitude = self.apply("arith.andi", self.bits(magnitude)?, MAGNITUDE)?;
        self.real(self.b.binary("arith.ori", magnitude, sign)?)
    }

    /// The lesser of x and a bound, and NaN if x is.
    fn at_most(&self, x: Val<'c>, bound: f64) -> Result<Val<'c>> {
        let bound = self.number(bound)?;
        self.b.select(self.b.cmpf("ogt", x, bound)?, bound, x)
    }

    /// The greater of x and a bound, and NaN if x is.
    fn at_least(&self, x: Val<'c>, bound: f64) -> Result<Val<'c>> {
        let bound = self.number(bound)?;
        self.b.select(self.b.cmpf("olt", x, bound)?, bound, x)
    }

    /// Comparison of x with a number.
    fn is(&self, predicate: &str, x: Val<'c>, number: f64) -> Result<Val<'c>> {
        self.b.cmpf(predicate, x, self.number(number)?)
    }

    /// An operation on a word and a number.
    fn apply(&self, name: &str, x: Val<'c>, y: i64) -> Result<Val<'c>> {
        self.b.binary(name, x, self.b.constant_int(x.r#type(), y)?)
    }

    /// An f32 as its bits.
    fn bits(&self, x: Val<'c>) -> Result<Val<'c>> {
        self.b.op1("arith.bitcast", &[x], self.word)
    }

    /// Bits as an f32.
    fn real(&self, word: Val<'c>) -> Result<Val<'c>> {
        self.b.op1("arith.bitcast", &[word], self.ty)
    }

    /// 2^n for a word n from -126 to 127; zero for -127, infinity for 128, else any number.
    fn power_of_two(&self, n: Val<'c>) -> Result<Val<'c>> {
        let biased = self.apply("arith.addi", n, BIAS)?;
        self.real(self.apply("arith.shli", biased, FRACTION)?)
    }
}
