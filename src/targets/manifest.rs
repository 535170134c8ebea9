//! Reads `target.toml`.

mod cost;
mod define;
mod files;
mod hooks;
mod option;
mod raw;
mod tile;

use super::{
    alias::{self, Alias},
    codegen::{Codegen, CodegenKind, StandIn},
    file_name::Use,
    kind::{Files, PatternDecl, PoolDecl, TargetKind, option_word},
    options::{OptionDecl, OptionKind},
};
use crate::{
    Error, Phase, Result,
    expr::{Expr, element_of},
    partition::Capabilities,
    pattern::PatternSpec,
    phase::strip_comments,
    targets::hooks::HookSet,
    tensor::ElementType,
};
use raw::{
    RawAlias, RawCapabilities, RawManifest, RawOp, RawOption, RawPattern, RawPipeline, RawPool,
};
use std::{collections::BTreeMap, ops::Range};
use toml::Spanned;

/// The version of the format that this program reads.
pub const VERSION: i64 = 1;

/// What a target runs whose patterns declare tiles, where its manifest has no pipeline of its own.
const TILED: [(Phase, &str); 2] = [
    (Phase::TirSchedule, "tile-calls"),
    (Phase::TirPost, "tir-insert-dma,tir-double-buffer,canonicalize,cse"),
];

/// A manifest's text, for places in messages.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        before.matches('\n').count() + 1
    }

    /// A fault at a place, with its line.
    fn fault(&self, span: &Range<usize>, message: impl std::fmt::Display) -> Error {
        self.fault_at(self.line(span), message)
    }

    /// A fault on a line.
    fn fault_at(&self, line: usize, message: impl std::fmt::Display) -> Error {
        let text = self.text.lines().nth(line - 1).unwrap_or_default();
        Error::invalid(format!("{}:{line}: {message}\n  {}", self.name, text.trim_end()))
    }
}

/// Reads the manifest of a kind. `name` is what messages call it.
pub fn parse(text: &str, name: &str, files: Files) -> Result<TargetKind> {
    let source = Source { name, text };
    let mut raw: RawManifest = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        source.fault(&span, error.message().replace('\n', "; "))
    })?;
    if let Some(version) = raw.version.as_ref().filter(|version| *version.get_ref() != VERSION) {
        let message =
            format!("manifest version {}, but this program reads {VERSION}", version.get_ref());
        return Err(source.fault(&version.span(), message));
    }
    check_name(&source, &raw.target.name, "a target kind")?;
    files::check(&source, &files)?;
    let options = options(&source, raw.option)?;
    let capabilities = capabilities(&source, raw.capabilities)?;
    let cost = cost::declare(&source, raw.cost, &options)?;
    let definitions = define::Definitions::read(&source, raw.define)?;
    let pools = pools(&source, raw.pool, &options, &definitions)?;
    for pattern in &mut raw.pattern {
        let texts = std::iter::once(&mut pattern.matches).chain(&mut pattern.clauses);
        for text in texts.chain(&mut pattern.call) {
            definitions.expand(&source, text)?;
        }
    }
    let patterns = patterns(&source, raw.pattern, raw.op, (&pools, &definitions))?;
    let aliases = aliases(&source, raw.alias)?;
    let mut pipelines = pipelines(&source, raw.phases, &files, &options)?;
    let hooks = HookSet { data: hooks::declare(&source, raw.hooks, &files, &options)?, rust: None };
    let is_tiled = patterns.iter().any(|pattern| pattern.spec.tile.is_some());
    for (phase, text) in TILED.into_iter().filter(|_| is_tiled) {
        if !pipelines.iter().any(|(other, _)| *other == phase) {
            pipelines.push((phase, text.to_owned()));
        }
    }
    let role = raw.target.role;
    let codegen = Codegen {
        kind: match raw.codegen.kind {
            CodegenKind::Unset => CodegenKind::usual(role),
            given => given,
        },
        ..raw.codegen
    };
    let has_own = pipelines.iter().any(|(phase, _)| *phase == Phase::Codegen);
    let checked = codegen.kind.check(role, has_own);
    checked.map_err(|reason| Error::invalid(format!("{name}: codegen: {reason}")))?;
    check_flags(name, codegen.cflags.iter(), &options)?;
    if let Some(stand_in) = &codegen.stand_in {
        check_stand_in(name, stand_in, &options)?;
    }
    if !has_own {
        let moves = if is_tiled { "func.func(tir-lower-dma)," } else { "" };
        let text = codegen.default_pipeline();
        pipelines.extend(text.map(|text| (Phase::Codegen, format!("{moves}{text}"))));
    }
    pipelines.sort_by_key(|(phase, _)| *phase);
    Ok(TargetKind {
        name: raw.target.name.into_inner(),
        role: raw.target.role,
        doc: raw.target.doc,
        options,
        capabilities,
        cost,
        pools,
        patterns,
        pipelines,
        aliases,
        hooks,
        codegen,
        files,
        manifest: name.to_owned(),
    })
}

