//! Entry points of bindings of other languages: compiles and partitions by the arguments of the command line, without
//! printing, with the results as data.

use super::{
    args::{Cli, Command, CompileArgs},
    model::{check_name, check_open, compile_options, import, model_name},
    partition::{divided, stays},
};
use crate::{
    CompileOptions, Compiled, Error, Phase, Result, Session, Toolkit,
    artifact::ArtifactKind,
    ir::{
        self, Builder, edit,
        print::{Weights, print_module, print_op},
    },
    package::Replace,
    pass::{PassError, PassOp},
    phase::HookPoint,
    session::Severity,
    targets::{TargetKind, hooks::Serve},
};
use clap::Parser;
use melior::ir::{Module, operation::OperationLike};
use phaseline_toolkit::ir::context::Cancel;
use std::{
    ffi::OsString,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Sender},
    },
};

pub use crate::targets::ServedFlags;

/// The module of programs in Python that are hooks.
pub const HOOK_SOURCE: &str = crate::hook::HOOK_SOURCE;

/// Stops work from another thread.
#[derive(Clone, Debug, Default)]
pub struct Stop(Cancel);

impl Stop {
    /// Stops it.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// A target kind of a manifest.
#[derive(Clone, Debug)]
pub struct Target(TargetKind);

impl Target {
    /// Its name in specs.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The target with a hook that code of the binding answers, in protocol 2 of programs.
    ///
    /// # Errors
    /// There is no such point, or a flag is not for it.
    pub fn with_hook(self, point: &str, flags: ServedFlags, serve: Arc<Serve>) -> Result<Self> {
        let point: HookPoint = point.parse()?;
        let name = format!("{point} of {}", self.0.name);
        self.0.with_served_hook(point, &name, flags, serve).map(Self)
    }
}

/// Somebody who is told of steps.
pub type Observer = Box<dyn Fn(&str) + Send>;

/// A compile, as a program in another language asks for it.
#[derive(Default)]
pub struct Job {
    /// The arguments of `phaseline compile` behind its name: the model, then options.
    pub arguments: Vec<OsString>,
    /// Target kinds of the program, which specs may name.
    pub kinds: Vec<Target>,
    /// Stops the compile from another thread.
    pub stop: Stop,
    /// Called with the name of each step.
    pub observer: Option<Observer>,
}

/// A compiled model, and what was said of it on the way.
pub struct Built {
    /// The model.
    pub compiled: Compiled,
    /// The picture of its plan of memory, an SVG.
    pub picture: Option<String>,
    /// Warnings of passes.
    pub warnings: Vec<String>,
}

/// The partition of a model between targets.
pub struct Divided {
    /// The whole report, as JSON.
    pub json: String,
    /// A row for each operation.
    pub table: String,
    /// The same with reasons.
    pub explanation: String,
    /// A page with a picture.
    pub html: String,
    /// The placement, for `--placement`.
    pub placement: String,
}

/// Compiles a model.
///
/// # Errors
/// As `phaseline compile` says, or the job was cancelled.
pub fn compile(job: &Job) -> Result<Built> {
    with_module(job, |session, module, options, drawn| {
        options.plan_picture = true;
        let mut compiled = session.compile(module, options)?;
        let path = format!("{}_plan.svg", options.name);
        let is_picture = |file: &&crate::artifact::ExtraFile| {
            file.path == path && file.kind == ArtifactKind::Text
        };
        let picture = compiled.files.iter().find(is_picture);
        let picture = picture.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        if !drawn {
            compiled.files.retain(|file| !is_picture(&file));
        }
        let warnings = session
            .take_diagnostics()
            .into_iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Warning)
            .map(|diagnostic| diagnostic.to_string())
            .collect();
        Ok(Built { compiled, picture, warnings })
    })
}

/// Writes a package; with `force` over one that was changed.
///
/// # Errors
/// As `phaseline compile -o` says.
pub fn write(compiled: &Compiled, folder: &Path, force: bool) -> Result<()> {
    let replace = if force { Replace::Anything } else { Replace::Unchanged };
    compiled.write_package_over(folder, replace)
}

