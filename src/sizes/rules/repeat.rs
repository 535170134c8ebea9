//! Loops: as many steps as sequences have slices, and states that have the same sizes in each step or grow by as much.
//!
//! A state that grows has room for what it is after the last step. Its size is one more state, an integer, which masks of the
//! body read.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Blk, Builder, DYNAMIC, Op, OpSpec, Val, edit, graph, op_name, view::OpView},
    sizes::{Bounding, Decided, Dim, Growth, Info, Remedy, dim::bounded, mask::integers},
};
use melior::ir::{Region, ValueLike, attribute::DenseI32ArrayAttribute, operation::OperationLike};
use phaseline_base::size::{GREATEST, Size, Symbol};
use std::{collections::HashMap, mem};

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    (name == graph::Scan::NAME).then_some(scan as Rule<'c>)
}

/// Entry of a list of which an empty one is zeros.
fn entry(list: &[i64], index: usize) -> usize {
    list.get(index).and_then(|axis| usize::try_from(*axis).ok()).unwrap_or(0)
}

/// A loop that is not as ODS has it.
fn malformed() -> Error {
    Error::internal("a loop that is not as ODS has it")
}

fn view_of<'c>(op: Op<'c>) -> Result<graph::Scan<'c>> {
    graph::Scan::of(op).ok_or_else(malformed)
}

/// The states of a loop while it is taken apart.
struct States<'c> {
    /// States before the first step, with room for all.
    first: Vec<Val<'c>>,
    /// Dimensions of the states in a step.
    dims: Vec<Vec<Dim>>,
    growing: Vec<Growing<'c>>,
}

/// A state that grows.
struct Growing<'c> {
    growth: Growth,
    /// Size before the first step.
    first: Size,
    /// The greatest size.
    most: i64,
    /// Size in a step.
    argument: Val<'c>,
}

/// The end of a step.
struct End {
    slices: Vec<Vec<Dim>>,
    /// States that a step may leave as they were.
    kept: Vec<bool>,
}

fn scan<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let number = s.loops;
    s.loops += 1;
    let view = view_of(op)?;
    let block = edit::entry_block(op).ok_or_else(malformed)?;
    let (axes, first) = (view.input_axes(), view.states().len());
    for (place, sequence) in view.sequences().into_iter().enumerate() {
        let sequence = s.materialized(b, sequence)?;
        let sequence = s.singled(b, sequence, entry(&axes, place))?;
        edit::set_operand(op, first + place, sequence)?;
    }
    // Captured sizes are known inside, too.
    let captured: Vec<_> = view.captured().into_iter().map(|value| s.info(value)).collect();
    let given = view.limit().and_then(|limit| s.content(limit));
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
    let states = states_of(s, b, (op, block), (number, s.room(&steps)))?;
    let inside = states.dims.iter().cloned().map(|dims| Info { dims, content: None });
    let sizes = states.growing.iter().map(|_| Info::default());
    let sliced = view.sequences().into_iter().enumerate().map(|(place, value)| {
        let mut dims = s.dims(value);
        dims.remove(entry(&axes, place));
        Info { dims, content: None }
    });
    let infos: Vec<_> = inside.chain(sizes).chain(sliced).chain(captured).collect();
    let arguments = edit::arguments(block);
    let outer = s.enter(block, op, &states.growing)?;
    for (argument, info) in arguments.iter().zip(infos) {
        let ty = bounded(b, argument.r#type(), &info.dims, &s.symbols)?;
        edit::set_type(*argument, ty);
        s.infos.insert(ir::id(*argument), info);
    }
    let end = body(s, block, (&states, number));
    let seen = s.leave(outer);
    let end = end?;
    let all = steps.size();
    let runs = match (given, view.limit()) {
        (Some(given), _) => given
            .first()
            .map(|count| count.or_less(&all, &s.symbols).or_more(&0.into(), &s.symbols)),
        (None, Some(_)) => None,
        (None, None) => Some(all),
    };
    let made = rebuilt(b, op, block, (s.room(&steps), limit, &seen, &states))?;
    let mut results = vec![];
    for (index, dims) in states.dims.iter().enumerate() {
        let grows = |axis: usize| {
            let place = |it: &Growing<'c>| it.growth.state == index && it.growth.axis == axis;
            states.growing.iter().position(place)
        };
        let (mut dims, mut value) = (dims.clone(), made[index]);
        for (axis, dim) in dims.iter_mut().enumerate() {
            let Some(place) = grows(axis) else { continue };
            let growing = &states.growing[place];
            let size = match &runs {
                Some(runs) if !end.kept[index] => {
                    growing.first.plus(&runs.times(&growing.growth.by))
                }
                _ => s.decide(
                    b,
                    &format!("size of state {index} of {}", super::label(op)),
                    (made[first + place], growing.most),
                )?,
            };
            *dim = Dim::of(size);
            value = cut(b, value, axis, s.room(dim))?;
        }
        s.know(value, dims);
        results.push(value);
    }
    let slices = end.slices.iter().zip(&made[first + states.growing.len()..]).enumerate();
    for (place, (slice, value)) in slices {
        let mut dims = slice.clone();
        dims.insert(entry(&view.output_axes(), place), steps.clone());
        s.know(*value, dims);
        results.push(*value);
    }
    Ok(Outcome::Replaced(results))
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
        let own = dims.get(entry(axes, place)).ok_or_else(malformed)?;
        match &all {
            Some(all) => s.same(all, own, "runs over sequences of")?,
            None => all = Some(own.clone()),
        }
    }
    all.ok_or_else(malformed)
}

