//! `expand-half-conversions`: f16 becomes f32, and f32 f16, by arithmetic on integers, where the CPU has no instruction for it.
//!
//! LLVM would call a function for each element there, and make no vectors. Both are exact: a
//! significand of f16 under the exponent of f32 is the number divided by 2^112, subnormal or not.
//! Numbers that round to a subnormal f16 are rounded by adding 0.5, whose last place is that of
//! subnormals (as F. Giesen's `float_to_half_fast3_rtne` does it).

use crate::{
    Result,
    host::kernel::Isa,
    ir::{self, Builder, Op, Val, edit},
    lower::scalar::is_f16,
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Type, ValueLike};

crate::pass_options! {
    /// Options of `expand-half-conversions`.
    pub struct Options {
        always: bool = "false", "Expand even if the CPU has the instructions";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "expand-half-conversions",
    summary: "Convert between f16 and f32 by arithmetic on integers where the CPU has no instruction for it",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    if Isa::of_module(module).f16 && !options.always {
        return Ok(());
    }
    for op in edit::walk(module) {
        let name = ir::op_name(op);
        if !["arith.extf", "arith.truncf"].contains(&name) {
            continue;
        }
        let [x] = ir::operands(op)[..] else { continue };
        let y = ir::result0(op)?;
        let b = Builder::before(op)?;
        let [from, to] = [x, y].map(|value| ir::element_type(value.r#type()));
        let value = match name {
            "arith.extf" if is_f16(from) && to == b.f32() => widen(&b, x)?,
            "arith.truncf" if from == b.f32() && is_f16(to) => narrow(&b, x)?,
            _ => continue,
        };
        edit::replace_uses(y, value);
        edit::erase(op);
    }
    Ok(())
}

/// Integers of 32 bits, or vectors of them.
struct Words<'b, 'c> {
    b: &'b Builder<'c>,
    ty: Type<'c>,
}

impl<'c> Words<'_, 'c> {
    fn number(&self, value: i64) -> Result<Val<'c>> {
        self.b.constant_int(self.ty, value)
    }

    fn with(&self, name: &str, x: Val<'c>, value: i64) -> Result<Val<'c>> {
        self.b.binary(name, x, self.number(value)?)
    }

    fn is(&self, predicate: &str, x: Val<'c>, value: i64) -> Result<Val<'c>> {
        self.b.cmpi(predicate, x, self.number(value)?)
    }

    /// The bits of floats that `change` makes of those with these bits.
    fn as_floats(
        &self,
        x: Val<'c>,
        change: impl FnOnce(Val<'c>) -> Result<Val<'c>>,
    ) -> Result<Val<'c>> {
        let real = self.b.op1("arith.bitcast", &[x], self.b.like(self.ty, self.b.f32()))?;
        self.b.op1("arith.bitcast", &[change(real)?], self.ty)
    }
}

fn widen<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let short = b.op1("arith.bitcast", &[x], b.like(x.r#type(), b.int(16)))?;
    let words = Words { b, ty: b.like(x.r#type(), b.int(32)) };
    let word = b.op1("arith.extui", &[short], words.ty)?;
    let magnitude = words.with("arith.andi", word, 0x7fff)?;
    let sign = words.with("arith.shli", words.with("arith.andi", word, 0x8000)?, 16)?;
    let bits = words.as_floats(words.with("arith.shli", magnitude, 13)?, |small| {
        b.binary("arith.mulf", small, b.constant(small.r#type(), 2f64.powi(112))?)
    })?;
    let endless = words.with("arith.ori", bits, 0x7f80_0000)?;
    let bits = b.select(words.is("uge", magnitude, 0x7c00)?, endless, bits)?;
    let bits = b.binary("arith.ori", bits, sign)?;
    b.op1("arith.bitcast", &[bits], b.like(x.r#type(), b.f32()))
}

fn narrow<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let words = Words { b, ty: b.like(x.r#type(), b.int(32)) };
    let bits = b.op1("arith.bitcast", &[x], words.ty)?;
    let magnitude = words.with("arith.andi", bits, 0x7fff_ffff)?;
    let sign = words.with("arith.shrui", b.binary("arith.xori", bits, magnitude)?, 16)?;
    // Ties go to even: just under half of the last place, and one more if that is odd.
    let odd = words.with("arith.andi", words.with("arith.shrui", magnitude, 13)?, 1)?;
    let normal = words.with("arith.addi", magnitude, ((15 - 127) << 23) + 0xfff)?;
    let normal = words.with("arith.shrui", b.binary("arith.addi", normal, odd)?, 13)?;
    let subnormal = words.as_floats(magnitude, |real| {
        b.binary("arith.addf", real, b.constant(real.r#type(), 0.5)?)
    })?;
    let subnormal = words.with("arith.subi", subnormal, i64::from(0.5f32.to_bits()))?;
    let finite = b.select(words.is("ult", magnitude, (127 - 14) << 23)?, subnormal, normal)?;
    let nan = words.is("ugt", magnitude, 0x7f80_0000)?;
    let endless = b.select(nan, words.number(0x7e00)?, words.number(0x7c00)?)?;
    let half = b.select(words.is("uge", magnitude, (127 + 16) << 23)?, endless, finite)?;
    let short = b.like(x.r#type(), b.int(16));
    let half = b.op1("arith.trunci", &[b.binary("arith.ori", half, sign)?], short)?;
    b.op1("arith.bitcast", &[half], b.like(x.r#type(), Type::float16(b.context)))
}
