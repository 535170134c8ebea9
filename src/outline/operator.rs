//! Operators of vendors in the IR: `graph.custom`.

use crate::{
    Error, Result,
    graph::AttrValue,
    ir::{
        self, Builder, Op, Val, attribute, edit,
        graph::{Constant, Custom, Yield},
        names::TARGET,
        view::OpView,
    },
};
use melior::ir::{
    Attribute, AttributeLike,
    attribute::{BoolAttribute, DenseI64ArrayAttribute, FloatAttribute, IntegerAttribute},
    operation::OperationLike,
};
use std::collections::BTreeMap;

/// Domain and name, as targets declare the operator.
pub fn key(op: Custom<'_>) -> String {
    crate::targets::operator_key(op.domain(), op.name())
}

/// Number of operands for each that is declared.
pub fn groups(op: Custom<'_>) -> Vec<usize> {
    match &op.groups()[..] {
        [] => vec![1; ir::operands(op.op()).len()],
        sizes => sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect(),
    }
}

/// The attributes that conditions can look into.
pub fn attributes(op: Custom<'_>) -> BTreeMap<String, AttrValue> {
    let given = op.parameters().map(edit::dictionary).unwrap_or_default();
    given.into_iter().filter_map(|(name, value)| Some((name, read(value)?))).collect()
}

fn read(value: Attribute<'_>) -> Option<AttrValue> {
    if value.is_bool() {
        return attribute::boolean(value).map(AttrValue::Bool);
    }
    if value.is_string() {
        return edit::string(value).map(AttrValue::Str);
    }
    if value.is_array() {
        let items = edit::array(value).into_iter().map(attribute::float);
        return items.collect::<Option<_>>().map(AttrValue::Floats);
    }
    let float = attribute::float(value).map(AttrValue::Float);
    float
        .or_else(|| attribute::int(value).map(AttrValue::Int))
        .or_else(|| ir::i64s(value).map(AttrValue::Ints))
}

/// Attributes as the operation has them.
///
/// # Errors
/// One is an element type, which operators have none of.
pub fn parameters<'c>(
    b: &Builder<'c>,
    values: &BTreeMap<String, AttrValue>,
) -> Result<Attribute<'c>> {
    let float =
        |value: &f64| -> Attribute<'c> { FloatAttribute::new(b.context, b.f32(), *value).into() };
    let entry = |(name, value): (&String, &AttrValue)| {
        let value = match value {
            AttrValue::Int(value) => IntegerAttribute::new(b.int(64), *value).into(),
            AttrValue::Float(value) => float(value),
            AttrValue::Str(text) => b.str_attr(text),
            AttrValue::Bool(value) => BoolAttribute::new(b.context, *value).into(),
            AttrValue::Ints(values) => DenseI64ArrayAttribute::new(b.context, values).into(),
            AttrValue::Floats(values) => {
                let values: Vec<_> = values.iter().map(float).collect();
                melior::ir::attribute::ArrayAttribute::new(b.context, &values).into()
            }
            AttrValue::Type(_) => {
                return Err(Error::internal(format!("attribute {name} of an operator is a type")));
            }
        };
        Ok((name.clone(), value))
    };
    let entries = values.iter().map(entry).collect::<Result<Vec<_>>>()?;
    Ok(edit::dictionary_attr(b.context, &entries))
}

/// True for an operator without a reference, which only a device can compute.
pub fn is_closed(op: Op<'_>) -> bool {
    Custom::is(op) && edit::entry_block(op).is_none()
}

/// Puts an operator's reference in its place.
///
/// # Errors
/// It has none.
pub fn expand(op: Op<'_>) -> Result<()> {
    let missing = || Error::internal("an operator without reference was expanded");
    let block = edit::entry_block(op).ok_or_else(missing)?;
    let demand = op.attribute(TARGET).ok();
    let operands = ir::operands(op);
    for (argument, operand) in edit::arguments(block).into_iter().zip(operands) {
        edit::replace_uses(argument, operand);
    }
    let mut values: Vec<Val<'_>> = vec![];
    for inner in ir::ops(block) {
        match Yield::of(inner) {
            Some(_) => values = ir::operands(inner),
            None => {
                edit::move_before(inner, op);
                if let Some(target) = demand.filter(|_| !Constant::is(inner)) {
                    edit::set_attr(inner, TARGET, target);
                }
            }
        }
    }
    for (old, new) in ir::results(op).into_iter().zip(values) {
        edit::replace_uses(old, new);
    }
    edit::erase(op);
    Ok(())
}
