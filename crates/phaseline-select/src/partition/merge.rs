//! Merges neighbouring matches of one target into regions.

use super::{
    RefusedReason, Request,
    candidates::Candidates,
    choose::Chosen,
    limits,
    placement::{Place, Placed},
    quotient::dependencies,
};
use crate::{graph::OpId, pattern::RegionLimits};
use std::collections::BTreeSet;

/// Two neighbouring groups that are not merged.
pub struct RefusedGroups {
    /// Number of the device.
    pub device: usize,
    /// The group that feeds.
    pub from: OpId,
    /// The group that is fed.
    pub to: OpId,
    /// Reason for the refusal.
    pub reason: RefusedReason,
}

/// Merges the groups that may be merged, and returns the refused merges.
pub fn merge(
    request: &Request,
    candidates: &Candidates,
    chosen: &mut Chosen,
) -> Vec<RefusedGroups> {
    let mergeable: Vec<(OpId, OpId)> = dependencies(request.graph)
        .into_iter()
        .filter(|(from, to)| {
            let device = chosen.device_of(candidates, *from);
            let alone = |op: &OpId| chosen.is_inline(request, candidates, *op);
            !alone(from)
                && !alone(to)
                && device == chosen.device_of(candidates, *to)
                && device.is_some_and(|device| request.devices[device].capabilities.merge)
        })
        .collect();
    let wide = |chosen: &Chosen, group: OpId| {
        let device = chosen.device_of(candidates, group);
        device.is_some_and(|device| request.devices[device].capabilities.multi_output)
    };
    // A merge can make another one possible that was refused before, so this runs until nothing
    // changes. What is refused stays on the list, what is merged leaves it.
    let mut open = mergeable.clone();
    let parallel = |chosen: &Chosen, group: OpId| {
        let device = chosen.device_of(candidates, group);
        device.is_some_and(|device| request.devices[device].capabilities.parallel)
    };
    loop {
        let before = open.len();
        open.retain(|(from, to)| {
            let (a, b) = (chosen.quotient.group(*from), chosen.quotient.group(*to));
            let fits = match parallel(chosen, a) {
                false => wide(chosen, a),
                true => {
                    let ends = || feeds_only(request, chosen, a, &BTreeSet::from([b]));
                    is_chain(chosen, &mergeable, (a, b)) && (wide(chosen, a) || ends())
                }
            };
            let fits = fits && limit(request, candidates, chosen, &[a, b]).is_none();
            a != b && (!fits || chosen.quotient.merge(&[a, b]).is_err())
        });
        if open.len() == before {
            break;
        }
    }
    merge_single_output(request, candidates, chosen, &open);
    refusals(request, candidates, chosen, &open)
}

/// The limit of its device that a region of these groups would break.
fn limit(
    request: &Request,
    candidates: &Candidates,
    chosen: &Chosen,
    groups: &[OpId],
) -> Option<String> {
    let device = chosen.device_of(candidates, *groups.first()?)?;
    if request.devices[device].capabilities.region == RegionLimits::default() {
        return None;
    }
    let ops = groups.iter().flat_map(|group| chosen.quotient.members(*group)).copied().collect();
    let matches: Vec<usize> = groups.iter().flat_map(|group| chosen.matches_of(*group)).collect();
    limits::broken(request, candidates, device, (ops, &matches))
}

/// True if, of all groups that may be merged with the two, only the first feeds the second, and
/// the first feeds only the second. Nothing could run beside one of them then.
fn is_chain(chosen: &Chosen, mergeable: &[(OpId, OpId)], (a, b): (OpId, OpId)) -> bool {
    let groups = mergeable
        .iter()
        .map(|(from, to)| (chosen.quotient.group(*from), chosen.quotient.group(*to)));
    groups.filter(|(from, to)| from != to).all(|(from, to)| (from == a) == (to == b))
}

