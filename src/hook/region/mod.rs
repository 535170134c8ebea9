//! A function as hooks of protocol 2 are told of it: values, operations and matches as JSON.
//!
//! Composites are opened: their operations are the function's, each with the number of its match. Values have
//! numbers; what they are is said once, in `values`.

mod attribute;
mod call;
mod files;
mod memory;
mod quantization;

pub use files::{Constants, npy};
pub use memory::{device_memory, own_pools};

use crate::{
    Error, Result,
    ir::{
        self, Blk, Id, Op, Type, Val,
        call_extern::CallExtern,
        edit, func, graph,
        names::{self, CAPTURES, LAYOUTS, PATTERN, TARGET},
        print::node_name,
        view::{self, Arity, AttrKind, OpView},
    },
    targets::TargetInstance,
    tensor::ElementType,
};
use melior::ir::{RegionLike, ValueLike, block::BlockLike, operation::OperationLike};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// A function as JSON. Its constants become files.
pub fn describe(
    function: Op<'_>,
    target: &TargetInstance,
    constants: &mut Constants,
) -> Result<Value> {
    let block = edit::entry_block(function)
        .ok_or_else(|| Error::internal("a hook is asked about a function without a body"))?;
    let mut reader = Reader {
        target,
        constants,
        values: vec![],
        ids: HashMap::new(),
        operations: HashMap::new(),
        matches: vec![],
        small: HashMap::new(),
    };
    let signature = func::Signature::of(function)?;
    let mut inputs = vec![];
    for (argument, (_, attributes)) in edit::arguments(block).into_iter().zip(&signature.arguments)
    {
        let id = reader.add(argument, "input");
        for (name, attribute) in attributes {
            let known = [(names::NAME, "name"), (names::IO, "role"), (names::MEMORY, "memory")];
            if reader.constants.has_files()
                && let Some((_, key)) = known.into_iter().find(|(known, _)| known == name)
            {
                reader.values[id].insert(key.to_owned(), attribute::value(*attribute));
            }
        }
        inputs.push(id);
    }
    let (operations, outputs) = reader.block(block, None)?;
    let mut region = json!({
        "inputs": inputs,
        "outputs": outputs,
        "operations": operations,
        "matches": reader.matches,
    });
    if reader.constants.has_files() {
        quantization::describe(function, &mut reader);
    }
    region["values"] = json!(reader.values);
    Ok(region)
}

/// An element type by the name that patterns have for it.
fn dtype(ty: Type<'_>) -> String {
    let name = ir::element_type(ty).to_string();
    ElementType::from_mlir_name(&name).map_or(name, pattern_name)
}

/// An element type by the name that patterns have for it.
fn pattern_name(ty: ElementType) -> String {
    match ty {
        ElementType::BOOL => "bool".to_owned(),
        // Unsigned ones are ui8 in MLIR.
        ty => ty.mlir_name().replacen("ui", "u", 1),
    }
}

/// A type: a tensor or buffer with its dimensions, of which those are null that are not known; a number; or text.
fn type_json(ty: Type<'_>) -> Value {
    let dims = || -> Vec<Option<i64>> {
        ir::dims(ty).into_iter().map(|dim| (dim >= 0).then_some(dim)).collect()
    };
    if ir::is_tensor(ty) {
        return json!({ "dtype": dtype(ty), "shape": dims() });
    }
    if ir::is_memref(ty) {
        return json!({ "dtype": dtype(ty), "shape": dims(), "buffer": ty.to_string() });
    }
    if ir::integer_width(ty).is_some() || ir::is_float(ty) {
        return json!({ "dtype": dtype(ty) });
    }
    json!({ "other": ty.to_string() })
}

struct Reader<'a> {
    target: &'a TargetInstance,
    constants: &'a mut Constants,
    /// All values, by number.
    values: Vec<Map<String, Value>>,
    ids: HashMap<Id, usize>,
    /// Numbers of operations.
    operations: HashMap<Id, usize>,
    matches: Vec<Value>,
    /// Elements of small constants, by the number of the value.
    small: HashMap<usize, Vec<Value>>,
}

