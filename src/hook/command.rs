//! Hooks that are programs: a manifest names them, files go in and out.
//!
//! A program runs in an empty folder. The request is JSON, on its standard input and in
//! `request.json`, as `docs/reference/hooks.schema.json` describes. Its subject is beside it:
//!
//! - `input.mlir` (not for the constant updater): the function and the functions that it calls, or
//!   the target's module. All constants are there.
//! - `input.npy` (constant updater): the constant; `input-N.npy` for all constants of a call.
//! - `module.mlir`, if the manifest says `module = true`: the whole module.
//!
//! It answers with `output.mlir` (whose entry has the name of the function in the request),
//! `output.npy` or `output-N.npy` and `answer.json`. Further files are in `artifacts/`; the
//! manifest declares their types, or their names tell them. A program that writes none of them
//! declines.
//!
//! Any exit code but 0 ends the compile with the program's output, and so does an answer that takes
//! too much time or space. For programs in Python there is a module ([`PYTHON`]), which they find
//! without any path. That is protocol 1; [`super::programs`] has protocol 2.

use super::{
    answer::{Answer, WORK},
    programs::Programs,
    region,
};
use crate::{
    Error, Result,
    artifact::Artifact,
    ir::{
        self, Op,
        composite_call::CompositeCall,
        edit, func, graph,
        print::{Weights, print_op},
        view::OpView,
    },
    phase::HookPoint,
    process::{self, Ended, Folder},
    targets::{
        CodegenKind,
        hooks::{BLOB_END, Command, Constant, Limits, Lowered, Protocol, Request, Update},
    },
    tensor::Tensor,
};
use melior::ir::{Module, operation::OperationLike};
use serde_json::json;
use std::{
    collections::BTreeSet,
    env, fs,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

/// Name and text of the module for programs in Python.
const PYTHON: (&str, &str) = ("phaseline_hook.py", PYTHON_SOURCE);

/// The module of programs in Python.
pub const PYTHON_SOURCE: &str = include_str!("../../targets/common/phaseline_hook.py");

/// The file with the whole module.
pub(super) const MODULE: &str = "module.mlir";

/// The place of [`PYTHON`] beside the folder in which a program runs.
const LIBRARY: &str = "python";

impl Command {
    /// Asks for the functions that a function becomes.
    pub(super) fn lower<'c>(
        &self,
        point: HookPoint,
        request: &Request<'_, 'c>,
        programs: &Programs,
    ) -> Result<Option<Lowered<'c>>> {
        let name = func::symbol(request.subject);
        let answer = match self.protocol {
            Protocol::Files => {
                let text = print_op(subject_module(request)?.as_op(), Weights::Print)?;
                let about = json!({ "function": name });
                self.run(point, request, about, &[("input.mlir", text.as_bytes())])?
            }
            Protocol::Regions => programs.ask(self, point, request, &mut |constants, about| {
                about.insert("function".to_owned(), json!(name));
                let region = region::describe(request.subject, request.target, constants)?;
                about.insert("region".to_owned(), region);
                Ok(())
            })?,
        };
        if let Some(reason) = answer.declines().filter(|_| self.dry_run) {
            return Err(Error::invalid(format!(
                "declines a region that it took in the dry run: {reason}"
            )));
        }
        if let Some(call) = answer.call()? {
            let mut lowered = Lowered::call(request, call)?;
            lowered.artifacts = answer.artifacts(&request.target.kind.artifacts)?;
            return Ok(Some(lowered));
        }
        let artifacts = answer.artifacts(&request.target.kind.artifacts)?;
        let Some(bytes) = answer.read("output.mlir")? else {
            if artifacts.is_empty() {
                let codegen = &request.target.kind.codegen;
                let is_made_by_hooks =
                    codegen.blob.is_some() || codegen.kind == CodegenKind::Custom;
                let is_left = answer.leaves()?.contains(&name);
                if !self.dry_run || !is_made_by_hooks {
                    return Ok(None);
                }
                return match without_call(request.subject).filter(|_| is_left) {
                    None if is_left => Ok(None),
                    Some(pattern) => Err(Error::invalid(format!(
                        "leaves a region that it took in the dry run, and pattern '{pattern}' in it has no call: \
                         decline it there"
                    ))),
                    None => Err(Error::invalid(
                        "gives nothing for a region that it took in the dry run: decline it there, or leave it to the \
                         calls of its patterns (`leave` with the name of the function)",
                    )),
                };
            }
            let wanted = format!("{name}{BLOB_END}");
            if let Some(blob) = artifacts.iter().position(|artifact| artifact.name == wanted) {
                let mut rest = artifacts;
                let blob = rest.remove(blob);
                let mut lowered = Lowered::blob(request, blob.bytes)?;
                lowered.artifacts.extend(rest);
                return Ok(Some(lowered));
            }
            return Err(Error::invalid("wrote artifacts but no output.mlir, which calls them"));
        };
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::invalid("wrote an output.mlir that is not UTF-8"))?;
        let lowered = Lowered::parse(request, &text, "output.mlir", name)?;
        Ok(Some(Lowered { artifacts, ..lowered }))
    }

    /// Asks for the artifacts of a target's module, and which functions it leaves.
    pub(super) fn generate(
        &self,
        request: &Request<'_, '_>,
        programs: &Programs,
    ) -> Result<Option<(Vec<Artifact>, Vec<String>)>> {
        let functions = func::functions(request.subject).into_iter();
        let functions: Vec<_> =
            functions.filter(|function| edit::entry_block(*function).is_some()).collect();
        let point = HookPoint::TirToRuntime;
        let answer = match self.protocol {
            Protocol::Files => {
                let text = print_op(request.subject, Weights::Print)?;
                let names: Vec<_> =
                    functions.iter().map(|function| func::symbol(*function)).collect();
                let about = json!({ "functions": names });
                self.run(point, request, about, &[("input.mlir", text.as_bytes())])?
            }
            Protocol::Regions => programs.ask(self, point, request, &mut |constants, about| {
                let of = |function: &Op<'_>| {
                    let region = region::describe(*function, request.target, constants)?;
                    Ok(json!({ "name": func::symbol(*function), "region": region }))
                };
                let all = functions.iter().map(of).collect::<Result<Vec<_>>>()?;
                about.insert("functions".to_owned(), json!(all));
                Ok(())
            })?,
        };
        let artifacts = answer.artifacts(&request.target.kind.artifacts)?;
        let leaves = answer.leaves()?;
        Ok((!artifacts.is_empty()).then_some((artifacts, leaves)))
    }

    /// Asks for the replacement of a constant.
    pub(super) fn update(
        &self,
        request: &Request<'_, '_>,
        constant: &Constant,
        programs: &Programs,
    ) -> Result<Option<Tensor>> {
        if self.protocol == Protocol::Regions {
            let updates =
                self.update_together(request, std::slice::from_ref(constant), programs)?;
            return match updates.into_iter().next() {
                None | Some(Update::Keep) => Ok(None),
                Some(Update::Replace(new)) => Ok(Some(new)),
                Some(Update::LeaveOut) => Err(Error::invalid(
                    "leaves a constant out that it was asked about alone: write `together = true` beside its \
                     command in the manifest",
                )),
            };
        }
        let about = json!({
            "function": func::symbol(request.subject),
            "callee": constant.callee,
            "input": constant.input,
        });
        let bytes = region::npy(&constant.value)?;
        let files = [("input.npy", bytes.as_slice())];
        let answer = self.run(HookPoint::ConstantUpdater, request, about, &files)?;
        answer.constant("output.npy")
    }

    /// Asks what becomes of all constants of a call.
    pub(super) fn update_together(
        &self,
        request: &Request<'_, '_>,
        constants: &[Constant],
        programs: &Programs,
    ) -> Result<Vec<Update>> {
        let callee = constants.first().map(|constant| constant.callee.as_str());
        let inputs: Vec<usize> = constants.iter().map(|constant| constant.input).collect();
        if self.protocol == Protocol::Regions {
            let point = HookPoint::ConstantUpdater;
            let answer = programs.ask(self, point, request, &mut |files, about| {
                about.insert("function".to_owned(), json!(func::symbol(request.subject)));
                about.insert("callee".to_owned(), json!(callee));
                let mut given = vec![];
                for constant in constants {
                    let name = format!("input-{}", constant.input);
                    let mut file = files.tensor(&name, &constant.value)?;
                    file["input"] = json!(constant.input);
                    given.push(file);
                }
                about.insert("constants".to_owned(), json!(given));
                Ok(())
            })?;
            return answer.updates(&inputs);
        }
        let about = json!({
            "function": func::symbol(request.subject),
            "callee": callee,
            "inputs": inputs,
        });
        let mut files = vec![];
        for constant in constants {
            files.push((format!("input-{}.npy", constant.input), region::npy(&constant.value)?));
        }
        let files: Vec<_> =
            files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        let answer = self.run(HookPoint::ConstantUpdater, request, about, &files)?;
        answer.updates(&inputs)
    }

    fn run(
        &self,
        point: HookPoint,
        request: &Request<'_, '_>,
        mut about: serde_json::Value,
        files: &[(&str, &[u8])],
    ) -> Result<Answer> {
        let target = request.target;
        let folder = Folder::new()?;
        let options: serde_json::Map<_, _> = target
            .options
            .iter()
            .map(|(name, value)| (name.clone(), json!(value.to_string())))
            .collect();
        let memory = request.memory()?;
        let whole = self.module.then(|| print_op(request.module, Weights::Print)).transpose()?;
        if let Some(about) = about.as_object_mut() {
            if !memory.is_empty() {
                about.insert("memory".into(), json!(memory));
            }
            if whole.is_some() {
                about.insert("module".into(), json!(MODULE));
            }
            about.insert("protocol".into(), json!(self.protocol.number()));
            about.insert("hook".into(), json!(point.name()));
            about.insert("target".into(), json!(target.id));
            about.insert("kind".into(), json!(target.kind.name));
            about.insert("options".into(), options.into());
        }
        let [work, library] = places(&folder)?;
        let described = format!("{about:#}\n");
        let whole = whole.iter().map(|text| (MODULE, text.as_bytes()));
        let asked = files.iter().copied().chain(whole);
        let asked = asked.chain([("request.json", described.as_bytes())]);
        for (path, bytes) in asked.map(|(name, bytes)| (work.join(name), bytes)) {
            fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))?;
        }
        let words = target.hook_words(self)?;
        let given = size(folder.path());
        let limits = target.hook_limits(self, given)?;
        let is_large = || size(folder.path()).saturating_sub(given) > limits.bytes;
        let places = (folder.path(), work.as_path(), library.as_path());
        let ended = start(&words, places, (limits, &is_large))?;
        check(&words[0], ended, folder.path(), (limits, &target.kind.manifest))?;
        Ok(Answer::of_files(folder, work))
    }
}

