//! Prints the module of a target as C.
//!
//! It is given planned buffers. A function becomes `int32_t name(void *device, ...)` with a pointer
//! for each buffer; it returns 0, or the first status other than 0 of a function that it calls. The
//! main function, which a host's module has, becomes the entry point that `make-entry-point`
//! describes. Nothing of the module changes.

use super::{
    call,
    context::{self, Calls, Context},
    declare,
    emission::Emission,
    format::format,
    function, helpers, kernel, math,
    writer::{Kind, Surroundings},
};
use crate::pass::PassResult;
use crate::{
    Error,
    artifact::{ArtifactKind, files},
    ir::{
        self, Op, board, edit, func, memory,
        names::{
            C_DEVICE, C_EMIT, C_HEADERS, DEVICES, TARGET, model_name, settle_symbol, symbol_name,
        },
        tir,
        view::OpView,
    },
};
use std::collections::BTreeSet;

/// Headers of the standard library that generated code includes.
const STANDARD: [&str; 5] = ["math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"];

/// Declarations at the start of the file.
#[derive(Default)]
struct Preamble {
    headers: BTreeSet<String>,
    prototypes: BTreeSet<String>,
    constants: Vec<String>,
    helpers: BTreeSet<&'static str>,
}

/// The C of a target's module.
pub fn print(module: Op<'_>) -> PassResult<'_, String> {
    let functions: Vec<_> = func::functions(module)
        .into_iter()
        .filter(|function| edit::entry_block(*function).is_some())
        .collect();
    let calls: Vec<_> = functions
        .iter()
        .flat_map(|function| edit::walk(*function))
        .filter(|op| tir::CallExtern::is(*op))
        .collect();
    let (kernels, functions): (Vec<_>, Vec<_>) =
        functions.into_iter().partition(|function| kernel::is_kernel(*function));
    let constants = constants(module, &functions);
    let around = surroundings(module, &functions, &calls, &constants)?;
    let mut preamble = Preamble::default();
    preamble.headers.extend(ir::attr_strs(module, C_HEADERS).unwrap_or_default());
    // Functions that a hook gave are declared in its headers.
    let given = files::recorded(module)?.into_iter();
    let given = given.filter(|artifact| artifact.kind == ArtifactKind::Header);
    preamble.headers.extend(given.map(|artifact| artifact.name));
    // A header that is named for all calls may declare what they call.
    let declared = !preamble.headers.is_empty();
    for call in calls {
        preamble.add_call(call, declared, &around.internal);
    }
    for global in constants {
        preamble.constants.push(declare::constant(global)?);
    }
    let model = model_name(module);
    let main = symbol_name(&model, "main");
    let mut texts = vec![];
    for function in callees_first(functions, &around.internal) {
        let name = func::symbol(function);
        let kind = match () {
            () if name == main => Kind::Entry(format!("{model}_invoke")),
            () if around.internal.contains(&name) => Kind::Internal,
            () => Kind::Device,
        };
        if let Kind::Entry(_) = kind {
            preamble.add_entry(&around);
        }
        if let Some(calls) = Calls::of(function).filter(|_| !declared) {
            preamble.prototypes.extend(calls.prototypes());
        }
        let (text, helpers) = function::print(function, kind, &around)?;
        preamble.helpers.extend(helpers);
        texts.push(text);
    }
    let text = format(&(preamble.text() + &texts.concat()));
    if kernels.is_empty() {
        return Ok(text);
    }
    let target = ir::attr_str(module, TARGET).unwrap_or_default();
    Ok(text + &kernel::print(&kernel::array_name(&model, &target), &kernels, &around)?)
}

impl Preamble {
    /// Adds the header or prototype of a call's callee.
    fn add_call(&mut self, call: Op<'_>, declared: bool, internal: &BTreeSet<String>) {
        self.headers.extend(ir::attr_str(call, "header"));
        self.prototypes.extend(ir::attr_str(call, "prototype"));
        let callee = func::symbol_ref(call, "callee").unwrap_or_default();
        if !declared && !internal.contains(&callee) {
            self.prototypes.extend(declare::prototype(call));
        }
    }

    /// Adds prototypes of the functions that the entry point calls around a run.
    fn add_entry(&mut self, around: &Surroundings) {
        let settle =
            |(name, _): &(String, usize)| format!("int32_t {name}(void *session, int32_t status);");
        self.prototypes.extend(around.settled.iter().map(settle));
        for Context { activate, deactivate, .. } in &around.contexts {
            self.prototypes.insert(format!("int32_t {activate}(void *handle);"));
            let text = format!("int32_t {deactivate}(void *handle, int32_t status);");
            self.prototypes.insert(text);
        }
    }

    fn text(&self) -> String {
        let standard = STANDARD.iter().map(|header| format!("#include <{header}>"));
        let own = self.headers.iter().map(|header| format!("#include \"{header}\""));
        let declared = self.prototypes.iter().chain(&self.constants).cloned();
        let helpers = helpers::texts(&self.helpers).map(str::to_owned);
        standard.chain(own).chain(declared).chain(helpers).map(|line| line + "\n").collect()
    }
}

/// Properties that the functions of a module share.
fn surroundings<'c>(
    module: Op<'c>,
    functions: &[Op<'c>],
    calls: &[Op<'c>],
    constants: &[Op<'c>],
) -> crate::Result<Surroundings> {
    let defined: BTreeSet<_> = functions.iter().map(|function| func::symbol(*function)).collect();
    let callees: BTreeSet<_> =
        calls.iter().filter_map(|op| func::symbol_ref(*op, "callee")).collect();
    let internal: BTreeSet<_> = callees.intersection(&defined).cloned().collect();
    let mut reserved: BTreeSet<_> = callees.union(&defined).cloned().collect();
    reserved.extend(constants.iter().map(|global| declare::name(*global)));
    reserved.extend(calls.iter().flat_map(|op| call::words(*op)));
    reserved.extend(helpers::names().map(str::to_owned));
    reserved.extend(math::names());
    let emissions = ir::attr_strs(module, C_EMIT).unwrap_or_default();
    let emissions = emissions.iter().map(|text| Emission::parse(text).map_err(Error::invalid));
    let emissions = emissions.collect::<crate::Result<_>>()?;
    let memories = memory::declared(module)?;
    let pools = board::declared(module)?.into_iter().map(|pool| pool.name).collect();
    let devices = ir::attr_strs(module, DEVICES).unwrap_or_default();
    let model = model_name(module);
    let settled = memories.iter().filter_map(|memory| {
        let device = devices.iter().position(|device| *device == memory.target)?;
        Some((settle_symbol(&model, &memory.space), device))
    });
    Ok(Surroundings {
        settled: settled.collect(),
        contexts: context::contexts(module),
        device: ir::attr_str(module, C_DEVICE).unwrap_or_else(|| "void".to_owned()),
        devices,
        memories,
        pools,
        internal,
        emissions,
        reserved,
    })
}

/// The functions in an order in which each comes after the internal ones that it calls.
fn callees_first<'c>(functions: Vec<Op<'c>>, internal: &BTreeSet<String>) -> Vec<Op<'c>> {
    let mut ordered: Vec<Op<'c>> = vec![];
    let mut rest: Vec<_> = functions
        .into_iter()
        .map(|function| {
            let calls = edit::walk(function).into_iter();
            let calls = calls.filter_map(|op| func::symbol_ref(op, "callee"));
            let calls: BTreeSet<_> = calls.filter(|callee| internal.contains(callee)).collect();
            (func::symbol(function), function, calls)
        })
        .collect();
    while !rest.is_empty() {
        let waits = |(name, _, calls): &(String, Op<'c>, BTreeSet<String>)| {
            rest.iter().any(|(other, ..)| other != name && calls.contains(other))
        };
        // Recursion, which nothing makes, would leave none; then any order is as good.
        let next = rest.iter().position(|entry| !waits(entry)).unwrap_or(0);
        ordered.push(rest.remove(next).1);
    }
    ordered
}

/// The constants that the functions read.
fn constants<'c>(module: Op<'c>, functions: &[Op<'c>]) -> Vec<Op<'c>> {
    let read: BTreeSet<_> = functions
        .iter()
        .flat_map(|function| edit::walk(*function))
        .filter(|op| ir::op_name(*op) == "memref.get_global")
        .filter_map(|op| func::symbol_ref(op, "name"))
        .collect();
    let globals = ir::ops_of(module).into_iter();
    let globals = globals.filter(|global| ir::op_name(*global) == "memref.global");
    globals.filter(|global| read.contains(&func::symbol(*global))).collect()
}
