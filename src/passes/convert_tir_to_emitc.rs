//! `convert-tir-to-emitc`: turns the functions of a target into C, as the emitc dialect.
//!
//! It runs on the module of one target, on planned buffers. A function becomes
//! `int32_t name(void *device, ...)` with a pointer for each buffer; it returns 0, or the first
//! status other than 0 of a function that it calls.

use crate::{
    codegen::c::function::convert,
    ir::{self, Builder, Op, OpSpec, edit, func},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Attribute, Location};
use std::collections::BTreeSet;

crate::pass_options! {
    /// Options of `convert-tir-to-emitc`.
    pub struct Options {
        device: String = "void", "C type of the target's device";
        headers: String = "", "Headers to include, separated by colons";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-tir-to-emitc",
    summary: "Turn functions on planned buffers into C in the emitc dialect",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["emitc"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let context = ir::context_of(module);
    let mut headers = BTreeSet::new();
    let mut prototypes = BTreeSet::new();
    let functions = func::functions(module);
    headers.extend(options.headers.split(':').filter(|name| !name.is_empty()).map(str::to_owned));
    for function in &functions {
        for op in edit::walk(*function) {
            headers.extend(ir::attr_str(op, "header").filter(|_| is_call(op)));
            prototypes.extend(ir::attr_str(op, "prototype").filter(|_| is_call(op)));
        }
    }
    for function in functions {
        convert(function, &options.device)?;
    }
    let Some(first) = edit::entry_block(module).and_then(|block| ir::ops(block).first().copied())
    else {
        return Ok(());
    };
    let builder = Builder::before(first)?.with_location(Location::unknown(context));
    for (header, standard) in [("stdbool.h", true), ("stdint.h", true), ("string.h", true)]
        .into_iter()
        .chain(headers.iter().map(|header| (header.as_str(), false)))
    {
        let mut attributes = vec![("include", builder.str_attr(header))];
        if standard {
            attributes.push(("is_standard_include", Attribute::unit(context)));
        }
        builder.create("emitc.include", OpSpec { attributes, ..Default::default() })?;
    }
    for prototype in prototypes {
        let attributes = vec![("value", builder.str_attr(&prototype))];
        builder.create("emitc.verbatim", OpSpec { attributes, ..Default::default() })?;
    }
    Ok(())
}

fn is_call(op: Op<'_>) -> bool {
    ir::op_name(op) == "tir.call_extern"
}
