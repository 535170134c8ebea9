//! Attributes as JSON.

use crate::ir::{self, Attribute, Type, attribute as read, constant::Elements, edit, print};
use melior::ir::AttributeLike;
use serde_json::{Value, json};

/// Elements of a constant that are listed; of others there is the text of the type.
const LISTED: usize = 4096;

/// An attribute: a number, text, list or dictionary; an element type by its name; else its text in MLIR.
pub fn value(attribute: Attribute<'_>) -> Value {
    if attribute.is_dictionary() {
        let fields = edit::dictionary(attribute).into_iter();
        return Value::Object(fields.map(|(name, field)| (name, value(field))).collect());
    }
    if attribute.is_array() {
        return Value::Array(edit::array(attribute).into_iter().map(value).collect());
    }
    let flag = read::boolean(attribute).map(Value::Bool);
    flag.or_else(|| read::int(attribute).map(Value::from))
        .or_else(|| read::float(attribute).map(float))
        .or_else(|| edit::string(attribute).map(Value::String))
        .or_else(|| read::held_type(attribute).map(|ty: Type<'_>| json!(super::dtype(ty))))
        .or_else(|| ir::i64s(attribute).map(Value::from))
        .or_else(|| read::i32s(attribute).map(Value::from))
        .or_else(|| elements(attribute))
        .or_else(|| attribute.is_unit().then_some(Value::Bool(true)))
        .unwrap_or_else(|| Value::String(print::attribute(attribute)))
}

/// A float; those that JSON has no number for are text.
pub fn float(value: f64) -> Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => json!("nan"),
        None if value > 0.0 => json!("inf"),
        None => json!("-inf"),
    }
}

/// The elements of a constant, as a list.
pub fn list(elements: &Elements<'_>) -> Vec<Value> {
    let is_float = ir::is_float(elements.r#type());
    let one = |index| match is_float {
        true => float(elements.float(index)),
        false => json!(elements.int(index)),
    };
    (0..elements.len()).map(one).collect()
}

fn elements(attribute: Attribute<'_>) -> Option<Value> {
    let elements = Elements::new(attribute)?;
    let ty = super::type_json(elements.r#type());
    Some(match elements.len() <= LISTED {
        true => json!({ "type": ty, "values": list(&elements) }),
        false => json!({ "type": ty }),
    })
}

/// The elements of a small constant.
pub fn small(attribute: Attribute<'_>) -> Option<Vec<Value>> {
    let elements = Elements::new(attribute).filter(|elements| elements.len() <= LISTED);
    elements.map(|elements| list(&elements))
}
