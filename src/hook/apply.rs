//! Runs a hook on each function or module that it applies to; errors name target, hook and operation.

use super::{constants, programs::Programs, splice};
use crate::{
    Error, Result,
    artifact::{Artifact, ArtifactKind, files},
    error::suggestion,
    ir::{
        self, Op, edit, func, graph,
        names::{self, BLOBS, FINISHED, GENERATED},
        tir,
    },
    pass::{PassError, panic_text},
    phase::HookPoint,
    targets::{
        TargetInstance,
        hooks::{BLOB_END, DataHook, Lowered, Request},
    },
};
use melior::ir::{
    Attribute, Location, Module,
    attribute::{ArrayAttribute, DenseI64ArrayAttribute, StringAttribute},
    operation::OperationLike,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a hook of a target on the module.
pub fn apply<'c>(
    module: Op<'c>,
    target: &TargetInstance,
    point: HookPoint,
) -> Result<(), PassError<'c>> {
    let subjects = match point {
        HookPoint::TirToRuntime => ir::ops_of(module)
            .into_iter()
            .filter(|op| ir::op_name(*op) == "builtin.module" && is_of(*op, target))
            .collect::<Vec<_>>(),
        _ => func::functions(module)
            .into_iter()
            .filter(|op| is_of(*op, target) && edit::entry_block(*op).is_some())
            .filter(|op| !op.has_attribute(FINISHED))
            .collect(),
    };
    let programs = Programs::default();
    for subject in subjects {
        let (location, place) = describe(subject);
        let span =
            tracing::info_span!(target: "phaseline::hook", "hook", %point, id = %target.id, place);
        let _span = span.entered();
        let outcome =
            catch_unwind(AssertUnwindSafe(|| one(module, subject, target, (point, &programs))));
        let reason = match outcome {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error.to_string(),
            Err(payload) => format!("panicked: {}", panic_text(payload.as_ref())),
        };
        return Err(PassError {
            location: Some(location),
            message: format!("target '{}': hook {point} on {place}: {reason}", target.id),
        });
    }
    programs
        .end()
        .map_err(|error| PassError::new(format!("target '{}': hook {point}: {error}", target.id)))
}

fn is_of(op: Op<'_>, target: &TargetInstance) -> bool {
    ir::attr_str(op, names::TARGET).is_some_and(|id| id == target.id)
}

/// Location of the subject's first operation of the graph, and a name for the subject with it.
fn describe<'c>(subject: Op<'c>) -> (Location<'c>, String) {
    let name = func::symbol(subject);
    let called = |op: Op<'c>| match ir::op_name(op) {
        graph::Composite::NAME => ir::attr_str(op, "name"),
        tir::CallExtern::NAME => func::symbol_ref(op, "callee"),
        other => other
            .strip_prefix("graph.")
            .filter(|word| !matches!(*word, "constant" | "return" | "yield"))
            .map(|word| format!("graph.{word}")),
    };
    let mut named = edit::walk(subject).into_iter().filter_map(|op| Some((op, called(op)?)));
    match named.next() {
        Some((op, first)) => (op.location(), format!("@{name} ({first})")),
        None => (subject.location(), format!("@{name}")),
    }
}

/// A copy of the module for the hook to read.
struct View<'c>(Module<'c>);

impl<'c> View<'c> {
    fn of(module: Op<'c>) -> Result<Self> {
        edit::clone_module(module)
            .map(Self)
            .ok_or_else(|| Error::internal("hooks run on modules only"))
    }

    fn find(&self, symbol: &str) -> Result<Op<'_>> {
        ir::ops_of(ir::root(&self.0))
            .into_iter()
            .find(|op| func::symbol(*op) == symbol)
            .ok_or_else(|| Error::internal(format!("a copy of the module has no @{symbol}")))
    }
}

fn one<'c>(
    module: Op<'c>,
    subject: Op<'c>,
    target: &TargetInstance,
    (point, programs): (HookPoint, &Programs),
) -> Result<()> {
    let view = View::of(module)?;
    let request = Request {
        context: ir::context_of(module),
        target,
        module: ir::root(&view.0),
        subject: view.find(&func::symbol(subject))?,
    };
    match point {
        HookPoint::GraphToRuntime | HookPoint::GraphToTir => {
            let Some(lowered) = lower(&request, point, programs)? else { return Ok(()) };
            let finished = point == HookPoint::GraphToRuntime;
            splice::replace(module, subject, lowered, finished)
        }
        HookPoint::ConstantUpdater => constants::update(&request, subject, programs),
        HookPoint::TirToRuntime => {
            let Some((artifacts, leaves)) = generate(&request, programs)? else { return Ok(()) };
            let blob = artifacts
                .iter()
                .find(|artifact| artifact.name.ends_with(BLOB_END) && !artifact.is_in_folder());
            if let (Some(blob), None) = (blob, &target.kind.codegen.blob) {
                return Err(Error::invalid(format!(
                    "made {}, but the manifest has no [codegen.blob], which says how it is executed",
                    blob.name
                )));
            }
            let left = left(subject, target, (&artifacts, leaves))?;
            hand_over(subject, &artifacts, &left)
        }
    }
}

fn lower<'c>(
    request: &Request<'_, 'c>,
    point: HookPoint,
    programs: &Programs,
) -> Result<Option<Lowered<'c>>> {
    let hooks = &request.target.kind.hooks;
    if let Some(rust) = &hooks.rust {
        let lowered = match point {
            HookPoint::GraphToRuntime => rust.graph_to_runtime(request)?,
            _ => rust.graph_to_tir(request)?,
        };
        if lowered.is_some() {
            return Ok(lowered);
        }
    }
    match hooks.data(point) {
        Some(DataHook::Command(command)) => command.lower(point, request, programs),
        _ => Ok(None),
    }
}

