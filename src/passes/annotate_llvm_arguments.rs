//! `annotate-llvm-arguments`: tells LLVM what it may take for granted about buffers.
//!
//! Every buffer that a function writes is disjoint from its other buffers. The arena, the
//! constants, inputs and outputs are so by contract, and no callee is given one buffer to read and
//! to write. Without that, no loop that reads one and writes the other could become vector code.
//! Only in a function that is a row of calls may the arena be where other buffers were before.

use crate::{
    ir::{
        self, Op, func,
        names::{self, IO},
        size::ALIGNMENT,
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute,
    attribute::{IntegerAttribute, StringAttribute},
    operation::OperationLike,
    r#type::IntegerType,
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
        for (ty, attributes) in &mut signature.arguments {
            if !ir::is_memref(*ty) {
                continue;
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
