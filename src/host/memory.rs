//! Bytes of memory that a function of graph operations has in use while it runs.

use crate::{
    host::kernel::Buffer,
    ir::{
        self, Blk, Op, Val, edit, func, graph,
        view::{self, OpView},
    },
};
use std::{collections::HashMap, iter};

/// Bytes by which copies may make the memory of a run larger, whatever it is.
const SLACK: i64 = 4 << 10;

/// Values that a loop reads, at most, for what it computes to be counted as computed where it is read.
const MOST_SOURCES: usize = 8;

/// Bytes in use while each operation of a module runs, by the order of the operations. A value is
/// live from the operation that computes it to the last one that reads it. Arguments and constants
/// are left out, and so is what is computed of constants alone, which kernels read packed. Values
/// that loops compute where they read them are left out, too.
pub struct Memory {
    around: Vec<Around>,
    places: HashMap<ir::Id, usize>,
    /// Last operations that read copies of values.
    copies: HashMap<ir::Id, usize>,
}

/// Bytes in use around one operation.
struct Around {
    /// Bytes before it, with its operands and without its results.
    before: i64,
    /// Bytes during it, with its results.
    during: i64,
    /// For each operand its bytes if nothing reads it later, 0 otherwise.
    last: Vec<i64>,
    /// The most that the function has in use at once.
    most: i64,
}

impl Memory {
    /// The memory of all functions of a module.
    pub fn of(module: Op<'_>) -> Self {
        let blocks = func::functions(module).into_iter().filter_map(edit::entry_block);
        let (keys, around): (Vec<_>, Vec<_>) = blocks.flat_map(of_block).unzip();
        let places = keys.into_iter().enumerate().map(|(at, key)| (key, at)).collect();
        Self { around, places, copies: HashMap::new() }
    }

    /// Bytes that `op` may work in besides its operands and results.
    pub fn room(&self, op: Op<'_>) -> i64 {
        let around = self.places.get(&ir::id(op)).map(|at| &self.around[*at]);
        // A long buffer leaves gaps.
        around.map_or(0, |around| around.most + SLACK - around.during)
    }

    /// Counts so many bytes that `op` works in.
    pub fn take(&mut self, op: Op<'_>, bytes: i64) {
        if let Some(at) = self.places.get(&ir::id(op)) {
            self.around[*at].during += bytes;
        }
    }

    /// Counts a copy of `bytes` that `op` reads in the place of an operand, if there is headroom
    /// for that; false if not. Operations that read the same value share the copy.
    pub fn copy(&mut self, op: Op<'_>, operand: usize, bytes: i64) -> bool {
        let Some(at) = self.places.get(&ir::id(op)).copied() else { return false };
        let Some(value) = ir::operands(op).get(operand).copied() else { return false };
        let from = self.copies.get(&ir::id(value)).map_or(at, |at| at + 1);
        let own = &self.around[at];
        let last = own.last.get(operand).copied().unwrap_or(0);
        let is_possible = own.fits(own.before + bytes)
            && own.fits(own.during + bytes - last)
            && self.around[from..at].iter().all(|around| around.fits(around.during + bytes));
        if is_possible {
            self.around[from..at].iter_mut().for_each(|around| around.during += bytes);
            self.around[at].during += bytes - last;
            self.copies.insert(ir::id(value), at);
        }
        is_possible
    }
}

impl Around {
    fn fits(&self, bytes: i64) -> bool {
        bytes <= self.most + SLACK.max(self.most / 10)
    }
}