/// The bytes of all files below a folder; links are not followed. A file without content takes something, too.
pub(super) fn size(folder: &Path) -> u64 {
    const LEAST: u64 = 512;
    let mut sum: u64 = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            sum = sum.saturating_add(found.len().max(LEAST));
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    sum
}

/// The files beside the folder of the program that hold what it says. They are no pipes, which a program
/// that it leaves behind could keep open.
const SAID: [&str; 2] = ["stdout", "stderr"];

fn start(
    words: &[String],
    (folder, work, library): (&Path, &Path, &Path),
    (limits, is_large): (Limits, &dyn Fn() -> bool),
) -> Result<Ended> {
    let path = work.join("request.json");
    let input = fs::File::open(&path).map_err(|e| Error::io("cannot read", &path, e))?;
    let mut command = command(words, (folder, work, library))?;
    command.stdin(input).stdout(said_to(folder, SAID[0])?);
    let time = Duration::from_secs(limits.seconds);
    process::supervise(&mut command, time, is_large).map_err(|error| unstarted(words, error))
}

fn unstarted(words: &[String], error: impl std::fmt::Display) -> Error {
    Error::Tool {
        program: words[0].clone(),
        detail: format!("cannot be started: {error}; the manifest names it in [hooks]"),
    }
}

fn said_to(folder: &Path, name: &str) -> Result<fs::File> {
    let path = folder.join(name);
    fs::File::create(&path).map_err(|e| Error::io("cannot create", &path, e))
}

