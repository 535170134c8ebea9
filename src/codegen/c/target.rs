//! C settings in the manifest of a target.

use super::{COptions, blob, opening, session, tool::Tool, vendor};
use crate::{
    Result,
    artifact::{Device, has_shared_libraries},
    targets::{CodegenKind, TargetInstance},
};
use std::path::{Path, PathBuf};

/// The option of a target that names its compiler.
const COMPILER: &str = "compiler";

/// Settings for compiling the C of `model` for a target, with the headers and sources of its
/// manifest. If the host is C too, its compiler and flags are used, which say what machine it is
/// for. A compiler that the target names comes before that of the host.
pub fn options(
    target: &TargetInstance,
    host: Option<&TargetInstance>,
    model: &str,
    compiler: &str,
) -> Result<COptions> {
    let kind = &target.kind;
    let codegen = target.codegen()?;
    let read = |names: &[String]| -> Result<Vec<(String, String)>> {
        names.iter().map(|name| Ok((name.clone(), kind.read(name)?.into_owned()))).collect()
    };
    let (binaries, texts): (Vec<String>, Vec<String>) =
        codegen.sources.iter().cloned().partition(|name| vendor::is_binary(name));
    let bytes = |name: &String| Ok((name.clone(), kind.read_bytes(name)?));
    let below = |folder: &Path| -> Vec<PathBuf> {
        let dirs = codegen.include_dirs.iter().map(|name| folder.join(name));
        std::iter::once(folder.to_owned()).chain(dirs).collect()
    };
    let include_dirs = kind.folders().into_iter().flat_map(below).collect();
    let words = |target: &TargetInstance| -> Vec<String> {
        let text = target.text("cflags").unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    };
    let is_c = |host: &&TargetInstance| host.kind.codegen.kind == CodegenKind::C;
    let other = host.filter(is_c).filter(|_| !target.is_host());
    let mut flags = other.map(words).unwrap_or_default();
    flags.extend(codegen.cflags);
    flags.extend(words(target));
    let tool = tool(other.unwrap_or(target), compiler)?;
    let machine = tool.as_ref().map(Tool::machine).transpose()?;
    let own = target.text(COMPILER).filter(|_| !target.is_host()).map(Tool::of_option);
    Ok(COptions {
        shared: machine.is_none_or(|triple| has_shared_libraries(&triple)),
        strict: target.is_host(),
        tool: own.transpose()?.or(tool),
        name: format!("{model}_{}", target.id),
        compiler: compiler.to_owned(),
        headers: read(&codegen.headers)?,
        sources: read(&texts)?,
        binaries: binaries.iter().map(bytes).collect::<Result<_>>()?,
        flags,
        include_dirs,
        interface: None,
        inlined: vec![],
        cache: None,
    })
}

/// The C compiler of a target that is a host: its option says which, or else it is `usual`.
pub fn tool(target: &TargetInstance, usual: &str) -> Result<Option<Tool>> {
    if !target.is_host() || target.kind.codegen.kind != CodegenKind::C {
        return Ok(None);
    }
    let tool = target.text(COMPILER).map_or_else(|| Tool::new(usual), Tool::of_option)?;
    Ok(Some(tool))
}

/// The device of a target as a runner opens and closes it, with its memory.
pub fn device(target: &TargetInstance, model: &str, known: Device) -> Device {
    let Device { memory, bound, .. } = known;
    let codegen = &target.kind.codegen;
    let stem = memory.as_ref().map_or(&target.id, |memory| &memory.space);
    let blobs = codegen.blob.as_ref().map(|_| blob::SessionNames::new(model, stem));
    let (open, close) = match (&memory, &blobs) {
        (Some(memory), _) => {
            let names = session::names(model, &memory.space);
            (Some(names.open), Some(names.close))
        }
        (None, Some(names)) => (Some(names.open.clone()), Some(names.close.clone())),
        (None, None) => (opening::vendor(target, model), codegen.close.clone()),
    };
    let status_string = codegen.status_string.clone();
    let kind = blobs.is_some().then(|| target.kind.name.clone());
    let open_at = blobs.map(|names| names.open_at);
    let bound = match (&memory, bound) {
        (Some(memory), Some(bound)) => Some(session::bound(model, &memory.space, bound)),
        _ => None,
    };
    Device { target: target.id.clone(), kind, open, open_at, close, status_string, memory, bound }
}
