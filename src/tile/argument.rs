//! Arguments of a call that differ from tile to tile.

use crate::{
    Error, Result,
    expr::Val as Number,
    ir::{self, Builder, edit},
};
use melior::ir::{Attribute, AttributeLike};

/// An argument, or a field of it, with another value.
pub(super) fn replaced<'c>(
    b: &Builder<'c>,
    argument: Attribute<'c>,
    field: &str,
    new: &dyn Fn(Attribute<'c>) -> Result<Attribute<'c>>,
) -> Result<Attribute<'c>> {
    if field.is_empty() {
        return new(argument);
    }
    // The plan is an attribute, which the IR that a compile goes on from may have in any form.
    let (name, mut fields) = ir::call_extern::struct_of(argument).ok_or_else(|| {
        Error::invalid(format!("the tile's plan sets the field '{field}' of {argument}, no struct"))
    })?;
    let Some((_, value)) = fields.iter_mut().find(|(name, _)| name == field) else {
        let known: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
        return Err(Error::invalid(format!(
            "the tile's plan sets the field '{field}', but the struct '{name}' has {}",
            known.join(", ")
        )));
    };
    *value = new(*value)?;
    let fields = edit::dictionary_attr(b.context, &fields);
    b.parse_attr(&format!("#tir.struct<{name:?}, {fields}>"))
}

/// A number in the form of another argument.
pub(super) fn number_like<'c>(old: Attribute<'c>, number: &Number) -> Result<Attribute<'c>> {
    if old.is_integer() {
        let value = match number {
            Number::Int(value) => Some(*value),
            Number::Bool(value) => Some(i64::from(*value)),
            Number::Absent => Some(0),
            Number::Float(value) if value.fract() == 0.0 => Some(*value as i64),
            _ => None,
        };
        return value.and_then(|value| ir::attribute::int_like(old, value)).ok_or_else(|| {
            Error::invalid(format!("passes {number} for a tile where an integer is due"))
        });
    }
    let made = number.as_f64().and_then(|value| ir::attribute::float_like(old, value));
    made.ok_or_else(|| Error::invalid(format!("passes {number} for a tile")))
}
