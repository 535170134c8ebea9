//! `phaseline compile`.

use super::{
    args::{CompileArgs, Emit},
    cache::Entry,
    layers::{self, Layer},
    memory,
    model::{check_name, check_open, compile_options, import, model_name},
    moves::{self, Moves},
    print, print_error,
    progress::Progress,
    steps,
    watch::Watcher,
};
use crate::{
    CompileOptions, Error, Phase, Result, Session, Toolkit,
    artifact::{MemoryUse, operations, signature_of},
    io,
    ir::{
        self, Op, edit, names,
        print::{Weights, print_module},
    },
    package::{self, Replace},
};
use melior::ir::Module;
use serde::Serialize;
use std::path::Path;

/// Compiles a model, or shows what would run, or the IR after a phase.
pub fn compile(toolkit: &Toolkit, args: &CompileArgs) -> Result<()> {
    let progress = Progress::new();
    let watcher = Watcher::new(&args.watch);
    let observer = |phase| {
        progress.phase(phase);
        watcher.phase(phase);
    };
    let pass_observer = |event, pass: &str, op: Op<'_>| watcher.event(event, pass, op);
    let name = match &args.name {
        Some(name) => check_name(name)?,
        None => model_name(&args.model.model),
    };
    let after = toolkit.phases.placed(args.from.unwrap_or(Phase::Import))?;
    let mut options = compile_options(toolkit, &args.target, name, after, Some(&observer))?;
    options.trace = args.trace;
    options.weights = args.weights;
    options.layouts = args.layouts();
    options.plan_picture = args.plan_picture.is_some();
    let session = super::new_session(toolkit);
    if watcher.is_needed() {
        watcher.check(&session.pipeline(&options)?)?;
        options.pass_observer = Some(&pass_observer);
    }
    if args.print_pipeline {
        return print(&session.pipeline(&options)?.to_string());
    }
    let replace = if args.force { Replace::Anything } else { Replace::Unchanged };
    check_output(args, after, replace)?;
    progress.say("reading the model");
    watcher.step("reading the model");
    let until = args.emit.map_or(Phase::Codegen, Emit::until);
    let until = toolkit.phases.placed(until)?;
    let mut module = read(args, &session, (after, until), &options)?;
    if let Some(emit) = args.emit {
        session.run_phases(&mut module, &options, until)?;
        watcher.report().iter().for_each(|text| print_error(text));
        return print(&match emit {
            Emit::Ir(_) => print_module(&module, Weights::Print)?,
            Emit::C => session.c_text(&module, &options)?,
        });
    }
    if let Some(Some(file)) = &args.plan_picture {
        picture(&session, &mut module, &mut options, file)?;
    }
    if let Some(form) = &args.report {
        report(&session, &mut module, &mut options, form)?;
    }
    let Some(output) = args.output.as_deref() else { return Ok(()) };
    // What has been printed is of a module that has been through phases.
    let entry = match shows(args) {
        true => None,
        false => Entry::of(&session, &module, &options, &args.cache)?,
    };
    if let Some(entry) = &entry
        && entry.copy(output, replace)?
    {
        return Ok(());
    }
    generate((&session, module), &mut options, (output, replace), (&progress, &watcher))?;
    if let Some(entry) = entry {
        entry.keep(|cache, key| cache.keep_copy(key, output));
    }
    watcher.report().iter().for_each(|text| print_error(text));
    Ok(())
}

/// True if the plan of memory is shown in any form.
fn shows(args: &CompileArgs) -> bool {
    args.report.is_some() || args.plan_picture.is_some()
}

/// Fails if there is nothing to write, or no place for it.
fn check_output(args: &CompileArgs, after: Phase, replace: Replace) -> Result<()> {
    if args.output.is_none() && args.emit.is_none() && !shows(args) {
        return Err(Error::invalid(
            "nowhere to write: add -o DIR, or --emit=PHASE to print IR, or --print-pipeline, or \
             --report",
        ));
    }
    if let Some(until) = args.emit.map(Emit::until)
        && until < after
    {
        return Err(Error::invalid(format!("--emit={until} comes before --from={after}")));
    }
    match &args.output {
        Some(folder) => package::check_target_folder(folder, replace),
        None => Ok(()),
    }
}

