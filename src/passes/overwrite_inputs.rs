//! `overwrite-inputs`: loops over channels write their result over the input that nothing reads again.
//!
//! A depthwise convolution or a pool needs of its input only the channel that it computes. The
//! result of one channel is kept aside until the channel is done, and then takes the place of its
//! input. In all that is one buffer and a channel, not two buffers (MCUNet's in-place depthwise
//! convolution, <https://arxiv.org/abs/2007.10319>). Results with smaller channels lie at the front
//! of the input. The copy of each channel takes time. So only loops at the function's peak of
//! memory change, and only if all of them together lower it.

use crate::{
    Result,
    ir::{self, Blk, Builder, Op, OpSpec, Val, edit, liveness::Timeline, memref, size},
    lower::{
        loops::{Bounds, count_between},
        nests::{self, Access, Effects, Uses},
    },
    pass::{OptionValues, Pass, PassError},
    plan::{self, Buffer},
};
use melior::ir::{Type, ValueLike, r#type::MemRefType};
use std::collections::{BTreeMap, HashMap};

/// The pass.
pub const PASS: Pass = Pass {
    name: "overwrite-inputs",
    summary: "Let loops over channels write over their input where most memory is in use",
    anchor: "func.func",
    options: &[],
    dialects: &["arith", "memref", "scf"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    let Some(block) = edit::entry_block(function) else { return Ok(()) };
    let found = candidates(block);
    if found.is_empty() {
        return Ok(());
    }
    let Some(mut memory) = InUse::of(function) else { return Ok(()) };
    let mut chosen = memory.choose(&found);
    // Views of views come after what they are views of.
    chosen.sort_unstable();
    let mut moved = HashMap::new();
    for at in chosen {
        // Those before have moved loops, and write where they did not.
        if found[at].still_holds(block, &moved) {
            found[at].apply(&mut moved)?;
        }
    }
    Ok(())
}

/// Loops over the channels of a buffer that may be written over.
struct Candidate<'c> {
    /// The buffer that is read last there.
    input: Op<'c>,
    /// The buffer that is written first there.
    result: Op<'c>,
    /// The loops, which become one, the one that reads the input last.
    loops: Vec<Op<'c>>,
    /// Channels.
    count: i64,
}

/// Inputs that may be written over, in block order. No loop and no buffer is in two of them.
fn candidates<'c>(block: Blk<'c>) -> Vec<Candidate<'c>> {
    let mut found: Vec<Candidate<'c>> = vec![];
    for op in ir::ops(block).into_iter().filter(|op| ir::op_name(*op) == "scf.for") {
        let effects = Effects::of(&[op]);
        let pair = effects.writes.iter().find_map(|result| {
            effects.reads.iter().find_map(|input| Candidate::of(block, op, *input, *result))
        });
        let is_free = |new: &Candidate<'c>| {
            found.iter().all(|old| {
                !edit::same(old.input, new.input)
                    && !new.loops.iter().any(|a| old.loops.iter().any(|b| edit::same(*a, *b)))
            })
        };
        found.extend(pair.filter(is_free));
    }
    found
}

impl<'c> Candidate<'c> {
    fn of(block: Blk<'c>, op: Op<'c>, input: Val<'c>, result: Val<'c>) -> Option<Self> {
        let made = |value| edit::defining_op(value).filter(|op| ir::op_name(*op) == "memref.alloc");
        let (from, to) = (made(input)?, made(result)?);
        let element = |value: Val<'c>| ir::element_type(value.r#type());
        if input == result || element(input) != element(result) {
            return None;
        }
        let (loops, count) = Self::holds(block, op, input, result)?;
        Some(Self { input: from, result: to, loops, count })
    }

