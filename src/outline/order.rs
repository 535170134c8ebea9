//! Stable topological order of a block.

use super::{definer, used};
use crate::{
    Error, Result,
    ir::{Blk, edit, ops},
};
use melior::ir::operation::OperationLike;
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

/// Puts definitions before uses, keeping the order of independent operations. The terminator stays
/// last. Fails when operations depend on each other in a cycle, which a legal partition excludes.
pub fn sort_topologically(block: Blk<'_>) -> Result<()> {
    let all = ops(block);
    let Some((terminator, body)) = all.split_last() else { return Ok(()) };
    let index: HashMap<usize, usize> =
        body.iter().enumerate().map(|(i, op)| (op.to_raw().ptr as usize, i)).collect();
    let mut waiting = vec![0_usize; body.len()];
    let mut followers: Vec<Vec<usize>> = vec![vec![]; body.len()];
    for (i, op) in body.iter().enumerate() {
        for definition in used(*op).into_iter().filter_map(definer) {
            if let Some(&d) = index.get(&(definition.to_raw().ptr as usize)) {
                waiting[i] += 1;
                followers[d].push(i);
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..body.len()).filter(|i| waiting[*i] == 0).map(Reverse).collect();
    let mut placed = 0;
    while let Some(Reverse(i)) = ready.pop() {
        edit::move_before(body[i], *terminator);
        placed += 1;
        for &next in &followers[i] {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if placed < body.len() {
        let stuck = (0..body.len()).find(|i| waiting[*i] > 0).unwrap_or_default();
        return Err(Error::internal(format!(
            "partitioning made a cycle through {}",
            body[stuck].location()
        )));
    }
    Ok(())
}
