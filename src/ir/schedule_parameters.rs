//! Parameters of schedules: arguments of a sequence that options of its target give values.

use super::{Builder, Op, attribute, edit, func::Signature, integer_width, names::OPTION, ops};
use crate::{Error, Result, error::suggestion};
use melior::ir::{Attribute, Type, attribute::IntegerAttribute};

/// Gives each argument after the first the value of the option that it names as `phl.option`: a constant
/// at the start of the sequence takes its place. `options` are attributes by name.
///
/// # Errors
/// An argument names no option, or one whose value is not of its type.
pub(super) fn bind<'c>(sequence: Op<'c>, options: &[(String, Attribute<'c>)]) -> Result<()> {
    let mut signature = Signature::of(sequence)?;
    let block = edit::entry_block(sequence).filter(|_| signature.arguments.len() > 1);
    let Some((block, first)) = block.and_then(|block| Some((block, *ops(block).first()?))) else {
        return Ok(());
    };
    let b = Builder::before(first)?;
    let arguments = edit::arguments(block);
    for (place, (ty, fields)) in signature.arguments.drain(1..).enumerate() {
        let name = fields.iter().find(|(key, _)| key == OPTION);
        let name = name.and_then(|(_, value)| edit::string(*value)).ok_or_else(|| {
            Error::invalid(format!(
                "has no value for argument #{}: add {{{OPTION} = \"NAME\"}} to it",
                place + 1
            ))
        })?;
        let value = options.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let value = value.ok_or_else(|| {
            let hint = suggestion(&name, options.iter().map(|(known, _)| known.as_str()));
            Error::invalid(format!(
                "has no value for '{name}', which is no option that is set{hint}"
            ))
        })?;
        let value = fitting(&b, ty, value).ok_or_else(|| {
            Error::invalid(format!("has an argument of type {ty} for '{name}', which is {value}"))
        })?;
        let constant = b.op1_with("transform.param.constant", &[], ty, vec![("value", value)])?;
        edit::replace_uses(arguments[place + 1], constant);
    }
    signature.set(b.context, sequence);
    (1..arguments.len()).rev().try_for_each(|place| edit::erase_argument(block, place))
}

/// A value of a parameter's type: an integer of its width, or any for `!transform.any_param`.
fn fitting<'c>(b: &Builder<'c>, ty: Type<'c>, value: Attribute<'c>) -> Option<Attribute<'c>> {
    let text = ty.to_string();
    if text == "!transform.any_param" {
        return Some(value);
    }
    let element = text.strip_prefix("!transform.param<")?.strip_suffix('>')?;
    let element = b.parse_type(element).ok().filter(|ty| integer_width(*ty).is_some())?;
    Some(IntegerAttribute::new(element, attribute::int(value)?).into())
}
