//! Graphs as text, for tests.
//!
//! ```text
//! x = arg 1x3x8x8xf32
//! w = const 4x3x3x3xf32
//! half = const 1xf32 [0.5]
//! y = conv(x, w, _) {strides = [1, 1], group = 1} : 1x4x6x6xf32 @ target
//! return y
//! ```
//! Names of values are also the locations of operations; several results are `a, b = split(x)`.

use super::{AttrValue, Flops, GraphView, OpSpec, OpTable, OpTraits, Payload, TensorType, ValueId};
use crate::expr::{Expr, element_of};
use std::collections::{BTreeMap, HashMap};

/// The numbers of arithmetic operations that the tests' operations take, by operation.
const FLOPS: [(&str, &str); 6] = [
    ("average_pool", "self.y.size * prod(self.kernel_shape)"),
    ("conv", "2 * self.y.size * self.w.size / self.w.shape[0]"),
    ("conv_transpose", "2 * self.x.size * self.w.size / self.w.shape[0]"),
    ("gemm", "2 * self.y.size * self.a.shape[select(self.trans_a, 0, 1)]"),
    ("matmul", "2 * self.y.size * self.a.shape[self.a.rank - 1]"),
    ("max_pool", "self.y.size * prod(self.kernel_shape)"),
];

/// Facts of the tests' operations that costs go by.
fn traits(name: &str) -> OpTraits {
    const ELEMENTWISE: [&str; 10] =
        ["add", "mul", "sub", "div", "erf", "relu", "tanh", "sigmoid", "clip", "cast"];
    const DEAR: [&str; 4] = ["erf", "tanh", "sigmoid", "softmax"];
    OpTraits {
        elementwise: ELEMENTWISE.contains(&name),
        view: name == "reshape",
        cost: if DEAR.contains(&name) { 15 } else { 1 },
    }
}

/// The operations of the tests, as in the graph dialect.
pub fn test_table() -> OpTable {
    let mut table = OpTable::parse(
        "conv(x, w, b?) -> y {strides: ints, pads: ints, dilations: ints, group: int}
         conv_transpose(x, w, b?) -> y {strides: ints, pads: ints, dilations: ints, group: int}
         gemm(a, b, c?) -> y {alpha: float, beta: float, trans_a: bool, trans_b: bool}
         matmul(a, b) -> y
         add(a, b) commutative -> y
         mul(a, b) commutative -> y
         sub(a, b) -> y
         div(a, b) -> y
         erf(x) -> y
         relu(x) -> y
         tanh(x) -> y
         sigmoid(x) -> y
         softmax(x) -> y {axis: int}
         clip(x, min?, max?) -> y
         reshape(x, shape) -> y {allowzero: bool}
         concat(inputs...) -> y {axis: int}
         split(x) -> outputs... {axis: int, split: ints}
         max_pool(x) -> y {kernel_shape: ints, strides: ints, pads: ints, ceil_mode: bool}
         average_pool(x) -> y {kernel_shape: ints, strides: ints, pads: ints, ceil_mode: bool}
         top_k(x, k) -> values, indices {axis: int}
         cast(x) -> y {to: type}
         print(x) -> y",
    )
    .expect("the table is right");
    for mut op in table.clone().iter().cloned() {
        let flops = FLOPS.iter().find(|(name, _)| *name == op.name);
        op.flops = flops.map(|(_, text)| Flops::new(Expr::parse(text).expect("is right")));
        op.traits = traits(&op.name);
        table.insert(op);
    }
    table
}

