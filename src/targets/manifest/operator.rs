//! `[[operator]]`: operators of vendors.

use super::{
    super::{
        file_name::Use,
        kind::{Files, Layer},
        operator::{OperatorDecl, Reference, ResultDecl, key},
    },
    Source, files,
    raw::{RawOperator, RawReference, RawResult},
};
use crate::{
    Result,
    expr::{Expr, PatternResult},
    graph::{Alias, Arity, AttrDecl, AttrKind, Flops, OpDecl, OpTraits, OperandDecl},
    ir::view::graph_info,
    pattern::{Ty, check_of_operator},
};
use std::{collections::BTreeSet, sync::Arc};
use toml::Spanned;

/// Reads the operators of a manifest.
pub fn declare(
    source: &Source,
    raw: Vec<RawOperator>,
    files: &Files,
    layers: &[Layer],
) -> Result<Vec<Arc<OperatorDecl>>> {
    let own = layers.first().map_or(files, |layer| &layer.files);
    let mut words = BTreeSet::new();
    let mut keys = BTreeSet::new();
    let mut all = vec![];
    for raw in raw {
        let span = raw.name.span();
        let decl = operator(source, raw, own)?;
        if !keys.insert(decl.key()) {
            let message = format!("operator {} is declared twice", decl.key());
            return Err(source.fault(&span, message));
        }
        if !words.insert(decl.word.clone()) {
            let message = format!(
                "two operators are called '{}' in patterns: give one of them another name with as",
                decl.word
            );
            return Err(source.fault(&span, message));
        }
        all.push(Arc::new(decl));
    }
    Ok(all)
}

fn operator(source: &Source, raw: RawOperator, files: &Files) -> Result<OperatorDecl> {
    for (text, what) in [(&raw.domain, "domain"), (&raw.name, "name")] {
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        if text.get_ref().is_empty() || !text.get_ref().chars().all(plain) {
            let message = format!(
                "'{}' is no {what} of an operator: it is to have letters, digits, '.', '-' and '_'",
                text.get_ref()
            );
            return Err(source.fault(&text.span(), message));
        }
    }
    let word = word(source, &raw)?;
    let mut decl = OpDecl {
        name: key(raw.domain.get_ref(), raw.name.get_ref()),
        operands: operands(source, &raw.operands)?,
        results: results(source, &raw)?,
        variadic_results: false,
        attrs: attributes(source, &raw.attributes)?,
        commutative: false,
        flops: None,
        traits: OpTraits::default(),
    };
    check_names(source, &raw, &decl)?;
    let read = |text: &Spanned<String>, wanted: &Ty| {
        let checked = || -> PatternResult<Expr> {
            let expr = Expr::parse(text.get_ref())?;
            check_of_operator(text.get_ref(), &expr, (&word, &decl), wanted)?;
            Ok(expr)
        };
        checked().map_err(|error| source.fault(&text.span(), error))
    };
    let shape = Ty::List(Box::new(Ty::Int));
    let result = |raw: &RawResult| {
        Ok(ResultDecl { dtype: read(&raw.dtype, &Ty::Type)?, shape: read(&raw.shape, &shape)? })
    };
    let types = raw.results.iter().map(result).collect::<Result<_>>()?;
    let flops = raw.flops.as_ref().map(|text| read(text, &Ty::Number)).transpose()?;
    decl.flops = flops.map(Flops::new);
    let place = source.place(&raw.name.span());
    let reference = raw.reference.map(|text| reference(source, text, files, &decl)).transpose()?;
    Ok(OperatorDecl {
        domain: raw.domain.into_inner(),
        name: raw.name.into_inner(),
        word,
        doc: raw.doc,
        decl,
        results: types,
        reference,
        place,
    })
}

/// Name of an operator in patterns: `as`, or its name in the way of the graph dialect.
fn word(source: &Source, raw: &RawOperator) -> Result<String> {
    let given = raw.word.as_ref();
    let usual = || snake(raw.name.get_ref());
    let word = given.map_or_else(usual, |word| word.get_ref().clone());
    let span = given.unwrap_or(&raw.name).span();
    if !is_word(&word) {
        let message = format!("patterns cannot write '{word}': give a name for them with as");
        return Err(source.fault(&span, message));
    }
    if graph_info(&word).is_some() || Alias::get(&word).is_some() {
        let message = format!(
            "the graph dialect has an operation '{word}': give another name for patterns with as"
        );
        return Err(source.fault(&span, message));
    }
    Ok(word)
}

