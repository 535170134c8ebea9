//! `[[pattern]]` and `[[op]]`.

use super::{
    Source, check_name, check_unique,
    define::Definitions,
    element_types,
    raw::{RawOp, RawPattern},
    tile,
};
use crate::{
    Result,
    expr::dtype_of,
    pattern::PatternSpec,
    targets::kind::{PatternDecl, PoolDecl},
    tensor::{DType, ElementType},
};
use toml::Spanned;

/// Reads the patterns; those of single operations come last.
pub fn declare(
    source: &Source,
    mut patterns: Vec<RawPattern>,
    ops: Vec<RawOp>,
    (pools, definitions): (&[PoolDecl], &Definitions),
) -> Result<Vec<PatternDecl>> {
    let names = patterns.iter().map(|pattern| &pattern.name).chain(ops.iter().map(|op| &op.op));
    check_unique(source, names, "patterns")?;
    for pattern in &patterns {
        check_name(source, &pattern.name, "a pattern")?;
    }
    patterns.extend(ops.into_iter().map(of_operation));
    let decl = |mut raw: RawPattern| {
        check(source, &raw)?;
        let texts = raw.matches.iter_mut().chain(raw.clauses.iter_mut().flatten());
        for text in texts.chain(&mut raw.call).chain(&mut raw.cost) {
            definitions.expand(source, text)?;
        }
        pattern(source, raw, (pools, definitions))
    };
    patterns.into_iter().map(decl).collect()
}

/// Support for a single operation is a pattern of one operation with any operands.
fn of_operation(raw: RawOp) -> RawPattern {
    let matches = Spanned::new(raw.op.span(), format!("{}(...)", raw.op.get_ref()));
    let usual = raw.call.is_none().then(|| "default".to_owned());
    RawPattern {
        name: raw.op,
        doc: raw.doc,
        matches: Some(matches),
        clauses: raw.clauses,
        dtypes: raw.dtypes,
        benefit: raw.benefit,
        cost: raw.cost,
        compute: raw.compute,
        steps: raw.steps,
        ulps: raw.ulps,
        accumulate: raw.accumulate,
        finite: raw.finite,
        lower: raw.lower.or(usual),
        call: raw.call,
        inline: raw.inline,
        schedule: raw.schedule,
        tile: raw.tile,
    }
}

fn check(source: &Source, raw: &RawPattern) -> Result<()> {
    let fault = |message: String| Err(source.fault(&raw.name.span(), message));
    let name = raw.name.get_ref();
    if raw.matches.is_none() {
        return fault(format!("pattern '{name}' has no match: the expression that it is for"));
    }
    if let (None, None) = (&raw.lower, &raw.call) {
        return fault(format!(
            "pattern '{name}' does not say how a match is lowered: add lower = \"NAME\" for a \
             registered lowering (\"default\" for the one of the graph dialect), or call = \"int f(in x, out y)\" for a function"
        ));
    }
    if let Some(inline) = raw.inline.as_ref().filter(|inline| *inline.get_ref())
        && raw.call.is_none()
    {
        let reason = "has no call, which the host's code could make";
        let message = format!("pattern '{name}' is inline and {reason}");
        return Err(source.fault(&inline.span(), message));
    }
    if let (Some(schedule), Some(_)) = (&raw.schedule, &raw.call) {
        let message = format!(
            "pattern '{name}' has a call, and a schedule, which is for what is lowered by default: leave \
             one of them out"
        );
        return Err(source.fault(&schedule.span(), message));
    }
    if raw.tile.is_some() && raw.call.is_none() {
        return fault(format!("pattern '{name}' has tiles, but no call to make on them"));
    }
    Ok(())
}

fn pattern(
    source: &Source,
    raw: RawPattern,
    (pools, definitions): (&[PoolDecl], &Definitions),
) -> Result<PatternDecl> {
    let at = source.line(&raw.name.span());
    let tile = raw.tile.map(|raw| tile::tile(source, (raw, at), pools, definitions)).transpose()?;
    let (tile, tile_lines) = tile.unzip();
    let line =
        |text: &Option<Spanned<String>>| text.as_ref().map_or(0, |text| source.line(&text.span()));
    let clauses = raw.clauses.unwrap_or_default();
    Ok(PatternDecl {
        tile_lines: tile_lines.unwrap_or_default(),
        match_line: line(&raw.matches),
        clause_lines: clauses.iter().map(|clause| source.line(&clause.span())).collect(),
        call_line: line(&raw.call),
        cost_line: line(&raw.cost),
        spec: PatternSpec {
            name: raw.name.into_inner(),
            doc: raw.doc.unwrap_or_default(),
            matches: raw.matches.map(Spanned::into_inner).unwrap_or_default(),
            clauses: clauses.into_iter().map(Spanned::into_inner).collect(),
            dtypes: element_types(source, raw.dtypes.as_deref())?,
            benefit: raw.benefit,
            cost: raw.cost.map(Spanned::into_inner),
            compute: raw.compute.unwrap_or(true),
            steps: raw.steps,
            ulps: raw.ulps,
            accumulate: accumulate(source, raw.accumulate.as_ref())?,
            finite: raw.finite,
            lower: raw.lower,
            call: raw.call.map(Spanned::into_inner),
            inline: raw.inline.is_some_and(Spanned::into_inner),
            tile,
        },
    })
}

/// The type that sums are made in.
pub fn accumulate(source: &Source, raw: Option<&Spanned<String>>) -> Result<Option<ElementType>> {
    let Some(raw) = raw else { return Ok(None) };
    let is_sum = |dtype: &DType| dtype.is_float() || matches!(dtype, DType::I32 | DType::I64);
    match dtype_of(raw.get_ref()).filter(is_sum) {
        Some(dtype) => Ok(Some(dtype.into())),
        None => {
            let message = format!(
                "accumulate is '{}': the type that sums are made in is \"f16\", \"bf16\", \"f32\", \"f64\", \"i32\" or \"i64\"",
                raw.get_ref()
            );
            Err(source.fault(&raw.span(), message))
        }
    }
}
