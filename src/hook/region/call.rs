//! The call that a match becomes, and its tiles.

use super::{Constants, attribute};
use crate::{
    Error, Result,
    ir::{
        Attribute, Op, Val,
        attribute::number_type,
        call_extern::{CallExtern, Group, arg_of, is_null, struct_of},
        composite_call::CompositeCall,
        memref,
    },
    tile::{attribute::from_attribute, choose::Chooser, plan::Plan},
};
use serde_json::{Map, Value, json};

/// The numbers of what a call is given and makes.
pub struct Named {
    /// Operands of the composite.
    pub operands: Vec<Option<usize>>,
    /// Its results.
    pub results: Vec<Option<usize>>,
}

/// The arguments of a call as JSON.
struct Arguments<'a> {
    ins: Vec<Value>,
    outs: Vec<Value>,
    /// The value in the memory of each of `outs` before.
    over: Vec<Value>,
    scalars: Vec<Value>,
    layouts: &'a Value,
}

impl Arguments<'_> {
    fn argument(&self, argument: Attribute<'_>) -> Value {
        if let Some((group, index, by_offset)) = arg_of(argument) {
            let place = |list: &[Value]| list.get(index).cloned().unwrap_or_default();
            let (key, value, group) = match group {
                Group::Ins => ("input", place(&self.ins), "ins"),
                Group::Outs => ("output", place(&self.outs), "outs"),
                Group::Scalars => ("scalar", place(&self.scalars), "scalars"),
                Group::Scratch => ("scratch", json!(true), "scratch"),
            };
            let mut about = json!({ key: value });
            let layout = &self.layouts[group][index];
            if !layout.is_null() {
                about["layout"] = layout.clone();
            }
            if let Some(over) = self.over.get(index).filter(|it| key == "output" && !it.is_null()) {
                about["over"] = over.clone();
            }
            if by_offset {
                about["offset"] = json!(true);
            }
            return about;
        }
        if let Some((name, fields)) = struct_of(argument) {
            let fields = fields.into_iter().map(|(name, field)| (name, self.argument(field)));
            return json!({ "struct": name, "fields": fields.collect::<Map<_, _>>() });
        }
        if is_null(argument) {
            return json!({ "null": true });
        }
        if let Some(name) = memref::name(argument) {
            return json!({ "name": name });
        }
        let mut about = json!({ "value": attribute::value(argument) });
        if let Some(ty) = number_type(argument) {
            about["dtype"] = json!(super::dtype(ty));
        }
        about
    }
}

/// The call of a composite, and the tiles that its work is cut into.
pub fn of_composite(
    composite: Op<'_>,
    named: &Named,
    layouts: Value,
    constants: &mut Constants,
) -> Result<Option<(Value, Option<Value>)>> {
    let Some(call) = CompositeCall::of(composite).map_err(Error::internal)? else {
        return Ok(None);
    };
    let mut arrays = call.consts.iter();
    let mut ins = vec![];
    for place in &call.ins {
        ins.push(match usize::try_from(*place) {
            Ok(place) => json!(named.operands.get(place).copied().flatten()),
            Err(_) => {
                let array = arrays.next().map(|array| constants.add(*array)).transpose()?;
                json!({ "array": array })
            }
        });
    }
    let result = |place: &i64| {
        let place = usize::try_from(*place).ok();
        json!(place.and_then(|place| named.results.get(place).copied().flatten()))
    };
    let outs: Vec<_> = call.outs.iter().map(result).collect();
    let operand = |place: &i64| {
        let place = usize::try_from(*place).ok();
        json!(place.and_then(|place| named.operands.get(place).copied().flatten()))
    };
    let over = call.over.iter().map(operand).collect();
    let given = Arguments { ins, outs, over, scalars: vec![], layouts: &layouts };
    let arguments: Vec<_> = call.args.iter().map(|argument| given.argument(*argument)).collect();
    let mut about = json!({
        "function": call.callee,
        "device": call.with_device,
        "status": call.returns_status,
        "scratch-bytes": call.scratch_bytes,
        "arguments": arguments,
    });
    if let Some(prototype) = &call.prototype {
        about["prototype"] = json!(prototype);
    }
    let tile = call.tile.map(|tile| tiles(tile, call.outs.len())).transpose()?;
    Ok(Some((about, tile)))
}

/// The tiles that are chosen as things are, as `partition --json` has them, with the whole declaration.
fn tiles(tile: Attribute<'_>, outputs: usize) -> Result<Value> {
    let plan: Plan = from_attribute(tile).map_err(Error::internal)?;
    let fault = |error: serde_json::Error| Error::internal(error.to_string());
    let mut about = json!({ "plan": serde_json::to_value(&plan).map_err(fault)? });
    let chooser = Chooser::new(&plan, plan.reads(outputs), &[]).map_err(Error::internal)?;
    let account = chooser.decided().and_then(|choice| chooser.account(&choice));
    if let Some(account) = account {
        about["chosen"] = serde_json::to_value(&account).map_err(fault)?;
    }
    Ok(about)
}

/// A call in lowered IR.
pub fn of_call<'c>(call: &CallExtern<'c>, all: impl Fn(&[Val<'c>]) -> Vec<Option<usize>>) -> Value {
    let numbers = |group: usize| all(&call.groups[group]).into_iter().map(|id| json!(id)).collect();
    let layouts = Value::Null;
    let given = Arguments {
        scalars: numbers(0),
        ins: numbers(1),
        outs: numbers(2),
        over: vec![],
        layouts: &layouts,
    };
    let has = |name: &str| call.attributes.iter().any(|(other, _)| other == name);
    let arguments: Vec<_> = call.args.iter().map(|argument| given.argument(*argument)).collect();
    json!({
        "function": call.callee,
        "device": has("with_device"),
        "status": has("returns_status"),
        "arguments": arguments,
    })
}
