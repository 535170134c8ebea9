//! Loops over padded tensors that leave the padding out.
//!
//! A convolution or pool with padding is a `linalg.generic` over a `tensor.pad`, which would be a
//! padded copy of its input. Where the padding does not change what is accumulated, loops over the
//! input itself do the same: each starts and ends where the input does. The order of additions stays
//! as it was.

use super::{
    generic::{Aff, loop_index_of},
    loops::{Bounds, count_between, insert},
    neutral::{is_neutral, number_of},
};
use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val, edit},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// A tensor inside of its padding.
struct Inside<'c> {
    /// The tensor that is padded.
    source: Val<'c>,
    /// Elements before it in each dimension of the operand.
    low: Vec<i64>,
    /// Its own elements in each dimension of the operand.
    sizes: Vec<i64>,
    /// Value of the padding.
    number: f64,
    /// The operations between the padding and its user, the last one first.
    ops: Vec<Op<'c>>,
}

/// The loop `at` is to stay where `low <= sum of all terms < high`.
struct Limit {
    at: usize,
    factor: i64,
    rest: Aff,
    low: i64,
    high: i64,
}

/// The loops of a `linalg.generic` whose operands are known.
struct Loops<'c> {
    op: Op<'c>,
    inputs: usize,
    maps: Vec<Vec<Aff>>,
    extents: Vec<i64>,
    operands: Vec<Val<'c>>,
    inside: Vec<Option<Inside<'c>>>,
    limits: Vec<Limit>,
}

/// Replaces a `linalg.generic` that reads padded tensors by loops over what is in the padding;
/// false if it reads none, or if the padding takes part in its results.
pub fn skip(op: Op<'_>) -> Result<bool> {
    let Some(loops) = Loops::of(op) else { return Ok(false) };
    let b = Builder::before(op)?;
    let outs = loops.operands[loops.inputs..].to_vec();
    let sources = loops.sources(&b)?;
    let results = loops.nest(&b, vec![], &sources, &outs)?;
    for (old, new) in ir::results(op).into_iter().zip(results) {
        edit::replace_uses(old, new);
    }
    edit::erase(op);
    for inside in loops.inside.into_iter().flatten() {
        for op in inside.ops {
            if !ir::has_uses(ir::result0(op)?, 1) {
                edit::erase(op);
            }
        }
    }
    Ok(true)
}

