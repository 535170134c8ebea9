//! Facts about a match for hooks of protocol 2: its pattern's names, on its operations, and the layouts of its call.
//!
//! Names are on operations, not on their numbers: a pass that changes a composite afterwards
//! removes only names of operations that it removes.

use super::View;
use crate::{
    Result,
    graph::{Bound, Def, OpId, ValueId},
    ir::{Builder, Op, edit, names::CAPTURES},
    pattern::{BoundArg, BoundCall, BoundLayout, Match},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// In [`CAPTURES`], the operation itself.
const ITSELF: i64 = -1;

/// Writes the names of a match on its operations, before these move into a composite.
pub fn write(view: &View<'_>, found: &Match, names: &[(String, Bound)]) -> Result<()> {
    let mut captures: BTreeMap<OpId, Vec<(&String, i64)>> = BTreeMap::new();
    for (name, bound) in names {
        let place = match (bound.value, bound.op) {
            (Some(value), _) => of_value(view, found, value),
            (None, op) => op.map(|op| (op, ITSELF)),
        };
        if let Some((op, place)) = place {
            captures.entry(op).or_default().push((name, place));
        }
    }
    for (id, named) in captures {
        let Some(op) = view.ops.get(id.index()).copied() else { continue };
        let b = Builder::before(op)?;
        let named: Vec<_> =
            named.into_iter().map(|(name, place)| (name.clone(), b.i64_attr(place))).collect();
        edit::set_attr(op, CAPTURES, edit::dictionary_attr(b.context, &named));
    }
    Ok(())
}

/// A value as a result or an operand of an operation of the match.
fn of_value(view: &View<'_>, found: &Match, value: ValueId) -> Option<(OpId, i64)> {
    let known = view.graph.value(value);
    if let Def::Result { op, index } = known.def
        && found.ops.contains(&op)
    {
        return Some((op, -2 - index as i64));
    }
    let used = known.uses.iter().find(|used| found.ops.contains(&used.op))?;
    let operands = &view.graph.op(used.op).operands;
    let absent = operands.iter().take(used.operand).filter(|operand| operand.is_none()).count();
    let place = used.operand - absent;
    let is_operand = |op: &Op<'_>| place < crate::ir::operands(*op).len();
    view.ops.get(used.op.index()).filter(|op| is_operand(op)).map(|_| (used.op, place as i64))
}

/// The layouts of a call's inputs and outputs, in their order.
pub fn layouts(call: &BoundCall) -> String {
    let (mut ins, mut outs) = (vec![], vec![]);
    for argument in call.args.iter().chain(&call.arrays) {
        collect(argument, &mut ins, &mut outs);
    }
    json!({ "ins": ins, "outs": outs }).to_string()
}

fn collect(argument: &BoundArg, ins: &mut Vec<Value>, outs: &mut Vec<Value>) {
    match argument {
        BoundArg::In(Some(_), layout) => ins.push(described(layout.as_ref())),
        BoundArg::Const(..) => ins.push(Value::Null),
        BoundArg::Out(_, layout) | BoundArg::Over(_, _, layout) => {
            outs.push(described(layout.as_ref()))
        }
        BoundArg::Struct(_, fields) => {
            fields.iter().for_each(|(_, field)| collect(field, ins, outs))
        }
        _ => {}
    }
}

fn described(layout: Option<&BoundLayout>) -> Value {
    match layout {
        None => Value::Null,
        Some(BoundLayout::Flat) => json!({ "flat": true }),
        Some(BoundLayout::Given { layout, .. }) => {
            let mut about = described(Some(layout));
            about["flat"] = json!(true);
            about
        }
        Some(BoundLayout::Permuted(order)) => json!({ "order": order.permutation }),
        Some(BoundLayout::Blocked { parts, shape }) => {
            let parts: Vec<_> = parts
                .iter()
                .map(|(dim, block, inner)| json!({ "dimension": dim, "block": block, "inner": inner }))
                .collect();
            json!({ "blocks": parts, "shape": shape })
        }
    }
}