    /// The loops that become one, and the number of channels that they go over, if `op` may write
    /// `result` over `input`.
    fn holds(
        block: Blk<'c>,
        op: Op<'c>,
        input: Val<'c>,
        result: Val<'c>,
    ) -> Option<(Vec<Op<'c>>, i64)> {
        let top = |inner: Op<'c>| nests::ancestor(inner, block);
        let is_earlier = |inner: Op<'c>| top(inner).is_some_and(|top| edit::is_before(top, op));
        let is_later = |inner: Op<'c>| top(inner).is_some_and(|top| edit::is_before(op, top));
        // The result begins in loops up to this one.
        let writes = Uses::of(result)?;
        if !writes.others.iter().all(|other| is_later(*other)) {
            return None;
        }
        let first = writes.accesses.iter().filter(|access| !is_later(access.op));
        let (loops, count) = nests::loops_over(&first.collect::<Vec<_>>(), block, 0)?;
        // The input ends here. All of the loops run channel by channel then, and keep to their own.
        let reads = Uses::of(input)?;
        let is_inside = |inner: Op<'c>| {
            top(inner).is_some_and(|top| loops.iter().any(|other| edit::same(*other, top)))
        };
        let (inside, others): (Vec<_>, Vec<_>) =
            reads.accesses.iter().partition(|access| is_inside(access.op));
        let views = reads.others.iter().copied();
        if views.clone().any(is_inside) || !others.iter().all(|other| is_earlier(other.op)) {
            return None;
        }
        let is_here = |access: &&Access<'c>| top(access.op).is_some_and(|top| edit::same(top, op));
        let (_, channels) = nests::loops_over(&inside, block, 0)?;
        let is_same = count == channels
            && inside.iter().any(is_here)
            && edit::same(*loops.last()?, op)
            && views.into_iter().all(is_earlier);
        let fits = size::bytes(result.r#type())? <= size::bytes(input.r#type())?;
        nests::may_fuse(block, &loops, result)?;
        (is_same && fits).then_some((loops, count))
    }

    /// True if the result may still be written over the input, where loops and buffers have moved.
    fn still_holds(&self, block: Blk<'c>, moved: &HashMap<ir::Id, Op<'c>>) -> bool {
        let input = moved.get(&ir::id(self.input)).copied().unwrap_or(self.input);
        let (Ok(input), Ok(result)) = (ir::result0(input), ir::result0(self.result)) else {
            return false;
        };
        let found = self.loops.last().and_then(|op| Self::holds(block, *op, input, result));
        found.is_some_and(|(loops, _)| {
            loops.len() == self.loops.len()
                && loops.iter().zip(&self.loops).all(|(a, b)| edit::same(*a, *b))
        })
    }