/// The states of a loop that runs at most so many steps. Sizes of states that grow become symbols, and arguments of its body
/// behind the states.
fn states_of<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (op, block): (Op<'c>, Blk<'c>),
    (number, steps): (usize, i64),
) -> Result<States<'c>> {
    let mut first = view_of(op)?.states();
    let mut dims: Vec<_> = first.iter().map(|value| s.dims(*value)).collect();
    let mut growing = vec![];
    let count = first.len();
    for growth in s.growing.clone().into_iter().filter(|growth| growth.of == number) {
        let dim = &mut dims[growth.state][growth.axis];
        let size = dim.single().cloned().ok_or_else(|| {
            Error::invalid(format!("has state {} grow along a product of sizes", growth.state))
        })?;
        let added = growth.by.most(&s.symbols).checked_mul(steps);
        let most = added.and_then(|added| added.checked_add(size.most(&s.symbols)));
        let most = most.filter(|most| *most <= GREATEST).ok_or_else(|| {
            Error::invalid(format!(
                "has state {} grow by {} in each of up to {steps} steps, to more than {GREATEST} elements along a dimension: \
                 give the trip count a value or, if it is an input, a range (--value NAME=1..16)",
                growth.state,
                growth.by.text(&s.symbols)
            ))
        })?;
        s.symbols.push(Symbol::new("size of a state", 0, most.max(1)));
        *dim = Dim::of(Size::symbol(&s.symbols, s.symbols.len() - 1));
        first[growth.state] = padded(b, first[growth.state], growth.axis, most.max(1))?;
        let ty = b.tensor_type(&[], b.int(64))?;
        let argument = edit::insert_argument(block, count + growing.len(), ty, op.location())?;
        growing.push(Growing { growth, first: size, most: most.max(1), argument });
    }
    Ok(States { first, dims, growing })
}