fn of_block<'c>(block: Blk<'c>) -> Vec<(ir::Id, Around)> {
    let ops = ir::ops(block);
    let stored = Stored::of(&ops);
    let mut last: HashMap<ir::Id, usize> = HashMap::new();
    for (at, op) in ops.iter().enumerate() {
        for value in iter::once(*op).chain(edit::walk(*op)).flat_map(ir::operands) {
            last.extend(stored.sources(value).into_iter().map(|value| (ir::id(value), at)));
        }
    }
    // Bytes that come and go before each operation, and after the last one.
    let (mut made, mut freed) = (vec![0; ops.len() + 1], vec![0; ops.len() + 1]);
    let places: HashMap<ir::Id, usize> =
        ops.iter().enumerate().map(|(at, op)| (ir::id(*op), at)).collect();
    for (at, op) in ops.iter().enumerate() {
        for value in ir::results(*op) {
            let bytes = stored.bytes(value);
            let parts = parts(value).into_iter().filter_map(|op| places.get(&ir::id(op)).copied());
            made[parts.min().unwrap_or(at)] += bytes;
            freed[last.get(&ir::id(value)).copied().unwrap_or(at) + 1] += bytes;
        }
    }
    let mut in_use = 0;
    let mut all = vec![];
    for (at, op) in ops.iter().enumerate() {
        let before = in_use - freed[at];
        in_use = before + made[at];
        let ended = |value: Val<'c>| {
            let sources = stored.sources(value).into_iter();
            let ended = sources.filter(|value| last.get(&ir::id(*value)) == Some(&at));
            ended.map(|value| stored.bytes(value)).sum()
        };
        let last = ir::operands(*op).into_iter().map(ended).collect();
        all.push((ir::id(*op), Around { before, during: in_use, last, most: 0 }));
    }
    let most = all.iter().map(|(_, around)| around.during).max().unwrap_or(0);
    all.iter_mut().for_each(|(_, around)| around.most = most);
    all
}

/// The operations that compute the parts of a concatenation, which they write into the whole.
fn parts(value: Val<'_>) -> Vec<Op<'_>> {
    let joint = edit::defining_op(value).filter(|op| graph::Concat::is(*op));
    joint.map(ir::operands).unwrap_or_default().into_iter().filter_map(edit::defining_op).collect()
}

/// True for a value that is nothing but a part of a concatenation.
fn is_part(value: Val<'_>) -> bool {
    !ir::has_uses(value, 2) && matches!(&ir::users(value)[..], [user] if graph::Concat::is(*user))
}

/// Values in memory that are read through views, and through loops that are computed where they are
/// read.
struct Stored<'c>(HashMap<ir::Id, Vec<Val<'c>>>);

impl<'c> Stored<'c> {
    fn of(ops: &[Op<'c>]) -> Self {
        let mut stored = Self(HashMap::new());
        for op in ops.iter().filter(|op| is_view(**op) || is_part_of_loops(**op)) {
            let mut sources: Vec<Val<'c>> = vec![];
            for value in ir::operands(*op).into_iter().flat_map(|value| stored.sources(value)) {
                if !sources.contains(&value) {
                    sources.push(value);
                }
            }
            // Loops of more are cut somewhere.
            if sources.len() <= MOST_SOURCES {
                let of_result = |value| (ir::id(value), sources.clone());
                stored.0.extend(ir::results(*op).into_iter().map(of_result));
            }
        }
        stored
    }

    /// The values in memory that are read where a value is.
    fn sources(&self, value: Val<'c>) -> Vec<Val<'c>> {
        self.0.get(&ir::id(value)).cloned().unwrap_or_else(|| vec![value])
    }

    /// Bytes that the operation that computes a value takes for it.
    fn bytes(&self, value: Val<'c>) -> i64 {
        let is_constant =
            |value: &Val<'_>| edit::defining_op(*value).is_some_and(graph::Constant::is);
        let is_stored = !self.0.contains_key(&ir::id(value))
            && !is_part(value)
            && edit::defining_op(value).is_some_and(|op| !ir::operands(op).iter().all(is_constant));
        if is_stored { Buffer::of(value).map_or(0, |buffer| buffer.bytes()) } else { 0 }
    }
}

fn is_view(op: Op<'_>) -> bool {
    view::info(op).is_some_and(|info| info.view)
}

/// True if the result of an operation is computed by the loops that read it.
fn is_part_of_loops(op: Op<'_>) -> bool {
    let reads = |op: &Op<'_>| is_of_elements(*op) || ir::op_name(*op).starts_with("graph.reduce_");
    is_of_elements(op)
        && ir::results(op).into_iter().all(|value| ir::users(value).iter().all(reads))
}

fn is_of_elements(op: Op<'_>) -> bool {
    graph::QuantizeLinear::is(op)
        || graph::DequantizeLinear::is(op)
        || graph::BatchNorm::is(op)
        || graph::Transpose::is(op)
        || view::info(op).is_some_and(|info| info.elementwise)
}