/// Divides a model between targets.
///
/// # Errors
/// As `phaseline partition` says, or the job was cancelled.
pub fn partition(job: &Job) -> Result<Divided> {
    with_module(job, |session, mut module, options, _| {
        session.run_phases(&mut module, options, Phase::PrePartition)?;
        session.run_pipeline(&mut module, "builtin.module(graph-outline-loops)")?;
        let partitioned = divided(session, &module, options, true)?;
        let placement = partitioned.placement.to_json()?;
        let mut report = partitioned.report;
        match stays(session, &mut module, options) {
            Ok(stays) => report.stays = stays,
            Err(error) => report.stays_unknown = Some(error.to_string()),
        }
        let title = format!("{} for {}", options.name, options.targets);
        Ok(Divided {
            json: report.to_json()?,
            table: report.table(),
            explanation: report.explanation(true),
            html: report.picture(&title)?,
            placement,
        })
    })
}

/// The IR of a model after a phase.
///
/// # Errors
/// As `phaseline compile --emit` says, or the job was cancelled.
pub fn emit(job: &Job, phase: &str) -> Result<String> {
    let until: Phase = phase.parse()?;
    with_module(job, |session, mut module, options, _| {
        session.run_phases(&mut module, options, until)?;
        print_module(&module, Weights::Print)
    })
}

/// Reads the model of a job in a session of its own. `work` is told whether a picture goes into the package.
fn with_module<T>(
    job: &Job,
    work: impl FnOnce(&Session, Module<'_>, &mut CompileOptions<'_>, bool) -> Result<T>,
) -> Result<T> {
    let args = arguments(&job.arguments)?;
    let name = match &args.name {
        Some(name) => check_name(name)?,
        None => model_name(&args.model.model),
    };
    let after = args.from.unwrap_or(Phase::Import);
    let say = |step: &str| {
        if let Some(observer) = &job.observer {
            observer(step);
        }
    };
    let observer = |phase: Phase| say(phase.name());
    let add = |toolkit: Toolkit, kind: &Target| toolkit.target(kind.0.clone());
    let toolkit = job.kinds.iter().try_fold(Toolkit::default(), add)?;
    let session = toolkit.session();
    session.set_cancel(Some(job.stop.0.clone()));
    let mut options = compile_options(&toolkit, &args.target, name, after, Some(&observer))?;
    options.trace = args.trace;
    options.weights = args.weights;
    options.layouts = args.layouts();
    say("import");
    let source = super::bytecode::open(&args.model.model)?;
    let model = args.model.trusted_if(args.from.is_some());
    let module = import(&*source, &session, &model, &options)?;
    check_open(&*source, &module)?;
    let made = work(&session, module, &mut options, args.plan_picture.is_some());
    match job.stop.0.is_cancelled() {
        true => Err(Error::invalid("the compile was cancelled")),
        false => made,
    }
}

/// The arguments of a compile.
fn arguments(given: &[OsString]) -> Result<CompileArgs> {
    let words =
        ["phaseline", "compile"].map(OsString::from).into_iter().chain(given.iter().cloned());
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
        let text = lines.filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n");
        Error::invalid(text.trim_start_matches("error: ").to_owned())
    })?;
    match cli.command {
        Command::Compile(args) => Ok(args),
        _ => Err(Error::internal("the arguments are of another command")),
    }
}

/// Reads a target kind from the folder of its manifest, or from the manifest there.
///
/// # Errors
/// There is none, or it is not valid.
pub fn target(path: &Path) -> Result<Target> {
    let is_manifest = path.is_file();
    let folder = match path.parent().filter(|_| is_manifest) {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    };
    if is_manifest && path.file_name().is_none_or(|name| name != crate::targets::MANIFEST) {
        return Err(Error::invalid(format!(
            "{}: the manifest of a target is called {} and has a folder of its own: rename it",
            path.display(),
            crate::targets::MANIFEST
        )));
    }
    let mut registry = crate::targets::Registry::builtin()?;
    let known: Vec<String> = registry.kinds().map(|kind| kind.name.clone()).collect();
    if !folder.join(crate::targets::MANIFEST).is_file() {
        return Err(Error::invalid(format!(
            "{} has no {}: name the folder of a target",
            folder.display(),
            crate::targets::MANIFEST
        )));
    }
    registry.add_path(folder)?;
    let mut new = registry.kinds().filter(|kind| !known.contains(&kind.name));
    new.next()
        .map(|kind| Target(TargetKind::clone(kind)))
        .ok_or_else(|| Error::internal("a target that was read is not there"))
}

/// The text of the module that a pass runs on, with all weights.
///
/// # Errors
/// The IR has no text.
pub fn text_of(module: PassOp<'_>) -> Result<String> {
    print_op(module, Weights::Print)
}

