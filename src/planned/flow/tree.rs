//! A function as what it does to buffers: accesses, in loops and branches.

use super::{
    place::{Place, Roots},
    range::Counter,
};
use crate::ir::{
    self, Blk, Op, Val, attribute, edit,
    effects::{self, Effect, Kind},
    linalg, names, types,
};
use melior::ir::{RegionLike, ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::HashMap;

/// The steps of a function, in order.
pub(super) enum Step {
    /// Makes a buffer, in which nothing is.
    Make(usize),
    /// Reads or writes: the number of the access.
    Access(usize),
    /// Runs again and again.
    Loop(Loop),
    /// May run, or may not, and maybe again.
    Maybe(Vec<Step>, bool),
}

/// A loop that runs a known number of times, at least once.
pub(super) struct Loop {
    pub key: usize,
    pub counter: Counter,
    pub body: Vec<Step>,
}

/// An operation that reads and writes.
pub(super) struct Access<'c> {
    pub op: Op<'c>,
    /// Places that are read, by operand.
    pub reads: Vec<(usize, Place)>,
    pub writes: Vec<Place>,
    /// Places that are written as they are read, of an operation that only moves elements.
    pub moved: Vec<Place>,
}

/// A function as steps.
pub(super) struct Tree<'c> {
    pub steps: Vec<Step>,
    pub accesses: Vec<Access<'c>>,
    /// The buffers in which something is from the start.
    pub filled: Vec<usize>,
}

struct Reader<'c> {
    roots: Roots,
    accesses: Vec<Access<'c>>,
    /// The number of the loop that a value counts, of those around.
    loops: HashMap<ir::Id, usize>,
    counted: usize,
}

impl<'c> Tree<'c> {
    /// The steps and accesses of a function; none for a function of several blocks.
    pub fn of(function: Op<'c>) -> Option<Self> {
        let block = edit::entry_block(function)?;
        if block.next_in_region().is_some() {
            return None;
        }
        let roots = Roots::of(function, &edit::walk(function));
        let mut reader = Reader { roots, accesses: vec![], loops: HashMap::new(), counted: 0 };
        let steps = reader.block(block);
        Some(Self { steps, accesses: reader.accesses, filled: reader.roots.filled })
    }
}

impl<'c> Reader<'c> {
    fn block(&mut self, block: Blk<'c>) -> Vec<Step> {
        ir::ops(block).into_iter().flat_map(|op| self.op(op)).collect()
    }

    fn op(&mut self, op: Op<'c>) -> Vec<Step> {
        let is_plain = op.region_count() == 0 && effects::touches_nothing(op);
        if effects::allocates(op) {
            let made = ir::results(op).first().and_then(|value| self.roots.number(*value));
            return made.map(Step::Make).into_iter().collect();
        }
        if ir::memref::is_alias(op) || is_plain {
            return vec![];
        }
        if op.region_count() == 0 || linalg::is_structured(op) {
            return self.access(op).map(Step::Access).into_iter().collect();
        }
        if let Some(known) = self.counted(op) {
            return vec![Step::Loop(known)];
        }
        let once = !effects::repeats(op);
        let mut inside = vec![];
        for region in op.regions() {
            let blocks =
                std::iter::successors(region.first_block(), |block| block.next_in_region());
            for block in blocks.collect::<Vec<_>>() {
                inside.extend(self.block(block));
            }
        }
        vec![Step::Maybe(inside, !once)]
    }

