//! Reads `target.toml`.

mod checks;
mod cost;
mod define;
pub(super) mod files;
mod hooks;
mod library;
mod load;
mod memory;
mod merge;
mod operator;
mod option;
mod origins;
mod pattern;
mod phases;
mod raw;
mod region;
mod schedule;
mod source;
mod tile;

use super::{
    alias::{self, Alias},
    codegen::{Codegen, CodegenKind},
    kind::{Files, Layer, PatternDecl, PoolDecl, Role, TargetKind, option_word},
    options::OptionDecl,
};
use crate::{
    Phase, Result,
    artifact::{ArtifactKind, ArtifactTypes},
    expr::{Expr, element_of},
    pattern::{Capabilities, PatternSpec, tile::DmaSpec},
    targets::hooks::HookSet,
    tensor::ElementType,
};
use raw::{RawAlias, RawArtifact, RawCapabilities, RawOption, RawPool, RawTarget};
use source::Source;
use std::{ops::Range, path::Path};
use toml::Spanned;

pub use origins::Origins;
pub use source::Places;

/// The version of the format that this program reads.
pub const VERSION: i64 = 1;

/// Pipelines of a target whose patterns declare tiles, where its manifest has none of its own.
const TILED: [(Phase, &str); 2] = [
    (Phase::TirSchedule, CUT),
    (Phase::TirPost, "tir-insert-dma,tir-double-buffer,canonicalize,cse"),
];

/// The pass before which results stay in pools, where one asks for it.
const CUT: &str = "tile-calls";

/// The pass behind which stores overlap, where a pool asks for it.
const DOUBLED: &str = "tir-double-buffer";

/// Reads the manifest of a kind that extends none. `name` is what messages call it.
#[cfg(test)]
pub fn parse(text: &str, name: &str, files: Files) -> Result<TargetKind> {
    let unknown = |base: &str| {
        Err(format!("extends '{base}', of which nothing is known where this manifest is read"))
    };
    parse_extending(text, name, files, &unknown)
}

/// Reads the manifest of a kind that may extend one of those that are known.
pub fn parse_extending(
    text: &str,
    name: &str,
    files: Files,
    known: load::Known<'_>,
) -> Result<TargetKind> {
    let mut source = Source::default();
    let (merged, layers) = load::load(&mut source, text, name, &files, known)?;
    declare(&source, merged, (name, files, layers))
}

/// The kind that a manifest with what it extends declares.
fn declare(
    source: &Source,
    merged: merge::Merged,
    (name, files, layers): (&str, Files, Vec<Layer>),
) -> Result<TargetKind> {
    let origins = origins::declare(source, &merged);
    let merge::Merged { mut raw, bases, .. } = merged;
    let own = layers.first().map_or(&files, |layer| &layer.files);
    let schedules = schedule::take(&mut raw);
    let (target, role) = target(source, raw.target)?;
    let options = options(source, raw.option)?;
    let sums = pattern::accumulate(source, raw.capabilities.accumulate.as_ref())?;
    let mut capabilities = capabilities(source, raw.capabilities)?;
    let cost = cost::declare(source, raw.cost, &options)?;
    let definitions = define::Definitions::read(source, raw.define)?;
    let pools = pools(source, raw.pool, &options, &definitions)?;
    let schedules = schedule::declare(source, schedules, own, &options)?;
    let mut patterns = pattern::declare(source, raw.pattern, raw.op, (&pools, &definitions))?;
    for pattern in &mut patterns {
        pattern.spec.accumulate = pattern.spec.accumulate.or(sums);
    }
    let has_queues = raw.queue.as_ref().is_some_and(|queue| queue.get_ref().count.is_some());
    capabilities.region = region::declare(source, raw.region, (&options, &patterns), has_queues)?;
    let operators = operator::declare(source, raw.operator, &files, &layers)?;
    let aliases = aliases(source, raw.alias)?;
    let artifacts = artifacts(source, raw.artifact)?;
    let libraries = library::declare(source, raw.library, &options)?;
    let codegen = with_kind(raw.codegen, role);
    let usual = |phase: Phase| usual_pipeline(phase, (&codegen, role), &patterns, &pools);
    let tables = std::iter::once(raw.phases).chain(bases).collect::<Vec<_>>();
    let has_own = has_codegen(&tables);
    let pipelines = phases::declare(source, tables, &layers, &options, &usual)?;
    let data = hooks::declare(source, raw.hooks, &layers, &options)?;
    checks::kind(name, (&codegen, role), has_own)?;
    let given = memory::Given { role, codegen: &codegen, options: &options };
    let (memory, queue) = memory::declare(source, (raw.memory, raw.queue), &given)?;
    checks::inline(source, memory.as_ref(), (role, &codegen), &patterns)?;
    checks::codegen(source, name, (&codegen, role, queue.is_some()), &pipelines, &options)?;
    Ok(TargetKind {
        name: target.name.into_inner(),
        role,
        doc: target.doc,
        options,
        capabilities,
        cost,
        pools,
        memory,
        queue,
        patterns,
        operators,
        schedules,
        pipelines,
        aliases,
        hooks: HookSet { data, rust: None },
        artifacts,
        libraries,
        codegen,
        files,
        manifest: name.to_owned(),
        layers,
        places: source.places(),
        origins,
    })
}

