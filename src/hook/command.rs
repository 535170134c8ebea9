//! Hooks that are programs: a manifest names them, files go in and out.
//!
//! A program runs in an empty folder with
//!
//! - `request.json`: the hook, target, options, and what it is asked about,
//! - `input.mlir` (not for the constant updater): the function and the functions that it calls, or
//!   the target's module, with all constants,
//! - `input.npy` (constant updater): the constant.
//!
//! It answers with `output.mlir` (whose entry has the name of the function in the request),
//! `output.npy`, and files in `artifacts/`, whose types the manifest declares or their names say. A program
//! that writes none of them declines. Any exit code but 0 ends the compile with what it said.

use crate::{
    Error, Result,
    artifact::{Artifact, ArtifactTypes},
    io,
    ir::{
        self, Op, edit, func,
        print::{Weights, print_op},
    },
    phase::HookPoint,
    process::{self, Folder},
    targets::hooks::{Command, Constant, Lowered, Request},
    tensor::Tensor,
};
use melior::ir::{Module, operation::OperationLike};
use serde_json::json;
use std::{collections::BTreeSet, path::Path, process::Output};

/// What a program answered.
struct Answer {
    folder: Folder,
}

impl Command {
    /// Asks for the functions that a function becomes.
    pub(super) fn lower<'c>(
        &self,
        point: HookPoint,
        request: &Request<'_, 'c>,
    ) -> Result<Option<Lowered<'c>>> {
        let name = func::symbol(request.subject);
        let text = print_op(subject_module(request)?.as_op(), Weights::Print)?;
        let about = json!({ "function": name });
        let answer = self.run(point, request, about, &[("input.mlir", text.as_bytes())])?;
        let artifacts = answer.artifacts(&request.target.kind.artifacts)?;
        let Some(bytes) = answer.read("output.mlir")? else {
            if artifacts.is_empty() {
                return Ok(None);
            }
            return Err(Error::invalid("wrote artifacts but no output.mlir, which calls them"));
        };
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::invalid("wrote an output.mlir that is not UTF-8"))?;
        let lowered = Lowered::parse(request, &text, "output.mlir", name)?;
        Ok(Some(Lowered { artifacts, ..lowered }))
    }

    /// Asks for the artifacts of a target's module.
    pub(super) fn generate(&self, request: &Request<'_, '_>) -> Result<Option<Vec<Artifact>>> {
        let text = print_op(request.subject, Weights::Print)?;
        let functions: Vec<_> = func::functions(request.subject)
            .into_iter()
            .filter(|function| edit::entry_block(*function).is_some())
            .map(func::symbol)
            .collect();
        let about = json!({ "functions": functions });
        let files = [("input.mlir", text.as_bytes())];
        let answer = self.run(HookPoint::TirToRuntime, request, about, &files)?;
        let artifacts = answer.artifacts(&request.target.kind.artifacts)?;
        Ok((!artifacts.is_empty()).then_some(artifacts))
    }

    /// Asks for the replacement of a constant.
    pub(super) fn update(
        &self,
        request: &Request<'_, '_>,
        constant: &Constant,
    ) -> Result<Option<Tensor>> {
        let mut bytes = vec![];
        io::npy::write(&constant.value, &mut bytes)
            .map_err(|error| Error::internal(format!("a constant has no .npy form: {error}")))?;
        let about = json!({
            "function": func::symbol(request.subject),
            "callee": constant.callee,
            "input": constant.input,
        });
        let files = [("input.npy", bytes.as_slice())];
        let answer = self.run(HookPoint::ConstantUpdater, request, about, &files)?;
        let Some(bytes) = answer.read("output.npy")? else { return Ok(None) };
        let tensor = io::npy::parse("output.npy", &bytes);
        tensor.map(Some).map_err(|error| Error::invalid(error.to_string()))
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
        if let Some(about) = about.as_object_mut() {
            about.insert("hook".into(), json!(point.name()));
            about.insert("target".into(), json!(target.id));
            about.insert("kind".into(), json!(target.kind.name));
            about.insert("options".into(), options.into());
        }
        let described = format!("{about:#}\n");
        let described = ("request.json", described.as_bytes());
        for (name, bytes) in files.iter().copied().chain([described]) {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).map_err(|e| Error::io("cannot write", &path, e))?;
        }
        let words = target.hook_words(self)?;
        let output = start(&words, folder.path())?;
        check(&words[0], &output)?;
        Ok(Answer { folder })
    }
}

fn start(words: &[String], folder: &Path) -> Result<Output> {
    let program = &words[0];
    let mut command = std::process::Command::new(program);
    command.args(&words[1..]).current_dir(folder);
    process::output(&mut command).map_err(|error| Error::Tool {
        program: program.clone(),
        detail: format!("cannot be started: {error}; the manifest names it in [hooks]"),
    })
}

fn check(program: &str, output: &Output) -> Result<()> {
    const LINES: usize = 20;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // The last lines of a traceback are those that say what is wrong.
    let lines: Vec<_> = text.lines().collect();
    let said = lines[lines.len().saturating_sub(LINES)..].join("\n");
    let how = process::ending(output.status);
    Err(Error::Tool { program: program.to_owned(), detail: format!("{how}\n{said}") })
}

impl Answer {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.folder.path().join(name);
        match kind_of(&path)? {
            None => Ok(None),
            Some(kind) if kind.is_file() => crate::io::read_regular(&path)
                .map(Some)
                .map_err(|e| Error::io("cannot read", &path, e)),
            // A link could lead anywhere, and reading a pipe does not end.
            Some(_) => Err(Error::invalid(format!("wrote an {name} that is not a plain file"))),
        }
    }

    fn artifacts(&self, types: &ArtifactTypes) -> Result<Vec<Artifact>> {
        let folder = self.folder.path().join("artifacts");
        match kind_of(&folder)? {
            None => return Ok(vec![]),
            Some(kind) if kind.is_dir() => {}
            Some(_) => return Err(Error::invalid("made artifacts that is not a plain folder")),
        }
        let fail = |e| Error::io("cannot read", &folder, e);
        let mut names = vec![];
        for entry in std::fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            if !entry.file_type().map_err(fail)?.is_file() {
                return Err(Error::invalid(format!(
                    "artifacts/{} is not a plain file",
                    entry.file_name().to_string_lossy()
                )));
            }
            names.push(entry.file_name().into_string().map_err(|name| {
                Error::invalid(format!("artifacts/{} is not UTF-8", name.to_string_lossy()))
            })?);
        }
        // Directories have no order.
        names.sort();
        let read = |name: String| {
            let path = folder.join(&name);
            let bytes =
                crate::io::read_regular(&path).map_err(|e| Error::io("cannot read", &path, e))?;
            Ok(Artifact { kind: types.of_file(&name, &bytes), name, bytes })
        };
        names.into_iter().map(read).collect()
    }
}

/// What is at a path; links are not followed.
fn kind_of(path: &Path) -> Result<Option<std::fs::FileType>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.file_type())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot read", path, error)),
    }
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