impl<'c> Loops<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let operands = ir::operands(op);
        let inputs = operands.len().checked_sub(op.result_count())?;
        let maps = op.attribute("indexing_maps").map(edit::array).ok()?;
        let maps: Vec<_> = maps.into_iter().map(Aff::of_map).collect::<Option<_>>()?;
        let body = edit::entry_block(op)?;
        if op.result_count() == 0 || ir::ops(body).iter().any(|op| op.regions().next().is_some()) {
            return None;
        }
        let mut inside = vec![];
        for (index, operand) in operands.iter().enumerate() {
            let found = if index < inputs { Inside::of(*operand) } else { None };
            inside.push(found.filter(|found| is_neutral(op, inputs, index, found.number)));
        }
        if inside.iter().all(Option::is_none) {
            return None;
        }
        let extents = extents(op, &operands, &maps)?;
        let mut loops = Self { op, inputs, maps, extents, operands, inside, limits: vec![] };
        for index in 0..inputs {
            loops.limits.extend(loops.limits_of(index)?);
        }
        Some(loops)
    }

    /// Limits that keep the loops inside of operand `index`; none if they are not known.
    fn limits_of(&self, index: usize) -> Option<Vec<Limit>> {
        let Some(inside) = &self.inside[index] else { return Some(vec![]) };
        let whole = ir::dims(self.operands[index].r#type());
        let mut limits = vec![];
        for (dim, position) in self.maps[index].iter().enumerate() {
            let (low, high) = (inside.low[dim], inside.low[dim] + inside.sizes[dim]);
            if low == 0 && high == whole[dim] {
                continue;
            }
            let (at, factor, rest) = position.split_last()?;
            if factor <= 0 {
                return None;
            }
            limits.push(Limit { at, factor, rest, low, high });
        }
        Some(limits)
    }

    /// Tensors that are read in place of the operands.
    fn sources(&self, b: &Builder<'c>) -> Result<Vec<Val<'c>>> {
        self.operands
            .iter()
            .zip(&self.inside)
            .map(|(operand, inside)| match inside {
                Some(inside) => inside.reshaped(b, *operand),
                None => Ok(*operand),
            })
            .collect()
    }

    /// The loops from number `indices.len()` on, which carry the results along.
    fn nest(
        &self,
        b: &Builder<'c>,
        indices: Vec<Val<'c>>,
        sources: &[Val<'c>],
        state: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let at = indices.len();
        let Some(extent) = self.extents.get(at) else {
            return self.body(b, &indices, sources, state);
        };
        let mut bounds = Bounds { from: b.index(0)?, to: b.index(*extent)? };
        for limit in self.limits.iter().filter(|limit| limit.at == at) {
            bounds = limit.narrow(b, bounds, &indices)?;
        }
        count_between(b, bounds, state, |b, index, state| {
            let indices = indices.iter().copied().chain([index]).collect();
            self.nest(b, indices, sources, state)
        })
    }

    /// The body for one element of each operand.
    fn body(
        &self,
        b: &Builder<'c>,
        indices: &[Val<'c>],
        sources: &[Val<'c>],
        state: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let missing = || crate::Error::internal("a linalg.generic without a body");
        let block = edit::entry_block(self.op).ok_or_else(missing)?;
        let mut values: HashMap<ir::Id, Val<'c>> = HashMap::new();
        let mut places = vec![];
        for (operand, argument) in edit::arguments(block).into_iter().enumerate() {
            let low = self.inside[operand].as_ref().map(|inside| &inside.low);
            let place = |(dim, position): (usize, &Aff)| {
                let low = low.map_or(0, |low| low[dim]);
                (position.clone() - low).value(b, indices)
            };
            let is_out = operand >= self.inputs;
            if !is_out && !ir::has_uses(argument, 1) {
                continue;
            }
            let at: Vec<_> =
                self.maps[operand].iter().enumerate().map(place).collect::<Result<_>>()?;
            let from = match operand.checked_sub(self.inputs) {
                Some(out) => state[out],
                None => sources[operand],
            };
            let mut operands = vec![from];
            operands.extend(&at);
            let element = ir::element_type(from.r#type());
            values.insert(ir::id(argument), b.op1("tensor.extract", &operands, element)?);
            if is_out {
                places.push(at);
            }
        }
        let known = |values: &HashMap<ir::Id, Val<'c>>, value: Val<'c>| {
            values.get(&ir::id(value)).copied().unwrap_or(value)
        };
        let mut yielded = vec![];
        for op in ir::ops(block) {
            match ir::op_name(op) {
                "linalg.yield" => yielded = ir::operands(op),
                "linalg.index" => {
                    let index = loop_index_of(op).and_then(|dim| indices.get(dim).copied());
                    values.insert(ir::id(ir::result0(op)?), index.ok_or_else(missing)?);
                }
                _ => {
                    let copy = b.insert_clone(op);
                    for (index, operand) in ir::operands(op).into_iter().enumerate() {
                        edit::set_operand(copy, index, known(&values, operand))?;
                    }
                    let pairs = ir::results(op).into_iter().zip(ir::results(copy));
                    values.extend(pairs.map(|(old, new)| (ir::id(old), new)));
                }
            }
        }
        let results = yielded.into_iter().zip(state.iter().zip(&places));
        results.map(|(new, (old, at))| insert(b, known(&values, new), *old, at)).collect()
    }
}

impl Limit {
    /// The bounds of the loop as far as it stays inside: from the first `i` with
    /// `rest + factor * i >= low` up to the first with `rest + factor * i >= high`.
    fn narrow<'c>(
        &self,
        b: &Builder<'c>,
        bounds: Bounds<'c>,
        indices: &[Val<'c>],
    ) -> Result<Bounds<'c>> {
        let zero = b.index(0)?;
        let first = |position: i64| {
            // No farther than there, counted from 0 on, and rounded up.
            let distance = (self.rest.clone() * -1 - -position).value(b, indices)?;
            let distance = b.binary("arith.maxsi", distance, zero)?;
            if self.factor == 1 {
                return Ok::<_, crate::Error>(distance);
            }
            let up = b.binary("arith.addi", distance, b.index(self.factor - 1)?)?;
            b.binary("arith.divui", up, b.index(self.factor)?)
        };
        let from = first(self.low)?;
        Ok(Bounds {
            from: match number_of(bounds.from) {
                // It is at least 0 already.
                Some(0.0) => from,
                _ => b.binary("arith.maxsi", bounds.from, from)?,
            },
            to: b.binary("arith.minsi", bounds.to, first(self.high)?)?,
        })
    }
}

impl<'c> Inside<'c> {
    /// The tensor inside of the padding, if `value` is a padded tensor of static shape, maybe with
    /// dimensions of its own for groups.
    fn of(value: Val<'c>) -> Option<Self> {
        let op = edit::defining_op(value)?;
        ir::static_dims(value.r#type())?;
        match ir::op_name(op) {
            "tensor.pad" => {
                let [source] = ir::operands(op)[..] else { return None };
                ir::static_dims(source.r#type())?;
                let body = edit::entry_block(op)?;
                let padding = *super::generic::region_yield(body).first()?;
                let low = ir::attr_i64s(op, "static_low")?;
                let sizes = ir::dims(source.r#type());
                Some(Self { source, low, sizes, number: number_of(padding)?, ops: vec![op] })
            }
            "tensor.expand_shape" => {
                let pad = edit::defining_op(op.operand(0).ok()?)?;
                if ir::op_name(pad) != "tensor.pad" {
                    return None;
                }
                let mut inside = Self::of(ir::result0(pad).ok()?)?;
                inside.ops.insert(0, op);
                inside.low = expanded(op, &inside, &inside.low, |_| 0)?;
                inside.sizes = expanded(op, &inside, &inside.sizes, |size| size)?;
                Some(inside)
            }
            _ => None,
        }
    }

    /// The tensor inside with the dimensions that `operand` has.
    fn reshaped(&self, b: &Builder<'c>, operand: Val<'c>) -> Result<Val<'c>> {
        let Some(op) = edit::defining_op(operand) else { return Ok(self.source) };
        if ir::op_name(op) != "tensor.expand_shape" {
            return Ok(self.source);
        }
        let ty = b.tensor(&self.sizes, ir::element_type(self.source.r#type()));
        let mut attributes = vec![("static_output_shape", b.i64s_attr(&self.sizes))];
        attributes.extend(op.attribute("reassociation").ok().map(|value| ("reassociation", value)));
        let spec =
            OpSpec { operands: &[self.source], results: &[ty], attributes, ..Default::default() };
        ir::result0(b.create("tensor.expand_shape", spec)?)
    }
}

/// The numbers of the dimensions after a `tensor.expand_shape` of the padded tensor. A dimension
/// that only got neighbours of size 1 keeps its own of `numbers`. All others have what `part` says
/// for their size. None if a padded dimension is divided.
fn expanded<'c>(
    op: Op<'c>,
    inside: &Inside<'c>,
    numbers: &[i64],
    part: impl Fn(i64) -> i64,
) -> Option<Vec<i64>> {
    let groups = op.attribute("reassociation").map(edit::array).ok()?;
    let inner = ir::dims(inside.source.r#type());
    let padded = ir::dims(op.operand(0).ok()?.r#type());
    let mut sizes = ir::dims(ir::result0(op).ok()?.r#type()).into_iter();
    let mut found = vec![];
    for (dim, group) in groups.into_iter().enumerate() {
        let parts: Vec<_> = sizes.by_ref().take(edit::array(group).len()).collect();
        let whole = *padded.get(dim)?;
        let own = parts.iter().position(|size| *size == whole);
        if own.is_none() && inner.get(dim) != Some(&whole) {
            return None;
        }
        for (place, size) in parts.into_iter().enumerate() {
            found.push(if own == Some(place) { *numbers.get(dim)? } else { part(size) });
        }
    }
    Some(found)
}

/// Trip count of each loop, from the shapes alone of what it counts through.
fn extents<'c>(op: Op<'c>, operands: &[Val<'c>], maps: &[Vec<Aff>]) -> Option<Vec<i64>> {
    let count = op.attribute("iterator_types").map(edit::array).ok()?.len();
    let mut extents = vec![None; count];
    for (operand, map) in operands.iter().zip(maps) {
        let dims = ir::static_dims(operand.r#type())?;
        for (position, dim) in map.iter().zip(dims) {
            if let Some(at) = position.single() {
                *extents.get_mut(at)? = Some(dim);
            }
        }
    }
    extents.into_iter().collect()
}
