//! `convert-tir-to-emitc`: turns the functions of a target into C, as the emitc dialect.
//!
//! It runs on the module of one target, on planned buffers. A function becomes
//! `int32_t name(void *device, ...)` with a pointer for each buffer; it returns 0, or the first
//! status other than 0 of a function that it calls. The main function, which a host's module has,
//! becomes the entry point that `make-entry-point` describes.

use super::{make_entry_point::model_name, split_by_target::symbol_name};
use crate::{
    codegen::c::{
        declare,
        function::{Kind, Surroundings, convert},
        helpers,
    },
    hook::{ArtifactKind, artifact},
    ir::{self, Builder, Op, OpSpec, edit, func},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Attribute, Location, operation::OperationLike};
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

/// Headers of the standard library that generated code includes.
const STANDARD: [&str; 5] = ["math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"];

/// What stands at the start of the file.
#[derive(Default)]
struct Preamble {
    headers: BTreeSet<String>,
    prototypes: BTreeSet<String>,
    constants: Vec<String>,
    helpers: BTreeSet<&'static str>,
}

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let functions = func::functions(module);
    let around = surroundings(module, &functions, options.device);
    let mut preamble = Preamble::default();
    let own = options.headers.split(':').filter(|name| !name.is_empty());
    preamble.headers.extend(own.map(str::to_owned));
    // Functions that a hook gave are declared in its headers.
    let given = artifact::recorded(module)?.into_iter();
    let given = given.filter(|artifact| artifact.kind == ArtifactKind::Header);
    preamble.headers.extend(given.map(|artifact| artifact.name));
    let declared = !preamble.headers.is_empty();
    for function in &functions {
        let calls = edit::walk(*function).into_iter().filter(|op| is_call(*op));
        for op in calls {
            preamble.headers.extend(ir::attr_str(op, "header"));
            preamble.prototypes.extend(ir::attr_str(op, "prototype"));
            let callee = func::symbol_ref(op, "callee").unwrap_or_default();
            // A header that is named for all calls may declare it.
            if !declared && !around.internal.contains(&callee) {
                preamble.prototypes.extend(declare::prototype(op));
            }
        }
    }
    preamble.constants = constants(module, &functions)?;
    let model = model_name(module);
    let main = symbol_name(&model, "main");
    // A function is defined before those that call it.
    for function in callees_first(functions, &around.internal) {
        let name = func::symbol(function);
        let kind = match () {
            () if name == main => Kind::Entry(format!("{model}_invoke")),
            () if around.internal.contains(&name) => Kind::Internal,
            () => Kind::Device,
        };
        preamble.helpers.extend(convert(function, kind, &around)?);
    }
    write_preamble(module, &preamble)
}

fn surroundings<'c>(module: Op<'c>, functions: &[Op<'c>], device: String) -> Surroundings {
    let defined: BTreeSet<_> = functions
        .iter()
        .filter(|function| edit::entry_block(**function).is_some())
        .map(|function| func::symbol(*function))
        .collect();
    let calls = functions.iter().flat_map(|function| edit::walk(*function));
    let internal = calls
        .filter(|op| is_call(*op))
        .filter_map(|op| func::symbol_ref(op, "callee"))
        .filter(|callee| defined.contains(callee))
        .collect();
    let devices = ir::attr_strs(module, "phl.devices").unwrap_or_default();
    Surroundings { device, devices, internal }
}

/// The functions in an order in which each comes after the internal ones that it calls; moves them
/// there.
fn callees_first<'c>(functions: Vec<Op<'c>>, internal: &BTreeSet<String>) -> Vec<Op<'c>> {
    let mut ordered: Vec<Op<'c>> = vec![];
    let mut rest = functions;
    while !rest.is_empty() {
        let waits = |function: &Op<'c>, rest: &[Op<'c>]| {
            let calls: BTreeSet<_> = edit::walk(*function)
                .into_iter()
                .filter_map(|op| func::symbol_ref(op, "callee"))
                .filter(|callee| internal.contains(callee))
                .collect();
            rest.iter().any(|other| {
                !edit::same(*other, *function) && calls.contains(&func::symbol(*other))
            })
        };
        // Recursion, which nothing makes, would leave none; then any order is as good.
        let next = rest.iter().position(|function| !waits(function, &rest)).unwrap_or(0);
        ordered.push(rest.remove(next));
    }
    if let (Some(first), false) = (ordered.first(), internal.is_empty()) {
        let block = first.block();
        for function in ordered.iter().filter(|_| block.is_some()) {
            if let Some(block) = block {
                edit::move_to_end(*function, block);
            }
        }
    }
    ordered
}

/// The constants that the functions read; the globals are taken out of the module.
fn constants<'c>(module: Op<'c>, functions: &[Op<'c>]) -> Result<Vec<String>, PassError<'c>> {
    let read: BTreeSet<_> = functions
        .iter()
        .flat_map(|function| edit::walk(*function))
        .filter(|op| ir::op_name(*op) == "memref.get_global")
        .filter_map(|op| func::symbol_ref(op, "name"))
        .collect();
    let mut texts = vec![];
    for global in ir::ops_of(module) {
        if ir::op_name(global) != "memref.global" {
            continue;
        }
        if read.contains(&func::symbol(global)) {
            texts.push(declare::constant(global)?);
        }
        edit::erase(global);
    }
    Ok(texts)
}

fn write_preamble<'c>(module: Op<'c>, preamble: &Preamble) -> Result<(), PassError<'c>> {
    let Some(first) = edit::entry_block(module).and_then(|block| ir::ops(block).first().copied())
    else {
        return Ok(());
    };
    let context = ir::context_of(module);
    let builder = Builder::before(first)?.with_location(Location::unknown(context));
    let standard = STANDARD.into_iter().map(|header| (header, true));
    let own = preamble.headers.iter().map(|header| (header.as_str(), false));
    for (header, standard) in standard.chain(own) {
        let mut attributes = vec![("include", builder.str_attr(header))];
        if standard {
            attributes.push(("is_standard_include", Attribute::unit(context)));
        }
        builder.create("emitc.include", OpSpec { attributes, ..Default::default() })?;
    }
    let texts = preamble.prototypes.iter().chain(&preamble.constants).cloned();
    for text in texts.chain(helpers::texts(&preamble.helpers).map(str::to_owned)) {
        let attributes = vec![("value", builder.str_attr(&text))];
        builder.create("emitc.verbatim", OpSpec { attributes, ..Default::default() })?;
    }
    Ok(())
}

fn is_call(op: Op<'_>) -> bool {
    ir::op_name(op) == "tir.call_extern"
}
