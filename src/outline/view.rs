//! The view of a function that patterns match on.

use super::operator;
use crate::{
    Error, Result,
    graph::{Arity, AttrValue, GraphView, OpSpec, OpTable, Payload, TensorType, ValueId},
    ir::{
        self, Op, Val,
        constant::Elements,
        edit, graph,
        names::{PATTERN, TARGET},
        print::node_name,
        view::OpView,
    },
    tensor::ElementType,
};
use melior::ir::{Attribute, AttributeLike, Type, ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap};

/// Constants with at most this many elements are shown to patterns in full: enough for the scales
/// of one layer's channels.
const SMALL: usize = 4096;

/// A graph and the operations that it was made from.
pub struct View<'c> {
    /// The graph.
    pub graph: GraphView,
    /// The operation behind each [`crate::graph::OpId`].
    pub ops: Vec<Op<'c>>,
    /// The values behind the graph's.
    pub values: Vec<(ValueId, Val<'c>)>,
}

/// Views the single block of `function`. Constants become values; the terminator names the outputs.
pub fn view<'c>(function: Op<'c>, table: &OpTable) -> Result<View<'c>> {
    let block = edit::entry_block(function)
        .ok_or_else(|| Error::internal("a function without a body has no graph"))?;
    let mut graph = GraphView::new();
    let mut ids: HashMap<ir::Id, ValueId> = HashMap::new();
    let mut values = vec![];
    for argument in edit::arguments(block) {
        let id = graph.add_argument(tensor_type(argument.r#type()));
        ids.insert(ir::id(argument), id);
        values.push((id, argument));
    }
    let mut viewed = vec![];
    let all = ir::ops(block);
    let Some((terminator, body)) = all.split_last() else {
        return Ok(View { graph, ops: viewed, values });
    };
    for op in body.iter().copied() {
        if ir::op_name(op) == graph::Constant::NAME {
            let result = ir::result0(op)?;
            let id = graph.add_constant(tensor_type(result.r#type()), payload(op));
            ids.insert(ir::id(result), id);
            values.push((id, result));
            continue;
        }
        let operand = |value: Val<'c>| {
            ids.get(&ir::id(value)).copied().ok_or_else(|| {
                Error::internal(format!("an operand of {} is defined after it", op.location()))
            })
        };
        let id = graph.add_op(spec(op, table, operand)?)?;
        if let (Some(target), Some(pattern)) = (ir::attr_str(op, TARGET), ir::attr_str(op, PATTERN))
        {
            graph.set_placement(id, Some(target), Some(pattern));
        }
        for (result, value) in ir::results(op).into_iter().zip(&graph.op(id).results) {
            ids.insert(ir::id(result), *value);
            values.push((*value, result));
        }
        viewed.push(op);
    }
    let outputs = ir::operands(*terminator)
        .into_iter()
        .filter_map(|value| ids.get(&ir::id(value)).copied())
        .collect();
    graph.set_outputs(outputs)?;
    Ok(View { graph, ops: viewed, values })
}

/// The graph's description of an operation; `operand` gives the graph's id of a value.
fn spec<'c>(
    op: Op<'c>,
    table: &OpTable,
    operand: impl Fn(Val<'c>) -> Result<ValueId>,
) -> Result<OpSpec> {
    Ok(OpSpec {
        name: name(op),
        operands: declared_operands(op, table)
            .into_iter()
            .map(|value| value.map(&operand).transpose())
            .collect::<Result<_>>()?,
        results: ir::results(op).iter().map(|r| tensor_type(r.r#type())).collect(),
        attrs: attributes(op),
        location: node_name(op),
        placement: ir::attr_str(op, TARGET),
        side_effects: !ir::op_name(op).starts_with("graph."),
        device_only: operator::is_closed(op),
    })
}

/// The operands as the operation declares them, with a gap for each absent optional one.
fn declared_operands<'c>(op: Op<'c>, table: &OpTable) -> Vec<Option<Val<'c>>> {
    let values = ir::operands(op);
    let Some(declared) = table.get(&name(op)) else {
        // Control flow, for one, uses values within its regions.
        return super::used(op).into_iter().map(Some).collect();
    };
    let segments = graph::Custom::of(op).map(operator::groups).or_else(|| segments(op));
    let mut found = vec![];
    let mut rest = values.into_iter();
    for (index, operand) in declared.operands.iter().enumerate() {
        let count = match (&segments, operand.arity) {
            (Some(sizes), _) => sizes.get(index).copied().unwrap_or(0),
            (None, Arity::One | Arity::Optional) => 1,
            (None, Arity::Variadic) => usize::MAX,
        };
        let taken: Vec<_> = rest.by_ref().take(count).map(Some).collect();
        if taken.is_empty() && operand.arity == Arity::Optional {
            found.push(None);
        }
        found.extend(taken);
    }
    found
}

/// Name of an operation in the graph: that of a vendor has its domain in front.
fn name(op: Op<'_>) -> String {
    match graph::Custom::of(op) {
        Some(custom) => operator::key(custom),
        None => ir::op_name(op).trim_start_matches("graph.").to_owned(),
    }
}

/// The sizes of the operand groups of an operation with several optional ones.
fn segments(op: Op<'_>) -> Option<Vec<usize>> {
    let sizes = ir::attribute::i32s(op.attribute("operandSegmentSizes").ok()?)?;
    Some(sizes.into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect())
}

/// A type as graphs have it.
pub fn tensor_type(ty: Type<'_>) -> TensorType {
    TensorType {
        dtype: ElementType::from_mlir_name(&ir::element_type(ty).to_string()),
        shape: ir::dims(ty).into_iter().map(|dim| (dim >= 0).then_some(dim)).collect(),
    }
}

fn attributes(op: Op<'_>) -> BTreeMap<String, AttrValue> {
    if let Some(custom) = graph::Custom::of(op) {
        return operator::attributes(custom);
    }
    let mut found = BTreeMap::new();
    for (name, value) in op.attributes() {
        let name = name.as_string_ref().as_str().unwrap_or_default().to_owned();
        if let Some(value) = attribute_value(op, &name, value) {
            let empty = value == AttrValue::Ints(vec![]);
            let value = defaults(op, &name).filter(|_| empty).unwrap_or(value);
            found.insert(name, value);
        }
    }
    found
}

/// Default of an empty list at operations on windows, so that predicates can look into it.
fn defaults(op: Op<'_>, name: &str) -> Option<AttrValue> {
    let info = ir::view::info(op)?;
    let image = info.operand(info.image?)?;
    let rank = ir::dims(op.operand(image).ok()?.r#type()).len();
    let spatial = rank.checked_sub(2)?;
    Some(AttrValue::Ints(match name {
        "strides" | "dilations" => vec![1; spatial],
        "pads" => vec![0; 2 * spatial],
        _ => return None,
    }))
}

fn attribute_value(op: Op<'_>, name: &str, value: Attribute<'_>) -> Option<AttrValue> {
    if value.is_bool() {
        return ir::attr_bool(op, name).map(AttrValue::Bool);
    }
    if value.is_string() {
        return ir::attr_str(op, name).map(AttrValue::Str);
    }
    if let Some(held) = ir::attribute::held_type(value) {
        return ElementType::from_mlir_name(&held.to_string()).map(AttrValue::Type);
    }
    ir::attr_f64(op, name)
        .map(AttrValue::Float)
        .or_else(|| ir::attr_i64s(op, name).map(AttrValue::Ints))
        .or_else(|| ir::attr_i64(op, name).map(AttrValue::Int))
}

/// The elements of a small constant, or the one element of a splat.
pub fn payload(op: Op<'_>) -> Option<Payload> {
    let elements = Elements::of_value(ir::result0(op).ok()?)?;
    if elements.len() > SMALL && !elements.is_splat() {
        return None;
    }
    let dtype = ElementType::from_mlir_name(&ir::element_type(elements.r#type()).to_string())?;
    let shown = if elements.is_splat() { elements.len().min(1) } else { elements.len() };
    let is_float = ir::is_float(elements.r#type());
    if is_float && dtype.plain().is_none() {
        return None;
    }
    Some(if is_float {
        Payload::Floats((0..shown).map(|i| elements.float(i)).collect())
    } else {
        Payload::Ints((0..shown).map(|i| elements.int(i)).collect())
    })
}
