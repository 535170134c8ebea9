//! `outline-c-kernels`: kernels and their launches, of a device whose other code LLVM makes.
//!
//! A kernel is a text in the device's language, which the printer of C makes ([`crate::codegen::c::kernel`]), and
//! a launch passes arrays. Both become a file of C, the kernels as an array of texts, each launch as a function
//! with the buffers. The text is an attribute of the module, as that of `outline-c-calls`. The pass comes
//! before those that turn loops to the LLVM dialect.

use super::outline_c_calls::{glue, outline};
use crate::{
    codegen::c::{self, emission::Emission, kernel::is_kernel},
    ir::{
        self, Op,
        call_extern::CallExtern,
        edit, func,
        names::{C_EMIT, C_KERNELS, LAUNCH},
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, StringAttribute},
    operation::OperationLike,
};

crate::pass_options! {
    /// Options of `outline-c-kernels`.
    pub struct Options {
        headers: String = "", "Headers that the C includes, separated by colons";
        emit: String = "", "C of single operations, as math.exp f32 my_exp($0); arith.divf * my_div($0, $1)";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "outline-c-kernels",
    summary: "Print kernels and the calls that launch them as C, beside code that LLVM makes",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith", "func", "math", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let context = ir::context_of(module);
    let launches: Vec<_> = edit::walk(module)
        .into_iter()
        .filter(|op| op.has_attribute(LAUNCH))
        .filter_map(|op| Some((op, CallExtern::of(op)?)))
        .collect();
    let Some((first, _)) = launches.first() else { return Ok(()) };
    let glue = glue(module, *first, &options.headers)?;
    Emission::parse_all(context, &options.emit).map_err(PassError::new)?;
    let emit = options.emit.split(';').map(str::trim).filter(|text| !text.is_empty());
    let emit: Vec<Attribute<'c>> =
        emit.map(|text| StringAttribute::new(context, text).into()).collect();
    if !emit.is_empty() {
        edit::set_attr(glue, C_EMIT, ArrayAttribute::new(context, &emit).into());
    }
    outline(glue, &launches, "phl_launch")?;
    let body = edit::entry_block(glue).ok_or_else(|| PassError::new("has no body"))?;
    for kernel in func::functions(module).into_iter().filter(|function| is_kernel(*function)) {
        edit::clone_to_end(kernel, body);
        edit::erase(kernel);
    }
    let text = c::print(glue)?;
    edit::erase(glue);
    edit::set_attr(module, C_KERNELS, StringAttribute::new(context, &text).into());
    Ok(())
}
