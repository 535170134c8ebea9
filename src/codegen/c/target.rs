//! What a target's manifest says about its C.

use super::{COptions, tool::Tool};
use crate::{
    Result,
    runtime::Device,
    target::{CodegenKind, Files, TargetInstance},
};

/// How the C of `model` for a target is compiled: with the headers and sources of its manifest.
pub fn options(target: &TargetInstance, model: &str, compiler: &str) -> Result<COptions> {
    let kind = &target.kind;
    let codegen = target.codegen()?;
    let read = |names: &[String]| -> Result<Vec<(String, String)>> {
        names.iter().map(|name| Ok((name.clone(), kind.files.read(name)?.into_owned()))).collect()
    };
    let include_dirs = match &kind.files {
        Files::Embedded(_) => vec![],
        Files::Directory(folder) => std::iter::once(folder.clone())
            .chain(codegen.include_dirs.iter().map(|name| folder.join(name)))
            .collect(),
    };
    let mut flags = codegen.cflags;
    flags.extend(target.text("cflags").unwrap_or_default().split_whitespace().map(str::to_owned));
    Ok(COptions {
        tool: tool(target, compiler)?,
        name: format!("{model}_{}", target.id),
        compiler: compiler.to_owned(),
        headers: read(&codegen.headers)?,
        sources: read(&codegen.sources)?,
        flags,
        include_dirs,
    })
}

/// The C compiler of a target that is a host: its option says which, or else it is `usual`.
pub fn tool(target: &TargetInstance, usual: &str) -> Result<Option<Tool>> {
    if !target.is_host() || target.kind.codegen.kind != CodegenKind::C {
        return Ok(None);
    }
    Tool::new(target.text("compiler").unwrap_or(usual)).map(Some)
}

/// How a runner opens and closes the device of a target.
pub fn device(target: &TargetInstance) -> Device {
    let codegen = &target.kind.codegen;
    Device {
        target: target.id.clone(),
        open: codegen.open.clone(),
        close: codegen.close.clone(),
        status_string: codegen.status_string.clone(),
    }
}