/// The folder in which a program runs, and the one with what programs in Python import.
pub(super) fn places(folder: &Folder) -> Result<[PathBuf; 2]> {
    let work = folder.path().join(WORK);
    let library = folder.path().join(LIBRARY);
    for path in [&work, &library] {
        fs::create_dir(path).map_err(|e| Error::io("cannot make", path, e))?;
    }
    let (module, text) = PYTHON;
    let path = library.join(module);
    fs::write(&path, text).map_err(|e| Error::io("cannot write", &path, e))?;
    Ok([work, library])
}

/// A program that runs in its folder, with its standard error in a file.
pub(super) fn command(
    words: &[String],
    (folder, work, library): (&Path, &Path, &Path),
) -> Result<std::process::Command> {
    #[allow(clippy::disallowed_methods, reason = "the program gets what is there, and more")]
    let others = env::var_os("PYTHONPATH").unwrap_or_default();
    let others = env::split_paths(&others).filter(|path| !path.as_os_str().is_empty());
    let places = env::join_paths([library.to_owned()].into_iter().chain(others));
    let places = places.map_err(|error| unstarted(words, error))?;
    let mut command = std::process::Command::new(&words[0]);
    command.args(&words[1..]).current_dir(work).env("PYTHONPATH", places);
    command.stderr(said_to(folder, SAID[1])?);
    Ok(command)
}