/// Grows regions with one output from their last match backwards: what feeds only the region joins
/// it. No path can leave such a region before its end, so all these merges are legal.
fn merge_single_output(
    request: &Request,
    candidates: &Candidates,
    chosen: &mut Chosen,
    open: &[(OpId, OpId)],
) {
    let is_narrow = |chosen: &Chosen, group: OpId| {
        let device = chosen.device_of(candidates, group).map(|device| &request.devices[device]);
        let capabilities = device.map(|device| &device.capabilities);
        capabilities.is_some_and(|can| !can.multi_output && !can.parallel)
    };
    let sinks = open.iter().map(|(_, to)| chosen.quotient.group(*to));
    let mut sinks: Vec<OpId> = sinks.filter(|group| is_narrow(chosen, *group)).collect();
    sinks.sort_by_key(|group| std::cmp::Reverse(chosen.quotient.position(*group)));
    sinks.dedup();
    let mut absorbed = BTreeSet::new();
    let fits = |chosen: &Chosen, region: &BTreeSet<OpId>, producer: OpId| {
        let groups: Vec<OpId> = region.iter().copied().chain([producer]).collect();
        limit(request, candidates, chosen, &groups).is_none()
    };
    for sink in sinks {
        if absorbed.contains(&sink) {
            continue;
        }
        let device = chosen.device_of(candidates, sink);
        let mut region = BTreeSet::from([sink]);
        let mut work = vec![sink];
        while let Some(group) = work.pop() {
            for producer in chosen.quotient.producers(group) {
                if chosen.device_of(candidates, producer) == device
                    && !chosen.is_inline(request, candidates, producer)
                    && !region.contains(&producer)
                    && feeds_only(request, chosen, producer, &region)
                    && fits(chosen, &region, producer)
                {
                    region.insert(producer);
                    work.push(producer);
                }
            }
        }
        absorbed.extend(region.iter().copied());
        if region.len() > 1 {
            let groups: Vec<OpId> = region.into_iter().collect();
            // A refusal is not expected; the groups would then stay apart, which is always legal.
            let _ = chosen.quotient.merge(&groups);
        }
    }
}

/// True if all results of a group are used by the group itself or the region only.
fn feeds_only(request: &Request, chosen: &Chosen, group: OpId, region: &BTreeSet<OpId>) -> bool {
    let graph = request.graph;
    let results = chosen.quotient.members(group).iter().flat_map(|op| &graph.op(*op).results);
    results.map(|result| graph.value(*result)).all(|value| {
        !value.returned
            && value
                .uses
                .iter()
                .map(|u| chosen.quotient.group(u.op))
                .all(|user| user == group || region.contains(&user))
    })
}

/// For each pair of neighbours that are not merged, the reason.
fn refusals(
    request: &Request,
    candidates: &Candidates,
    chosen: &Chosen,
    open: &[(OpId, OpId)],
) -> Vec<RefusedGroups> {
    let mut seen = BTreeSet::new();
    let mut refused = vec![];
    for (from, to) in open {
        let (from, to) = (chosen.quotient.group(*from), chosen.quotient.group(*to));
        if from == to || !seen.insert((from, to)) {
            continue;
        }
        let Some(device) = chosen.device_of(candidates, from) else { continue };
        let limit = limit(request, candidates, chosen, &[from, to]);
        let reason = match (chosen.quotient.blocking_path(&[from, to]), limit) {
            (Some(path), _) => RefusedReason::Path { path },
            (None, Some(limit)) => RefusedReason::Limit { limit },
            (None, None) if request.devices[device].capabilities.parallel => {
                RefusedReason::Parallel
            }
            (None, None) => {
                let members = |group| chosen.quotient.members(group).iter().copied();
                let mut ops: Vec<OpId> = members(from).chain(members(to)).collect();
                ops.sort_unstable();
                RefusedReason::Outputs { count: request.graph.boundary(&ops).1.len() }
            }
        };
        refused.push(RefusedGroups { device, from, to, reason });
    }
    refused
}

/// The groups of devices whose patterns all declare that they are no work worth a region, and
/// that the user did not place.
pub fn idle_groups(
    request: &Request,
    candidates: &Candidates,
    chosen: &Chosen,
    placed: &Placed,
) -> Vec<OpId> {
    let owned = request.graph.ops().map(|(op, _)| op);
    let owned = owned.filter(|op| chosen.owner[op.index()].is_some());
    let groups: BTreeSet<OpId> = owned.map(|op| chosen.quotient.group(op)).collect();
    let is_idle = |group: &OpId| {
        let by_hand = |op: &OpId| placed.of[op.index()] != Place::Free;
        chosen.matches_of(*group).iter().all(|number| {
            let candidate = &candidates.matches[*number];
            !request.devices[candidate.device].patterns[candidate.pattern].spec.compute
        }) && !chosen.quotient.members(*group).iter().any(by_hand)
    };
    groups.into_iter().filter(is_idle).collect()
}
