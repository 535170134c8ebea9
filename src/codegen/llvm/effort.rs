//! How hard LLVM optimises: the option `opt-level` of a target, on its way from `set-llvm-target` to LLVM.

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

/// The passes of LLVM.
pub fn passes(level: i64) -> String {
    format!("default<O{level}>")
}

/// The same for what makes instructions.
pub fn of_code(level: i64) -> OptimizationLevel {
    match level {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    }
}
