//! Stable topological order of a block.

use super::{definer, used};
use crate::{
    Error, Result,
    ir::{self, Blk, Op, edit, ops},
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
    let index: HashMap<ir::Id, usize> =
        body.iter().enumerate().map(|(i, op)| (ir::id(op), i)).collect();
    let mut waiting = vec![0_usize; body.len()];
    let mut followers: Vec<Vec<usize>> = vec![vec![]; body.len()];
    for (i, op) in body.iter().enumerate() {
        for definition in used(*op).into_iter().filter_map(definer) {
            if let Some(&d) = index.get(&ir::id(definition)) {
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

/// Moves operations that start work on a device, and their producers, before operations that do not
/// wait for it. So the host and other devices are at work meanwhile. `queue` names the queue that
/// an operation starts work on. Producers come before users, before and after the call.
///
/// Operations are ordered by the number of waits that lie on the way to them at least. Among
/// equals, those that start work on a queue or lead to it come first.
pub fn start_early<'c>(block: Blk<'c>, queue: impl Fn(Op<'c>) -> Option<String>) {
    let all = ops(block);
    let Some((terminator, body)) = all.split_last() else { return };
    let queues: Vec<Option<String>> = body.iter().map(|op| queue(*op)).collect();
    if queues.iter().all(Option::is_none) {
        return;
    }
    let index: HashMap<ir::Id, usize> =
        body.iter().enumerate().map(|(place, op)| (ir::id(*op), place)).collect();
    let needs: Vec<Vec<usize>> = body
        .iter()
        .map(|op| {
            let made = used(*op).into_iter().filter_map(definer);
            made.filter_map(|op| index.get(&ir::id(op)).copied()).collect()
        })
        .collect();
    let mut waits = vec![0_usize; body.len()];
    for place in 0..body.len() {
        let after = |from: &usize| {
            let waits_for = queues[*from].is_some() && queues[*from] != queues[place];
            waits[*from] + usize::from(waits_for)
        };
        waits[place] = needs[place].iter().map(after).max().unwrap_or(0);
    }
    let mut leads: Vec<bool> = queues.iter().map(Option::is_some).collect();
    for place in (0..body.len()).rev().filter(|place| leads[*place]).collect::<Vec<_>>() {
        mark(&needs, &waits, &mut leads, place);
    }
    let mut order: Vec<usize> = (0..body.len()).collect();
    order.sort_by_key(|place| (waits[*place], !leads[*place], *place));
    for place in order {
        edit::move_before(body[place], *terminator);
    }
}

/// Marks the operations that one needs and that come after as many waits.
fn mark(needs: &[Vec<usize>], waits: &[usize], leads: &mut [bool], place: usize) {
    let mut work = vec![place];
    while let Some(place) = work.pop() {
        for from in needs[place].iter().filter(|from| waits[**from] == waits[place]) {
            if !leads[*from] {
                leads[*from] = true;
                work.push(*from);
            }
        }
    }
}