/// Reads a graph; names give access to its values.
pub fn graph(text: &str) -> (GraphView, HashMap<String, ValueId>) {
    let mut view = GraphView::new();
    let mut names: HashMap<String, ValueId> = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(outputs) = line.strip_prefix("return") {
            let outputs = outputs.split(',').map(str::trim).filter(|name| !name.is_empty());
            view.set_outputs(outputs.map(|name| names[name]).collect()).expect("known");
            continue;
        }
        let (left, right) = line.split_once(" = ").expect("a definition");
        let left: Vec<&str> = left.split(',').map(str::trim).collect();
        let mut words = right.split_whitespace();
        match words.next().expect("a definition") {
            "arg" => {
                let ty = tensor(words.next().expect("a type"));
                names.insert(left[0].to_owned(), view.add_argument(ty));
            }
            "const" => {
                let ty = tensor(words.next().expect("a type"));
                let payload = right.split_once('[').map(|(_, list)| {
                    let list = list.trim_end_matches(']').split(',');
                    let numbers = list.map(|item| item.trim().parse().expect("a number"));
                    Payload::Floats(numbers.collect())
                });
                names.insert(left[0].to_owned(), view.add_constant(ty, payload));
            }
            _ => op(&mut view, &mut names, &left, right),
        }
    }
    (view, names)
}

fn op(view: &mut GraphView, names: &mut HashMap<String, ValueId>, left: &[&str], right: &str) {
    let (right, placement) = match right.split_once(" @ ") {
        Some((right, target)) => (right, Some(target.trim().to_owned())),
        None => (right, None),
    };
    let (right, types) = match right.rsplit_once(" : ") {
        Some((right, types)) => (right, types.split(',').map(|ty| tensor(ty.trim())).collect()),
        None => (right, vec![TensorType::new(crate::tensor::DType::F32, &[4]); left.len()]),
    };
    let (name, rest) = right.split_once('(').expect("operands");
    let (operands, attrs) = rest.split_once(')').expect("operands");
    let operands = operands.split(',').map(str::trim).filter(|operand| !operand.is_empty());
    let spec = OpSpec {
        name: name.trim().to_owned(),
        operands: operands.map(|o| (o != "_").then(|| names[o])).collect(),
        results: types,
        attrs: attributes(attrs),
        location: left[0].to_owned(),
        placement,
        side_effects: name.trim() == "print",
        device_only: false,
    };
    let id = view.add_op(spec).expect("operands are known");
    for (name, value) in left.iter().zip(view.op(id).results.clone()) {
        names.insert((*name).to_owned(), value);
    }
}

fn attributes(text: &str) -> BTreeMap<String, AttrValue> {
    let mut attrs = BTreeMap::new();
    let mut rest = text.trim().trim_matches(['{', '}']).trim();
    while let Some((name, value)) = rest.split_once('=') {
        let value = value.trim_start();
        let (value, tail) = match value.strip_prefix('[') {
            Some(list) => {
                let (list, tail) = list.split_once(']').expect("the end of a list");
                let items = list.split(',').filter(|item| !item.trim().is_empty());
                let ints = items.map(|item| item.trim().parse().expect("an integer"));
                (AttrValue::Ints(ints.collect()), tail)
            }
            None => {
                let (word, tail) = value.split_once(',').unwrap_or((value, ""));
                (scalar(word.trim()), tail)
            }
        };
        attrs.insert(name.trim().to_owned(), value);
        rest = tail.trim_start_matches([',', ' ']);
    }
    attrs
}

fn scalar(word: &str) -> AttrValue {
    if let Ok(value) = word.parse() {
        AttrValue::Int(value)
    } else if let Ok(value) = word.parse() {
        AttrValue::Float(value)
    } else if let Ok(value) = word.parse() {
        AttrValue::Bool(value)
    } else if let Some(dtype) = element_of(word) {
        AttrValue::Type(dtype)
    } else {
        AttrValue::Str(word.to_owned())
    }
}

fn tensor(text: &str) -> TensorType {
    let (dims, dtype) = text.rsplit_once('x').unwrap_or(("", text));
    let dims = dims.split('x').filter(|dim| !dim.is_empty());
    TensorType { dtype: element_of(dtype), shape: dims.map(|dim| dim.parse().ok()).collect() }
}