/// The operations of a match, as they are found.
#[derive(Default)]
struct Found {
    operations: Vec<usize>,
    captures: BTreeMap<String, Value>,
}

impl Reader<'_> {
    /// A new value.
    fn add<'c>(&mut self, value: Val<'c>, from: &str) -> usize {
        let id = self.values.len();
        let mut about = Map::new();
        about.insert("id".to_owned(), json!(id));
        about.insert("type".to_owned(), type_json(value.r#type()));
        about.insert("from".to_owned(), json!(from));
        self.values.push(about);
        self.ids.insert(ir::id(value), id);
        id
    }

    fn known<'c>(&self, value: Val<'c>) -> Option<usize> {
        self.ids.get(&ir::id(value)).copied()
    }

    /// The numbers of values that are known.
    fn all<'c>(&self, values: &[Val<'c>]) -> Vec<Option<usize>> {
        values.iter().map(|value| self.known(*value)).collect()
    }

    /// The operations of a block, and what its terminator gives.
    fn block<'c>(
        &mut self,
        block: Blk<'c>,
        of: Option<(usize, &mut Found)>,
    ) -> Result<(Vec<Value>, Vec<Option<usize>>)> {
        let ops = ir::ops(block);
        // The last one is the terminator.
        let (body, end) = match ops.split_last() {
            Some((end, body)) => (body, ir::operands(*end)),
            None => (ops.as_slice(), vec![]),
        };
        let mut made = vec![];
        let (number, mut found) = match of {
            Some((number, found)) => (Some(number), Some(found)),
            None => (None, None),
        };
        for op in body.iter().copied() {
            if self.constant(op)? {
                continue;
            }
            if graph::Composite::is(op) {
                made.extend(self.composite(op, number)?);
                continue;
            }
            let id = self.operations.len();
            self.operations.insert(ir::id(op), id);
            made.push(self.operation(op, id, number)?);
            if let Some(found) = found.as_deref_mut() {
                found.operations.push(id);
                self.captures(op, id, found);
            }
        }
        Ok((made, self.all(&end)))
    }

    /// Takes an operation as a constant, if it is one with data.
    fn constant<'c>(&mut self, op: Op<'c>) -> Result<bool> {
        let is_constant = matches!(ir::op_name(op), "arith.constant" | graph::Constant::NAME);
        let Some(attribute) = is_constant.then(|| op.attribute("value").ok()).flatten() else {
            return Ok(false);
        };
        let result = ir::result0(op)?;
        let id = self.add(result, "constant");
        let about = match self.constants.add(attribute)? {
            Some(file) => file,
            None => json!({ "value": attribute::value(attribute) }),
        };
        self.values[id].insert("constant".to_owned(), about);
        if let Some(elements) = attribute::small(attribute) {
            self.small.insert(id, elements);
        }
        self.name(id, op);
        Ok(true)
    }

    fn name<'c>(&mut self, id: usize, op: Op<'c>) {
        let name = node_name(op);
        if !name.is_empty() && self.constants.has_files() {
            self.values[id].insert("name".to_owned(), json!(name));
        }
    }

    /// The operations of a composite.
    fn composite<'c>(&mut self, op: Op<'c>, parent: Option<usize>) -> Result<Vec<Value>> {
        let body = edit::entry_block(op)
            .ok_or_else(|| Error::internal("a composite without decomposition"))?;
        let operands = ir::operands(op);
        for (argument, operand) in edit::arguments(body).into_iter().zip(&operands) {
            if let Some(id) = self.known(*operand) {
                self.ids.insert(ir::id(argument), id);
            }
        }
        let number = self.matches.len();
        self.matches.push(Value::Null);
        let mut found = Found::default();
        let (made, outputs) = self.block(body, Some((number, &mut found)))?;
        for (result, output) in ir::results(op).into_iter().zip(&outputs) {
            if let Some(id) = output {
                self.ids.insert(ir::id(result), *id);
            }
        }
        let name = ir::attr_str(op, "name").unwrap_or_default();
        let pattern = name.split_once('.').map_or(name.as_str(), |(_, pattern)| pattern);
        let mut about = json!({
            "id": number,
            "pattern": pattern,
            "operations": found.operations,
            "captures": found.captures,
            "inputs": self.all(&operands),
            "outputs": outputs,
        });
        if let Some(parent) = parent {
            about["parent"] = json!(parent);
        }
        if let Some(lower) = ir::attr_str(op, "lower") {
            about["lower"] = json!(lower);
        }
        let layouts = ir::attr_str(op, LAYOUTS);
        let layouts = layouts.and_then(|text| serde_json::from_str(&text).ok());
        let named = call::Named { operands: self.all(&operands), results: outputs };
        if let Some((call, tile)) =
            call::of_composite(op, &named, layouts.unwrap_or_default(), self.constants)?
        {
            about["call"] = call;
            if let Some(tile) = tile {
                about["tile"] = tile;
            }
        }
        self.matches[number] = about;
        Ok(made)
    }

    /// Adds the names that the pattern has for an operation and its values.
    fn captures<'c>(&self, op: Op<'c>, id: usize, found: &mut Found) {
        let names = op.attribute(CAPTURES).map(edit::dictionary).unwrap_or_default();
        for (name, place) in names {
            let value = match ir::attribute::int(place).unwrap_or(-1) {
                -1 => None,
                place if place >= 0 => ir::operands(op).get(place as usize).copied(),
                place => ir::results(op).get((-2 - place) as usize).copied(),
            };
            let about = match value {
                None => json!({ "operation": id }),
                Some(value) => {
                    let made = edit::defining_op(value);
                    let made = made.and_then(|op| self.operations.get(&ir::id(op)));
                    let made = made.filter(|made| found.operations.contains(made));
                    match (self.known(value), made) {
                        (Some(value), Some(op)) => json!({ "value": value, "operation": op }),
                        (Some(value), None) => json!({ "value": value }),
                        (None, _) => continue,
                    }
                }
            };
            found.captures.insert(name, about);
        }
    }

    fn operation<'c>(&mut self, op: Op<'c>, id: usize, number: Option<usize>) -> Result<Value> {
        let (name, operands, attributes) = match graph::Custom::of(op) {
            Some(custom) => self.custom(custom),
            None => {
                let name = ir::op_name(op);
                let name = name.strip_prefix("graph.").unwrap_or(name).to_owned();
                (name, self.operands(op), self.attributes(op))
            }
        };
        let results = ir::results(op);
        let made: Vec<_> = results.iter().map(|value| self.add(*value, "operation")).collect();
        for value in &made {
            self.values[*value].insert("operation".to_owned(), json!(id));
        }
        let mut about = json!({
            "id": id,
            "name": name,
            "operands": operands,
            "results": made,
            "attributes": attributes,
            "match": number,
        });
        let node = node_name(op);
        if !node.is_empty() && self.constants.has_files() {
            about["node"] = json!(node);
        }
        if let Some(parts) = CallExtern::of(op) {
            about["call"] = call::of_call(&parts, |values| self.all(values));
        }
        let mut regions = vec![];
        for region in op.regions() {
            let mut block = region.first_block();
            while let Some(current) = block {
                let arguments: Vec<_> = edit::arguments(current)
                    .into_iter()
                    .map(|argument| self.add(argument, "block"))
                    .collect();
                let (operations, results) = self.block(current, None)?;
                regions.push(json!({
                    "arguments": arguments,
                    "operations": operations,
                    "results": results,
                }));
                block = current.next_in_region();
            }
        }
        if !regions.is_empty() {
            about["regions"] = json!(regions);
        }
        Ok(about)
    }

    /// The operands by the names of the declaration; by number where there is none.
    fn operands<'c>(&self, op: Op<'c>) -> Map<String, Value> {
        let values = ir::operands(op);
        let Some(info) = view::info(op).filter(|info| view::fits(op, info)) else {
            let all = self.all(&values).into_iter().enumerate();
            return all.map(|(place, id)| (place.to_string(), json!(id))).collect();
        };
        let named = info.operands.iter().enumerate().map(|(index, operand)| {
            let range = view::operand_range(op, info, index);
            let ids = self.all(values.get(range).unwrap_or_default());
            let value = match operand.arity {
                Arity::Variadic => json!(ids),
                Arity::One | Arity::Optional => json!(ids.first().copied().flatten()),
            };
            (operand.name.to_owned(), value)
        });
        named.collect()
    }

    /// The attributes, those at their default included.
    fn attributes<'c>(&self, op: Op<'c>) -> Map<String, Value> {
        let mut found = Map::new();
        let info = view::info(op);
        for declared in info.into_iter().flat_map(|info| info.attributes) {
            if let Some(value) = declared.default.and_then(|text| serde_json::from_str(text).ok()) {
                found.insert(declared.name.to_owned(), value);
            } else if declared.kind == AttrKind::Bool {
                found.insert(declared.name.to_owned(), json!(false));
            }
        }
        for (name, value) in op.attributes() {
            let name = name.as_string_ref().as_str().unwrap_or_default().to_owned();
            let ours = [CAPTURES, TARGET, PATTERN, "operandSegmentSizes"];
            if !ours.contains(&name.as_str()) {
                found.insert(name, attribute::value(value));
            }
        }
        spell_out_window(op, &mut found);
        found
    }

    /// A vendor's operator, as the target declares it.
    fn custom<'c>(
        &self,
        op: graph::Custom<'c>,
    ) -> (String, Map<String, Value>, Map<String, Value>) {
        let (domain, name) = (op.domain(), op.name());
        let mut declared = self.target.kind.operators.iter();
        let declared = declared.find(|known| known.domain == domain && known.name == name);
        let word = declared.map_or_else(|| name.to_owned(), |known| known.word.clone());
        let values = ir::operands(op.op());
        let groups: Vec<usize> = match &op.groups()[..] {
            [] => vec![1; values.len()],
            sizes => sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect(),
        };
        let (mut operands, mut rest) = (Map::new(), self.all(&values).into_iter());
        for (index, size) in groups.into_iter().enumerate() {
            let ids: Vec<_> = rest.by_ref().take(size).collect();
            let known = declared.and_then(|known| known.decl.operands.get(index));
            let key = known.map_or_else(|| index.to_string(), |operand| operand.name.to_string());
            let value = match known.map(|operand| operand.arity) {
                Some(Arity::Variadic) => json!(ids),
                _ => json!(ids.first().copied().flatten()),
            };
            operands.insert(key, value);
        }
        let given = op.parameters().map(edit::dictionary).unwrap_or_default();
        let attributes = given.into_iter().map(|(name, value)| (name, attribute::value(value)));
        (word, operands, attributes.collect())
    }
}

/// Spells out what an empty list stands for at operations on windows.
fn spell_out_window(op: Op<'_>, attributes: &mut Map<String, Value>) {
    let image = view::info(op).and_then(|info| info.operand(info.image?));
    let image = image.and_then(|place| op.operand(place).ok());
    let Some(spatial) = image.and_then(|image| ir::dims(image.r#type()).len().checked_sub(2))
    else {
        return;
    };
    for (name, value, count) in [
        ("strides", 1, spatial),
        ("dilations", 1, spatial),
        ("pads", 0, 2 * spatial),
        ("output_padding", 0, spatial),
    ] {
        if let Some(list) = attributes.get_mut(name).filter(|list| **list == json!([])) {
            *list = json!(vec![value; count]);
        }
    }
}