fn check(
    program: &str,
    ended: Ended,
    folder: &Path,
    (limits, manifest): (Limits, &str),
) -> Result<()> {
    let how = match ended {
        Ended::Itself(status) if status.success() => return Ok(()),
        Ended::Itself(status) => process::ending(status),
        Ended::Late => late("ended", limits, manifest),
        Ended::Large => large(limits, manifest),
    };
    Err(failed(program, &how, folder))
}

/// The error of a program that was stopped as it had not done something in time.
pub(super) fn late(done: &str, limits: Limits, manifest: &str) -> String {
    format!(
        "stopped, as it had not {done} after {} s; `max-seconds` beside `command` in {manifest} gives it more time",
        limits.seconds
    )
}

/// The error of a program that was stopped as it wrote too much.
pub(super) fn large(limits: Limits, manifest: &str) -> String {
    format!(
        "stopped, as its files and messages took more than {} bytes; `max-bytes` beside `command` in {manifest} \
         gives it more room",
        limits.bytes
    )
}

/// The error of a program that failed, with what it said.
pub(super) fn failed(program: &str, how: &str, folder: &Path) -> Error {
    let text = said(folder).map_or_else(String::new, |said| format!("\n{said}"));
    Error::Tool { program: program.to_owned(), detail: format!("{how}{text}") }
}

/// The last lines of what a program said: in a traceback they are those that say what is wrong.
fn said(folder: &Path) -> Option<String> {
    const LINES: usize = 20;
    const BYTES: u64 = 8 << 10;
    let [_, err] = SAID.map(|name| folder.join(name));
    let mut file = fs::File::open(err).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES))).ok()?;
    let mut bytes = vec![];
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().collect();
    (!lines.is_empty()).then(|| lines[lines.len().saturating_sub(LINES)..].join("\n"))
}

/// A module of its own for a function, with copies of it and of what it calls.
struct Excerpt<'c>(Module<'c>);

impl<'c> Excerpt<'c> {
    fn as_op(&self) -> Op<'_> {
        ir::root(&self.0)
    }
}

fn subject_module<'c>(request: &Request<'_, 'c>) -> Result<Excerpt<'c>> {
    let module = Module::new(request.subject.location());
    let body = edit::entry_block(ir::root(&module))
        .ok_or_else(|| Error::internal("a new module has no body"))?;
    let mut wanted = vec![func::symbol(request.subject)];
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let all = func::functions(request.module);
    while let Some(name) = wanted.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(function) = all.iter().find(|function| func::symbol(**function) == name) else {
            continue;
        };
        edit::clone_to_end(*function, body);
        let calls = edit::walk(*function).into_iter();
        wanted.extend(calls.filter_map(|op| func::symbol_ref(op, "callee")));
    }
    Ok(Excerpt(module))
}

/// A pattern of a region whose match has no call, so that its operations would become loops.
fn without_call(subject: Op<'_>) -> Option<String> {
    let composites = edit::walk(subject).into_iter().filter(|op| graph::Composite::is(*op));
    let mut named = composites.filter(|op| !matches!(CompositeCall::of(*op), Ok(Some(_))));
    let name = named.next().and_then(|op| ir::attr_str(op, "name"))?;
    Some(name.split_once('.').map_or(name.clone(), |(_, pattern)| pattern.to_owned()))
}
