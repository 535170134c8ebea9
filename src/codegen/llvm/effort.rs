//! Optimisation level of LLVM: the option `opt-level` of a target, on its way from
//! `set-llvm-target` to LLVM.

use crate::ir::{self, Op, edit, names::OPT_LEVEL};
use inkwell::OptimizationLevel;
use melior::ir::{attribute::IntegerAttribute, r#type::IntegerType};

/// The greatest effort, which is taken unless another one is asked for.
pub const MOST: i64 = 3;

/// Writes it on a module.
pub fn write(module: Op<'_>, level: i64) -> Result<(), String> {
    if !(0..=MOST).contains(&level) {
        return Err(format!("opt-level is {level}; LLVM has 0 to {MOST}"));
    }
    edit::remove_attr(module, OPT_LEVEL);
    if level < MOST {
        let ty = IntegerType::new(ir::context_of(module), 64).into();
        edit::set_attr(module, OPT_LEVEL, IntegerAttribute::new(ty, level).into());
    }
    Ok(())
}

/// Reads what [`write`] wrote.
pub fn of(module: Op<'_>) -> i64 {
    ir::attr_i64(module, OPT_LEVEL).filter(|level| (0..=MOST).contains(level)).unwrap_or(MOST)
}

/// The passes of LLVM, for a module of kernels that are written in vectors or for any other.
pub fn passes(level: i64, vectorized: bool) -> String {
    match (vectorized, level) {
        (true, 2..) => OF_VECTORS.to_owned(),
        _ => format!("default<O{level}>"),
    }
}

/// Passes that change kernels written in vectors: loops of constant bounds around straight code.
/// The rest of O3 looks for vectors, for loops to unroll and for branches to remove, finds nothing,
/// and takes as long again. `ipsccp` and `indvars` find out that numbers are not negative, without
/// which more of them are kept.
const OF_VECTORS: &str = "always-inline,ipsccp,function<eager-inv>(early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),loop(indvars),early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// Level of the code generator, which selects instructions.
pub fn of_code(level: i64) -> OptimizationLevel {
    match level {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    }
}
