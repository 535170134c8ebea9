//! The orders of loops that are compared.

use crate::tile::plan::Plan;

/// Loops that are cut, beyond which only one order is looked at.
const MAX_PERMUTED: usize = 4;

/// The orders of some loops that a plan allows, outermost first.
pub(super) fn orders(plan: &Plan, loops: &[usize]) -> Vec<Vec<usize>> {
    if loops.len() > MAX_PERMUTED {
        return vec![stated(plan, loops)];
    }
    let mut all = permutations(loops);
    all.retain(|order| is_allowed(plan, order));
    // Only a plan that contradicts itself allows none.
    if all.is_empty() { vec![stated(plan, loops)] } else { all }
}

fn permutations(loops: &[usize]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = loops.split_first() else { return vec![vec![]] };
    let mut all = vec![];
    for order in permutations(rest) {
        for place in 0..=order.len() {
            let mut longer = order.clone();
            longer.insert(place, *first);
            all.push(longer);
        }
    }
    all
}

/// Position of a loop in the order that the plan states, if it is there.
fn rank(plan: &Plan, place: usize) -> Option<usize> {
    let name = &plan.loops[place].name;
    plan.order.iter().position(|other| other == name)
}

/// True if a loop moves the stationary tile; all do where the plan has none.
fn moves_stationary(plan: &Plan, place: usize) -> bool {
    let stays = plan.tensors.iter().find(|tensor| Some(&tensor.name) == plan.stationary.as_ref());
    stays.is_none_or(|tensor| tensor.depends_on(place))
}

fn is_allowed(plan: &Plan, order: &[usize]) -> bool {
    order.iter().filter_map(|place| rank(plan, *place)).is_sorted()
        && order.iter().map(|place| !moves_stationary(plan, *place)).is_sorted()
}

/// The order as the plan states it; loops that it says nothing of are as they were declared.
fn stated(plan: &Plan, loops: &[usize]) -> Vec<usize> {
    let mut order = loops.to_vec();
    order.sort_by_key(|place| !moves_stationary(plan, *place));
    let ranked = |place: &usize| rank(plan, *place).is_some();
    let mut sorted: Vec<usize> = order.iter().copied().filter(ranked).collect();
    sorted.sort_by_key(|place| rank(plan, *place));
    let mut next = sorted.into_iter();
    order
        .into_iter()
        .map(|place| if ranked(&place) { next.next().unwrap_or(place) } else { place })
        .collect()
}