/// The section that says what a manifest is of, and the role of it.
fn target(source: &Source, raw: Option<RawTarget>) -> Result<(RawTarget, Role)> {
    let target = raw.ok_or_else(|| source.fault_at(1, "a manifest needs [target]"))?;
    let role = target.role.ok_or_else(|| {
        let message = "missing field `role`: \"device\" or \"host\"";
        source.fault(&target.name.span(), message)
    })?;
    Ok((target, role))
}

/// The section, with the kind of code that targets of the role usually have where it names none.
fn with_kind(codegen: Codegen, role: Role) -> Codegen {
    let kind = match codegen.kind {
        CodegenKind::Unset => CodegenKind::usual(role),
        given => given,
    };
    Codegen { kind, ..codegen }
}

/// Default pipeline of a phase where no manifest has one.
fn usual_pipeline(
    phase: Phase,
    (codegen, role): (&Codegen, Role),
    patterns: &[PatternDecl],
    pools: &[PoolDecl],
) -> Option<String> {
    // Those of the host's own loops are in the host's pipelines.
    let is_tiled = |spec: &PatternSpec| spec.tile.is_some() && !spec.inline;
    let is_tiled = patterns.iter().any(|pattern| is_tiled(&pattern.spec));
    match phase {
        Phase::Codegen => {
            let moves = if is_tiled { "func.func(tir-lower-dma)," } else { "" };
            codegen.default_pipeline(role).map(|text| format!("{moves}{text}"))
        }
        _ if is_tiled => tiled_pipeline(phase, pools),
        _ => None,
    }
}

/// True if there is a pipeline for the phase codegen.
fn has_codegen(tables: &phases::Tables) -> bool {
    let is_codegen = |name: &Spanned<String>| name.get_ref() == Phase::Codegen.name();
    tables.iter().any(|table| table.keys().any(is_codegen))
}

/// Pipeline that tiles calls in a phase, with further passes that the pools ask for.
fn tiled_pipeline(phase: Phase, pools: &[PoolDecl]) -> Option<String> {
    let asks = |asks: &dyn Fn(&DmaSpec) -> bool| {
        pools.iter().filter_map(|pool| pool.dma.as_ref()).any(|dma| asks(&dma.spec))
    };
    let found = TILED.into_iter().find(|(other, _)| *other == phase)?.1;
    let found = match asks(&|dma| dma.overlap_stores != "false") {
        true => found.replace(DOUBLED, &format!("{DOUBLED},tir-overlap-stores")),
        false => found.to_owned(),
    };
    Some(match asks(&|dma| dma.keep_results != "false") {
        true => found.replace(CUT, &format!("cascade-calls,keep-results,{CUT}")),
        false => found,
    })
}

/// The name of a manifest's kind and that of the one that it extends, as far as they can be read.
pub fn names(file: &Path) -> (Option<String>, Option<String>) {
    let text = crate::io::read_text(file).unwrap_or_default();
    let table: toml::Table = toml::from_str(&text).unwrap_or_default();
    let target = table.get("target");
    let word = |key: &str| Some(target?.get(key)?.as_str()?.to_owned());
    (word("name"), word("extends"))
}

/// True for names of targets, options and pools: a letter, then letters, digits, `-` and `_`.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn check_name(source: &Source, name: &Spanned<String>, what: &str) -> Result<()> {
    if is_name(name.get_ref()) {
        return Ok(());
    }
    let message = format!(
        "'{}' is no name for {what}: it is to start with a letter and have letters, digits, '-' \
         and '_' only",
        name.get_ref()
    );
    Err(source.fault(&name.span(), message))
}

fn check_unique<'n>(
    source: &Source,
    names: impl Iterator<Item = &'n Spanned<String>>,
    what: &str,
) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(option_word(name.get_ref())) {
            let message = format!("two {what} are called '{}'", name.get_ref());
            return Err(source.fault(&name.span(), message));
        }
    }
    Ok(())
}

fn options(source: &Source, raw: Vec<RawOption>) -> Result<Vec<OptionDecl>> {
    check_unique(source, raw.iter().map(|option| &option.name), "options")?;
    raw.into_iter().map(|raw| option::declare(source, raw)).collect()
}

fn aliases(source: &Source, raw: Vec<RawAlias>) -> Result<Vec<(String, Alias)>> {
    let alias = |raw: RawAlias| {
        check_name(source, &raw.name, "an alias")?;
        let span = raw.spec.span();
        let spec = alias::read_spec(raw.spec.into_inner()).map_err(|error| {
            source.fault(&span, format!("alias '{}': {error}", raw.name.get_ref()))
        })?;
        let place = source.place(&raw.name.span());
        Ok((raw.name.into_inner(), Alias { spec, doc: raw.doc, place }))
    };
    raw.into_iter().map(alias).collect()
}