/// Checks that the options exist that the use of a library depends on.
fn check_stand_in(name: &str, stand_in: &StandIn, options: &[OptionDecl]) -> Result<()> {
    let fault = |message: String| Err(Error::invalid(format!("{name}: codegen: {message}")));
    let is_text =
        |option: &OptionDecl| option.name == stand_in.option && option.kind == OptionKind::String;
    if !options.iter().any(is_text) {
        return fault(format!(
            "stand-in names '{}', which is no option of type string",
            stand_in.option
        ));
    }
    let flags = stand_in.library_cflags.iter().chain(&stand_in.library_link_flags);
    check_flags(name, flags, options)
}

/// Checks that the options exist that flags of the C compiler name.
fn check_flags<'f>(
    name: &str,
    mut flags: impl Iterator<Item = &'f String>,
    options: &[OptionDecl],
) -> Result<()> {
    flags.try_for_each(|flag| {
        super::instance::check_placeholders(flag, options)
            .map_err(|message| Error::invalid(format!("{name}: codegen: {message}")))
    })
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
        let place = format!("{}:{}", source.name, source.line(&raw.name.span()));
        Ok((raw.name.into_inner(), Alias { spec, doc: raw.doc, place }))
    };
    raw.into_iter().map(alias).collect()
}

fn capabilities(source: &Source, raw: RawCapabilities) -> Result<Capabilities> {
    let usual = Capabilities::default();
    let mut dtypes = vec![];
    for name in &raw.dtypes {
        let Some(dtype) = element_of(name.get_ref()) else {
            let known: Vec<&str> = ElementType::all().map(ElementType::mlir_name).collect();
            let message =
                format!("'{}' is no element type; they are {}", name.get_ref(), known.join(", "));
            return Err(source.fault(&name.span(), message));
        };
        dtypes.push(dtype);
    }
    let multi_output = raw.multi_output.unwrap_or(usual.multi_output);
    if let Some(taps) = raw.taps.as_ref().filter(|taps| *taps.get_ref() && !multi_output) {
        return Err(source.fault(&taps.span(), "taps are further outputs: they need multi-output"));
    }
    let taps = raw.taps.map_or(usual.taps, Spanned::into_inner);
    let merge = raw.merge.unwrap_or(usual.merge);
    Ok(Capabilities { dtypes, multi_output, taps, merge, static_only: false })
}

fn pools(
    source: &Source,
    raw: Vec<RawPool>,
    options: &[OptionDecl],
    definitions: &define::Definitions,
) -> Result<Vec<PoolDecl>> {
    check_unique(source, raw.iter().map(|pool| &pool.name), "pools")?;
    raw.into_iter().map(|pool| self::pool(source, pool, options, definitions)).collect()
}

fn pool(
    source: &Source,
    raw: RawPool,
    options: &[OptionDecl],
    definitions: &define::Definitions,
) -> Result<PoolDecl> {
    check_name(source, &raw.name, "a pool")?;
    let bytes = match &raw.bytes {
        None => None,
        Some(value) => {
            let text = match value.get_ref() {
                toml::Value::String(text) => match super::options::parse_size(text) {
                    Some(bytes) => bytes.to_string(),
                    None => text.clone(),
                },
                other => other.to_string(),
            };
            let fault = |error: String| source.fault(&value.span(), error);
            let expr = Expr::parse(&text).map_err(|error| fault(error.to_string()))?;
            super::instance::check_size(&text, &expr, options)
                .map_err(|error| fault(error.to_string()))?;
            Some(expr)
        }
    };
    let alignment = raw.alignment.as_ref().map_or(1, |alignment| *alignment.get_ref());
    if let Some(given) = &raw.alignment
        && !(alignment > 0 && alignment.count_ones() == 1)
    {
        return Err(source.fault(&given.span(), "an alignment is a power of two"));
    }
    let name = raw.name.into_inner();
    let scope = raw.scope.unwrap_or_else(|| name.clone());
    let dma = raw.dma.map(|dma| tile::dma(source, dma, definitions)).transpose()?;
    Ok(PoolDecl { name, bytes, alignment, scope, dma, doc: raw.doc })
}

