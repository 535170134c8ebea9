//! Putting the functions that a hook made into the module that is compiled.

use crate::{
    Error, Result,
    artifact::files,
    ir::{
        self, Op, edit, func,
        names::{self, FINISHED},
        origin,
    },
    targets::hooks::Lowered,
};
use melior::ir::{
    Attribute,
    attribute::{StringAttribute, TypeAttribute},
    operation::OperationLike,
};
use std::collections::BTreeSet;

/// Replaces `function` by what a hook made of it, under the same name. Other functions of the hook
/// get names that are free.
pub fn replace<'c>(
    module: Op<'c>,
    function: Op<'c>,
    lowered: Lowered<'c>,
    finished: bool,
) -> Result<()> {
    let made = ir::root(&lowered.module);
    let entry = check(function, made, &lowered.entry)?;
    let name = func::symbol(function);
    let target = function.attribute(names::TARGET).ok();
    take_over(function, entry);
    // The old one goes first, so that its name is free for the entry.
    let next = placeholder(function)?;
    edit::erase(function);
    rename(module, made, entry, &name);
    let context = ir::context_of(module);
    for op in ir::ops_of(made) {
        if is_declared_in(module, op) {
            continue;
        }
        if let (Some(target), "func.func") = (target, ir::op_name(op)) {
            edit::set_attr(op, names::TARGET, target);
        }
        if !edit::same(op, entry) {
            edit::set_attr(op, "sym_visibility", StringAttribute::new(context, "private").into());
        }
        edit::move_before(op, next);
    }
    edit::erase(next);
    if finished {
        edit::set_attr(entry, FINISHED, Attribute::unit(context));
    }
    files::record(entry, &lowered.artifacts)
}

/// Finds the entry, and checks the functions by themselves and against the one that they replace.
fn check<'c>(function: Op<'c>, made: Op<'c>, entry: &str) -> Result<Op<'c>> {
    origin::check_home(&function, &made, || "the module that it returned".to_owned())?;
    if !made.verify() {
        return Err(Error::invalid("returned IR that is not valid; the messages before say where"));
    }
    let found = func::functions(made).into_iter().find(|op| func::symbol(*op) == entry);
    let Some(found) = found.filter(|op| edit::entry_block(*op).is_some()) else {
        let names: Vec<_> = func::functions(made).into_iter().map(func::symbol).collect();
        return Err(Error::invalid(format!(
            "returned no function @{entry} with a body; there are [{}]",
            names.join(", ")
        )));
    };
    let ty =
        |op: Op<'c>| op.attribute("function_type").map(|ty| ty.to_string()).map_err(ir::unexpected);
    let (wanted, given) = (ty(function)?, ty(found)?);
    if wanted != given {
        return Err(Error::invalid(format!(
            "returned @{entry} of type {given}; the function it stands for has type {wanted}"
        )));
    }
    let stray = ir::ops_of(made).into_iter().find(|op| func::symbol(*op).is_empty());
    match stray {
        None => Ok(found),
        Some(op) => Err(Error::invalid(format!(
            "returned a module with '{}', which is no symbol; give functions and globals",
            ir::op_name(op)
        ))),
    }
}

/// Gives the entry what the compile has noted on the function: target, visibility, names of
/// arguments. What the hook itself has set stays.
fn take_over<'c>(function: Op<'c>, entry: Op<'c>) {
    let own = ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"];
    for name in ["sym_visibility", "arg_attrs", "res_attrs"] {
        match function.attribute(name) {
            Ok(value) => edit::set_attr(entry, name, value),
            Err(_) => {
                edit::remove_attr(entry, name);
            }
        }
    }
    for (name, value) in function.attributes() {
        let Ok(name) = name.as_string_ref().as_str().map(str::to_owned) else { continue };
        if !own.contains(&name.as_str()) && !entry.has_attribute(&name) {
            edit::set_attr(entry, &name, value);
        }
    }
}

/// An operation at the function's place that marks where to insert.
fn placeholder<'c>(function: Op<'c>) -> Result<Op<'c>> {
    let builder = ir::Builder::before(function)?;
    let none: Attribute<'c> = StringAttribute::new(builder.context, names::HOOK).into();
    let ty =
        TypeAttribute::new(melior::ir::r#type::FunctionType::new(builder.context, &[], &[]).into());
    builder.create(
        "func.func",
        ir::OpSpec {
            attributes: vec![("sym_name", none), ("function_type", ty.into())],
            regions: vec![melior::ir::Region::new()],
            ..Default::default()
        },
    )
}

/// True for a declaration of what the module has already: it is not taken over.
fn is_declared_in<'c>(module: Op<'c>, op: Op<'c>) -> bool {
    edit::entry_block(op).is_none()
        && ir::op_name(op) == "func.func"
        && symbols(module).contains(&func::symbol(op))
}

fn symbols(module: Op<'_>) -> BTreeSet<String> {
    ir::ops_of(module).into_iter().map(func::symbol).filter(|name| !name.is_empty()).collect()
}

/// Gives the entry `name`, and everything else of the hook that is defined a name that is free.
fn rename<'c>(module: Op<'c>, made: Op<'c>, entry: Op<'c>, name: &str) {
    let mut taken = symbols(module);
    taken.insert(name.to_owned());
    let mut local = symbols(made);
    for op in ir::ops_of(made) {
        let old = func::symbol(op);
        let declared = ir::op_name(op) == "func.func" && edit::entry_block(op).is_none();
        if edit::same(op, entry) || declared {
            continue;
        }
        let mut new = old.clone();
        let mut number = 0;
        while taken.contains(&new) || (new != old && local.contains(&new)) {
            new = match number {
                0 => format!("{name}_{old}"),
                n => format!("{name}_{old}_{n}"),
            };
            number += 1;
        }
        set_name(made, op, &old, &new);
        local.insert(new.clone());
        taken.insert(new);
    }
    let old = func::symbol(entry);
    // A function of the hook that has the name by now was given another one above.
    set_name(made, entry, &old, name);
}

fn set_name<'c>(made: Op<'c>, op: Op<'c>, old: &str, new: &str) {
    if old == new {
        return;
    }
    edit::rename_uses(made, old, new);
    let new = StringAttribute::new(ir::context_of(op), new);
    edit::set_attr(op, "sym_name", new.into());
}