    /// The elements of a channel of the result.
    fn channel(&self) -> Result<i64> {
        let elements: i64 = ir::dims(ir::result0(self.result)?.r#type()).iter().product();
        Ok(elements / self.count)
    }

    /// Puts the result where the input is. `moved` has the views that results have become.
    fn apply(&self, moved: &mut HashMap<ir::Id, Op<'c>>) -> Result<()> {
        let missing = || crate::Error::internal("a block that ends early");
        let result = ir::result0(self.result)?;
        let channel = self.channel()?;
        let body = nests::join(&self.loops)?;
        let input = moved.get(&ir::id(self.input)).copied().unwrap_or(self.input);
        let around = *self.loops.last().ok_or_else(missing)?;
        let b = Builder::before(around)?;
        let element = ir::element_type(result.r#type());
        let by_channel = MemRefType::new(element, &[self.count, channel], None, None).into();
        let bytes = ir::result0(input)?;
        let place = recast(&b, bytes, result.r#type())?;
        let rows = recast(&b, bytes, by_channel)?;
        let aside = nests::buffer_beside(self.result, channel)?;
        let uses = Uses::of(result).ok_or_else(missing)?;
        let inside = |access: &Access<'c>| nests::ancestor(access.op, body).is_some();
        for access in uses.accesses.into_iter().filter(inside) {
            access.redirect(aside, 1)?;
        }
        edit::replace_uses(result, place);
        // Nothing uses the result before, so that the time of the input is not longer.
        uses.views.iter().for_each(|view| edit::move_before(*view, around));
        moved.extend(edit::defining_op(place).map(|view| (ir::id(self.result), view)));
        let at = edit::arguments(body).first().copied().ok_or_else(missing)?;
        let b = Builder::before(ir::ops(body).last().copied().ok_or_else(missing)?)?;
        let bounds = Bounds { from: b.index(0)?, to: b.index(channel)? };
        count_between(&b, bounds, &[], |b, index, _| {
            let value = b.op1("memref.load", &[aside, index], element)?;
            let operands = [value, rows, at, index];
            b.create("memref.store", OpSpec { operands: &operands, ..Default::default() })?;
            Ok(vec![])
        })?;
        Ok(())
    }
}

/// The start of a buffer as one of another shape.
fn recast<'c>(b: &Builder<'c>, buffer: Val<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    let dims = ir::dims(ty);
    let attributes = vec![
        ("static_offsets", b.i64s_attr(&[0])),
        ("static_sizes", b.i64s_attr(&dims)),
        ("static_strides", b.i64s_attr(&memref::row_major(&dims))),
        ("operandSegmentSizes", b.parse_attr("array<i32: 1, 0, 0, 0>")?),
    ];
    b.op1_with("memref.reinterpret_cast", &[buffer], ty, attributes)
}

/// Buffers that a function has in use.
struct InUse {
    buffers: Vec<Buffer>,
    /// The buffer that an allocation makes, or is put into.
    index: HashMap<ir::Id, usize>,
}

impl InUse {
    /// None if something is in use for an unknown time.
    fn of(function: Op<'_>) -> Option<Self> {
        let timeline = Timeline::of(function, &BTreeMap::new());
        let mut memory = Self { buffers: vec![], index: HashMap::new() };
        for op in edit::walk(function) {
            if ir::op_name(op) == "memref.alloc" {
                let time = timeline.lifetime(op).ok()?;
                let bytes = size::bytes(ir::result0(op).ok()?.r#type())?;
                memory.index.insert(ir::id(op), memory.buffers.len());
                memory.buffers.push(Buffer::once(aligned(bytes), 1, (time.start, time.end)));
            }
        }
        Some(memory)
    }

    /// The candidates to apply: those at the points at which most is in use, as long as that helps.
    fn choose(&mut self, found: &[Candidate<'_>]) -> Vec<usize> {
        let mut chosen = vec![];
        let (mut best, mut useful) = (plan::lower_bound(&self.buffers).0, 0);
        loop {
            let (bytes, point) = plan::lower_bound(&self.buffers);
            if bytes < best {
                (best, useful) = (bytes, chosen.len());
            }
            let next = (0..found.len()).find(|at| {
                let is_there =
                    |op| self.index.get(&ir::id(op)).is_some_and(|b| self.is_in_use(*b, point));
                !chosen.contains(at) && is_there(found[*at].input) && is_there(found[*at].result)
            });
            let Some(at) = next.filter(|at| self.join(&found[*at])) else { break };
            chosen.push(at);
        }
        chosen.truncate(useful);
        chosen
    }

    fn is_in_use(&self, buffer: usize, point: usize) -> bool {
        self.buffers[buffer].spans.iter().any(|(start, end)| (*start..=*end).contains(&point))
    }

    /// Puts the result into the input's bytes, with a channel aside; false for what is not known.
    fn join(&mut self, candidate: &Candidate<'_>) -> bool {
        let at = |op| self.index.get(&ir::id(op)).copied();
        let (Some(input), Some(result)) = (at(candidate.input), at(candidate.result)) else {
            return false;
        };
        let (own, whole) = (self.buffers[result].spans.last(), self.buffers[input].spans.last());
        let (Some(own), Some(whole)) = (own.copied(), whole.copied()) else { return false };
        let count = u64::try_from(candidate.count).unwrap_or(1).max(1);
        // A channel is aside while the loops run, with which the time of the input ended.
        let channel = aligned(self.buffers[result].size / count);
        self.buffers[result] = Buffer::once(channel, 1, (own.0, whole.1));
        if let Some(span) = self.buffers[input].spans.last_mut() {
            span.1 = span.1.max(own.1);
        }
        self.index.insert(ir::id(candidate.result), input);
        true
    }
}

/// As a plan aligns buffers.
fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(64)
}