/// A value with room for so many elements along an axis.
fn padded<'c>(b: &Builder<'c>, value: Val<'c>, axis: usize, room: i64) -> Result<Val<'c>> {
    let dims = ir::dims(value.r#type());
    let mut amounts = vec![0; 2 * dims.len()];
    amounts[dims.len() + axis] = room - dims[axis];
    if dims[axis] == room {
        return Ok(value);
    }
    let amounts = integers(b, &[amounts.len() as i64], &amounts)?;
    let attributes = graph::PadAttrs { mode: "undefined".to_owned() };
    Ok(graph::Pad::build(b, value, amounts, None, None, attributes)?.y())
}

/// The first elements of a value along an axis.
fn cut<'c>(b: &Builder<'c>, value: Val<'c>, axis: usize, room: i64) -> Result<Val<'c>> {
    if ir::dims(value.r#type())[axis] == room {
        return Ok(value);
    }
    let one = |number: i64| integers(b, &[1], &[number]);
    let axis = Some(one(axis as i64)?);
    Ok(graph::Slice::build(b, value, one(0)?, one(room)?, axis, None)?.y())
}

/// The flag and the next value of a state that a step leaves as it was where the flag is not set.
fn kept<'c>(next: Val<'c>, argument: Val<'c>) -> Option<(Val<'c>, Val<'c>)> {
    let choice = edit::defining_op(next).and_then(graph::Where::of)?;
    let is_flag = ir::dims(choice.condition().r#type()).is_empty();
    (is_flag && choice.b() == argument).then(|| (choice.condition(), choice.a()))
}

/// Bounds the operations of a step.
fn body<'c>(
    s: &mut Bounding<'c>,
    block: Blk<'c>,
    (states, number): (&States<'c>, usize),
) -> Result<End> {
    let decided = s.decided.len();
    let end = ir::ops(block).last().copied().ok_or_else(malformed)?;
    let arguments = edit::arguments(block);
    let count = states.dims.len();
    let mut yielded = ir::operands(end);
    let slices = yielded.len() - count;
    // A choice between sizes is made at the end, of buffers.
    let (mut flags, mut choices) = (vec![None; count], vec![]);
    for index in 0..count {
        if let Some((flag, next)) = kept(yielded[index], arguments[index]) {
            choices.extend(edit::defining_op(yielded[index]));
            yielded[index] = next;
            flags[index] = Some(yielded.len());
            yielded.push(flag);
        }
    }
    edit::replace_operands(end, &yielded);
    for choice in choices {
        if !ir::results(choice).into_iter().any(|value| ir::has_uses(value, 1)) {
            edit::erase(choice);
        }
    }
    for op in ir::ops(block) {
        if op_name(op) == graph::Yield::NAME {
            break;
        }
        let label = super::label(op);
        s.visit(op).map_err(|error| {
            Error::invalid(format!("has a step in which `{label}` cannot be: it {error}"))
        })?;
        if s.decided.len() > decided {
            return Err(Error::invalid(format!(
                "has a step in which data decide on a size (`{label}`): sizes inside of a loop have to follow from those of \
                 inputs"
            )));
        }
    }
    let b = Builder::before(end)?;
    s.materialize_all(&b, end)?;
    let yielded = ir::operands(end);
    let flags: Vec<_> = flags.into_iter().map(|place| place.map(|at| yielded[at])).collect();
    let mut next = vec![];
    for index in 0..count {
        let value = next_state(s, &b, (states, index, number), yielded[index])?;
        next.push(chosen(&b, flags[index], value, arguments[index])?);
    }
    for growing in &states.growing {
        let (index, axis) = (growing.growth.state, growing.growth.axis);
        let size = states.dims[index][axis].size().plus(&growing.growth.by);
        let size = s.value_of(&size)?;
        next.push(chosen(&b, flags[index], size, growing.argument)?);
    }
    let mut dims = vec![];
    for value in &yielded[count..count + slices] {
        let own = s.dims(*value);
        // Sizes of states that grow are not known around the loop.
        let base = s.given + s.decided.len() - states.growing.len();
        let is_inside =
            |dim: &Dim| dim.sizes().iter().filter_map(Size::last_symbol).any(|place| place >= base);
        if own.iter().any(is_inside) {
            return Err(Error::invalid("collects slices whose size changes from step to step"));
        }
        next.push(*value);
        dims.push(own);
    }
    edit::replace_operands(end, &next);
    Ok(End { slices: dims, kept: flags.iter().map(Option::is_some).collect() })
}

/// The next value of a state where the flag is set, or else what it was.
fn chosen<'c>(
    b: &Builder<'c>,
    flag: Option<Val<'c>>,
    next: Val<'c>,
    argument: Val<'c>,
) -> Result<Val<'c>> {
    let Some(flag) = flag else { return Ok(next) };
    Ok(graph::Where::build(b, flag, next, argument)?.y())
}

/// The next value of a state, in the room that it has. A state whose size is found to change begins to grow.
fn next_state<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (states, index, number): (&States<'c>, usize, usize),
    mut value: Val<'c>,
) -> Result<Val<'c>> {
    let after = s.dims(value);
    for (axis, (before, after)) in states.dims[index].iter().zip(&after).enumerate() {
        let this = |it: &&Growing<'c>| it.growth.state == index && it.growth.axis == axis;
        if let Some(growing) = states.growing.iter().find(this) {
            let by = after.single().map(|size| size.minus(&before.size()));
            if by.as_ref() != Some(&growing.growth.by) {
                return Err(Error::invalid(format!(
                    "has state {index} grow by another size in each step along dimension {axis}"
                )));
            }
            value = cut(b, value, axis, growing.most)?;
            continue;
        }
        let what = format!("changes dimension {axis} of state {index} in a step");
        if let Err(error) = s.same(before, after, &what) {
            let by = before.single().zip(after.single()).map(|(a, b)| b.minus(a));
            let is_growth = |by: &Size| {
                by.last_symbol().is_none_or(|place| place < s.given) && by.bounds(&s.symbols).0 >= 0
            };
            if s.remedy.is_none()
                && let Some(by) = by.filter(is_growth)
            {
                s.remedy = Some(Remedy::Growth(Growth { of: number, state: index, axis, by }));
            }
            return Err(error);
        }
    }
    Ok(value)
}

