//! Costs in a manifest.

use super::{
    super::{
        kind::{CostDecl, option_word},
        options::OptionDecl,
    },
    Source,
    raw::RawCost,
};
use crate::{
    Result,
    expr::{Expr, OptionType},
    pattern::check_rate,
};
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// Reads the table `cost`.
pub fn declare(source: &Source, raw: RawCost, options: &[OptionDecl]) -> Result<CostDecl> {
    let types: BTreeMap<String, OptionType> =
        options.iter().map(|option| (option_word(&option.name), option.ty())).collect();
    let rate = |value: Option<Spanned<Value>>| -> Result<Option<Expr>> {
        let Some(value) = value else { return Ok(None) };
        let text = match value.get_ref() {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let fault = |error: String| source.fault(&value.span(), error);
        let expr = Expr::parse(&text).map_err(|error| fault(error.to_string()))?;
        check_rate(&text, &expr, &types).map_err(|error| fault(error.to_string()))?;
        Ok(Some(expr))
    };
    Ok(CostDecl {
        per_call: rate(raw.per_call)?,
        per_byte: rate(raw.per_byte)?,
        per_flop: rate(raw.per_flop)?,
        per_access: rate(raw.per_access)?,
    })
}