/// The model, or the IR that it was after a phase.
fn read<'s>(
    args: &CompileArgs,
    session: &'s Session,
    (after, until): (Phase, Phase),
    options: &CompileOptions<'_>,
) -> Result<Module<'s>> {
    let source = super::bytecode::open(&args.model.model)?;
    if !source.is_ir() && after != Phase::Import {
        return Err(Error::invalid(format!(
            "--from={after} goes on from IR that --emit printed (.mlir), not from a model"
        )));
    }
    // Who says after which phase it is says that it is a program.
    let model = args.model.trusted_if(args.from.is_some());
    // The module has what it needs of its weights, and lets go of them one by one.
    let module = import(&*source, session, &model, options)?;
    if until >= Phase::Lower {
        check_open(&*source, &module)?;
    }
    Ok(module)
}

/// Compiles the rest of the way, and writes the package.
fn generate(
    (session, mut module): (&Session, Module<'_>),
    options: &mut CompileOptions<'_>,
    (output, replace): (&Path, Replace),
    (progress, watcher): (&Progress, &Watcher),
) -> Result<()> {
    session.run_phases(&mut module, options, Phase::Codegen)?;
    watcher.step("generating code");
    options.after = Phase::Codegen;
    let compiled = session.compile(module, options)?;
    progress.say("writing");
    watcher.step("writing");
    compiled.write_package_over(output, replace)
}

/// Compiles as far as the plan of memory, and writes the picture of it.
fn picture(
    session: &Session,
    module: &mut Module<'_>,
    options: &mut CompileOptions<'_>,
    file: &Path,
) -> Result<()> {
    if options.after > Phase::PlanMemory {
        return Err(Error::invalid(
            "--plan-picture shows the plan as it is after phase plan-memory, which the IR has been \
             through already: go on from an earlier phase",
        ));
    }
    let drawn = options.after < Phase::PlanMemory;
    session.run_phases(module, options, Phase::PlanMemory)?;
    options.after = Phase::PlanMemory;
    if !drawn {
        session.run_pipeline(module, "builtin.module(draw-plan)")?;
    }
    let root = ir::root(module);
    let text = ir::attr_str(root, names::PLAN_PICTURE).unwrap_or_default();
    edit::remove_attr(root, names::PLAN_PICTURE);
    Ok(io::write_bytes(file, text.as_bytes())?)
}

/// Output of `--report`: the steps, and the memory that they take.
#[derive(Serialize)]
struct Report {
    steps: Vec<Layer>,
    memory: Vec<MemoryUse>,
    /// Bytes that tiles move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<Moves>,
    /// Operations whose regions hooks declined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    declined: Vec<String>,
    /// The number of values that change their layout, where a device takes tensors as given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layout_changes: Vec<String>,
}

/// Compiles as far as the plan of memory, which is when all steps are known, and prints them.
fn report(
    session: &Session,
    module: &mut Module<'_>,
    options: &mut CompileOptions<'_>,
    form: &str,
) -> Result<()> {
    if options.after > Phase::PlanMemory {
        return Err(Error::invalid(
            "--report lists the steps that are known in phase plan-memory, which the IR has been \
             through already: go on from an earlier phase",
        ));
    }
    // Buffers are told apart until they have places.
    let mut moved = vec![];
    if options.after <= Phase::TirPost {
        session.run_phases(module, options, Phase::TirPost)?;
        options.after = Phase::TirPost;
        moved = moves::moves(module)?;
    }
    session.run_phases(module, options, Phase::PlanMemory)?;
    options.after = Phase::PlanMemory;
    if !options.trace {
        session.run_pipeline(module, "builtin.module(trace-operations{calls=false})")?;
    }
    let rows = layers::layers(operations(ir::root(module))?);
    if !options.trace {
        // They would be those of a model that tells of its steps.
        edit::remove_attr(ir::root(module), names::OPERATIONS);
    }
    let declined = ir::attr_strs(ir::root(module), names::DECLINED).unwrap_or_default();
    let layout_changes = ir::attr_strs(ir::root(module), names::LAYOUT_CHANGES).unwrap_or_default();
    let memory = signature_of(ir::root(module))?.memories();
    let report = Report { steps: rows, memory, moves: moved, declined, layout_changes };
    print(&match form {
        "json" => serde_json::to_string_pretty(&report)
            .map(|text| text + "\n")
            .map_err(|error| Error::internal(format!("the report has no JSON form: {error}")))?,
        "svg" => steps::svg(&report.steps),
        _ => {
            let mut text = layers::table(&report.steps);
            if !report.declined.is_empty() {
                text += &format!("\ndeclined by hooks:\n  {}\n", report.declined.join("\n  "));
            }
            for changes in &report.layout_changes {
                text += &format!("\n{changes}\n");
            }
            text += &format!("\n{}", memory::table(&report.memory));
            if !report.moves.is_empty() {
                text += &format!("\n{}", moves::table(&report.moves));
            }
            text
        }
    })
}