fn patterns(
    source: &Source,
    patterns: Vec<RawPattern>,
    ops: Vec<RawOp>,
    (pools, definitions): (&[PoolDecl], &define::Definitions),
) -> Result<Vec<PatternDecl>> {
    let names = patterns.iter().map(|pattern| &pattern.name).chain(ops.iter().map(|op| &op.op));
    check_unique(source, names, "patterns")?;
    let mut decls = vec![];
    for raw in patterns {
        check_name(source, &raw.name, "a pattern")?;
        if let (None, None) = (&raw.lower, &raw.call) {
            let message = format!(
                "pattern '{}' does not say how a match is lowered: add lower = \"NAME\" for a \
                 registered lowering (\"default\" for the one of the graph dialect), or call = \"int f(in x, out y)\" for a function",
                raw.name.get_ref()
            );
            return Err(source.fault(&raw.name.span(), message));
        }
        if raw.tile.is_some() && raw.call.is_none() {
            let message =
                format!("pattern '{}' has tiles, but no call to make on them", raw.name.get_ref());
            return Err(source.fault(&raw.name.span(), message));
        }
        let tile = raw.tile.map(|raw| tile::tile(source, raw, pools, definitions)).transpose()?;
        let (tile, tile_lines) = tile.unzip();
        decls.push(PatternDecl {
            tile_lines: tile_lines.unwrap_or_default(),
            match_line: source.line(&raw.matches.span()),
            clause_lines: raw.clauses.iter().map(|clause| source.line(&clause.span())).collect(),
            call_line: raw.call.as_ref().map_or(0, |call| source.line(&call.span())),
            cost_line: raw.cost.as_ref().map_or(0, |cost| source.line(&cost.span())),
            spec: PatternSpec {
                name: raw.name.into_inner(),
                doc: raw.doc,
                matches: raw.matches.into_inner(),
                clauses: raw.clauses.into_iter().map(Spanned::into_inner).collect(),
                benefit: raw.benefit,
                cost: raw.cost.map(Spanned::into_inner),
                compute: raw.compute.unwrap_or(true),
                steps: raw.steps,
                ulps: raw.ulps,
                finite: raw.finite,
                lower: raw.lower,
                call: raw.call.map(Spanned::into_inner),
                tile,
            },
        });
    }
    // Support for a single operation is a pattern of one operation with any operands.
    decls.extend(ops.into_iter().map(|raw| PatternDecl {
        match_line: source.line(&raw.op.span()),
        clause_lines: raw.clauses.iter().map(|clause| source.line(&clause.span())).collect(),
        call_line: 0,
        tile_lines: vec![],
        cost_line: raw.cost.as_ref().map_or(0, |cost| source.line(&cost.span())),
        spec: PatternSpec {
            matches: format!("{}(...)", raw.op.get_ref()),
            name: raw.op.into_inner(),
            doc: raw.doc,
            clauses: raw.clauses.into_iter().map(Spanned::into_inner).collect(),
            benefit: raw.benefit,
            cost: raw.cost.map(Spanned::into_inner),
            compute: raw.compute.unwrap_or(true),
            steps: None,
            ulps: None,
            finite: None,
            lower: Some(raw.lower.unwrap_or_else(|| "default".to_owned())),
            call: None,
            tile: None,
        },
    }));
    Ok(decls)
}

fn pipelines(
    source: &Source,
    raw: BTreeMap<Spanned<String>, RawPipeline>,
    files: &Files,
    options: &[OptionDecl],
) -> Result<Vec<(Phase, String)>> {
    let mut pipelines = vec![];
    for (name, pipeline) in raw {
        let hooks = || Phase::HOOKS.iter().map(|phase| phase.name());
        let Some(phase) = Phase::HOOKS.into_iter().find(|phase| phase.name() == name.get_ref())
        else {
            let known: Vec<&str> = hooks().collect();
            let message = format!(
                "targets have no pipeline at phase '{}'; they have at {}",
                name.get_ref(),
                known.join(", ")
            );
            return Err(source.fault(&name.span(), message));
        };
        let (text, place) = match pipeline {
            RawPipeline::Text(text) => (text, format!("phase {phase}")),
            RawPipeline::File(file) => {
                files::file(source, files, &name.span(), &file.file, Use::Pipeline)?;
                (files.read(&file.file)?.into_owned(), file.file)
            }
        };
        let text = strip_comments(&text);
        let on_functions = [Phase::PostPartition, Phase::TirSchedule, Phase::TirPost];
        if on_functions.contains(&phase) && text.contains("func.func(") {
            // Nested once more they would run on nothing, silently.
            let message = format!(
                "{place}: passes of this phase run on each function of the target already; write \
                 them without func.func(...)"
            );
            return Err(source.fault(&name.span(), message));
        }
        super::instance::check_placeholders(&text, options)
            .map_err(|reason| source.fault(&name.span(), format!("{place}: {reason}")))?;
        pipelines.push((phase, text));
    }
    pipelines.sort_by_key(|(phase, _)| *phase);
    Ok(pipelines)
}