/// The files that a hook gives, and the functions that it says it leaves.
type Generated = (Vec<Artifact>, Vec<String>);

fn generate(request: &Request<'_, '_>, programs: &Programs) -> Result<Option<Generated>> {
    let hooks = &request.target.kind.hooks;
    if let Some(rust) = &hooks.rust
        && let Some(artifacts) = rust.tir_to_runtime(request)?
    {
        return Ok(Some((artifacts, vec![])));
    }
    match hooks.data(HookPoint::TirToRuntime) {
        Some(DataHook::Command(command)) => command.generate(request, programs),
        _ => Ok(None),
    }
}

/// Interfaces of the functions that are blobs: the arguments that are read, and those that are
/// written.
fn blobs<'c>(functions: &[Op<'c>], artifacts: &[Artifact]) -> Result<Vec<Attribute<'c>>> {
    let mut found = vec![];
    for function in functions {
        let name = func::symbol(*function);
        let blob = format!("{name}{BLOB_END}");
        if !artifacts.iter().any(|artifact| artifact.name == blob) {
            continue;
        }
        let (mut inputs, mut outputs) = (vec![], vec![]);
        for (index, (_, attributes)) in func::Signature::of(*function)?.arguments.iter().enumerate()
        {
            let role = attributes.iter().find(|(name, _)| name == names::IO);
            let role = role.and_then(|(_, value)| edit::string(*value)).unwrap_or_default();
            let is_written = matches!(&*role, "output" | "arena" | names::DEVICE_ARENA);
            if is_written { &mut outputs } else { &mut inputs }.push(index as i64);
        }
        let context = ir::context_of(*function);
        let list = |list: &[i64]| DenseI64ArrayAttribute::new(context, list).into();
        let entries = [
            ("function".to_owned(), StringAttribute::new(context, &name).into()),
            ("inputs".to_owned(), list(&inputs)),
            ("outputs".to_owned(), list(&outputs)),
        ];
        found.push(edit::dictionary_attr(context, &entries));
    }
    Ok(found)
}

/// The functions of a target's module that have bodies.
fn bodies<'c>(part: Op<'c>) -> Vec<Op<'c>> {
    let functions = func::functions(part).into_iter();
    functions.filter(|function| edit::entry_block(*function).is_some()).collect()
}

/// The functions that get the default: those that the hook says it leaves or, if all that it made is blobs, those
/// without one.
fn left(
    part: Op<'_>,
    target: &TargetInstance,
    (artifacts, leaves): (&[Artifact], Vec<String>),
) -> Result<Vec<String>> {
    let names: Vec<String> = bodies(part).into_iter().map(func::symbol).collect();
    if let Some(strange) = leaves.iter().find(|name| !names.contains(name)) {
        let hint = suggestion(strange, names.iter().map(String::as_str));
        return Err(Error::invalid(format!(
            "leaves '{strange}', which is no function of the target{hint}"
        )));
    }
    let blob = |name: &str| format!("{name}{BLOB_END}");
    let is_blob = |name: &String| artifacts.iter().any(|artifact| artifact.name == blob(name));
    if let Some(both) = leaves.iter().find(|name| is_blob(name)) {
        return Err(Error::invalid(format!(
            "leaves '{both}' and made {}; do one of the two",
            blob(both)
        )));
    }
    let is_code = |artifact: &Artifact| {
        use ArtifactKind::{Assembler, CSource, Object, StaticLibrary};
        matches!(artifact.kind, Assembler | CSource | Object | StaticLibrary)
    };
    let only_blobs = names.iter().any(is_blob) && !artifacts.iter().any(is_code);
    let left = match leaves.is_empty() && only_blobs {
        true => names.into_iter().filter(|name| !is_blob(name)).collect(),
        false => leaves,
    };
    match left.first() {
        Some(first) if target.kind.codegen.kind.needs_hook() => Err(Error::invalid(format!(
            "leaves '{first}', for which kind = \"custom\" has no default: make its code, or give [codegen] another \
             kind"
        ))),
        _ => Ok(left),
    }
}

/// Takes out of a target's module what has its code in the artifacts from now on: all but the functions that are left,
/// and what these name.
fn hand_over<'c>(part: Op<'c>, artifacts: &[Artifact], left: &[String]) -> Result<()> {
    let context = ir::context_of(part);
    let (rest, functions): (Vec<_>, Vec<_>) =
        bodies(part).into_iter().partition(|function| left.contains(&func::symbol(*function)));
    let blobs = blobs(&functions, artifacts)?;
    if !blobs.is_empty() {
        edit::set_attr(part, BLOBS, ArrayAttribute::new(context, &blobs).into());
    }
    let defined: Vec<_> = functions
        .iter()
        .map(|function| StringAttribute::new(context, &func::symbol(*function)).into())
        .collect();
    files::record(part, artifacts)?;
    edit::set_attr(part, GENERATED, ArrayAttribute::new(context, &defined).into());
    let mut named: Vec<String> = rest.iter().map(|function| func::symbol(*function)).collect();
    for op in rest.iter().flat_map(|function| edit::walk(*function)) {
        named.extend(["name", "callee"].into_iter().filter_map(|key| func::symbol_ref(op, key)));
    }
    for function in &functions {
        let name = func::symbol(*function);
        if named.contains(&name) {
            return Err(Error::invalid(format!(
                "leaves a function that calls '{name}', which it takes: take both, or leave both"
            )));
        }
    }
    for op in ir::ops_of(part) {
        let name = ir::attr_str(op, "sym_name");
        if rest.is_empty() || name.is_some_and(|name| !named.contains(&name)) {
            edit::erase(op);
        }
    }
    Ok(())
}
