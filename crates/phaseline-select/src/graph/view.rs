//! The dataflow graph that patterns match and partitioning divides: plain data, filled from IR.
//!
//! Constants are values, not operations: no region owns them, and each that uses one gets a copy.
//! Operations are added in an order in which definitions come before uses, so a view is acyclic
//! by construction, and an operation's index is also its place in the program.

use crate::{Error, Result, tensor::ElementType};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// An operation of a [`GraphView`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpId(pub u32);

/// A value of a [`GraphView`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ValueId(pub u32);

impl OpId {
    /// The place of the operation in the program.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ValueId {
    /// The place of the value among all values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Element type and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// Element type; `None` for what is no number.
    pub dtype: Option<ElementType>,
    /// Dimensions; `None` for one that is known at run time only.
    pub shape: Vec<Option<i64>>,
}

impl TensorType {
    /// A type with all dimensions known.
    pub fn new(dtype: impl Into<ElementType>, shape: &[i64]) -> Self {
        Self { dtype: Some(dtype.into()), shape: shape.iter().map(|dim| Some(*dim)).collect() }
    }

    /// Number of elements, if it is known and fits.
    pub fn elements(&self) -> Option<i64> {
        self.shape.iter().try_fold(1_i64, |product, dim| product.checked_mul((*dim)?))
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for dim in &self.shape {
            match dim {
                Some(dim) => write!(f, "{dim}x")?,
                None => f.write_str("?x")?,
            }
        }
        f.write_str(self.dtype.map_or("other", ElementType::mlir_name))
    }
}

/// Elements of a small constant, or the one element of a constant whose elements are all equal.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Elements of an integer or boolean constant.
    Ints(Vec<i64>),
    /// Elements of a float constant.
    Floats(Vec<f64>),
}

impl Payload {
    /// The value that all elements have, if there is one.
    pub fn uniform(&self) -> Option<f64> {
        let all_equal = |values: &[f64]| {
            let first = *values.first()?;
            values.iter().all(|value| value.to_bits() == first.to_bits()).then_some(first)
        };
        match self {
            Payload::Ints(values) => {
                let first = *values.first()?;
                values.iter().all(|value| *value == first).then_some(first as f64)
            }
            Payload::Floats(values) => all_equal(values),
        }
    }
}

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    /// An argument of the function.
    Argument(usize),
    /// A constant.
    Constant,
    /// A result of an operation.
    Result {
        /// The operation.
        op: OpId,
        /// Number of the result, from 0.
        index: usize,
    },
}

/// One use of a value as an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The operation that uses the value.
    pub op: OpId,
    /// Number of the operand, from 0.
    pub operand: usize,
}

/// A value: an argument, a constant or a result.
#[derive(Clone, Debug)]
pub struct Value {
    /// Element type and shape.
    pub ty: TensorType,
    /// Its origin.
    pub def: Def,
    /// Its uses, in program order.
    pub uses: Vec<Use>,
    /// True if the function returns it.
    pub returned: bool,
    /// The elements of a constant, when they are few or all equal.
    pub payload: Option<Payload>,
}

/// An attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrValue {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A text.
    Str(String),
    /// A boolean.
    Bool(bool),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of floats.
    Floats(Vec<f64>),
    /// An element type.
    Type(ElementType),
}

/// An operation.
#[derive(Clone, Debug, Default)]
pub struct Op {
    /// Name without dialect prefix: `conv`, `max_pool`.
    pub name: String,
    /// Operands in the order of the operation's declaration; `None` stands for an optional operand
    /// that is absent. Operands of a variadic group follow one another.
    pub operands: Vec<Option<ValueId>>,
    /// Results.
    pub results: Vec<ValueId>,
    /// Attributes, those at their default included.
    pub attrs: BTreeMap<String, AttrValue>,
    /// Name of the node in the model, or another place that a person recognises.
    pub location: String,
    /// Target that the user demands (an id, or `host`).
    pub placement: Option<String>,
    /// Pattern of that target that the user demands.
    pub pattern: Option<String>,
    /// True if it does more than compute its results; it then stays on the host, in order.
    pub side_effects: bool,
    /// True if the host has no code for it.
    pub device_only: bool,
}

/// Spells out the strides, dilations, pads and output padding of a window over `spatial`
/// dimensions that were left empty, which stands for ones and zeros.
pub fn spell_out_window(attrs: &mut BTreeMap<String, AttrValue>, spatial: usize) {
    let usual = [
        ("strides", 1, spatial),
        ("dilations", 1, spatial),
        ("pads", 0, 2 * spatial),
        ("output_padding", 0, spatial),
    ];
    for (name, value, count) in usual {
        if let Some(AttrValue::Ints(values)) = attrs.get_mut(name)
            && values.is_empty()
        {
            *values = vec![value; count];
        }
    }
}

/// Description of an operation for [`GraphView::add_op`].
#[derive(Clone, Debug, Default)]
pub struct OpSpec {
    /// See [`Op::name`].
    pub name: String,
    /// See [`Op::operands`].
    pub operands: Vec<Option<ValueId>>,
    /// Types of the results.
    pub results: Vec<TensorType>,
    /// See [`Op::attrs`].
    pub attrs: BTreeMap<String, AttrValue>,
    /// See [`Op::location`].
    pub location: String,
    /// See [`Op::placement`].
    pub placement: Option<String>,
    /// See [`Op::side_effects`].
    pub side_effects: bool,
    /// See [`Op::device_only`].
    pub device_only: bool,
}