/// The loop with its new types, and behind its captured values those that its masks need.
fn rebuilt<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    block: Blk<'c>,
    (steps, limit, seen, states): (i64, Option<Val<'c>>, &Seen<'c>, &States<'c>),
) -> Result<Vec<Val<'c>>> {
    let view = view_of(op)?;
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
    let end = ir::ops(inner).last().copied().ok_or_else(malformed)?;
    let yielded = ir::operands(end);
    let firsts = [&states.first[..], &seen.sizes].concat();
    let axes = view.output_axes();
    let mut types = vec![];
    for (index, value) in yielded.iter().enumerate() {
        let ty = value.r#type();
        types.push(match index.checked_sub(firsts.len()) {
            None => ty,
            Some(place) => {
                let mut dims = ir::dims(ty);
                dims.insert(entry(&axes, place), steps);
                b.tensor_type(&dims, ir::element_type(ty))?
            }
        });
    }
    let captured = [&view.captured()[..], &seen.captured].concat();
    let groups = [firsts.len(), view.sequences().len(), captured.len(), limit.iter().len()];
    let groups = groups.map(|count| count as i32);
    let operands = [&firsts[..], &view.sequences(), &captured, limit.as_slice()].concat();
    let list = |values: Vec<i64>| b.i64s_attr(&values);
    let spec = OpSpec {
        operands: &operands,
        results: &types,
        attributes: vec![
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, &groups).into()),
            ("steps", b.i64_attr(steps)),
            ("input_axes", list(view.input_axes())),
            ("input_reversed", list(view.input_reversed())),
            ("output_axes", list(axes)),
            ("output_reversed", list(view.output_reversed())),
        ],
        regions: vec![region],
        ..Default::default()
    };
    Ok(ir::results(b.create(graph::Scan::NAME, spec)?))
}

/// Values that are made once around a loop, while its body is visited.
struct Outer<'c> {
    sizes: Option<Val<'c>>,
    top: Op<'c>,
    decided: Vec<Decided<'c>>,
    masks: HashMap<(Vec<Dim>, Vec<usize>), Val<'c>>,
    computed: HashMap<Size, Val<'c>>,
    firsts: Vec<Val<'c>>,
}

/// Operands that a loop is given beside its own.
struct Seen<'c> {
    /// The sizes before the first step of states that grow.
    sizes: Vec<Val<'c>>,
    /// Sizes that masks of its body read.
    captured: Vec<Val<'c>>,
}

impl<'c> Bounding<'c> {
    /// Has sizes and masks made in the body of a loop, whose region is isolated from above: the
    /// values that they need become arguments of the body.
    fn enter(&mut self, block: Blk<'c>, op: Op<'c>, growing: &[Growing<'c>]) -> Result<Outer<'c>> {
        let firsts = growing.iter().map(|growing| self.value_of(&growing.first));
        let firsts = firsts.collect::<Result<_>>()?;
        let first = ir::ops(block).first().copied().ok_or_else(malformed)?;
        let anchor = integers(&Builder::before(first)?, &[], &[0])?;
        let top = edit::defining_op(anchor).ok_or_else(malformed)?;
        let argument = |value: Val<'c>| edit::add_argument(block, value.r#type(), op.location());
        let outside = self.decided.iter().map(|decided| argument(decided.value));
        let inside = growing.iter().map(|growing| growing.argument);
        let decided = outside.chain(inside).map(|value| Decided { value, anchor: top }).collect();
        let sizes = self.sizes.map(argument);
        Ok(Outer {
            sizes: mem::replace(&mut self.sizes, sizes),
            top: mem::replace(&mut self.top, top),
            decided: mem::replace(&mut self.decided, decided),
            masks: mem::take(&mut self.masks),
            computed: mem::take(&mut self.computed),
            firsts,
        })
    }

    /// Ends that; the values for the arguments that were added.
    fn leave(&mut self, outer: Outer<'c>) -> Seen<'c> {
        let Outer { sizes, top, decided, masks, computed, firsts } = outer;
        (self.sizes, self.top, self.decided) = (sizes, top, decided);
        (self.masks, self.computed) = (masks, computed);
        self.symbols.truncate(self.given + self.decided.len());
        let captured = self.decided.iter().map(|decided| decided.value).chain(self.sizes).collect();
        Seen { sizes: firsts, captured }
    }
}
