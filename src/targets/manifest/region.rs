//! `[region]`: what regions may be as a whole.

use super::{
    super::{
        kind::{PatternDecl, option_word},
        options::OptionDecl,
    },
    Source, number,
    raw::RawRegion,
};
use crate::{
    Result,
    error::suggestion,
    expr::{Expr, OptionType},
    pattern::{REGION_NAMES, RegionLimits, check_region_expression},
};
use std::collections::BTreeMap;

/// Reads the table.
pub fn declare(
    source: &Source,
    raw: RawRegion,
    (options, patterns): (&[OptionDecl], &[PatternDecl]),
    has_queues: bool,
) -> Result<RegionLimits> {
    let types: BTreeMap<String, OptionType> =
        options.iter().map(|option| (option_word(&option.name), option.ty())).collect();
    let most = raw.max_operations.as_ref();
    let max_operations = most.map(|value| {
        if value.get_ref().as_integer().is_some_and(|most| most < 1) {
            let message = "max-operations is a positive number, or an expression over options; a device that \
                           takes nothing has no patterns";
            return Err(source.fault(&value.span(), message));
        }
        number(source, value, options)
    });
    let mut conditions = vec![];
    for clause in raw.clauses.into_iter().flatten() {
        let text = clause.get_ref().clone();
        let fault = |error: String| {
            let names = REGION_NAMES.join(", ");
            source.fault(
                &clause.span(),
                format!("{error}\nconditions on a region are over options and {names}"),
            )
        };
        let expr = Expr::parse(&text).map_err(|error| fault(error.to_string()))?;
        check_region_expression(&text, &expr, &types, false)
            .map_err(|error| fault(error.to_string()))?;
        conditions.push((text, expr));
    }
    let known = |key: &str, name: &toml::Spanned<String>| {
        let known: Vec<&str> = patterns.iter().map(|pattern| pattern.spec.name.as_str()).collect();
        if known.contains(&name.get_ref().as_str()) {
            return Ok(name.get_ref().clone());
        }
        let hint = suggestion(name.get_ref(), known);
        let message = format!("{key}: there is no pattern '{}'{hint}", name.get_ref());
        Err(source.fault(&name.span(), message))
    };
    let once = raw.once.into_iter().flatten().map(|name| known("once", &name));
    let once = once.collect::<Result<_>>()?;
    let mut queues = vec![];
    for (name, queue) in raw.queue.into_iter().flatten() {
        if !has_queues {
            let message = "a pattern has a queue of its own on a device with several: say how many with `count` of [queue]";
            return Err(source.fault(&name.span(), message));
        }
        queues.push((known("queue", &name)?, number(source, &queue, options)?));
    }
    Ok(RegionLimits { max_operations: max_operations.transpose()?, conditions, once, queues })
}
