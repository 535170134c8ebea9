//! A function's graph as numbers: what each operation reads for a part of its result.

use super::access::{Access, accesses, uncut_axes};
use crate::ir::{self, Op, Val, constant::Elements, edit, graph, size, view};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// The operations of a block that compute, in order, and their values.
pub struct Network<'c> {
    /// Operations; those that make constants are none.
    pub steps: Vec<Step<'c>>,
    /// Arguments, constants and results.
    pub values: Vec<Value<'c>>,
}

/// An operation.
pub struct Step<'c> {
    /// The operation itself.
    pub op: Op<'c>,
    /// Its operands, each with its access.
    pub operands: Vec<(usize, Access)>,
    /// Its results.
    pub results: Vec<usize>,
    /// Axes of the result that it cannot be cut along; none for what cannot be cut at all.
    pub uncut: Option<Vec<usize>>,
    /// True if each element of the result depends only on those at the same place.
    pub pointwise: bool,
    /// Arithmetic operations, about.
    pub work: f64,
}

/// A tensor.
pub struct Value<'c> {
    /// The tensor itself.
    pub value: Val<'c>,
    /// Its dimensions.
    pub dims: Vec<i64>,
    /// Bytes.
    pub size: u64,
    /// Bytes in the arena: none for arguments, constants, and what the function returns.
    pub bytes: u64,
    /// True for a constant, and for values computed from constants only.
    pub constant: bool,
    /// The operation that it is a result of.
    pub maker: Option<usize>,
    /// The operations that read it, in order.
    pub users: Vec<usize>,
    /// True if the function returns it.
    pub returned: bool,
}

impl<'c> Network<'c> {
    /// Reads the body of a function; none if it has no body, or values that are no tensors of known size.
    pub fn of(function: Op<'c>) -> Option<Self> {
        let block = edit::entry_block(function)?;
        let mut network = Self { steps: vec![], values: vec![] };
        let mut places = HashMap::new();
        for argument in edit::arguments(block) {
            network.add(argument, &mut places, None)?;
        }
        for op in ir::ops(block) {
            if network.is_constant(op, &places) {
                for result in ir::results(op) {
                    let constant = network.add(result, &mut places, None)?;
                    network.values[constant].constant = true;
                }
            } else if ir::results(op).is_empty() {
                for value in ir::operands(op) {
                    let place = *places.get(&ir::id(value))?;
                    network.values[place].returned = true;
                    network.values[place].bytes = 0;
                }
            } else {
                network.step(op, &mut places)?;
            }
        }
        Some(network)
    }

    /// True for an operation with results whose operands, if any, are all constants.
    fn is_constant(&self, op: Op<'c>, places: &HashMap<ir::Id, usize>) -> bool {
        let known = |value: Val<'c>| {
            places.get(&ir::id(value)).is_some_and(|place| self.values[*place].constant)
        };
        !ir::results(op).is_empty() && ir::operands(op).into_iter().all(known)
    }

    fn add(
        &mut self,
        value: Val<'c>,
        places: &mut HashMap<ir::Id, usize>,
        maker: Option<usize>,
    ) -> Option<usize> {
        let place = self.values.len();
        let dims = ir::static_dims(value.r#type())?;
        let size = size::bytes(value.r#type())?;
        self.values.push(Value {
            value,
            dims,
            size,
            bytes: if maker.is_some() { size } else { 0 },
            constant: false,
            maker,
            users: vec![],
            returned: false,
        });
        places.insert(ir::id(value), place);
        Some(place)
    }

    fn step(&mut self, op: Op<'c>, places: &mut HashMap<ir::Id, usize>) -> Option<()> {
        let at = self.steps.len();
        let operands: Vec<usize> = ir::operands(op)
            .into_iter()
            .map(|v| places.get(&ir::id(v)).copied())
            .collect::<Option<_>>()?;
        for value in &operands {
            let users = &mut self.values[*value].users;
            if users.last() != Some(&at) {
                users.push(at);
            }
        }
        let results: Vec<usize> = ir::results(op)
            .into_iter()
            .map(|value| self.add(value, places, Some(at)))
            .collect::<Option<_>>()?;
        let cut = accesses(op).filter(|_| results.len() == 1);
        let uncut = cut.as_ref().and_then(|_| uncut_axes(op));
        let cut = cut.unwrap_or_else(|| vec![Access::Whole; operands.len()]);
        self.steps.push(Step {
            op,
            operands: operands.into_iter().zip(cut).collect(),
            results,
            uncut,
            pointwise: is_pointwise(op),
            work: work(op),
        });
        Some(())
    }
}

/// True for an elementwise operation, which is fused with its neighbours.
fn is_pointwise(op: Op<'_>) -> bool {
    let others = [
        graph::QuantizeLinear::NAME,
        graph::DequantizeLinear::NAME,
        graph::Lookup::NAME,
        graph::BatchNorm::NAME,
    ];
    view::is_elementwise(op) || others.contains(&ir::op_name(op))
}

/// About how many arithmetic operations an operation takes.
fn work(op: Op<'_>) -> f64 {
    let elements = |ty| ir::dims(ty).iter().map(|dim| *dim as f64).product::<f64>();
    let result = ir::results(op).first().map_or(0.0, |result| elements(result.r#type()));
    let of_window = || {
        let info = view::info(op)?;
        if let Some(weights) = info.weights.and_then(|name| info.operand(name)) {
            let ty = ir::operands(op).get(weights)?.r#type();
            let filters = *ir::dims(ty).first()? as f64;
            return Some(2.0 * elements(ty) / filters.max(1.0));
        }
        let window = ir::attr_i64s(op, "kernel_shape")?;
        Some(window.iter().map(|size| *size as f64).product())
    };
    result * of_window().unwrap_or(1.0)
}

/// The numbers of a small constant.
pub fn ints(value: Val<'_>) -> Option<Vec<i64>> {
    Some(Elements::of_value(value)?.ints())
}
