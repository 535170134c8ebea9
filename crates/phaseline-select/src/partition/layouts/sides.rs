//! The layouts in which one call takes and makes its tensors, and when any layout will do.

use crate::{
    graph::{Facts, GraphView, Op, ValueId},
    pattern::{
        BoundArg, BoundCall, BoundLayout, Layout, Match, Param, Pattern,
        goes_by_places as op_goes_by_places,
    },
    tensor::{DType, ElementType},
};

/// A tensor that a call takes or makes.
pub struct Side {
    pub value: ValueId,
    /// The places of its elements; none for the order of the model.
    pub layout: Option<BoundLayout>,
    pub makes: bool,
    /// True if the call may read anything in places that no element has.
    pub padding: bool,
    /// True if the call takes any layout.
    pub is_given: bool,
}

impl Side {
    /// Operands and results of a match without a call.
    pub fn of_model(found: &Match) -> Vec<Self> {
        let side = |value: &ValueId, makes| Self {
            value: *value,
            layout: None,
            makes,
            padding: false,
            is_given: false,
        };
        let inputs = found.inputs.iter().map(|value| side(value, false));
        inputs.chain(found.outputs.iter().map(|value| side(value, true))).collect()
    }
}

/// Operands and results of a call but for constants, which are put into layouts when compiling.
pub fn sides(
    call: &BoundCall,
    (pattern, found): (&Pattern, &Match),
    graph: &GraphView,
) -> Vec<Side> {
    let mut sides = vec![];
    for argument in &call.args {
        collect(argument, found, graph, &mut sides);
    }
    let given = as_given(pattern, found);
    for side in &mut sides {
        side.is_given = given.contains(&side.value);
    }
    sides
}

fn collect(argument: &BoundArg, found: &Match, graph: &GraphView, sides: &mut Vec<Side>) {
    let mut add = |value: ValueId, layout: &Option<BoundLayout>, makes: bool| {
        if graph.is_constant(value) {
            return;
        }
        let shape = graph.value(value).ty.shape.iter();
        let shape: Vec<i64> = shape.map(|size| size.unwrap_or(1)).collect();
        sides.push(Side {
            value,
            layout: layout.as_ref().and_then(|layout| layout.places(&shape)),
            makes,
            padding: matches!(layout, Some(BoundLayout::Given { padding: true, .. })),
            is_given: false,
        });
    };
    match argument {
        BoundArg::In(Some(value), layout) => add(*value, layout, false),
        BoundArg::Out(place, layout) => {
            if let Some(value) = found.outputs.get(*place) {
                add(*value, layout, true);
            }
        }
        BoundArg::Over(place, old, layout) => {
            add(*old, layout, false);
            if let Some(value) = found.outputs.get(*place) {
                add(*value, layout, true);
            }
        }
        BoundArg::Struct(_, fields) => {
            fields.iter().for_each(|(_, field)| collect(field, found, graph, sides));
        }
        _ => {}
    }
}

/// The values that a call takes, or makes, as given.
fn as_given(pattern: &Pattern, found: &Match) -> Vec<ValueId> {
    let params = pattern.call.iter().flat_map(|call| &call.params).flat_map(Param::flat);
    let mut values = vec![];
    for param in params.filter(|param| param.layout() == Some(&Layout::Given)) {
        match param {
            Param::In { capture, .. } => {
                values.extend(found.capture(capture).and_then(|bound| bound.value));
            }
            // A call with one result as given has all of them so.
            Param::Out { .. } => values.extend(found.outputs.iter().copied()),
            _ => {}
        }
    }
    values
}

/// Shape of the tensors that a call takes as given; none unless any layout of them will do. Each
/// place of a result is then computed from the same place of those tensors, and from single
/// elements and tables.
pub fn goes_by_places(found: &Match, pattern: &Pattern, facts: Facts) -> Option<Vec<i64>> {
    let graph = facts.graph;
    if !pattern.call.as_ref()?.is_given() {
        return None;
    }
    let first = found.given_value(pattern)?;
    let shape = &graph.value(first).ty.shape;
    let is_whole = |value: ValueId| graph.value(value).ty.shape == *shape;
    let is_single = |value: ValueId| graph.value(value).ty.elements() == Some(1);
    let given = as_given(pattern, found);
    let by_places = |op: &Op| {
        let mut operands = op.operands.iter().flatten().copied();
        let operands_fit = match table(op) {
            Some((table, places)) => {
                graph.value(table).ty.shape.len() == 1 && !is_whole(table) && is_whole(places)
            }
            None => operands.all(|value| is_whole(value) || is_single(value)),
        };
        op_goes_by_places(&op.name, facts.table)
            && operands_fit
            && op.results.iter().all(|value| is_whole(*value))
    };
    let fits = found.ops.iter().all(|op| by_places(graph.op(*op)))
        && found
            .inputs
            .iter()
            .all(|value| given.contains(value) || is_single(*value) || !is_whole(*value));
    let shape: Option<Vec<i64>> = shape.iter().copied().collect();
    shape.filter(|_| fits)
}

/// A table and the places that are looked up in it.
fn table(op: &Op) -> Option<(ValueId, ValueId)> {
    match op.operands[..] {
        [Some(table), Some(places)] if op.name == "gather" => Some((table, places)),
        _ => None,
    }
}

/// True if a call may read anything where no element is: nothing of it ends the program, whatever the bits are.
pub fn may_read_anything(found: &Match, graph: &GraphView) -> bool {
    found.ops.iter().all(|op| {
        let op = graph.op(*op);
        let made = op.results.first().and_then(|value| graph.value(*value).ty.dtype);
        let is_float = made.and_then(ElementType::plain).is_some_and(DType::is_float);
        match op.name.as_str() {
            "div" | "mod" | "pow" | "bit_shift" => is_float,
            "gather" => table(op).is_some_and(|(table, places)| {
                // A table with an entry for each number that there is.
                let made = graph.definer(places).map(|(op, _)| graph.op(op));
                let cast = made.filter(|op| op.name == "cast").and_then(|op| op.operands[0]);
                let read = graph.value(cast.unwrap_or(places)).ty.dtype;
                let is_unsigned = |dtype: &ElementType| dtype.mlir_name().starts_with("ui");
                let bits = read.filter(is_unsigned).map(ElementType::bits);
                let entries = graph.value(table).ty.elements();
                bits.is_some_and(|bits| bits <= 16 && entries >= Some(1 << bits))
            }),
            _ => true,
        }
    })
}
