//! Bytes of memory that a function of graph operations has in use while it runs.

use crate::{
    host::kernel::Buffer,
    ir::{
        self, Blk, Op, Val, edit, func, graph,
        view::{self, OpView},
    },
};

use melior::ir::ValueLike;
use std::{
    collections::{HashMap, HashSet},
    iter,
};

/// Bytes by which copies may make the memory of a run larger, whatever it is.
const SLACK: i64 = 64 << 10;

/// What is in use while each operation of a module runs, by the order of the operations: values from the operation
/// that computes them to the last one that reads them. Arguments, constants, and what is computed of constants alone,
/// which kernels read packed, are no part of it, nor is what loops compute where they read it.
pub struct Memory {
    around: Vec<Around>,
    places: HashMap<usize, usize>,
    /// Where copies of values were last read.
    copies: HashMap<usize, usize>,
}

/// Bytes in use around one operation.
struct Around {
    /// Before it, with its operands and without its results.
    before: i64,
    /// With its results.
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
        let around = self.places.get(&key(op)).map(|at| &self.around[*at]);
        // A long buffer leaves gaps.
        around.map_or(0, |around| around.most + SLACK - around.during)
    }

    /// Has `op` work in so many bytes.
    pub fn take(&mut self, op: Op<'_>, bytes: i64) {
        if let Some(at) = self.places.get(&key(op)) {
            self.around[*at].during += bytes;
        }
    }

    /// Has `op` read a copy of `bytes` in the place of an operand, if there is room for that. Operations that read the same
    /// value share the copy.
    pub fn copy(&mut self, op: Op<'_>, operand: usize, bytes: i64) -> bool {
        let Some(at) = self.places.get(&key(op)).copied() else { return false };
        let Some(value) = ir::operands(op).get(operand).copied() else { return false };
        let from = self.copies.get(&address(value)).map_or(at, |at| at + 1);
        let own = &self.around[at];
        let last = own.last.get(operand).copied().unwrap_or(0);
        let is_possible = own.fits(own.before + bytes)
            && own.fits(own.during + bytes - last)
            && self.around[from..at].iter().all(|around| around.fits(around.during + bytes));
        if is_possible {
            self.around[from..at].iter_mut().for_each(|around| around.during += bytes);
            self.around[at].during += bytes - last;
            self.copies.insert(address(value), at);
        }
        is_possible
    }
}

impl Around {
    fn fits(&self, bytes: i64) -> bool {
        bytes <= self.most + SLACK.max(self.most / 10)
    }
}

fn key(op: Op<'_>) -> usize {
    op.to_raw().ptr as usize
}

fn of_block(block: Blk<'_>) -> Vec<(usize, Around)> {
    let ops = ir::ops(block);
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (at, op) in ops.iter().enumerate() {
        let read = iter::once(*op).chain(edit::walk(*op)).flat_map(ir::operands);
        last.extend(read.flat_map(sources).map(|value| (address(value), at)));
    }
    // Bytes that come and go before each operation, and after the last one.
    let (mut made, mut freed) = (vec![0; ops.len() + 1], vec![0; ops.len() + 1]);
    let places: HashMap<usize, usize> =
        ops.iter().enumerate().map(|(at, op)| (key(*op), at)).collect();
    for (at, op) in ops.iter().enumerate() {
        for value in ir::results(*op) {
            let bytes = own_bytes(value);
            let parts = parts(value).into_iter().filter_map(|op| places.get(&key(op)).copied());
            made[parts.min().unwrap_or(at)] += bytes;
            freed[last.get(&address(value)).copied().unwrap_or(at) + 1] += bytes;
        }
    }
    let mut in_use = 0;
    let mut all = vec![];
    for (at, op) in ops.iter().enumerate() {
        let before = in_use - freed[at];
        in_use = before + made[at];
        let ended = |value: Val<'_>| {
            let sources = sources(value).into_iter();
            let ended = sources.filter(|value| last.get(&address(*value)) == Some(&at));
            ended.map(own_bytes).sum()
        };
        let last = ir::operands(*op).into_iter().map(ended).collect();
        all.push((key(*op), Around { before, during: in_use, last, most: 0 }));
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

/// Whether a value is nothing but a part of a concatenation.
fn is_part(value: Val<'_>) -> bool {
    matches!(&ir::users(value)[..], [user] if graph::Concat::is(*user))
}

/// The values in memory that are read where a value is.
fn sources(value: Val<'_>) -> Vec<Val<'_>> {
    let (mut found, mut work, mut seen) = (vec![], vec![value], HashSet::new());
    while let Some(value) = work.pop() {
        match edit::defining_op(value).filter(|op| is_view(*op) || is_part_of_loops(*op)) {
            _ if !seen.insert(address(value)) => {}
            Some(op) => work.extend(ir::operands(op)),
            None => found.push(value),
        }
    }
    found
}

fn address(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}

fn is_view(op: Op<'_>) -> bool {
    view::info(op).is_some_and(|info| info.view)
}

/// Whether the result of an operation is computed by the loops that read it.
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

/// Bytes that the operation that computes a value takes for it.
fn own_bytes(value: Val<'_>) -> i64 {
    let is_constant = |value: &Val<'_>| edit::defining_op(*value).is_some_and(graph::Constant::is);
    let is_stored = edit::defining_op(value).is_some_and(|op| {
        !is_view(op)
            && !is_part(value)
            && !is_part_of_loops(op)
            && !ir::operands(op).iter().all(is_constant)
    });
    if is_stored { Buffer::of(value).map_or(0, |buffer| buffer.bytes()) } else { 0 }
}
