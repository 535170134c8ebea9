//! A part of a network that can be computed patch by patch, and what that takes.

use super::{access::Span, estimate::Lives, network::Network};
use std::{collections::BTreeMap, ops::Range};

/// Operations next to each other with one result that is used outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The operations.
    pub steps: Range<usize>,
    /// Their result.
    pub end: usize,
}

/// Grid of a region's result: an axis, and the number of pieces along it.
pub type Grid = Vec<(usize, i64)>;

/// The part of each value that a patch needs, by axes of the grid.
pub type Needs = BTreeMap<usize, Vec<Span>>;

/// Costs of patches.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    /// Bytes that are in use at once inside, what is held through the region aside.
    pub bytes: u64,
    /// Arithmetic operations.
    pub work: f64,
}

impl Region {
    /// The regions that begin at a step, shortest first.
    pub fn from(network: &Network<'_>, lives: &Lives, begin: usize) -> Vec<Self> {
        let mut found = vec![];
        // What was computed in the region and is used behind its last operation.
        let mut open: Vec<usize> = vec![];
        for at in begin..network.steps.len() {
            let step = &network.steps[at];
            let ([result], Some(_)) = (&step.results[..], &step.uncut) else { return found };
            if network.values[*result].dims.len() < 3 {
                return found;
            }
            let is_open = |value: &usize| {
                let it = &network.values[*value];
                it.returned || it.users.last().is_some_and(|last| *last > at)
            };
            // What comes from outside has to be there.
            let outside = |value: &usize| {
                let it = &network.values[*value];
                it.maker.is_some_and(|maker| maker < begin) && !lives.stored[*value]
            };
            if step.operands.iter().any(|(value, _)| outside(value)) {
                return found;
            }
            open.push(*result);
            open.retain(is_open);
            if open[..] == [*result] && lives.stored[*result] {
                found.push(Self { steps: begin..at + 1, end: *result });
            }
        }
        found
    }

    /// True if all operations can be cut along an axis.
    pub fn allows(&self, network: &Network<'_>, axis: usize) -> bool {
        let rank = network.values[self.end].dims.len();
        axis < rank
            && network.steps[self.steps.clone()].iter().all(|step| {
                step.uncut.as_ref().is_some_and(|uncut| !uncut.contains(&axis))
                    && step.results.iter().all(|value| network.values[*value].dims.len() == rank)
            })
    }

    /// The patches of the result, row by row.
    pub fn patches(&self, network: &Network<'_>, grid: &Grid) -> Vec<Vec<Span>> {
        let mut patches: Vec<Vec<Span>> = vec![vec![]];
        for (axis, count) in grid {
            let size = network.values[self.end].dims[*axis];
            let piece = |at: i64| Span { start: at * size / count, end: (at + 1) * size / count };
            patches = patches
                .into_iter()
                .flat_map(|patch| (0..*count).map(move |at| [&patch[..], &[piece(at)]].concat()))
                .collect();
        }
        patches
    }

    /// Part of each value that a patch needs; none if a part of an operation's windows has only
    /// padding.
    pub fn needs(&self, network: &Network<'_>, grid: &Grid, patch: &[Span]) -> Option<Needs> {
        let mut needs = Needs::from([(self.end, patch.to_vec())]);
        for step in network.steps[self.steps.clone()].iter().rev() {
            let result = *step.results.first()?;
            let Some(need) = needs.get(&result).cloned() else { continue };
            let out = &network.values[result].dims;
            for (value, access) in &step.operands {
                let it = &network.values[*value];
                if it.constant {
                    continue;
                }
                let mut spans = vec![];
                for ((axis, _), need) in grid.iter().zip(&need) {
                    let part = access.part(*axis, &it.dims, out[*axis], *need).ok()?;
                    let own = it.dims.get(*axis).copied().unwrap_or(1);
                    let all = Span { start: 0, end: own };
                    // Fewer dimensions than the result, and not all of them broadcast.
                    if part.is_some() && it.dims.len() != out.len() {
                        return None;
                    }
                    spans.push(part.map_or(all, |part| part.span));
                }
                let known = needs.entry(*value).or_insert_with(|| spans.clone());
                for (known, span) in known.iter_mut().zip(spans) {
                    *known = known.hull(span);
                }
            }
        }
        Some(needs)
    }

    /// Costs of a patch.
    pub fn price(&self, network: &Network<'_>, lives: &Lives, grid: &Grid, needs: &Needs) -> Price {
        let share = |value: usize| -> f64 {
            let Some(spans) = needs.get(&value) else { return 0.0 };
            let dims = &network.values[value].dims;
            let part = |((axis, _), span): (&(usize, i64), &Span)| {
                dims.get(*axis).map_or(1.0, |size| span.len() as f64 / (*size).max(1) as f64)
            };
            grid.iter().zip(spans).map(part).product()
        };
        let size = |value: usize| (share(value) * network.values[value].size as f64).ceil() as u64;
        let mut used = vec![0_u64; self.steps.len()];
        let mut work = 0.0;
        let mut outside: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (at, step) in self.steps.clone().zip(&network.steps[self.steps.clone()]) {
            let Some(result) = step.results.first().filter(|value| needs.contains_key(value))
            else {
                continue;
            };
            work += step.work * share(*result);
            if lives.stored[*result] {
                let last = if *result == self.end { at } else { lives.last[*result] };
                let till = last.min(self.steps.end - 1);
                for place in at..=till {
                    used[place - self.steps.start] += size(*result);
                }
                if lives.is_in_place(network, at, &size) {
                    used[at - self.steps.start] -= size(*result);
                }
            }
            // What is cut out of a value from outside, if it is not read where it is.
            let cut = |value: &&usize| {
                let inside = network.values[**value].maker.is_some_and(|m| self.steps.contains(&m));
                !inside && !step.pointwise && share(**value) < 1.0
            };
            if lives.stored[*result] {
                for value in lives.reads[at].iter().filter(cut) {
                    outside.entry(*value).or_insert((at, at)).1 = at;
                }
            }
        }
        for (value, (first, last)) in outside {
            for place in first..=last {
                used[place - self.steps.start] += size(value);
            }
        }
        Price { bytes: used.into_iter().max().unwrap_or(0), work }
    }
}
