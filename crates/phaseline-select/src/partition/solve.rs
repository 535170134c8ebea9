//! From an order of matches to groups: choose, merge, return idle groups, and price the outcome.

use super::{
    Request,
    candidates::Candidates,
    choose::{Chosen, Rejection, choose},
    cost::Prices,
    merge::{RefusedGroups, idle_groups, merge},
    placement::{Place, Placed},
};

/// A graph to divide, with all that is known about it.
pub struct Problem<'a> {
    /// The graph and the targets that divide it.
    pub request: &'a Request<'a>,
    /// Demands of the user.
    pub placed: &'a Placed,
    /// All matches.
    pub candidates: &'a Candidates,
    /// Prices of the matches, and of operations on the host.
    pub prices: &'a Prices,
    /// For each match that no partition has, the reason.
    pub barred: &'a [Option<Rejection>],
}

/// A partition, before regions have numbers.
pub struct Solution {
    /// Matches and groups.
    pub chosen: Chosen,
    /// Merges that were refused.
    pub refused: Vec<RefusedGroups>,
    /// Its cost in nanoseconds; infinite if an operation is not where the user wants it.
    pub cost: f64,
}

/// Rounds of returning idle regions to the host and dividing again.
const MAX_ROUNDS: usize = 8;

impl Problem<'_> {
    /// Takes the matches of `order` one after the other where they can be had, and no others.
    pub fn solve(&self, order: &[usize]) -> Solution {
        let (request, candidates) = (self.request, self.candidates);
        let mut barred = self.barred.to_vec();
        let mut round = 0;
        loop {
            let mut chosen = choose(request, candidates, &barred, order);
            let refused = merge(request, candidates, &mut chosen);
            let idle = idle_groups(request, candidates, &chosen, self.placed);
            if idle.is_empty() || round == MAX_ROUNDS {
                chosen.release(&idle);
                let cost = self.cost(&chosen);
                return Solution { chosen, refused, cost };
            }
            let idle = idle.iter().flat_map(|group| chosen.matches_of(*group));
            idle.for_each(|number| barred[number] = Some(Rejection::Idle));
            round += 1;
        }
    }

    fn cost(&self, chosen: &Chosen) -> f64 {
        let mut demands = self.placed.of.iter().enumerate();
        let met = demands.all(|(op, place)| match place {
            Place::Device(device) => chosen.owner[op]
                .is_some_and(|number| self.candidates.matches[number].device == *device),
            Place::Free | Place::Host => true,
        });
        if met { self.prices.total(self.request, self.candidates, chosen) } else { f64::INFINITY }
    }

    /// True if the user demanded a place for an operation of a match.
    pub fn is_by_hand(&self, number: usize) -> bool {
        let ops = &self.candidates.matches[number].found.ops;
        ops.iter().any(|op| self.placed.of[op.index()] != Place::Free)
    }
}

impl Solution {
    /// The matches that it has, in order of their first operations.
    pub fn taken(&self) -> Vec<usize> {
        let owners = self.chosen.owner.iter().flatten().copied();
        owners.collect::<indexmap::IndexSet<usize>>().into_iter().collect()
    }
}
