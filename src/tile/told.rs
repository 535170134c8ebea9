//! Decisions about results that stay, as functions carry them.

use super::stay::Stay;
use crate::{
    Error, Result,
    ir::{self, Builder, Op, edit, names::STAYS, print},
};
use melior::ir::operation::OperationLike;

/// The name of an operation in messages: its node in the model, or its place in a file.
pub fn call_name(op: Op<'_>) -> String {
    match print::node_name(op) {
        name if name.is_empty() => print::place(op.location()),
        name => name,
    }
}

/// Adds decisions to those that a function carries.
pub fn tell(function: Op<'_>, decisions: Vec<Stay>) -> Result<()> {
    if decisions.is_empty() {
        return Ok(());
    }
    let mut all = told(function)?;
    all.extend(decisions);
    let text = serde_json::to_string(&all)
        .map_err(|error| Error::internal(format!("decisions have no JSON form: {error}")))?;
    edit::set_attr(function, STAYS, Builder::before(function)?.str_attr(&text));
    Ok(())
}

/// The decisions that a function carries.
pub fn told(function: Op<'_>) -> Result<Vec<Stay>> {
    let Some(text) = ir::attr_str(function, STAYS) else { return Ok(vec![]) };
    serde_json::from_str(&text)
        .map_err(|error| Error::invalid(format!("attribute {STAYS} is not valid: {error}")))
}
