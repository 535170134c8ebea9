//! Collects the matches of all patterns of all targets, and the reasons of failed ones.

use super::{
    Device, Request,
    placement::{Place, Placed},
};
use crate::{
    graph::{Facts, OpId},
    pattern::{Failure, Match, find_match},
};
use std::collections::{BTreeMap, BTreeSet};

/// A match that may be chosen.
pub struct Candidate {
    /// Number of the device.
    pub device: usize,
    /// Number of its pattern.
    pub pattern: usize,
    /// The match.
    pub found: Match,
}

/// All matches, and for each device and operation the reasons of patterns that do not match.
pub struct Candidates {
    /// The matches, by device, pattern and last operation.
    pub matches: Vec<Candidate>,
    /// By device and operation: the patterns that do not match, in order, each with its closest
    /// attempt.
    pub failures: Vec<Vec<Vec<(usize, Failure)>>>,
    /// By device: for each operation's name, the first pattern that has it.
    pub mentions: Vec<BTreeMap<String, usize>>,
}

impl Candidates {
    /// The attempt of a device that came closest to a match of an operation; of equal ones that of
    /// the first pattern.
    pub fn closest(&self, device: usize, op: OpId) -> Option<&(usize, Failure)> {
        let attempts = self.failures[device][op.index()].iter();
        attempts.reduce(|best, next| if next.1.is_closer_than(&best.1) { next } else { best })
    }
}

/// Tries all patterns everywhere.
pub fn collect(request: &Request, placed: &Placed) -> Candidates {
    let mut candidates = Candidates { matches: vec![], failures: vec![], mentions: vec![] };
    for (index, device) in request.devices.iter().enumerate() {
        let mut mentions = BTreeMap::new();
        for (pattern, declared) in device.patterns.iter().enumerate() {
            for op in declared.ops() {
                mentions.entry(op.to_owned()).or_insert(pattern);
            }
        }
        let failures = collect_device(request, placed, index, device, &mut candidates.matches);
        candidates.mentions.push(mentions);
        candidates.failures.push(failures);
    }
    candidates
}

fn collect_device(
    request: &Request,
    placed: &Placed,
    index: usize,
    device: &Device,
    matches: &mut Vec<Candidate>,
) -> Vec<Vec<(usize, Failure)>> {
    let graph = request.graph;
    let facts = Facts { graph, table: request.table, options: device.options };
    let is_free = |op: OpId| match placed.of[op.index()] {
        Place::Free => placed.live[op.index()],
        Place::Device(demanded) => placed.live[op.index()] && demanded == index,
        Place::Host => false,
    };
    let mut by_root: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, pattern) in device.patterns.iter().enumerate() {
        let roots: BTreeSet<&str> = pattern.roots().collect();
        roots.into_iter().for_each(|root| by_root.entry(root).or_default().push(number));
    }
    let mut failures: Vec<Vec<(usize, Failure)>> = vec![vec![]; graph.op_count()];
    for (root, op) in graph.ops() {
        if !is_free(root) {
            continue;
        }
        for number in by_root.get(op.name.as_str()).map(Vec::as_slice).unwrap_or_default() {
            let pattern = &device.patterns[*number];
            let allowed = |op: OpId| {
                let demanded = graph.op(op).pattern.as_deref();
                is_free(op) && demanded.is_none_or(|name| name == pattern.name())
            };
            match find_match(pattern, facts, &device.capabilities, root, &allowed) {
                Ok(found) => {
                    matches.push(Candidate { device: index, pattern: *number, found });
                }
                Err(Some(failure)) => note(&mut failures, root, *number, failure),
                Err(None) => {}
            }
        }
    }
    failures
}

/// Keeps a failure for its operations where it is closer to a match than what is known of the
/// pattern.
fn note(failures: &mut [Vec<(usize, Failure)>], root: OpId, pattern: usize, failure: Failure) {
    let others = failure.ops.iter().copied().filter(|op| *op != root);
    for op in others.chain([root]) {
        let known = &mut failures[op.index()];
        match known.binary_search_by_key(&pattern, |(pattern, _)| *pattern) {
            Ok(place) if failure.is_closer_than(&known[place].1) => {
                known[place].1 = failure.clone();
            }
            Ok(_) => {}
            Err(place) => known.insert(place, (pattern, failure.clone())),
        }
    }
}
