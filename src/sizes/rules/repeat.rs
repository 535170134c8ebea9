//! Loops: each step sees states of the same sizes, and takes as many steps as its sequences have slices.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Blk, Builder, DYNAMIC, Op, OpSpec, Val, edit, graph, op_name, view::OpView},
    sizes::{Bounding, Decided, Dim, Info, mask::integers},
};
use melior::ir::{
    Region, Type, ValueLike, attribute::DenseI32ArrayAttribute, operation::OperationLike,
};
use std::{collections::HashMap, mem};

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    (name == graph::Scan::NAME).then_some(scan as Rule<'c>)
}

/// Entry of a list of which an empty one is zeros.
fn entry(list: &[i64], index: usize) -> usize {
    list.get(index).and_then(|axis| usize::try_from(*axis).ok()).unwrap_or(0)
}

/// The number of steps: that of the loop, and of the slices of each sequence.
fn steps_of<'c>(
    s: &mut Bounding<'c>,
    steps: i64,
    sequences: &[Val<'c>],
    axes: &[i64],
) -> Result<Dim> {
    let mut all = (steps != DYNAMIC).then(|| Dim::known(steps));
    for (place, sequence) in sequences.iter().enumerate() {
        let dims = s.dims(*sequence);
        let own = dims.get(entry(axes, place));
        let own = own.ok_or_else(|| Error::internal("a sequence without the axis of its steps"))?;
        match &all {
            Some(all) => s.same(all, own, "runs over sequences of")?,
            None => all = Some(own.clone()),
        }
    }
    all.ok_or_else(|| Error::internal("a loop without a number of steps"))
}

fn scan<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let malformed = || Error::internal("a loop that is not as ODS has it");
    let view = graph::Scan::of(op).ok_or_else(malformed)?;
    let block = edit::entry_block(op).ok_or_else(malformed)?;
    let (axes, first) = (view.input_axes(), view.states().len());
    for (place, sequence) in view.sequences().into_iter().enumerate() {
        let sequence = s.materialized(b, sequence)?;
        let sequence = s.singled(b, sequence, entry(&axes, place))?;
        edit::set_operand(op, first + place, sequence)?;
    }
    // Captured sizes are known inside, too.
    let captured: Vec<_> = view.captured().into_iter().map(|value| s.info(value)).collect();
    s.materialize_all(b, op)?;
    let steps = steps_of(s, view.steps(), &view.sequences(), &axes)?;
    let mut limit = view.limit();
    if let Some(size) = steps.single().filter(|_| !steps.is_known()).cloned() {
        let count = s.value_of(&size)?;
        limit = Some(match limit {
            Some(limit) => graph::Min::build(b, limit, count)?.y(),
            None => count,
        });
    }
    let arguments = edit::arguments(block);
    let states: Vec<_> = view.states().into_iter().map(|value| s.dims(value)).collect();
    let inside = states.iter().cloned().map(|dims| Info { dims, content: None });
    let sliced = view.sequences().into_iter().enumerate().map(|(place, value)| {
        let mut dims = s.dims(value);
        dims.remove(entry(&axes, place));
        Info { dims, content: None }
    });
    let infos: Vec<_> = inside.chain(sliced).chain(captured).collect();
    for (argument, info) in arguments.iter().zip(infos) {
        let ty = crate::sizes::dim::bounded(b, argument.r#type(), &info.dims, &s.symbols)?;
        edit::set_type(*argument, ty);
        s.infos.insert(ir::id(*argument), info);
    }
    let outer = s.enter(block, op)?;
    let visited = body(s, block, &states);
    let seen = s.leave(outer);
    let slices = visited?;
    let mut dims = states;
    for (place, slice) in slices.iter().enumerate() {
        let mut all = slice.clone();
        all.insert(entry(&view.output_axes(), place), steps.clone());
        dims.push(all);
    }
    let types = ir::results(op).into_iter().zip(&dims);
    let types = types.map(|(value, dims)| {
        crate::sizes::dim::bounded(b, value.r#type(), dims, &s.symbols)
    });
    let types = types.collect::<Result<Vec<_>>>()?;
    let results = rebuilt(b, op, block, (s.room(&steps), limit, &seen, &types))?;
    for (value, dims) in results.iter().zip(dims) {
        s.know(*value, dims);
    }
    Ok(Outcome::Replaced(results))
}

/// Bounds the operations of a step; the dimensions of its slices.
fn body<'c>(s: &mut Bounding<'c>, block: Blk<'c>, states: &[Vec<Dim>]) -> Result<Vec<Vec<Dim>>> {
    let count = s.decided.len();
    for op in ir::ops(block) {
        if op_name(op) != graph::Yield::NAME {
            let named = |error: Error| {
                let place = match super::label(op) {
                    name if name == op_name(op) => name,
                    name => format!("{name} ({})", op_name(op)),
                };
                Error::invalid(format!("has a step in which {place}: {error}"))
            };
            s.visit(op).map_err(named)?;
            if s.decided.len() > count {
                return Err(Error::invalid(format!(
                    "has a step in which data decide on a size ({}): sizes inside of a loop have to follow from those of \
                     inputs",
                    super::label(op)
                )));
            }
            continue;
        }
        s.materialize_all(&Builder::before(op)?, op)?;
        let yielded: Vec<_> = ir::operands(op).into_iter().map(|value| s.dims(value)).collect();
        let (next, slices) = yielded.split_at(states.len());
        for (index, (before, after)) in states.iter().zip(next).enumerate() {
            for (before, after) in before.iter().zip(after) {
                s.same(before, after, &format!("changes the sizes of state {index} in a step"))?;
            }
        }
        return Ok(slices.to_vec());
    }
    Err(Error::internal("a step without an end"))
}