/// `GatedSwish` as `gated_swish`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = None;
    for c in name.chars() {
        let starts = c.is_ascii_uppercase() && before.is_some_and(|c: char| c.is_ascii_lowercase());
        if starts {
            out.push('_');
        }
        out.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        before = Some(c);
    }
    out
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn operands(source: &Source, raw: &[Spanned<String>]) -> Result<Vec<OperandDecl>> {
    let operand = |(index, text): (usize, &Spanned<String>)| {
        let written = text.get_ref().trim();
        let (name, arity) = match (written.strip_suffix('?'), written.strip_suffix("...")) {
            (Some(name), _) => (name, Arity::Optional),
            (_, Some(name)) => (name, Arity::Variadic),
            _ => (written, Arity::One),
        };
        if !is_word(name) {
            let message =
                format!("'{written}' is no operand: write x, x? if it may be absent, or x...");
            return Err(source.fault(&text.span(), message));
        }
        if arity == Arity::Variadic && index + 1 != raw.len() {
            let message = format!("'{written}' stands for all that follow, so it comes last");
            return Err(source.fault(&text.span(), message));
        }
        Ok(OperandDecl { name: name.to_owned(), arity })
    };
    raw.iter().enumerate().map(operand).collect()
}

fn attributes(source: &Source, raw: &[Spanned<String>]) -> Result<Vec<AttrDecl>> {
    let attribute = |text: &Spanned<String>| {
        let fault = |message: String| source.fault(&text.span(), message);
        let attr = AttrDecl::parse(text.get_ref()).map_err(|error| fault(error.to_string()))?;
        if matches!(attr.kind, AttrKind::Type | AttrKind::Other) {
            let message =
                "attributes of operators are int, float, bool, str, ints or floats".to_owned();
            return Err(fault(message));
        }
        Ok(attr)
    };
    raw.iter().map(attribute).collect()
}

fn results(source: &Source, raw: &RawOperator) -> Result<Vec<String>> {
    if raw.results.is_empty() {
        let message = format!("operator {} has no results", raw.name.get_ref());
        return Err(source.fault(&raw.name.span(), message));
    }
    let name = |result: &RawResult| {
        if !is_word(result.name.get_ref()) {
            let message = format!("'{}' is no name of a result", result.name.get_ref());
            return Err(source.fault(&result.name.span(), message));
        }
        Ok(result.name.get_ref().clone())
    };
    raw.results.iter().map(name).collect()
}

/// Conditions name operands, attributes and results in one way.
fn check_names(source: &Source, raw: &RawOperator, decl: &OpDecl) -> Result<()> {
    let operands = decl.operands.iter().map(|operand| &operand.name);
    let attrs = decl.attrs.iter().map(|attr| &attr.name);
    let mut seen = BTreeSet::from(["self", "name", "out"]);
    for name in operands.chain(attrs).chain(&decl.results) {
        if !seen.insert(name.as_str()) {
            let message = format!(
                "operator {} has two parts called '{name}' (self, name and out are the operator's own)",
                raw.name.get_ref()
            );
            return Err(source.fault(&raw.name.span(), message));
        }
    }
    Ok(())
}

fn reference(
    source: &Source,
    raw: Spanned<RawReference>,
    folder: &Files,
    decl: &OpDecl,
) -> Result<Reference> {
    let span = raw.span();
    if decl.operands.iter().any(|operand| operand.arity == Arity::Variadic) {
        let message = "functions of ONNX have no variadic inputs, so that an operator that has one \
                       cannot have a reference";
        return Err(source.fault(&span, message));
    }
    match raw.into_inner() {
        RawReference::Text(text) => Ok(Reference { text, place: source.place(&span) }),
        RawReference::File(file) => {
            files::file(source, folder, &span, &file.file, Use::Pipeline)?;
            let text = folder.read(&file.file)?.into_owned();
            Ok(Reference { text, place: folder.describe("target", &file.file) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_of_patterns() {
        for (name, word) in
            [("Swish", "swish"), ("GatedSwish2D", "gated_swish2d"), ("NMS", "nms"), ("a-b", "a_b")]
        {
            assert_eq!(snake(name), word);
        }
    }
}