/// Replaces what is in the module that a pass runs on by what a text has.
///
/// # Errors
/// The text is no valid module.
pub fn replace_module<'c>(module: PassOp<'c>, text: &str, name: &str) -> Result<(), PassError<'c>> {
    let fault = |reason: String| PassError::new(format!("{name}: {reason}"));
    crate::limits::check_text(text.as_bytes())
        .map_err(|(line, what)| fault(format!("line {line}: {what}")))?;
    let context = ir::context_of(module);
    let new = ir::parse_module(context, text.as_bytes(), name)
        .ok_or_else(|| fault("the text is not valid MLIR".to_owned()))?;
    let body =
        edit::entry_block(module).ok_or_else(|| fault("the module has no body".to_owned()))?;
    for op in ir::ops_of(module) {
        edit::remove(op).map_err(|error| fault(error.to_string()))?;
    }
    let at = Builder::at_end(context, body, module.location());
    for op in ir::ops_of(ir::root(&new)) {
        at.insert_clone(op);
    }
    Ok(())
}

/// Runs the program by its arguments, its name first, and gives its exit code. `own` are the words that start it in another
/// process.
pub fn main(arguments: Vec<OsString>, own: Vec<OsString>) -> u8 {
    super::bytecode::start_by(own);
    super::signals::install();
    super::run(&Toolkit::default(), arguments.into_iter())
}

/// Work on a module, in the thread that has it.
type Work = Box<dyn FnOnce(&Session, &mut Module<'_>) + Send>;

/// A module with a session of its own, in a thread of its own: callers may be on any.
pub struct Held {
    work: Mutex<Sender<Work>>,
}

impl Held {
    /// Parses a module.
    ///
    /// # Errors
    /// The text is not valid.
    pub fn parse(text: Vec<u8>, name: String, kinds: Vec<Target>) -> Result<Self> {
        let (work, asked) = mpsc::channel::<Work>();
        let (told, outcome) = mpsc::channel();
        let hold = move || {
            let mut session = Session::new();
            let added = kinds.into_iter().try_for_each(|kind| session.add_target(kind.0));
            let parsed = added.and_then(|()| session.parse(&text, &name));
            let mut module = match parsed {
                Ok(module) => module,
                Err(error) => {
                    let _ = told.send(Err(error));
                    return;
                }
            };
            let _ = told.send(Ok(()));
            while let Ok(work) = asked.recv() {
                work(&session, &mut module);
            }
        };
        spawn("phaseline-module", hold)?;
        outcome.recv().map_err(|_| Error::internal("the thread of the module ended"))??;
        Ok(Self { work: Mutex::new(work) })
    }

    /// Has the thread do something, and waits for the result.
    ///
    /// # Errors
    /// It fails, or panics.
    pub fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session, &mut Module<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (told, outcome) = mpsc::channel();
        let gone = || Error::internal("the thread of the module ended");
        let work: Work = Box::new(move |session, module| {
            let _ = told.send(work(session, module));
        });
        {
            let sender = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            sender.send(work).map_err(|_| gone())?;
        }
        outcome.recv().map_err(|_| gone())?
    }

    /// Runs a pipeline; gives warnings and remarks of it.
    ///
    /// # Errors
    /// A pass fails, or the pipeline is not valid.
    pub fn run(&self, pipeline: String, stop: &Stop) -> Result<Vec<String>> {
        let cancel = stop.0.clone();
        self.ask(move |session, module| {
            session.set_cancel(Some(cancel));
            let outcome = session.run_pipeline(module, &pipeline);
            session.set_cancel(None);
            outcome?;
            Ok(session.take_diagnostics().iter().map(ToString::to_string).collect())
        })
    }

    /// The text, with all weights and locations.
    ///
    /// # Errors
    /// The IR has no text.
    pub fn text(&self) -> Result<String> {
        self.ask(|_, module| print_module(module, Weights::Print))
    }

    /// The text without locations, for reading.
    ///
    /// # Errors
    /// The thread of the module ended.
    pub fn short_text(&self) -> Result<String> {
        self.ask(|_, module| Ok(module.as_operation().to_string()))
    }
}

/// Starts a thread with the stack that compiles have in a program.
///
/// # Errors
/// The system has none.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    const STACK: usize = 64 << 20;
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map(drop)
        .map_err(|error| Error::internal(format!("cannot start a thread: {error}")))
}
