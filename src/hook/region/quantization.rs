//! The quantization of values, as the operations around them say it.

use super::Reader;
use crate::ir::{self, Op, Val, edit, graph, view};
use serde_json::{Map, Value, json};

/// Adds scale and zero point of each quantized value of a function to the description.
pub fn describe(function: Op<'_>, reader: &mut Reader<'_>) {
    for op in edit::walk(function) {
        let Some(info) = view::info(op).filter(|info| view::fits(op, info)) else { continue };
        let operand = |name: &str| {
            let range = view::operand_range(op, info, info.operand(name)?);
            ir::operands(op).get(range.start).copied().filter(|_| !range.is_empty())
        };
        let result = |name: &str| {
            let place = info.results.iter().position(|result| result.name == name)?;
            ir::results(op).get(place).copied()
        };
        for declared in info.operands {
            let Some(of) = declared.name.strip_suffix("scale") else { continue };
            // `scale` is that of the one quantized value, `x_scale` that of x.
            let value = match of.strip_suffix('_') {
                Some(name) => operand(name).or_else(|| result(name)),
                None if of.is_empty() && ir::op_name(op) == graph::QuantizeLinear::NAME => {
                    result("y")
                }
                None if of.is_empty() && ir::op_name(op) == graph::DequantizeLinear::NAME => {
                    operand("x")
                }
                None => None,
            };
            let (Some(value), Some(scale)) = (value, operand(declared.name)) else { continue };
            let zero = operand(&format!("{of}zero_point"));
            note(op, reader, value, (scale, zero));
        }
    }
}

fn note<'c>(
    op: Op<'c>,
    reader: &mut Reader<'_>,
    value: Val<'c>,
    (scale, zero): (Val<'c>, Option<Val<'c>>),
) {
    let Some(id) = reader.known(value) else { return };
    let mut about = Map::new();
    let given = [("scale", Some(scale)), ("zero-point", zero)];
    for (key, given) in given.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let Some(number) = reader.known(given) else { continue };
        about.insert(format!("{key}-value"), json!(number));
        if let Some(values) = reader.small.get(&number) {
            about.insert(key.to_owned(), json!(values));
        }
    }
    for key in ["axis", "block_size"] {
        if let Some(number) = ir::attr_i64(op, key) {
            about.insert(key.replace('_', "-"), json!(number));
        }
    }
    // What is said first stays: a value that is read by several has one quantization in models.
    let entry = reader.values[id].entry("quantization");
    entry.or_insert_with(|| Value::Object(about));
}
