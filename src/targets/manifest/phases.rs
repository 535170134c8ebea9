//! `[phases]`: the pipelines of a kind.

use super::{
    super::{instance::check_placeholders, kind::Layer, options::OptionDecl},
    Source, files,
    raw::RawPipeline,
};
use crate::{
    Phase, Result,
    phase::{Anchor, named, own_names, strip_comments},
    targets::{file_name::Use, kind::Files},
};
use std::collections::BTreeMap;
use toml::Spanned;

/// Stands for what would run without the pipeline that it is in.
const DEFAULT: &str = "${default}";

/// The tables of a manifest and of those that it extends, nearest first.
pub type Tables = Vec<BTreeMap<Spanned<String>, RawPipeline>>;

/// Reads the pipelines. `usual` is what runs in a phase where no manifest has one.
pub fn declare(
    source: &Source,
    tables: Tables,
    layers: &[Layer],
    options: &[OptionDecl],
    usual: &dyn Fn(Phase) -> Option<String>,
) -> Result<Vec<(Phase, String)>> {
    let mut pipelines: Vec<(Phase, Option<String>)> =
        Phase::extensible().map(|phase| (phase, usual(phase))).collect();
    // From the last base up, so that each may have the one below in it.
    for table in tables.into_iter().rev() {
        for (name, raw) in table {
            let is_known = |phase: &Phase| phase.name() == name.get_ref();
            // A compiler of one's own may have phases beside the framework's.
            if !pipelines.iter().any(|(phase, _)| is_known(phase))
                && let Ok(own) = named(name.get_ref())
                && !Phase::ALL.contains(&own)
            {
                pipelines.push((own, None));
            }
            let known = pipelines.iter_mut().find(|(phase, _)| is_known(phase));
            let Some((phase, text)) = known else {
                let known: Vec<_> =
                    Phase::extensible().map(Phase::name).chain(own_names()).collect();
                let message = format!(
                    "targets have no pipeline at phase '{}'; they have at {}",
                    name.get_ref(),
                    known.join(", ")
                );
                return Err(source.fault(&name.span(), message));
            };
            let own = pipeline(source, (*phase, &name), raw, layers, options)?;
            *text = Some(with_default(&own, text.as_deref().unwrap_or_default()));
        }
    }
    pipelines.sort_by_key(|(phase, _)| *phase);
    Ok(pipelines.into_iter().filter_map(|(phase, text)| Some((phase, text?))).collect())
}

fn pipeline(
    source: &Source,
    (phase, name): (Phase, &Spanned<String>),
    raw: RawPipeline,
    layers: &[Layer],
    options: &[OptionDecl],
) -> Result<String> {
    let (text, place) = match (raw, layers) {
        (RawPipeline::Text(text), _) => (text, format!("phase {phase}")),
        (RawPipeline::File(file), [own, ..]) => {
            files::file(source, &own.files, &name.span(), &file.file, Use::Pipeline)?;
            (own.files.read(&file.file)?.into_owned(), file.file)
        }
        (RawPipeline::File(file), []) => (String::new(), file.file),
    };
    let fault = |reason: String| source.fault(&name.span(), format!("{place}: {reason}"));
    let text = strip_comments(&text);
    if phase.anchor() == Anchor::Functions && text.contains("func.func(") {
        // Nested once more they would run on nothing, silently.
        return Err(fault(
            "passes of this phase run on each function of the target already; write them without \
             func.func(...)"
                .to_owned(),
        ));
    }
    let plain = without_folders(&text, layers).map_err(fault)?;
    check_placeholders(&plain.replace(DEFAULT, ""), options).map_err(fault)?;
    Ok(text)
}

/// The text without `${dir}`, which a kind has if its files are in a folder.
pub fn without_folders(text: &str, layers: &[Layer]) -> std::result::Result<String, String> {
    let is_folder = |layer: &Layer| matches!(layer.files, Files::Directory(_));
    if text.contains("${dir}") && !layers.first().is_some_and(is_folder) {
        return Err("a built-in target is no folder, so there is no '${dir}'".to_owned());
    }
    let mut text = text.replace("${dir}", "");
    for layer in layers.iter().filter(|layer| is_folder(layer)) {
        text = text.replace(&format!("${{dir:{}}}", layer.kind), "");
    }
    Ok(text)
}

/// Puts the default in its place. Where there is none, a comma beside it goes, too.
fn with_default(text: &str, default: &str) -> String {
    let Some((before, after)) = text.split_once(DEFAULT) else { return text.to_owned() };
    let after = with_default(after, default);
    if !default.trim().is_empty() {
        return format!("{before}{default}{after}");
    }
    let (before, after) = (before.trim_end(), after.trim_start());
    match (before.strip_suffix(','), after.strip_prefix(',')) {
        (Some(before), _) => format!("{before}{after}"),
        (None, Some(after)) => format!("{before}{}", after.trim_start()),
        (None, None) => format!("{before}{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_leave_no_commas_behind() {
        for (text, with, without) in [
            ("${default}", "x", ""),
            ("a, ${default}", "a, x", "a"),
            ("${default},b", "x,b", "b"),
            ("a,${default},b", "a,x,b", "a,b"),
            ("f(${default}),b", "f(x),b", "f(),b"),
            ("${default}, a, ${default}", "x, a, x", "a"),
        ] {
            assert_eq!(with_default(text, "x"), with);
            assert_eq!(with_default(text, ""), without);
        }
    }
}
