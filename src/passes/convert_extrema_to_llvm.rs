//! `convert-extrema-to-llvm`: maxima and minima of floats that keep NaN become LLVM's intrinsics.
//!
//! LLVM makes vector code of a reduction by `llvm.intr.maximum`; of comparisons and selections,
//! which `arith-expand` makes of `arith.maximumf`, it does not, because of NaN.

use crate::{
    ir::{self, Builder, Op, edit},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-extrema-to-llvm",
    summary: "Turn scalar maxima and minima of floats into LLVM's intrinsics",
    anchor: "",
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run<'c>(root: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(root) {
        let name = match ir::op_name(op) {
            "arith.maximumf" => "llvm.intr.maximum",
            "arith.minimumf" => "llvm.intr.minimum",
            _ => continue,
        };
        let operands = ir::operands(op);
        let ty = ir::result0(op)?.r#type();
        let b = Builder::before(op)?;
        if ty != b.f32() && ty != b.f64() {
            continue;
        }
        // Of the flags only the one on signed zeros is ever set.
        let nsz = op.attribute("fastmath").is_ok_and(|flags| flags.to_string().contains("nsz"));
        let flags = match nsz {
            true => vec![("fastmathFlags", b.parse_attr("#llvm.fastmath<nsz>")?)],
            false => vec![],
        };
        edit::replace_uses(ir::result0(op)?, b.op1_with(name, &operands, ty, flags)?);
        edit::erase(op);
    }
    Ok(())
}
