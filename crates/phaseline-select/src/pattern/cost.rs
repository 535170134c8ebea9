//! Cost of a match: an expression over the pattern's captures, in nanoseconds.

use super::{
    Pattern,
    check::{Names, Ty, check_scalar},
    found::Match,
};
use crate::{
    expr::{Expr, OptionType, PatternError, PatternResult},
    graph::{Facts, OpTable},
};
use std::collections::BTreeMap;

/// Checks that an expression is a number.
pub(super) fn check_number(text: &str, expr: &Expr, names: &Names) -> PatternResult<()> {
    match check_scalar(text, expr, names)? {
        Ty::Int | Ty::Number => Ok(()),
        _ => Err(PatternError::new(text, expr.span, "a cost is a number of nanoseconds")),
    }
}

/// Checks that an expression over a target's options only is a number.
pub fn check_rate(
    text: &str,
    expr: &Expr,
    options: &BTreeMap<String, OptionType>,
) -> PatternResult<()> {
    let table = OpTable::new();
    check_number(
        text,
        expr,
        &Names { table: &table, options, entities: &[], ambiguous: &[], given: false },
    )
}

impl Pattern {
    /// Cost of a match by the pattern's own expression, in nanoseconds. None without an expression,
    /// or if its value is no cost: a part that the match does not have, a dynamic dimension, a
    /// negative number.
    pub fn cost_of(&self, found: &Match, facts: Facts) -> Option<f64> {
        let cost = found.eval(self, facts, self.cost.as_ref()?).as_f64()?;
        (cost.is_finite() && cost >= 0.0).then_some(cost)
    }
}
