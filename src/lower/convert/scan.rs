//! `graph.scan` becomes `scf.for` on tensors.
//!
//! ```text
//! %h1, %y = graph.scan 64 states (%h = %h0) sequences (%x = %xs) { ...; graph.yield %n, %n }
//!   -->  %h1, %y = scf.for %i = 0 to 64 iter_args(%h = %h0, %into = tensor.empty) {
//!          %x = tensor.extract_slice %xs[%i, ...]; ...
//!          %written = tensor.insert_slice %n into %into[%i, ...]
//!          %kept = linalg.copy ins(%n) outs(%h)
//!          scf.yield %kept, %written }
//! ```
//! States are copied to where the old ones were, and slices into the results, so that bufferization
//! does all of it in place.

use super::{CAST, Conversion, key};
use crate::{
    Result,
    ir::{
        self, Builder, DYNAMIC, Op, OpSpec, Val, edit, graph, tir,
        types::{has_signedness, signless},
        view::OpView,
    },
    lower::{Lowering, loops::count_to},
    pass::{PassError, PassResult},
};
use melior::ir::{
    Attribute, BlockLike, Region, ValueLike, attribute::DenseI32ArrayAttribute,
    operation::OperationLike,
};

impl<'c> Conversion<'c> {
    /// The loop that a `graph.scan` becomes in front of `anchor`; its results.
    pub(super) fn convert_scan(
        &mut self,
        op: Op<'c>,
        l: &Lowering<'c>,
    ) -> PassResult<'c, Vec<Val<'c>>> {
        let at = |error: crate::Error| PassError::at(&op, error);
        let malformed = || PassError::at(&op, "is malformed");
        let scan = graph::Scan::of(op).ok_or_else(malformed)?;
        if scan.steps() == DYNAMIC {
            return Err(PassError::at(
                &op,
                "has a number of steps that a run gives: --graph-bound-sizes comes before",
            ));
        }
        let block = edit::entry_block(op).ok_or_else(malformed)?;
        let inputs = self.inputs(op);
        let (states, rest) = inputs.split_at(scan.states().len());
        let (sequences, rest) = rest.split_at(scan.sequences().len());
        let (captured, limit) = rest.split_at(scan.captured().len());
        let mut init = states.to_vec();
        for index in states.len()..op.result_count() {
            init.push(l.b.empty(l.result_type(index).map_err(at)?)?);
        }
        let count = count(&l.b, scan.steps(), limit.first().copied()).map_err(at)?;
        let ends = count_to(&l.b, count, &init, |_, _, state| Ok(state.to_vec())).map_err(at)?;
        let Some(first) = ends.first() else { return Ok(vec![]) };
        let inner = edit::defining_op(*first).and_then(edit::entry_block).ok_or_else(malformed)?;
        let end = inner.terminator().ok_or_else(malformed)?;
        let (index, carried) = match edit::arguments(inner)[..] {
            [index, ref carried @ ..] => (index, carried.to_vec()),
            [] => return Err(malformed()),
        };
        let b = Builder::before(end)?.with_location(op.location());
        let clock = Clock::new(&b, index, count).map_err(at)?;
        let (axes, ways) = (scan.input_axes(), scan.input_reversed());
        let mut inside = carried[..states.len()].to_vec();
        for (place, sequence) in sequences.iter().enumerate() {
            let time = clock.at(entry(&ways, place));
            inside.push(slice(&b, *sequence, entry(&axes, place), time).map_err(at)?);
        }
        inside.extend(captured);
        for (argument, value) in edit::arguments(block).into_iter().zip(inside) {
            self.values.insert(key(argument), value);
        }
        let values = self.convert_step(block, end)?;
        let (next, slices) = values.split_at(states.len());
        // Slices first: what is collected may be an old state, which the next one overwrites.
        let mut written = vec![];
        let (axes, ways) = (scan.output_axes(), scan.output_reversed());
        for (place, value) in slices.iter().enumerate() {
            let time = clock.at(entry(&ways, place));
            let into = carried[states.len() + place];
            let axis = entry(&axes, place);
            written.push(put(&b, *value, into, axis, time).map_err(at)?);
        }
        let mut yielded = keep(&b, next, &carried[..states.len()]).map_err(at)?;
        yielded.extend(written);
        for (place, value) in yielded.into_iter().enumerate() {
            edit::set_operand(end, place, value)?;
        }
        Ok(ends)
    }

    /// Converts the operations of a body in front of `end`; gives what they end with.
    fn convert_step(&mut self, block: ir::Blk<'c>, end: Op<'c>) -> PassResult<'c, Vec<Val<'c>>> {
        for inner in ir::ops(block) {
            match ir::op_name(inner) {
                graph::Yield::NAME => return Ok(self.inputs(inner)),
                "func.call" if self.keep_signature => self.clone_call(inner, end)?,
                _ => {
                    self.convert(inner, Some(end))?;
                }
            }
        }
        Err(PassError::at(&end, "is the end of a loop without graph.yield"))
    }

