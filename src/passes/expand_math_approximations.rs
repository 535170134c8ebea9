//! `expand-math-approximations`: transcendental functions as arithmetic that vectorizes.
//!
//! Those of f32 are replaced; 16-bit floats are computed in f32. Of f64 `exp` and `tanh` are replaced, the others are left
//! to the C library. Remainders of f32, of which there are no instructions either, become arithmetic on f64 where
//! `remainders` says that the machine has it.

use crate::{
    approximate,
    ir::{self, Builder, Op, edit},
    lower::scalar::{narrow, wide_type, widen},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::ValueLike;

crate::pass_options! {
    /// Options of `expand-math-approximations`.
    pub struct Options {
        remainders: bool = "false", "Expand remainders of f32, too, to arithmetic on f64";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "expand-math-approximations",
    summary: "Replace transcendental functions by arithmetic that vectorizes",
    anchor: "",
    options: Options::SPECS,
    dialects: &["arith", "math", "vector"],
    run,
};

fn run<'c>(root: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    for op in edit::walk(root) {
        let name = ir::op_name(op);
        if name == "arith.remf" && options.remainders {
            expand_remainder(op)?;
            continue;
        }
        if !approximate::OPERATIONS.contains(&name) {
            continue;
        }
        let [x] = ir::operands(op)[..] else { continue };
        let element = ir::element_type(x.r#type());
        let builder = Builder::before(op)?;
        if element == builder.f64() {
            if let Some(value) = approximate::emit_double(&builder, name, x)? {
                edit::replace_uses(ir::result0(op)?, value);
                edit::erase(op);
            }
            continue;
        }
        if wide_type(&builder, element) != builder.f32() {
            continue;
        }
        let Some(value) = approximate::emit(&builder, name, widen(&builder, x)?)? else { continue };
        edit::replace_uses(ir::result0(op)?, narrow(&builder, value, element)?);
        edit::erase(op);
    }
    Ok(())
}

fn expand_remainder<'c>(op: Op<'c>) -> Result<(), PassError<'c>> {
    let [x, y] = ir::operands(op)[..] else { return Ok(()) };
    let b = Builder::before(op)?;
    let element = ir::element_type(x.r#type());
    if wide_type(&b, element) != b.f32() {
        return Ok(());
    }
    let value = approximate::emit_remainder(&b, widen(&b, x)?, widen(&b, y)?)?;
    edit::replace_uses(ir::result0(op)?, narrow(&b, value, element)?);
    edit::erase(op);
    Ok(())
}
