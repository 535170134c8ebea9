//! `annotate-llvm-arguments`: tells LLVM what it may take for granted about buffers.
//!
//! Every buffer that a function writes is apart from its other buffers: the arena, the constants,
//! inputs and outputs are by contract, and a callee is never given one buffer to read and to
//! write. Without that, no loop that reads one and writes the other could become vector code. Only
//! in a function that is a row of calls may the arena be where other buffers were before.

use crate::{
    ir::{
        self, Op, Val, edit, func,
        names::{self, IO},
        size::ALIGNMENT,
        tir,
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute, Type, ValueLike,
    attribute::{IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::{IntegerType, MemRefType},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "annotate-llvm-arguments",
    summary: "Mark buffer arguments as aligned and without aliases",
    anchor: "builtin.module",
    options: &[],
    dialects: &["llvm"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let context = ir::context_of(module);
    let unit = Attribute::unit(context);
    let word = IntegerType::new(context, 64).into();
    let owned = |role: &str| -> Attribute<'c> { StringAttribute::new(context, role).into() };
    let aligned = ["arena", "constants", names::POOL_ARENA, names::POOL_CONSTANTS].map(owned);
    for function in func::functions(module) {
        let mut signature = func::Signature::of(function)?;
        let block = edit::entry_block(function);
        for (index, (ty, attributes)) in signature.arguments.iter_mut().enumerate() {
            if !ir::is_memref(*ty) {
                continue;
            }
            if let Some(argument) = block.map(|block| edit::arguments(block)[index]) {
                *ty = without_empty_dims(argument);
            }
            let role = attributes.iter().find(|(name, _)| name == IO).map(|(_, role)| *role);
            if !function.has_attribute(names::SHARES_BYTES) {
                func::set_in(attributes, "llvm.noalias", unit);
            }
            if role.is_some_and(|role| aligned.contains(&role)) {
                let bytes = IntegerAttribute::new(word, ALIGNMENT).into();
                func::set_in(attributes, "llvm.align", bytes);
            }
        }
        signature.set(context, function);
    }
    Ok(())
}

/// The type of an argument without elements becomes `memref<0x..>`, when nothing but calls use it,
/// which pass its address: MLIR 22 has no bare address for `memref<2x0xf32>`, whose strides it takes
/// for unknown.
fn without_empty_dims<'c>(argument: Val<'c>) -> Type<'c> {
    let ty = argument.r#type();
    let dims = ir::dims(ty);
    let is_call = |user: &Op<'_>| ir::op_name(*user) == tir::CallExtern::NAME;
    if dims.len() < 2 || !dims.contains(&0) || !ir::users(argument).iter().all(is_call) {
        return ty;
    }
    let flat = MemRefType::new(ir::element_type(ty), &[0], None, None).into();
    argument.set_type(flat);
    flat
}
