//! The code of one target's module: generated here, or what the target's hook gave.

use super::{
    c,
    llvm::{self, Object, machine::Machine},
};
use crate::{
    Compiled, Error, Result, Session,
    hook::{Artifact, ArtifactKind, GENERATED, HookPoint, artifact},
    ir::{Op, edit},
    package::ExtraFile,
    target::{CodegenKind, TargetInstance},
};
use melior::ir::operation::OperationLike;
use object::{Object as _, ObjectSymbol};
use std::collections::BTreeSet;

/// What all targets' code of a compile has in common.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    /// Name of the model.
    pub name: &'a str,
    /// The C compiler.
    pub cc: &'a str,
    /// What the rest of the model runs on.
    pub host: Option<&'a TargetInstance>,
}

/// Makes object files of `part`, the module of `target`, and adds all that belongs to it.
pub fn generate(
    session: &Session,
    part: Op<'_>,
    target: &TargetInstance,
    model: Model<'_>,
    compiled: &mut Compiled,
) -> Result<()> {
    let artifacts = artifact::recorded(part)?;
    match generated(part) {
        Some(functions) => from_hook(target, model, &functions, &artifacts, compiled)?,
        None => by_default(session, part, target, model, &artifacts, compiled)?,
    }
    for artifact in artifacts {
        compiled.files.push(ExtraFile {
            path: format!("artifacts/{}/{}", target.id, artifact.name),
            kind: artifact.kind,
            target: Some(target.id.clone()),
            bytes: artifact.bytes,
        });
    }
    for flag in &target.codegen()?.link_flags {
        if !compiled.link.contains(flag) {
            compiled.link.push(flag.clone());
        }
    }
    Ok(())
}

/// The functions that the hook `tir-to-runtime` took over, if it did.
fn generated(part: Op<'_>) -> Option<Vec<String>> {
    let list = part.attribute(GENERATED).ok()?;
    Some(edit::array(list).into_iter().filter_map(edit::string).collect())
}

fn by_default(
    session: &Session,
    part: Op<'_>,
    target: &TargetInstance,
    model: Model<'_>,
    artifacts: &[Artifact],
    compiled: &mut Compiled,
) -> Result<()> {
    match target.kind.codegen.kind {
        CodegenKind::Llvm => {
            compiled.machine = Machine::of(part)?.joined(&compiled.machine)?;
            compiled.objects.push(llvm::compile(
                session,
                part,
                &format!("{}_{}", model.name, target.id),
            )?);
            compiled.cc = model.cc.to_owned();
            link_artifacts(target, model, artifacts, compiled)
        }
        CodegenKind::C => {
            let options = c_options(target, model, artifacts, compiled)?;
            let own = options.sources.len() - sources(artifacts).count();
            let made = c::compile(session, part, &options)?;
            // The sources of artifacts come last, and are files of the package already.
            for (name, text) in made.sources.into_iter().take(1 + own) {
                compiled.files.push(c_file(target, &name, text));
            }
            compiled.objects.extend(made.objects);
            compiled.objects.extend(objects(artifacts));
            // What comes out of LLVM decides on the machine where there is any.
            if let Some(tool) = options.tool {
                let known = std::mem::take(&mut compiled.machine);
                let machine = Machine::of_triple(&tool.machine()?).joined(&known)?;
                if known.triple.is_empty() {
                    compiled.cc = tool.to_string();
                }
                compiled.machine = machine;
            }
            Ok(())
        }
        CodegenKind::Custom | CodegenKind::Unset => Err(Error::invalid(format!(
            "target '{}' has codegen.kind = \"custom\", but its hook {} declined: nothing makes code \
             of its functions",
            target.id,
            HookPoint::TirToRuntime
        ))),
    }
}

/// Takes what the hook made, and checks that it defines what the rest of the model calls.
fn from_hook(
    target: &TargetInstance,
    model: Model<'_>,
    functions: &[String],
    artifacts: &[Artifact],
    compiled: &mut Compiled,
) -> Result<()> {
    let before = compiled.objects.len();
    link_artifacts(target, model, artifacts, compiled)?;
    let mut defined = BTreeSet::new();
    for object in &compiled.objects[before..] {
        defined.extend(definitions(object).map_err(|reason| {
            let point = HookPoint::TirToRuntime;
            Error::invalid(format!(
                "target '{}': hook {point}: {}: {reason}",
                target.id, object.name
            ))
        })?);
    }
    let missing: Vec<_> = functions.iter().filter(|name| !defined.contains(*name)).collect();
    if let Some(first) = missing.first() {
        return Err(Error::invalid(format!(
            "target '{}': hook {} gave artifacts in which no object or C source defines '{first}'{}, \
             which the model calls",
            target.id,
            HookPoint::TirToRuntime,
            match missing.len() {
                1 => String::new(),
                more => format!(" and {} more", more - 1),
            }
        )));
    }
    Ok(())
}

/// Compiles the sources among the artifacts, with those of the manifest unless generated C has them
/// already, and adds the objects.
fn link_artifacts(
    target: &TargetInstance,
    model: Model<'_>,
    artifacts: &[Artifact],
    compiled: &mut Compiled,
) -> Result<()> {
    let options = c_options(target, model, artifacts, compiled)?;
    let own = options.sources.len() - sources(artifacts).count();
    compiled.objects.extend(c::compile::sources(&options)?);
    for (name, text) in options.sources.into_iter().take(own) {
        compiled.files.push(c_file(target, &name, text));
    }
    compiled.objects.extend(objects(artifacts));
    Ok(())
}

/// How the target's C is compiled, the sources and headers of artifacts with it.
fn c_options(
    target: &TargetInstance,
    model: Model<'_>,
    artifacts: &[Artifact],
    compiled: &Compiled,
) -> Result<c::COptions> {
    let mut options = c::target::options(target, model.host, model.name, model.cc)?;
    // Two targets of one kind share the vendor's sources.
    options.sources.retain(|(name, _)| {
        let path = format!("src/{name}");
        !compiled.files.iter().any(|file| file.path == path)
    });
    let text = |artifact: &Artifact| {
        let text = String::from_utf8_lossy(&artifact.bytes).into_owned();
        (artifact.name.clone(), text)
    };
    options.sources.extend(sources(artifacts).map(text));
    let headers = artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Header);
    options.headers.extend(headers.map(text));
    Ok(options)
}

fn sources(artifacts: &[Artifact]) -> impl Iterator<Item = &Artifact> {
    artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::CSource)
}

fn objects(artifacts: &[Artifact]) -> impl Iterator<Item = Object> {
    artifacts
        .iter()
        .filter(|artifact| artifact.kind == ArtifactKind::Object)
        .map(|artifact| Object { name: artifact.name.clone(), bytes: artifact.bytes.clone() })
}

fn c_file(target: &TargetInstance, name: &str, text: String) -> ExtraFile {
    ExtraFile {
        path: format!("src/{name}"),
        kind: ArtifactKind::CSource,
        target: Some(target.id.clone()),
        bytes: text.into_bytes(),
    }
}

/// Names of the functions that an object defines for others.
fn definitions(file: &Object) -> Result<Vec<String>, String> {
    let parsed = object::File::parse(&*file.bytes)
        .map_err(|error| format!("is no object file that can be linked: {error}"))?;
    let symbols = parsed.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    Ok(symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect())
}