fn artifacts(source: &Source, raw: Vec<RawArtifact>) -> Result<ArtifactTypes> {
    let declared = raw.into_iter().map(|raw| {
        if raw.name.get_ref().is_empty() || raw.name.get_ref().contains('/') {
            let message =
                "the name of an artifact is that of a file, or a form of it such as \"*.elf\"";
            return Err(source.fault(&raw.name.span(), message));
        }
        let kind = ArtifactKind::named(raw.ty.get_ref());
        let kind = kind.map_err(|error| source.fault(&raw.ty.span(), error))?;
        Ok((raw.name.into_inner(), kind))
    });
    declared.collect::<Result<_>>().map(ArtifactTypes)
}

/// The element types of a list.
fn element_types(
    source: &Source,
    names: Option<&[Spanned<String>]>,
) -> Result<Option<Vec<ElementType>>> {
    let read = |name: &Spanned<String>| {
        element_of(name.get_ref()).ok_or_else(|| {
            let known: Vec<&str> = ElementType::all().map(ElementType::mlir_name).collect();
            let message =
                format!("'{}' is no element type; they are {}", name.get_ref(), known.join(", "));
            source.fault(&name.span(), message)
        })
    };
    names.map(|names| names.iter().map(read).collect()).transpose()
}

fn capabilities(source: &Source, raw: RawCapabilities) -> Result<Capabilities> {
    let usual = Capabilities::default();
    let dtypes = element_types(source, raw.dtypes.as_deref())?.unwrap_or_default();
    let multi_output = raw.multi_output.unwrap_or(usual.multi_output);
    if let Some(taps) = raw.taps.as_ref().filter(|taps| *taps.get_ref() && !multi_output) {
        return Err(source.fault(&taps.span(), "taps are further outputs: they need multi-output"));
    }
    let taps = raw.taps.map_or(usual.taps, Spanned::into_inner);
    let merge = raw.merge.unwrap_or(usual.merge);
    Ok(Capabilities { dtypes, multi_output, taps, merge, ..usual })
}

fn pools(
    source: &Source,
    raw: Vec<RawPool>,
    options: &[OptionDecl],
    definitions: &define::Definitions,
) -> Result<Vec<PoolDecl>> {
    check_unique(source, raw.iter().map(|pool| &pool.name), "pools")?;
    let keeps = raw.iter().filter_map(|pool| pool.dma.as_ref()?.keep.as_ref());
    let keeps: Vec<Range<usize>> = keeps.map(Spanned::span).collect();
    let pools = raw.into_iter().map(|pool| self::pool(source, pool, options, definitions));
    let pools = pools.collect::<Result<Vec<PoolDecl>>>()?;
    let keep_in = |pool: &PoolDecl| pool.dma.as_ref()?.spec.keep_in.clone();
    for (name, span) in pools.iter().filter_map(keep_in).zip(keeps) {
        tile::check_keeping(source, &span, &name, &pools)?;
    }
    Ok(pools)
}

/// A size in bytes: a number, a text such as "64k", or an expression over options.
fn size(source: &Source, value: &Spanned<toml::Value>, options: &[OptionDecl]) -> Result<Expr> {
    let bytes = match value.get_ref() {
        toml::Value::String(text) => super::options::parse_size(text),
        _ => None,
    };
    match bytes {
        Some(bytes) => number(source, &Spanned::new(value.span(), bytes.into()), options),
        None => number(source, value, options),
    }
}

/// A number, or an expression over options.
fn number(source: &Source, value: &Spanned<toml::Value>, options: &[OptionDecl]) -> Result<Expr> {
    let text = match value.get_ref() {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let fault = |error: String| source.fault(&value.span(), error);
    let expr = Expr::parse(&text).map_err(|error| fault(error.to_string()))?;
    super::instance::check_size(&text, &expr, options).map_err(|error| fault(error.to_string()))?;
    Ok(expr)
}

fn pool(
    source: &Source,
    raw: RawPool,
    options: &[OptionDecl],
    definitions: &define::Definitions,
) -> Result<PoolDecl> {
    check_name(source, &raw.name, "a pool")?;
    let bytes = raw.bytes.as_ref().map(|value| size(source, value, options)).transpose()?;
    let alignment = raw.alignment.as_ref().map_or(1, |alignment| *alignment.get_ref());
    if let Some(given) = &raw.alignment
        && !(alignment > 0 && alignment.count_ones() == 1)
    {
        return Err(source.fault(&given.span(), "an alignment is a power of two"));
    }
    let row = raw.row.as_ref().map_or(1, |row| *row.get_ref());
    if let Some(given) = &raw.row
        && !(row > 0 && row.count_ones() == 1 && alignment % row == 0)
    {
        let message = "a row is a power of two that divides the pool's alignment";
        return Err(source.fault(&given.span(), message));
    }
    let name = raw.name.into_inner();
    let scope = raw.scope.unwrap_or_else(|| name.clone());
    let dma = raw.dma.map(|dma| tile::dma(source, (dma, &name), definitions)).transpose()?;
    let doc = raw.doc.unwrap_or_default();
    Ok(PoolDecl { name, bytes, alignment, row, scope, dma, doc })
}
