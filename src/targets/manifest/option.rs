//! Options of a manifest.

use super::{
    super::options::{OptionDecl, OptionKind},
    Source, check_name,
    raw::RawOption,
};
use crate::{Error, Result, error::suggestion, expr::OptionValue};
use toml::{Spanned, Value};

const TYPES: [&str; 6] = ["int", "float", "bool", "string", "enum", "size"];

/// Reads the declaration of an option.
pub fn declare(source: &Source, raw: RawOption) -> Result<OptionDecl> {
    check_name(source, &raw.name, "an option")?;
    let mut decl = OptionDecl {
        name: raw.name.get_ref().clone(),
        kind: unbounded(source, &raw)?,
        default: None,
        vary: raw.vary.unwrap_or(true),
        doc: raw.doc.clone().ok_or_else(|| missing(source, &raw, "doc"))?,
    };
    let is_enum = matches!(decl.kind, OptionKind::Enum { .. });
    if let (false, Some(values)) = (is_enum, &raw.values) {
        return Err(source.fault(&values.span(), "only an option of type enum has values"));
    }
    let ranged = matches!(
        decl.kind,
        OptionKind::Int { .. } | OptionKind::Size { .. } | OptionKind::Float { .. }
    );
    if let (false, Some(bound)) = (ranged, raw.min.as_ref().or(raw.max.as_ref())) {
        let message = format!("an option of type {} has no range", ty(source, &raw)?.get_ref());
        return Err(source.fault(&bound.span(), message));
    }
    // Both bounds are read before either is set, so that they are checked by their type only.
    let min = raw.min.as_ref().map(|value| read(source, &decl, value, "the bound")).transpose()?;
    let max = raw.max.as_ref().map(|value| read(source, &decl, value, "the bound")).transpose()?;
    match &mut decl.kind {
        OptionKind::Int { min: low, max: high } | OptionKind::Size { min: low, max: high } => {
            (*low, *high) = (int(min), int(max));
        }
        OptionKind::Float { min: low, max: high } => (*low, *high) = (float(min), float(max)),
        OptionKind::Bool | OptionKind::String | OptionKind::Enum { .. } => {}
    }
    if let Some(default) = &raw.default {
        decl.default = Some(read(source, &decl, default, "the default")?);
    }
    Ok(decl)
}

fn missing(source: &Source, raw: &RawOption, field: &str) -> Error {
    let message = format!("option '{}': missing field `{field}`", raw.name.get_ref());
    source.fault(&raw.name.span(), message)
}

fn ty<'r>(source: &Source, raw: &'r RawOption) -> Result<&'r Spanned<String>> {
    raw.ty.as_ref().ok_or_else(|| missing(source, raw, "type"))
}

/// The kind of an option without its range.
fn unbounded(source: &Source, raw: &RawOption) -> Result<OptionKind> {
    let ty = ty(source, raw)?;
    match ty.get_ref().as_str() {
        "int" => Ok(OptionKind::Int { min: None, max: None }),
        "size" => Ok(OptionKind::Size { min: None, max: None }),
        "float" => Ok(OptionKind::Float { min: None, max: None }),
        "bool" => Ok(OptionKind::Bool),
        "string" => Ok(OptionKind::String),
        "enum" => match &raw.values {
            Some(values) if !values.get_ref().is_empty() => {
                Ok(OptionKind::Enum { values: values.get_ref().clone() })
            }
            _ => Err(source.fault(&ty.span(), "an option of type enum needs values")),
        },
        other => {
            let hint = suggestion(other, TYPES);
            Err(source.fault(&ty.span(), format!("'{other}' is no type{hint}")))
        }
    }
}

fn read(
    source: &Source,
    decl: &OptionDecl,
    value: &Spanned<Value>,
    what: &str,
) -> Result<OptionValue> {
    let text = match value.get_ref() {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    decl.parse(Some(&text)).map_err(|reason| {
        source.fault(&value.span(), format!("{what} of option '{}' {reason}", decl.name))
    })
}

fn int(value: Option<OptionValue>) -> Option<i64> {
    match value {
        Some(OptionValue::Int(value)) => Some(value),
        _ => None,
    }
}

fn float(value: Option<OptionValue>) -> Option<f64> {
    match value {
        Some(OptionValue::Float(value)) => Some(value),
        _ => None,
    }
}
