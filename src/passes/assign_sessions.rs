//! `assign-sessions`: records the arguments of a device's functions, and the calls around them.
//!
//! With `session=true` they are given the session that the device was opened with. Its first field
//! is the device. An activation for an inference is noted on the module, where `make-entry-point`
//! and the printer of C read it. Any other is noted on each of the device's functions that others
//! call.

use crate::{
    ir::{
        self, Op, edit, func,
        names::{self, ACTIVATE, CONTEXTS, DEACTIVATE, SESSION, TARGET},
        tir,
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
    targets,
};
use melior::ir::{
    Attribute,
    attribute::{ArrayAttribute, StringAttribute},
    operation::OperationLike,
};
use std::collections::BTreeSet;

crate::pass_options! {
    /// Options of `assign-sessions`.
    pub struct Options {
        target: String = "", "Id of the target of the device";
        session: bool = "false", "Give its functions the session that the device was opened with";
        activate: String = "", "C function that is called before the device works";
        deactivate: String = "", "C function that is called afterwards, if there is one";
        when: When = "inference", "Extent of work that the two enclose";
    }
}

crate::pass_choice! {
    /// Scope of an activation.
    pub enum When {
        /// A run of the model.
        Inference = "inference",
        /// A region of the device.
        Region = "region",
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "assign-sessions",
    summary: "Record the sessions of a device's functions, and the calls that activate it",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["func", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    if options.target.is_empty() {
        return Err(PassError::new("assign-sessions needs the option target"));
    }
    if options.activate.is_empty() && !options.deactivate.is_empty() {
        return Err(PassError::new(
            "assign-sessions has deactivate, but not what it ends: activate",
        ));
    }
    let functions = func::functions(module).into_iter();
    let functions: Vec<_> =
        functions.filter(|function| edit::entry_block(*function).is_some()).collect();
    let is_of = |op: Op<'c>, name| ir::attr_str(op, name).as_deref() == Some(&*options.target);
    let is_kernel =
        |op: Op<'c>| [names::KERNEL, names::LAUNCHED].iter().any(|name| op.has_attribute(name));
    let (own, others): (Vec<_>, Vec<_>) =
        functions.into_iter().filter(|op| !is_kernel(*op)).partition(|op| is_of(*op, TARGET));
    if own.is_empty() {
        return Ok(targets::check_id(module, &options.target)?);
    }
    let unit = Attribute::unit(ir::context_of(module));
    if options.session {
        let calls = others.iter().flat_map(|function| edit::walk(*function));
        let calls = calls.filter(|op| tir::CallExtern::is(*op) && is_of(*op, names::DEVICE));
        calls.chain(own.iter().copied()).for_each(|op| edit::set_attr(op, SESSION, unit));
    }
    match options.when {
        _ if options.activate.is_empty() => Ok(()),
        When::Inference => note(module, &options.target),
        When::Region => {
            around_each(&own, &options);
            Ok(())
        }
    }
}

/// Notes the target on the module.
fn note<'c>(module: Op<'c>, target: &str) -> Result<(), PassError<'c>> {
    let mut known = ir::attr_strs(module, CONTEXTS).unwrap_or_default();
    if known.iter().any(|known| known == target) {
        return Err(PassError::new(format!("target '{target}' is activated already")));
    }
    known.push(target.to_owned());
    let context = ir::context_of(module);
    let list: Vec<Attribute<'_>> =
        known.iter().map(|id| StringAttribute::new(context, id).into()).collect();
    edit::set_attr(module, CONTEXTS, ArrayAttribute::new(context, &list).into());
    Ok(())
}

/// Notes the calls on each function that no other of the device calls.
fn around_each(own: &[Op<'_>], options: &Options) {
    let called: BTreeSet<_> = own
        .iter()
        .flat_map(|function| edit::walk(*function))
        .filter_map(|op| func::symbol_ref(op, "callee"))
        .collect();
    for function in own.iter().filter(|function| !called.contains(&func::symbol(**function))) {
        let context = ir::context_of(*function);
        let calls = [(ACTIVATE, &options.activate), (DEACTIVATE, &options.deactivate)];
        for (name, callee) in calls.into_iter().filter(|(_, callee)| !callee.is_empty()) {
            edit::set_attr(*function, name, StringAttribute::new(context, callee).into());
        }
    }
}
