//! Reads of operations on tensors, where each value is of one operation: the truth for what
//! bufferization makes.

use super::{LIMIT, Seen, Writes, tree};
use crate::ir::{self, Op, Val, edit, effects, linalg, tir};
use melior::ir::{ValueLike, block::BlockLike};
use std::collections::{BTreeMap, HashMap, HashSet};

/// For each operation on tensors that computes, its number and what it reads by operand.
pub(super) fn seen<'c>(ops: &[Op<'c>]) -> Vec<(Op<'c>, i64, BTreeMap<usize, Seen>)> {
    let computes: Vec<Op<'c>> = ops.iter().copied().filter(|op| computes(*op)).collect();
    let numbers: HashMap<ir::Id, i64> =
        computes.iter().zip(1..).map(|(op, number)| (ir::id(*op), number)).collect();
    let numbered = computes.into_iter().zip(1..);
    numbered.map(|(op, number)| (op, number, reads(op, &numbers))).collect()
}

/// True if an operation computes tensors from tensors.
fn computes(op: Op<'_>) -> bool {
    let is_known = linalg::is_structured(op) || ir::op_name(op) == tir::CallExtern::NAME;
    is_known && ir::results(op).iter().all(|value| ir::is_tensor(value.r#type()))
}

fn reads<'c>(op: Op<'c>, numbers: &HashMap<ir::Id, i64>) -> BTreeMap<usize, Seen> {
    let mut found = BTreeMap::new();
    for (operand, value) in ir::operands(op).into_iter().enumerate() {
        if !ir::is_tensor(value.r#type()) || !tree::effect(op, operand).0 {
            continue;
        }
        let writes = |is_first| Trace { numbers, is_first, found: Writes::new() }.of(value);
        if let (Some(first), Some(any)) = (writes(true), writes(false)) {
            found.insert(operand, Seen { first, any, lossy: LIMIT });
        }
    }
    found
}

/// A way back from a value to what computes it.
struct Trace<'n> {
    numbers: &'n HashMap<ir::Id, i64>,
    /// True if loops are in their first iteration.
    is_first: bool,
    found: Writes,
}

impl Trace<'_> {
    /// The writes that a value may be of; none if they are not known.
    fn of(mut self, value: Val<'_>) -> Option<Writes> {
        let (mut work, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = work.pop() {
            if seen.insert(ir::id(value)) {
                work.extend(self.behind(value)?);
            }
        }
        Some(self.found)
    }

    /// The values that a value is made of, where it is none of an operation that computes.
    fn behind<'c>(&mut self, value: Val<'c>) -> Option<Vec<Val<'c>>> {
        let Some(op) = edit::defining_op(value) else { return self.argument(value) };
        if let Some(number) = self.numbers.get(&ir::id(op)) {
            self.found.insert(*number);
            return Some(vec![]);
        }
        match ir::op_name(op) {
            _ if effects::is_unwritten(op) => Some(vec![]),
            "arith.constant" => {
                self.found.insert(0);
                Some(vec![])
            }
            _ if effects::is_move(op) => {
                let is_buffer = |value: &Val<'c>| {
                    ir::is_tensor(value.r#type()) || ir::is_memref(value.r#type())
                };
                Some(ir::operands(op).into_iter().filter(is_buffer).collect())
            }
            "scf.for" => {
                let place = ir::results(op).iter().position(|result| *result == value)?;
                let start = *ir::operands(op).get(3 + place)?;
                let end = ir::ops(edit::entry_block(op)?).last().copied()?;
                Some(vec![start, *ir::operands(end).get(place)?])
            }
            _ => None,
        }
    }

    fn argument<'c>(&mut self, value: Val<'c>) -> Option<Vec<Val<'c>>> {
        let (block, place) = edit::owner_block(value)?;
        let owner = block.parent_operation()?;
        match ir::op_name(owner) {
            "func.func" => {
                self.found.insert(0);
                Some(vec![])
            }
            "scf.for" => {
                let start = *ir::operands(owner).get(2 + place)?;
                let end = ir::ops(edit::entry_block(owner)?).last().copied()?;
                let again = *ir::operands(end).get(place.checked_sub(1)?)?;
                Some(if self.is_first { vec![start] } else { vec![start, again] })
            }
            _ => None,
        }
    }
}