/// The loop with these types, and behind its captured values those that its masks need.
fn rebuilt<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    block: Blk<'c>,
    (steps, limit, seen, types): (i64, Option<Val<'c>>, &[Val<'c>], &[Type<'c>]),
) -> Result<Vec<Val<'c>>> {
    let view = graph::Scan::of(op).ok_or_else(|| Error::internal("a loop that is none"))?;
    let region = Region::new();
    let old = edit::arguments(block);
    let slots: Vec<_> = old.iter().map(|value| (value.r#type(), op.location())).collect();
    let inner = edit::append_block(&region, &slots);
    for (old, new) in old.into_iter().zip(edit::arguments(inner)) {
        edit::replace_uses(old, new);
    }
    for op in ir::ops(block) {
        edit::move_to_end(op, inner);
    }
    let captured = [&view.captured()[..], seen].concat();
    let groups = [view.states().len(), view.sequences().len(), captured.len(), limit.iter().len()];
    let groups = groups.map(|count| count as i32);
    let operands =
        [&view.states()[..], &view.sequences(), &captured, limit.as_slice()].concat();
    let list = |values: Vec<i64>| b.i64s_attr(&values);
    let spec = OpSpec {
        operands: &operands,
        results: types,
        attributes: vec![
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, &groups).into()),
            ("steps", b.i64_attr(steps)),
            ("input_axes", list(view.input_axes())),
            ("input_reversed", list(view.input_reversed())),
            ("output_axes", list(view.output_axes())),
            ("output_reversed", list(view.output_reversed())),
        ],
        regions: vec![region],
        ..Default::default()
    };
    Ok(ir::results(b.create(graph::Scan::NAME, spec)?))
}

/// What is made once around a loop, while its body is visited.
struct Outer<'c> {
    sizes: Option<Val<'c>>,
    top: Op<'c>,
    decided: Vec<Decided<'c>>,
    masks: HashMap<(Vec<Dim>, Vec<usize>), Val<'c>>,
    computed: HashMap<phaseline_base::size::Size, Val<'c>>,
}

impl<'c> Bounding<'c> {
    /// Has sizes and masks made in the body of a loop, whose region sees nothing from outside: what they need becomes
    /// arguments of the body.
    fn enter(&mut self, block: Blk<'c>, op: Op<'c>) -> Result<Outer<'c>> {
        let first = ir::ops(block).first().copied();
        let first = first.ok_or_else(|| Error::internal("a step without an end"))?;
        let anchor = integers(&Builder::before(first)?, &[], &[0])?;
        let top = edit::defining_op(anchor)
            .ok_or_else(|| Error::internal("a constant without an operation"))?;
        let argument = |value: Val<'c>| edit::add_argument(block, value.r#type(), op.location());
        let decided: Vec<_> = self
            .decided
            .iter()
            .map(|decided| Decided { value: argument(decided.value), anchor: top })
            .collect();
        let sizes = self.sizes.map(argument);
        Ok(Outer {
            sizes: mem::replace(&mut self.sizes, sizes),
            top: mem::replace(&mut self.top, top),
            decided: mem::replace(&mut self.decided, decided),
            masks: mem::take(&mut self.masks),
            computed: mem::take(&mut self.computed),
        })
    }

    /// Ends that; the values for the arguments that were added.
    fn leave(&mut self, outer: Outer<'c>) -> Vec<Val<'c>> {
        let Outer { sizes, top, decided, masks, computed } = outer;
        (self.sizes, self.top, self.decided) = (sizes, top, decided);
        (self.masks, self.computed) = (masks, computed);
        self.decided.iter().map(|decided| decided.value).chain(self.sizes).collect()
    }
}
