//! Improves a partition step by step, within a bound on the effort.

use super::{is_cheaper, ranks};
use crate::partition::solve::{Problem, Solution};
use std::cmp::Ordering;

/// Operations that are divided anew, over all tries. A try divides the whole graph, which takes
/// about 2 us an operation.
const MAX_STEPS: usize = 600_000;

struct Local<'p, 'a> {
    problem: &'p Problem<'a>,
    preferred: &'p [usize],
    ranks: Vec<usize>,
    best: Solution,
    steps: usize,
}

/// The cheapest partition found, starting from `known`.
pub fn search(problem: &Problem, preferred: &[usize], known: Solution) -> Solution {
    let ranks = ranks(preferred);
    let mut local = Local { problem, preferred, ranks, best: known, steps: 0 };
    local.try_starts();
    while !local.is_spent() && local.sweep() {}
    local.best
}

impl Local<'_, '_> {
    fn is_spent(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    /// Divides by an order of matches, and keeps the outcome if it is cheaper.
    fn attempt(&mut self, mut order: Vec<usize>) -> bool {
        if self.is_spent() {
            return false;
        }
        self.steps += self.problem.request.graph.op_count();
        // What the user placed comes first, as in order of preference.
        order.sort_by_key(|number| !self.problem.is_by_hand(*number));
        let found = self.problem.solve(&order);
        let better = is_cheaper(found.cost, self.best.cost);
        if better {
            self.best = found;
        }
        better
    }

    /// Begins anew: without devices, with each alone, and with what saves most first.
    fn try_starts(&mut self) {
        let by_hand = |number: &usize| self.problem.is_by_hand(*number);
        let demanded: Vec<usize> = self.preferred.iter().copied().filter(by_hand).collect();
        self.attempt(demanded.clone());
        for device in 0..self.problem.request.devices.len() {
            let of_device = self.of_device(device);
            self.attempt(demanded.iter().copied().chain(of_device).collect());
        }
        let mut by_saving = self.preferred.to_vec();
        by_saving.sort_by(|a, b| order_of(self.saving(*b), self.saving(*a)));
        self.attempt(by_saving);
    }

    fn of_device(&self, device: usize) -> Vec<usize> {
        let numbers = self.preferred.iter().copied();
        numbers.filter(|n| self.problem.candidates.matches[*n].device == device).collect()
    }

    /// Saving of a match over the host, per operation, transfers and calls aside.
    fn saving(&self, number: usize) -> f64 {
        let ops = &self.problem.candidates.matches[number].found.ops;
        let prices = self.problem.prices;
        let on_host: f64 = ops.iter().map(|op| prices.on_host(*op, |_| true)).sum();
        (on_host - self.problem.prices.matches[number]) / ops.len().max(1) as f64
    }

    /// The matches of the best partition in order of preference.
    fn taken(&self) -> Vec<usize> {
        let mut taken = self.best.taken();
        taken.sort_by_key(|number| self.ranks[*number]);
        taken
    }

    /// Tries every change once; says whether one was for the better.
    fn sweep(&mut self) -> bool {
        let mut improved = self.return_dear_regions();
        for device in 0..self.problem.request.devices.len() {
            let of_device = self.of_device(device);
            improved |= self.attempt(of_device.iter().copied().chain(self.taken()).collect());
            improved |= self.attempt(self.taken().into_iter().chain(of_device).collect());
        }
        for group in self.groups() {
            improved |= self.move_group(&group);
        }
        improved |= self.add_matches();
        for number in self.taken() {
            let rest = self.taken().into_iter().filter(|other| *other != number).collect();
            improved |= self.attempt(rest);
        }
        improved
    }

    /// The matches of each region.
    fn groups(&self) -> Vec<Vec<usize>> {
        let chosen = &self.best.chosen;
        let graph = self.problem.request.graph;
        let owned = graph.ops().map(|(op, _)| op).filter(|op| chosen.owner[op.index()].is_some());
        let groups: indexmap::IndexSet<_> = owned.map(|op| chosen.quotient.group(op)).collect();
        groups.into_iter().map(|group| chosen.matches_of(group)).collect()
    }

    /// Gives all regions that cost more than on the host back to it. The cost of a region does not
    /// depend on the others, so they can all go at once.
    fn return_dear_regions(&mut self) -> bool {
        let chosen = &self.best.chosen;
        let (request, candidates) = (self.problem.request, self.problem.candidates);
        let mut unprofitable = vec![];
        for group in self.groups() {
            let first = group.first().map(|number| candidates.matches[*number].found.root);
            let Some(root) = first else { continue };
            let group_of = chosen.quotient.group(root);
            let cost = self.problem.prices.region(request, candidates, chosen, group_of);
            if cost.total() > cost.on_host {
                unprofitable.extend(group);
            }
        }
        let rest =
            self.taken().into_iter().filter(|number| !unprofitable.contains(number)).collect();
        !unprofitable.is_empty() && self.attempt(rest)
    }

    /// Gives a region to the host, or to each other device that has matches there.
    fn move_group(&mut self, group: &[usize]) -> bool {
        let matches = &self.problem.candidates.matches;
        let rest: Vec<usize> =
            self.taken().into_iter().filter(|number| !group.contains(number)).collect();
        let mut improved = self.attempt(rest.clone());
        let inside: std::collections::BTreeSet<_> =
            group.iter().flat_map(|number| &matches[*number].found.ops).copied().collect();
        for device in 0..self.problem.request.devices.len() {
            let touches =
                |number: &usize| matches[*number].found.ops.iter().any(|op| inside.contains(op));
            let wanted: Vec<usize> = self.of_device(device).into_iter().filter(touches).collect();
            if !wanted.is_empty() {
                improved |= self.attempt(wanted.into_iter().chain(rest.iter().copied()).collect());
            }
        }
        improved
    }

    /// Adds each match that is not taken, in place of those that it overlaps; first those that
    /// promise most.
    fn add_matches(&mut self) -> bool {
        let taken = self.taken();
        let mut others: Vec<usize> =
            self.preferred.iter().copied().filter(|number| !taken.contains(number)).collect();
        others.sort_by(|a, b| order_of(self.saving(*b), self.saving(*a)));
        let mut improved = false;
        for number in others {
            if self.is_spent() {
                break;
            }
            improved |= self.attempt([number].into_iter().chain(self.taken()).collect());
        }
        improved
    }
}

/// Costs are never NaN, but a comparison must not depend on that.
fn order_of(a: f64, b: f64) -> Ordering {
    a.total_cmp(&b)
}
