//! `split-by-target`: gives every target a module of its own, nested in the one that is compiled.
//!
//! After it `for-target` runs each target's code generation on its module, and targets see nothing
//! of each other but names. Symbols get the model's name in front, so that several models link
//! into one program.

use crate::{
    artifact::{files, own_prefix, record_signature, signature_of},
    codegen::c::inlined,
    ir::{
        self, Builder, Op, OpSpec, edit, func,
        names::{self, TARGET, symbol_name},
    },
    pass::{OptionValues, Pass, PassError},
};
use indexmap::IndexMap;
use melior::ir::{
    Attribute, Block, Location, Region, RegionLike,
    attribute::{FlatSymbolRefAttribute, StringAttribute},
    operation::OperationLike,
};
use std::collections::BTreeSet;

/// The pass.
pub const PASS: Pass = Pass {
    name: "split-by-target",
    summary: "Move the functions of each target into a module of their own",
    anchor: "builtin.module",
    options: &[],
    dialects: &["func"],
    run,
};

/// Attributes that the whole model shares with each part of it.
const CARRIED: [&str; 7] = [
    names::MODEL,
    names::DEVICES,
    names::MEMORIES,
    names::CONTEXTS,
    names::BOARD,
    names::TARGET_SPEC,
    names::POOLS,
];

/// The id that a function without a target counts to.
const DEFAULT_HOST: &str = "llvm";

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let context = ir::context_of(module);
    let functions = func::functions(module);
    let main = func::main(module);
    let host = main.and_then(|main| ir::attr_str(main, TARGET));
    let host = host.unwrap_or_else(|| DEFAULT_HOST.to_owned());
    if let Some(main) = main {
        let signature = signature_of(module);
        let recorded = signature.and_then(|signature| record_signature(module, &signature));
        recorded.map_err(|error| PassError::at(&main, error))?;
        edit::set_attr(main, "sym_name", StringAttribute::new(context, "main").into());
    }
    let model = crate::ir::names::model_name(module);
    rename(module, &functions, &model);
    inlined::outline(module, &model)?;
    let inline = name_inline(module, &model);
    let body = edit::entry_block(module).ok_or_else(|| PassError::new("has no body"))?;
    let mut parts: IndexMap<String, Vec<Op<'c>>> = IndexMap::new();
    for function in functions {
        let target = ir::attr_str(function, TARGET).unwrap_or_else(|| host.clone());
        parts.entry(target).or_default().push(function);
    }
    // Their sources are compiled with a module of their own, though it has no functions.
    for target in inline {
        parts.entry(target).or_default();
    }
    let globals: Vec<_> =
        ir::ops(body).into_iter().filter(|op| ir::op_name(*op) == "memref.global").collect();
    for (target, functions) in parts {
        let builder = Builder::at_end(context, body, Location::unknown(context));
        let region = Region::new();
        let block = region.append_block(Block::new(&[]));
        let mut attributes: Vec<(&str, Attribute<'c>)> = vec![
            ("sym_name", StringAttribute::new(context, &target).into()),
            (TARGET, StringAttribute::new(context, &target).into()),
        ];
        if target == host {
            let bodies = module.attribute(names::C_INLINE);
            attributes.extend(bodies.ok().map(|value| (names::C_INLINE, value)));
        }
        for name in CARRIED {
            attributes.extend(module.attribute(name).ok().map(|value| (name, value)));
        }
        let regions = vec![region];
        builder.create("builtin.module", OpSpec { attributes, regions, ..Default::default() })?;
        copy_globals(&functions, &globals, block);
        for function in functions {
            edit::move_to_end(function, block);
            if let Some(part) = function.parent_operation() {
                files::transfer(function, part)?;
            }
        }
    }
    edit::remove_attr(module, names::C_INLINE);
    globals.into_iter().for_each(edit::erase);
    Ok(())
}

/// Gives calls of another target's function in the code of the host the name that this target's
/// copy of the function has; gives the targets. Functions of libraries get their plain names back
/// when all code is there (`codegen::symbols`).
fn name_inline<'c>(module: Op<'c>, model: &str) -> BTreeSet<String> {
    let context = ir::context_of(module);
    let mut targets = BTreeSet::new();
    for op in edit::walk(module) {
        let Some(target) = ir::attr_str(op, names::INLINE) else { continue };
        if op.has_attribute("header") {
            // It has its name.
        } else if let Some(callee) = func::symbol_ref(op, "callee") {
            let name = format!("{}{callee}", own_prefix(model, &target));
            edit::set_attr(op, "callee", FlatSymbolRefAttribute::new(context, &name).into());
        }
        targets.insert(target);
    }
    targets
}

/// Puts copies of the globals that the functions read into their module.
fn copy_globals<'c>(functions: &[Op<'c>], globals: &[Op<'c>], block: ir::Blk<'c>) {
    let used: BTreeSet<_> = functions
        .iter()
        .flat_map(|function| edit::walk(*function))
        .filter(|op| ir::op_name(*op) == "memref.get_global")
        .filter_map(|op| func::symbol_ref(op, "name"))
        .collect();
    for global in globals.iter().filter(|global| used.contains(&func::symbol(**global))) {
        edit::clone_to_end(*global, block);
    }
}

/// Renames the functions of the module and their uses. External functions keep their names.
fn rename<'c>(module: Op<'c>, functions: &[Op<'c>], model: &str) {
    let context = ir::context_of(module);
    let defined: BTreeSet<_> = functions
        .iter()
        .filter(|function| edit::entry_block(**function).is_some())
        .map(|function| func::symbol(*function))
        .collect();
    for op in edit::walk(module) {
        let callee = func::symbol_ref(op, "callee").filter(|name| defined.contains(name));
        if let Some(name) = callee {
            let name = symbol_name(model, &name);
            edit::set_attr(op, "callee", FlatSymbolRefAttribute::new(context, &name).into());
        }
    }
    for op in edit::walk(module) {
        let kernel = ir::attr_str(op, names::LAUNCH).filter(|name| defined.contains(name));
        if let Some(name) = kernel {
            let name = StringAttribute::new(context, &symbol_name(model, &name));
            edit::set_attr(op, names::LAUNCH, name.into());
        }
    }
    for function in functions {
        let name = func::symbol(*function);
        if defined.contains(&name) {
            let name = StringAttribute::new(context, &symbol_name(model, &name));
            edit::set_attr(*function, "sym_name", name.into());
        }
    }
}
