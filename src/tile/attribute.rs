//! Plain data as attributes: structs become dictionaries, lists arrays. Plans of calls and pools of
//! functions are such data.

use super::{plan::Plan, pool::Pool};
use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, edit,
        names::{DMA, TILE},
    },
};
use melior::ir::{Attribute, AttributeLike, operation::OperationLike};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Data as an attribute.
pub fn to_attribute<'c>(b: &Builder<'c>, data: &impl Serialize) -> Result<Attribute<'c>> {
    let value = serde_json::to_value(data).map_err(|error| Error::internal(error.to_string()))?;
    attribute_of(b, &value)
}

fn attribute_of<'c>(b: &Builder<'c>, value: &Value) -> Result<Attribute<'c>> {
    Ok(match value {
        Value::Bool(value) => b.bool_attr(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => b.i64_attr(number),
            None => return Err(Error::internal(format!("{number} as an attribute"))),
        },
        Value::String(text) => b.str_attr(text),
        Value::Null => Attribute::unit(b.context),
        Value::Array(items) => {
            let items = items.iter().map(|item| attribute_of(b, item)).collect::<Result<Vec<_>>>();
            melior::ir::attribute::ArrayAttribute::new(b.context, &items?).into()
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                attribute_of(b, value).map(|attribute| (name.clone(), attribute))
            });
            edit::dictionary_attr(b.context, &fields.collect::<Result<Vec<_>>>()?)
        }
    })
}

/// Data from an attribute; the error says what is missing.
pub fn from_attribute<T: DeserializeOwned>(attribute: Attribute<'_>) -> Result<T, String> {
    serde_json::from_value(value_of(attribute)).map_err(|error| error.to_string())
}

fn value_of(attribute: Attribute<'_>) -> Value {
    if attribute.is_dictionary() {
        let fields = edit::dictionary(attribute).into_iter();
        return Value::Object(fields.map(|(name, value)| (name, value_of(value))).collect());
    }
    if attribute.is_array() {
        return Value::Array(edit::array(attribute).into_iter().map(value_of).collect());
    }
    if let Some(value) = ir::attribute::boolean(attribute) {
        return Value::Bool(value);
    }
    if let Some(value) = ir::attribute::int(attribute) {
        return Value::from(value);
    }
    edit::string(attribute).map_or(Value::Null, Value::String)
}

/// The plan of a call; none if it has none.
pub fn plan_of(call: Op<'_>) -> Result<Option<Plan>> {
    let Ok(attribute) = call.attribute(TILE) else { return Ok(None) };
    let plan: Plan = from_attribute(attribute)
        .map_err(|error| Error::invalid(format!("has a malformed {TILE}: {error}")))?;
    plan.check().map_err(|fault| Error::invalid(format!("has a {TILE} {fault}")))?;
    Ok(Some(plan))
}

/// The pools that tiles of a function are in.
pub fn pools_of(function: Op<'_>) -> Result<Vec<Pool>> {
    let Ok(pools) = function.attribute(DMA) else { return Ok(vec![]) };
    from_attribute(pools).map_err(|error| Error::invalid(format!("has a malformed {DMA}: {error}")))
}

/// The bytes at the start of a function's pool that stay free.
pub fn pool_start(function: Op<'_>, pool: &str) -> Result<u64> {
    let pools = pools_of(function)?;
    let base = pools.iter().find(|other| other.name == pool).map_or(0, |pool| pool.base);
    Ok(u64::try_from(base).unwrap_or(0))
}