    /// A loop with constant bounds.
    fn counted(&mut self, op: Op<'c>) -> Option<Loop> {
        if ir::op_name(op) != "scf.for" {
            return None;
        }
        let number = |value: &Val<'c>| {
            let op = edit::defining_op(*value).filter(|op| ir::op_name(*op) == "arith.constant")?;
            attribute::int(op.attribute("value").ok()?)
        };
        let bounds: Vec<i64> =
            ir::operands(op).iter().take(3).map(number).collect::<Option<_>>()?;
        let [first, end, step] = bounds[..] else { return None };
        if step < 1 || first >= end {
            return None;
        }
        let last = first + (end - 1 - first) / step * step;
        let counter = Counter { first, last, step };
        let body = edit::entry_block(op)?;
        let value = ir::id(*edit::arguments(body).first()?);
        let key = self.counted;
        self.counted += 1;
        self.loops.insert(value, key);
        let body = self.block(body);
        self.loops.remove(&value);
        Some(Loop { key, counter, body })
    }

    fn access(&mut self, op: Op<'c>) -> Option<usize> {
        let operands = ir::operands(op);
        let is_buffer = |value: &Val<'c>| types::keeps_buffer(value.r#type());
        let captured = inner_buffers(op);
        if !operands.iter().any(is_buffer) && captured.is_empty() {
            return None;
        }
        let element = effects::element(op);
        let index = element.as_ref().map(|element| &element.indices[..]);
        let (mut reads, mut writes) = (vec![], vec![]);
        for (operand, value) in operands.iter().enumerate().filter(|(_, value)| is_buffer(value)) {
            let Some(mut place) = self.roots.place(*value, index, &self.loops) else { continue };
            let (is_read, is_written, is_filled) = effect(op, operand);
            if is_read {
                reads.push((operand, place.clone()));
            }
            if is_written {
                place.range.dense &= is_filled;
                writes.push(place);
            }
        }
        for (number, value) in captured.into_iter().enumerate() {
            let Some(mut place) = self.roots.place(value, None, &self.loops) else { continue };
            place.range.dense = false;
            reads.push((operands.len() + number, place.clone()));
            writes.push(place);
        }
        let moved = match element {
            Some(_) => self.moved(op),
            // What has no number only moves what it reads.
            None => reads.iter().map(|(_, place)| place.clone()).collect(),
        };
        self.accesses.push(Access { op, reads, writes, moved });
        Some(self.accesses.len() - 1)
    }

    /// The elements that an operation only moves.
    fn moved(&mut self, op: Op<'c>) -> Vec<Place> {
        let operands = ir::operands(op);
        let mut from = |value: Val<'c>, index: Option<&[Val<'c>]>| {
            self.roots.place(value, index, &self.loops).into_iter().collect::<Vec<_>>()
        };
        match (ir::op_name(op), operands.first()) {
            ("memref.store", Some(value)) => {
                let load = edit::defining_op(*value).filter(|op| {
                    ir::op_name(*op) == "memref.load" && !op.has_attribute(names::ACCESS)
                });
                let given = load.map(ir::operands).unwrap_or_default();
                match given.split_first() {
                    Some((buffer, index)) => from(*buffer, Some(index)),
                    None => vec![],
                }
            }
            _ => vec![],
        }
    }
}

/// Buffers that are used inside of an operation of `linalg`, and are no operands of it.
fn inner_buffers<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    if op.region_count() == 0 {
        return vec![];
    }
    let inner = edit::walk(op).into_iter().flat_map(ir::operands);
    inner.filter(|value| types::keeps_buffer(value.r#type())).collect()
}

/// True if an operation reads an operand, writes it, and writes all of it, or all that its indices say.
pub(super) fn effect(op: Op<'_>, operand: usize) -> (bool, bool, bool) {
    let Some(value) = ir::operands(op).get(operand).copied() else { return (false, false, false) };
    if ir::is_tensor(value.r#type()) {
        let is_written = effects::destinations(op).contains(&value);
        let is_given = op.region_count() == 0 && !op.has_attribute("accumulate");
        let is_fresh = is_written && (is_given || is_overwritten(op, operand));
        return (!is_fresh, is_written, is_fresh);
    }
    let Some(all) = effects::of(op) else { return (true, true, false) };
    let is_here = |effect: &&Effect<'_>| effect.value.is_none() || effect.operand == Some(operand);
    let on = || all.iter().filter(is_here);
    let is_written = on().any(|effect| matches!(effect.kind, Kind::Write { .. }));
    let is_whole = on().any(|effect| effect.kind == Kind::Write { whole: true });
    let is_element = ir::op_name(op) == "memref.store";
    (on().any(|effect| effect.kind == Kind::Read), is_written, is_whole || is_element)
}

/// True if an operation of `linalg` writes each element of an operand and reads none of it.
fn is_overwritten(op: Op<'_>, operand: usize) -> bool {
    let maps = linalg::indexing_maps(op);
    let body = edit::entry_block(op).map(edit::arguments).unwrap_or_default();
    let unread = body.get(operand).is_some_and(|argument| !ir::has_uses(*argument, 1));
    let map = maps.get(operand).and_then(|map| attribute::affine_map(*map));
    unread && map.is_some_and(|map| map.is_identity())
}
