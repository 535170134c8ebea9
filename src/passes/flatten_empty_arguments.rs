//! `flatten-empty-arguments`: arguments without elements lose their dimensions.
//!
//! ```text
//! func.func @f(%x: memref<4x0xf32>)  -->  func.func @f(%x: memref<0xf32>)
//! ```
//! MLIR 22 has no bare address for `memref<4x0xf32>`, whose strides it takes for unknown. Nothing reads such an
//! argument; what calls pass on is its address.

use crate::{
    ir::{self, Op, Val, edit, func, tir, view::OpView},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{Type, ValueLike, r#type::MemRefType};

/// The pass.
pub const PASS: Pass = Pass {
    name: "flatten-empty-arguments",
    summary: "Give buffer arguments without elements one dimension",
    anchor: "builtin.module",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for function in func::functions(module) {
        let Some(block) = edit::entry_block(function) else { continue };
        let mut signature = func::Signature::of(function)?;
        let mut changed = false;
        for (argument, (ty, _)) in edit::arguments(block).into_iter().zip(&mut signature.arguments) {
            if let Some(flat) = flattened(argument) {
                argument.set_type(flat);
                *ty = flat;
                changed = true;
            }
        }
        if changed {
            signature.set(ir::context_of(module), function);
        }
    }
    Ok(())
}

/// The type of an argument without elements in one dimension, when nothing but calls use it.
fn flattened<'c>(argument: Val<'c>) -> Option<Type<'c>> {
    let ty = argument.r#type();
    if !ir::is_memref(ty) {
        return None;
    }
    let dims = ir::dims(ty);
    let is_call = |user: &Op<'_>| tir::CallExtern::is(*user);
    if dims.len() < 2 || !dims.contains(&0) || !ir::users(argument).iter().all(is_call) {
        return None;
    }
    Some(MemRefType::new(ir::element_type(ty), &[0], None, None).into())
}
