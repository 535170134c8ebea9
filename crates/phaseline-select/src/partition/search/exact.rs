//! Branch and bound over the choice of matches.
//!
//! Operations are decided in program order: each goes to one of the matches that cover it, or to
//! the host. A partial choice is pruned when its lower bound is no less than the cost of the best
//! partition known. The bound adds the work decided so far, the transfers and calls that are
//! certain, and for each open operation its least cost on any target.

use super::{is_cheaper, ranks};
use crate::{
    graph::{OpId, ValueId},
    partition::{
        cost,
        placement::Place,
        solve::{Problem, Solution},
    },
};
use std::collections::BTreeSet;

/// More operations that a match covers than this are not searched in full.
const MAX_OPS: usize = 48;

/// Operations looked at before the search gives up.
const MAX_STEPS: usize = 3_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Open,
    Host,
    Match(usize),
}

struct Exact<'p, 'a> {
    problem: &'p Problem<'a>,
    ranks: Vec<usize>,
    /// By operation: the matches that cover it, most preferred first.
    covering: Vec<Vec<usize>>,
    /// By operation: the least share of a match or of the host.
    least: Vec<f64>,
    decided: Vec<Decision>,
    taken: Vec<usize>,
    best: Solution,
    steps: usize,
}

/// The cheapest partition, and whether it is certain that there is no cheaper one.
pub fn search(problem: &Problem, preferred: &[usize], known: Solution) -> (Solution, bool) {
    let count = problem.request.graph.op_count();
    let mut covering: Vec<Vec<usize>> = vec![vec![]; count];
    let prices = problem.prices;
    let mut least: Vec<f64> =
        (0..count).map(|op| prices.on_host(OpId(op as u32), |_| true)).collect();
    for number in preferred {
        let ops = &problem.candidates.matches[*number].found.ops;
        let share = problem.prices.matches[*number] / ops.len().max(1) as f64;
        for op in ops {
            covering[op.index()].push(*number);
            least[op.index()] = least[op.index()].min(share);
        }
    }
    let contested = covering.iter().filter(|matches| !matches.is_empty()).count();
    if contested > MAX_OPS {
        return (known, false);
    }
    let open = |matches: &Vec<usize>| {
        if matches.is_empty() { Decision::Host } else { Decision::Open }
    };
    let decided = covering.iter().map(open).collect();
    let ranks = ranks(preferred);
    let (taken, best) = (vec![], known);
    let mut exact = Exact { problem, ranks, covering, least, decided, taken, best, steps: 0 };
    exact.descend(0);
    let complete = exact.steps < MAX_STEPS;
    (exact.best, complete)
}

impl Exact<'_, '_> {
    /// Tries all choices for the open operations from `first` on.
    fn descend(&mut self, first: usize) {
        self.steps += self.decided.len();
        if self.steps >= MAX_STEPS || !is_cheaper(self.bound(), self.best.cost) {
            return;
        }
        let open = (first..self.decided.len()).find(|op| self.decided[*op] == Decision::Open);
        let Some(op) = open else { return self.finish() };
        for number in self.covering[op].clone() {
            let ops = self.problem.candidates.matches[number].found.ops.clone();
            if ops.iter().any(|op| self.decided[op.index()] != Decision::Open) {
                continue;
            }
            self.decide(&ops, Decision::Match(number));
            self.taken.push(number);
            self.descend(op + 1);
            self.taken.pop();
            self.decide(&ops, Decision::Open);
        }
        if !matches!(self.problem.placed.of[op], Place::Device(_)) {
            self.decided[op] = Decision::Host;
            self.descend(op + 1);
            self.decided[op] = Decision::Open;
        }
    }

    fn decide(&mut self, ops: &[OpId], decision: Decision) {
        ops.iter().for_each(|op| self.decided[op.index()] = decision);
    }

    /// Merges and prices a full choice.
    fn finish(&mut self) {
        self.steps += 8 * self.decided.len();
        let mut order = self.taken.clone();
        order.sort_by_key(|number| self.ranks[*number]);
        let found = self.problem.solve(&order);
        if is_cheaper(found.cost, self.best.cost) {
            self.best = found;
        }
    }

    /// Lower bound on the cost of every completion of the choice.
    fn bound(&self) -> f64 {
        let prices = self.problem.prices;
        let mut bound: f64 = self.taken.iter().map(|number| prices.matches[*number]).sum();
        for (op, decision) in self.decided.iter().enumerate() {
            bound += match decision {
                Decision::Open => self.least[op],
                // What is open may still come to the host.
                Decision::Host => prices.on_host(OpId(op as u32), |other| {
                    !matches!(self.decided[other.index()], Decision::Match(_))
                }),
                Decision::Match(_) => 0.0,
            };
        }
        bound + self.certain_transfers()
    }

    /// The calls and transfers that are needed however the open operations are decided.
    fn certain_transfers(&self) -> f64 {
        let request = self.problem.request;
        let mut called = BTreeSet::new();
        let mut entered: BTreeSet<(ValueId, usize)> = BTreeSet::new();
        let mut sum = 0.0;
        for number in &self.taken {
            let candidate = &self.problem.candidates.matches[*number];
            let device = candidate.device;
            let rates = &request.devices[device].rates;
            if called.insert(device) || !request.devices[device].capabilities.merge {
                sum += rates.per_call;
            }
            for value in &candidate.found.inputs {
                let definer = request.graph.definer(*value);
                let comes_in = match definer {
                    Some((op, _)) => self.is_elsewhere(op, device),
                    None => !request.graph.is_constant(*value),
                };
                if comes_in && entered.insert((*value, device)) {
                    sum += rates.per_byte * cost::bytes(request.graph, *value);
                }
            }
            for value in &candidate.found.outputs {
                let node = request.graph.value(*value);
                let mut users = node.uses.iter();
                if node.returned || users.any(|u| self.is_elsewhere(u.op, device)) {
                    sum += rates.per_byte * cost::bytes(request.graph, *value);
                }
            }
        }
        sum
    }

    /// True if an operation is decided to be on the host or on another device.
    fn is_elsewhere(&self, op: OpId, device: usize) -> bool {
        match self.decided[op.index()] {
            Decision::Open => false,
            Decision::Host => true,
            Decision::Match(number) => self.problem.candidates.matches[number].device != device,
        }
    }
}
