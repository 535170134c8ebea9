//! `[hooks]`: what a target does itself.

use super::{
    Source, files,
    phases::without_folders,
    raw::{RawCommand, RawHook},
    size,
};
use crate::{
    Result,
    expr::Expr,
    phase::{HookPoint, strip_comments},
    targets::{
        file_name::Use,
        hooks::{Command, DataHook, Protocol},
        instance::check_placeholders,
        kind::{Files, Layer},
        options::OptionDecl,
    },
};
use std::collections::BTreeMap;
use toml::Spanned;

/// Reads the hooks of a manifest.
pub fn declare(
    source: &Source,
    raw: BTreeMap<Spanned<String>, RawHook>,
    layers: &[Layer],
    options: &[OptionDecl],
) -> Result<Vec<(HookPoint, DataHook)>> {
    let mut hooks = vec![];
    for (name, hook) in raw {
        let fault = |reason: String| source.fault(&name.span(), reason);
        let point: HookPoint =
            name.get_ref().parse().map_err(|error: crate::Error| fault(error.to_string()))?;
        let hook = match hook {
            RawHook::Text(text) => pipeline(point, &text, layers, options),
            RawHook::File(file) => {
                let Some(own) = layers.first() else { continue };
                files::file(source, &own.files, &name.span(), &file.file, Use::Pipeline)?;
                pipeline(point, &own.files.read(&file.file)?, layers, options)
                    .map_err(|reason| format!("{}: {reason}", file.file))
            }
            RawHook::Command(raw) => {
                let limit = |value: Option<toml::Value>| {
                    let value = value.map(|value| Spanned::new(name.span(), value));
                    value.map(|value| size(source, &value, options)).transpose()
                };
                let max_seconds = limit(raw.max_seconds.clone())?;
                let limits = (max_seconds, limit(raw.max_bytes.clone())?);
                command(point, raw, limits, (layers, options))
            }
        };
        hooks.push((point, hook.map_err(|reason| fault(format!("hook {point}: {reason}")))?));
    }
    hooks.sort_by_key(|(point, _)| *point);
    Ok(hooks)
}

fn pipeline(
    point: HookPoint,
    text: &str,
    layers: &[Layer],
    options: &[OptionDecl],
) -> Result<DataHook, String> {
    let text = strip_comments(text);
    if text.trim().is_empty() {
        return Err("the pipeline has no passes".to_owned());
    }
    if point != HookPoint::TirToRuntime && text.contains("func.func(") {
        return Err("the passes run on each function of the target already; write them without \
                    func.func(...)"
            .to_owned());
    }
    check_placeholders(&without_folders(&text, layers)?, options)?;
    Ok(DataHook::Pipeline(text))
}

fn command(
    point: HookPoint,
    raw: RawCommand,
    (max_seconds, max_bytes): (Option<Expr>, Option<Expr>),
    (layers, options): (&[Layer], &[OptionDecl]),
) -> Result<DataHook, String> {
    let RawCommand { command: words, together, module, protocol, dry_run, .. } = raw;
    if together && point != HookPoint::ConstantUpdater {
        let only = HookPoint::ConstantUpdater;
        return Err(format!("together = true is for {only}, which is asked about constants"));
    }
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        return Err("command is to be [\"PROGRAM\", \"ARGUMENT\", ...]".to_owned());
    }
    if layers.iter().all(|layer| matches!(layer.files, Files::Embedded(_))) {
        return Err("programs need a target that is a directory".to_owned());
    }
    for word in &words {
        check_placeholders(&without_folders(word, layers)?, options)?;
    }
    let protocol = match protocol {
        None | Some(1) => Protocol::Files,
        Some(2) => Protocol::Regions,
        Some(other) => {
            return Err(format!(
                "protocol = {other} is not known: 1 is a process for each question about MLIR text (without the \
                 key), 2 one process that is asked about regions as JSON"
            ));
        }
    };
    if dry_run && (point != HookPoint::GraphToRuntime || protocol != Protocol::Regions) {
        return Err(format!(
            "dry-run = true asks {} before regions have their places, in protocol 2: write it beside that hook's \
             command, with protocol = 2",
            HookPoint::GraphToRuntime
        ));
    }
    Ok(DataHook::Command(Command {
        dry_run,
        words,
        together,
        module,
        protocol,
        max_seconds,
        max_bytes,
        served: None,
    }))
}
