//! Searches for a partition that costs less than the one in order of preference.
//!
//! Small graphs are searched in full ([`exact`]). Larger ones, or those where that takes too many
//! steps, are improved step by step ([`local`]). Both start from the partition in order of
//! preference and only ever replace it by a cheaper one. Effort is counted in steps, not seconds,
//! so that the outcome does not depend on the machine.

mod exact;
mod local;

use super::{
    cost::Search,
    solve::{Problem, Solution},
};

/// The cheapest partition found, beginning with `greedy`. `preferred` has all matches in order of
/// preference.
pub fn search(problem: &Problem, preferred: &[usize], greedy: Solution) -> (Solution, Search) {
    let (found, complete) = exact::search(problem, preferred, greedy);
    if complete {
        return (found, Search::Exact);
    }
    (local::search(problem, preferred, found), Search::Bounded)
}

/// For each match, its place in the order of preference.
fn ranks(preferred: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; preferred.len()];
    for (rank, number) in preferred.iter().enumerate() {
        ranks[*number] = rank;
    }
    ranks
}

/// True if a cost is lower by more than rounding.
fn is_cheaper(cost: f64, than: f64) -> bool {
    cost < than && (than.is_infinite() || than - cost > 1e-9 * than)
}