    /// A call that is to keep its types, in front of `anchor`: casts around it.
    fn clone_call(&mut self, call: Op<'c>, anchor: Op<'c>) -> PassResult<'c, ()> {
        let b = Builder::before(anchor)?.with_location(call.location());
        let mut operands = vec![];
        for old in ir::operands(call) {
            let new = self.value(old);
            let same = new.r#type() == old.r#type();
            operands.push(if same { new } else { b.op1(CAST, &[new], old.r#type())? });
        }
        let clone = b.insert_clone(call);
        for (index, operand) in operands.into_iter().enumerate() {
            edit::set_operand(clone, index, operand)?;
        }
        let mut outputs = vec![];
        for result in ir::results(clone) {
            let ty = signless(b.context, result.r#type());
            let signed = has_signedness(result.r#type());
            outputs.push(if signed { b.op1(CAST, &[result], ty)? } else { result });
        }
        self.map_results(call, &outputs)
    }
}

/// The number of steps: those of the loop, and no more than a limit, which is none below zero.
fn count<'c>(b: &Builder<'c>, steps: i64, limit: Option<Val<'c>>) -> Result<Val<'c>> {
    let steps = b.index(steps)?;
    let Some(limit) = limit else { return Ok(steps) };
    let limit = b.op1("tensor.extract", &[limit], b.int(64))?;
    let limit = b.op1("arith.index_cast", &[limit], b.index_type())?;
    b.binary("arith.minsi", steps, b.binary("arith.maxsi", limit, b.index(0)?)?)
}

/// An element of a list of which an empty one is zeros.
fn entry(list: &[i64], index: usize) -> i64 {
    list.get(index).copied().unwrap_or(0)
}

/// The number of the step, counted from either end.
struct Clock<'c> {
    forward: Val<'c>,
    backward: Val<'c>,
}

impl<'c> Clock<'c> {
    fn new(b: &Builder<'c>, index: Val<'c>, count: Val<'c>) -> Result<Self> {
        let last = match edit::defining_op(count).and_then(|op| ir::attr_i64(op, "value")) {
            Some(count) => b.index(count - 1)?,
            None => b.binary("arith.subi", count, b.index(1)?)?,
        };
        let backward = b.binary("arith.subi", last, index)?;
        Ok(Self { forward: index, backward })
    }

    fn at(&self, reversed: i64) -> Val<'c> {
        if reversed == 0 { self.forward } else { self.backward }
    }
}

/// Attributes of a slice of one element along `axis`, whose place is an operand.
fn place<'c>(
    b: &Builder<'c>,
    operands: &[i32],
    dims: &[i64],
    axis: i64,
) -> Vec<(&'static str, Attribute<'c>)> {
    let (mut offsets, mut sizes) = (vec![0; dims.len()], dims.to_vec());
    offsets[axis as usize] = DYNAMIC;
    sizes[axis as usize] = 1;
    vec![
        ("static_offsets", b.i64s_attr(&offsets)),
        ("static_sizes", b.i64s_attr(&sizes)),
        ("static_strides", b.i64s_attr(&vec![1; dims.len()])),
        ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, operands).into()),
    ]
}

/// The slice at `time` along `axis`, without that dimension. Of no elements there is no slice: no
/// offset is within a dimension of size 0.
fn slice<'c>(b: &Builder<'c>, value: Val<'c>, axis: i64, time: Val<'c>) -> Result<Val<'c>> {
    let dims = ir::dims(value.r#type());
    let mut kept = dims.clone();
    kept.remove(axis as usize);
    let ty = b.tensor(&kept, ir::element_type(value.r#type()));
    if kept.contains(&0) {
        return b.empty(ty);
    }
    let attributes = place(b, &[1, 1, 0, 0], &dims, axis);
    b.op1_with("tensor.extract_slice", &[value, time], ty, attributes)
}

/// Writes `value`, which may have no elements, at `time` along `axis`.
fn put<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    into: Val<'c>,
    axis: i64,
    time: Val<'c>,
) -> Result<Val<'c>> {
    let dims = ir::dims(into.r#type());
    if dims.contains(&0) {
        return Ok(into);
    }
    let attributes = place(b, &[1, 1, 1, 0, 0], &dims, axis);
    b.op1_with("tensor.insert_slice", &[value, into, time], into.r#type(), attributes)
}

/// Copies the next states to where the old ones are. A next state that may be part of an old one,
/// which another copy writes over, is copied to a place of its own first.
fn keep<'c>(b: &Builder<'c>, next: &[Val<'c>], old: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
    let is_apart = |value: Val<'c>| {
        edit::defining_op(value)
            .is_some_and(|op| matches!(ir::op_name(op), "func.call" | CAST | tir::CallExtern::NAME))
    };
    let mut apart = vec![];
    for (next, old) in next.iter().zip(old) {
        let stays = next == old || is_apart(*next);
        apart.push(if stays { *next } else { copy(b, *next, b.empty(next.r#type())?)? });
    }
    let pairs = apart.into_iter().zip(old);
    pairs.map(|(next, old)| if next == *old { Ok(next) } else { copy(b, next, *old) }).collect()
}

/// `linalg.copy`.
fn copy<'c>(b: &Builder<'c>, from: Val<'c>, to: Val<'c>) -> Result<Val<'c>> {
    let element = ir::element_type(to.r#type());
    let region = Region::new();
    let block = edit::append_block(&region, &[(element, b.location), (element, b.location)]);
    let read = edit::arguments(block)[0];
    Builder::at_end(b.context, block, b.location)
        .create("linalg.yield", OpSpec { operands: &[read], ..Default::default() })?;
    let sizes = DenseI32ArrayAttribute::new(b.context, &[1, 1]);
    let spec = OpSpec {
        operands: &[from, to],
        results: &[to.r#type()],
        attributes: vec![("operandSegmentSizes", sizes.into())],
        regions: vec![region],
        ..Default::default()
    };
    ir::result0(b.create("linalg.copy", spec)?)
}
