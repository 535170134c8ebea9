//! Chooses among matches that overlap.

use super::{
    Request,
    candidates::{Candidate, Candidates},
    limits,
    placement::{Place, Placed},
    quotient::Quotient,
};
use crate::graph::OpId;
use std::cmp::Reverse;

/// Reason for rejecting a match.
#[derive(Clone, Debug)]
pub enum Rejection {
    /// One of its operations is in another match.
    Taken {
        /// The other match.
        by: usize,
    },
    /// Its operations and those between them would wait for each other.
    Cycle {
        /// A path that leaves the match and comes back.
        path: Vec<OpId>,
    },
    /// Its region would have had no real work.
    Idle,
    /// The partition is cheaper without it.
    Dear,
    /// Alone it breaks a limit on regions.
    Limit {
        /// The limit, with the values that break it.
        limit: String,
    },
    /// The device's own code does not take its region.
    Declined {
        /// The device's reason.
        reason: String,
    },
}

/// The matches that were chosen, and the groups that they are merged into.
pub struct Chosen {
    /// For each operation, the match that has it.
    pub owner: Vec<Option<usize>>,
    /// For each match that was not chosen, the reason.
    pub rejections: Vec<Option<Rejection>>,
    /// The groups.
    pub quotient: Quotient,
}

impl Chosen {
    /// The matches of a group, without duplicates, in order of their first operations.
    pub fn matches_of(&self, group: OpId) -> Vec<usize> {
        let mut ops = self.quotient.members(group).to_vec();
        ops.sort_unstable();
        let owners = ops.into_iter().filter_map(|op| self.owner[op.index()]);
        owners.collect::<indexmap::IndexSet<usize>>().into_iter().collect()
    }

    /// The match that has an operation, if one was chosen.
    pub fn match_of<'c>(&self, candidates: &'c Candidates, op: OpId) -> Option<&'c Candidate> {
        self.owner[op.index()].map(|number| &candidates.matches[number])
    }

    /// The device of a group; `None` for host operations.
    pub fn device_of(&self, candidates: &Candidates, group: OpId) -> Option<usize> {
        self.match_of(candidates, group).map(|candidate| candidate.device)
    }

    /// True for an operation of an inline match: the host's own code calls its function, and it is
    /// never part of a larger region.
    pub fn is_inline(&self, request: &Request, candidates: &Candidates, op: OpId) -> bool {
        self.match_of(candidates, op)
            .is_some_and(|found| request.devices[found.device].patterns[found.pattern].spec.inline)
    }

    /// Gives the operations of groups back to the host.
    pub fn release(&mut self, groups: &[OpId]) {
        for group in groups {
            for number in self.matches_of(*group) {
                self.rejections[number] = Some(Rejection::Idle);
            }
            for op in self.quotient.members(*group) {
                self.owner[op.index()] = None;
            }
        }
    }
}

/// All matches in order of preference: what the user placed, then by order of targets, benefit,
/// size, order of declaration and place in the program.
pub fn preference(request: &Request, candidates: &Candidates, placed: &Placed) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.matches.len()).collect();
    order.sort_by_cached_key(|number| {
        let candidate = &candidates.matches[*number];
        let ops = &candidate.found.ops;
        let by_hand = ops.iter().any(|op| placed.of[op.index()] != Place::Free);
        let pattern = &request.devices[candidate.device].patterns[candidate.pattern];
        let benefit = pattern.spec.benefit.unwrap_or(ops.len() as i64);
        (
            !by_hand,
            candidate.device,
            Reverse(benefit),
            Reverse(ops.len()),
            candidate.pattern,
            candidate.found.root,
        )
    });
    order
}

/// Takes the matches of `order` one after the other, as long as they are disjoint and close no
/// cycle.
pub fn choose(
    request: &Request,
    candidates: &Candidates,
    barred: &[Option<Rejection>],
    order: &[usize],
) -> Chosen {
    let mut chosen = Chosen {
        owner: vec![None; request.graph.op_count()],
        rejections: vec![None; candidates.matches.len()],
        quotient: Quotient::new(request.graph),
    };
    let mut seen = vec![false; candidates.matches.len()];
    for number in order.iter().copied() {
        if std::mem::replace(&mut seen[number], true) {
            continue;
        }
        if let Some(reason) = &barred[number] {
            chosen.rejections[number] = Some(reason.clone());
            continue;
        }
        let ops = &candidates.matches[number].found.ops;
        if let Some(by) = ops.iter().find_map(|op| chosen.owner[op.index()]) {
            chosen.rejections[number] = Some(Rejection::Taken { by });
            continue;
        }
        match chosen.quotient.merge(ops) {
            Ok(_) => ops.iter().for_each(|op| chosen.owner[op.index()] = Some(number)),
            Err(path) => chosen.rejections[number] = Some(Rejection::Cycle { path }),
        }
    }
    for number in (0..seen.len()).filter(|number| !seen[*number]) {
        let ops = &candidates.matches[number].found.ops;
        let taken = ops.iter().find_map(|op| chosen.owner[op.index()]);
        let taken = taken.map(|by| Rejection::Taken { by });
        chosen.rejections[number] =
            Some(barred[number].clone().or(taken).unwrap_or(Rejection::Dear));
    }
    chosen
}

/// For each match that no partition has, the reason: its device declined the region that it would be in, or it breaks a
/// limit on regions.
pub fn barred(request: &Request, candidates: &Candidates) -> Vec<Option<Rejection>> {
    let reason = |(number, candidate): (usize, &Candidate)| {
        let ops = &candidate.found.ops;
        if let Some(rejection) = request.rejection(candidate.device, ops) {
            return Some(rejection);
        }
        limits::broken(request, candidates, candidate.device, (ops.clone(), &[number]))
            .map(|limit| Rejection::Limit { limit })
    };
    candidates.matches.iter().enumerate().map(reason).collect()
}