/// The graph of one function.
#[derive(Clone, Debug, Default)]
pub struct GraphView {
    ops: Vec<Op>,
    values: Vec<Value>,
    outputs: Vec<ValueId>,
    arguments: usize,
}

impl GraphView {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    fn add_value(&mut self, ty: TensorType, def: Def, payload: Option<Payload>) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty, def, uses: vec![], returned: false, payload });
        id
    }

    /// Adds the next argument of the function.
    pub fn add_argument(&mut self, ty: TensorType) -> ValueId {
        self.arguments += 1;
        self.add_value(ty, Def::Argument(self.arguments - 1), None)
    }

    /// Adds a constant; `payload` is its elements when they are few, or one if all are equal.
    pub fn add_constant(&mut self, ty: TensorType, payload: Option<Payload>) -> ValueId {
        self.add_value(ty, Def::Constant, payload)
    }

    /// Adds an operation whose operands have been added before.
    pub fn add_op(&mut self, spec: OpSpec) -> Result<OpId> {
        let id = OpId(self.ops.len() as u32);
        if spec.operands.iter().flatten().any(|value| value.index() >= self.values.len()) {
            return Err(Error::internal(format!(
                "operation {} ({}) uses a value that is not in the graph yet",
                spec.name, spec.location
            )));
        }
        for (operand, value) in spec.operands.iter().enumerate() {
            if let Some(value) = value {
                self.values[value.index()].uses.push(Use { op: id, operand });
            }
        }
        let results = spec.results.into_iter().enumerate();
        let results = results
            .map(|(index, ty)| self.add_value(ty, Def::Result { op: id, index }, None))
            .collect();
        self.ops.push(Op {
            name: spec.name,
            operands: spec.operands,
            results,
            attrs: spec.attrs,
            location: spec.location,
            placement: spec.placement,
            pattern: None,
            side_effects: spec.side_effects,
            device_only: spec.device_only,
        });
        Ok(id)
    }

    /// Says which values the function returns.
    pub fn set_outputs(&mut self, outputs: Vec<ValueId>) -> Result<()> {
        if let Some(value) = outputs.iter().find(|value| value.index() >= self.values.len()) {
            return Err(Error::internal(format!("returned value {} is not in the graph", value.0)));
        }
        for value in &mut self.values {
            value.returned = false;
        }
        for output in &outputs {
            self.values[output.index()].returned = true;
        }
        self.outputs = outputs;
        Ok(())
    }

    /// Demands a target, and maybe one of its patterns, for an operation, or takes that back.
    pub fn set_placement(&mut self, op: OpId, target: Option<String>, pattern: Option<String>) {
        self.ops[op.index()].placement = target;
        self.ops[op.index()].pattern = pattern;
    }

    /// An operation. Ids are those that this graph gave out.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// A value. Ids are those that this graph gave out.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// Number of operations.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// Number of values.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// All operations in program order.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = (OpId, &Op)> {
        self.ops.iter().enumerate().map(|(index, op)| (OpId(index as u32), op))
    }

    /// The returned values.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// The operation that defines a value, and which of its results the value is.
    pub fn definer(&self, value: ValueId) -> Option<(OpId, usize)> {
        match self.value(value).def {
            Def::Result { op, index } => Some((op, index)),
            Def::Argument(_) | Def::Constant => None,
        }
    }

    /// True for constants.
    pub fn is_constant(&self, value: ValueId) -> bool {
        self.value(value).def == Def::Constant
    }

    /// Text for an operation in messages: its name, and its node's name in quotes, or else its
    /// number.
    pub fn describe(&self, op: OpId) -> String {
        let node = self.op(op);
        if node.location.is_empty() {
            format!("{} (operation {})", node.name, op.0)
        } else {
            format!("{} '{}'", node.name, node.location)
        }
    }

    /// For each operation, true if its results can reach an output or an effect.
    pub fn live_ops(&self) -> Vec<bool> {
        let mut live = vec![false; self.ops.len()];
        for (index, op) in self.ops.iter().enumerate().rev() {
            live[index] =
                op.side_effects
                    || op.results.iter().map(|result| self.value(*result)).any(|value| {
                        value.returned || value.uses.iter().any(|u| live[u.op.index()])
                    });
        }
        live
    }

    /// The values that flow into and out of a set of operations, which is sorted. Inputs are in
    /// order of first use, outputs in order of definition; neither has duplicates.
    pub fn boundary(&self, ops: &[OpId]) -> (Vec<ValueId>, Vec<ValueId>) {
        let inside = |op: OpId| ops.binary_search(&op).is_ok();
        let mut inputs = indexmap::IndexSet::new();
        let mut outputs = vec![];
        for op in ops.iter().map(|op| self.op(*op)) {
            for operand in op.operands.iter().flatten() {
                if !self.definer(*operand).is_some_and(|(op, _)| inside(op)) {
                    inputs.insert(*operand);
                }
            }
            outputs.extend(op.results.iter().copied().filter(|result| {
                let value = self.value(*result);
                value.returned || value.uses.iter().any(|u| !inside(u.op))
            }));
        }
        (inputs.into_iter().collect(), outputs)
    }
}
