//! `expand-math-approximations`: transcendental functions as arithmetic that vectorizes.
//!
//! Those of f32 are replaced; 16-bit floats are computed in f32. Of f64 `exp` and `tanh` are replaced, the others are left
//! to the C library.

use crate::{
    approximate,
    ir::{self, Builder, Op, edit},
    lower::scalar::{narrow, wide_type, widen},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::ValueLike;

/// The pass.
pub const PASS: Pass = Pass {
    name: "expand-math-approximations",
    summary: "Replace transcendental functions by arithmetic that vectorizes",
    anchor: "",
    options: &[],
    dialects: &["arith", "math", "vector"],
    run,
};

fn run<'c>(root: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(root) {
        let name = ir::op_name(op);
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
