//! Checks of what an operator of a vendor declares.

use super::{
    Ty,
    check::{Names, type_of},
};
use crate::{
    expr::{Expr, ExprKind, PatternError, PatternResult},
    graph::{OpDecl, OpTable},
};
use std::collections::BTreeMap;

/// Checks an expression over an operator's operands and attributes, and that it is of a type.
/// Patterns call the operator `word`.
///
/// # Errors
/// A name in it is unknown, or it is of another type.
pub fn check_of_operator(
    text: &str,
    expr: &Expr,
    (word, decl): (&str, &OpDecl),
    wanted: &Ty,
) -> PatternResult<()> {
    let mut table = OpTable::new();
    table.insert(decl.clone());
    let whole = ["self", word].map(|name| (name.to_owned(), vec![decl.name.clone()]));
    let operands = decl.operands.iter().map(|operand| (operand.name.clone(), vec![]));
    let entities: Vec<_> = operands.chain(whole).collect();
    let options = BTreeMap::new();
    let names = Names {
        table: &table,
        options: &options,
        entities: &entities,
        ambiguous: &[],
        given: false,
    };
    let ty = type_of(text, expr, &names)?;
    // An empty list, a scalar's shape, has elements of any type.
    let empty = matches!(&expr.kind, ExprKind::List(items) if items.is_empty());
    let is_list = matches!(wanted, Ty::List(_));
    if ty == *wanted || *wanted == Ty::Number && ty == Ty::Int || empty && is_list {
        return Ok(());
    }
    let message = format!("expected {}, found {}", wanted.describe(), ty.describe());
    Err(PatternError::new(text, expr.span, message))
}
