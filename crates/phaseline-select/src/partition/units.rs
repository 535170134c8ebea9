//! Puts a partition together from the chosen groups.

use super::{
    Composite, Input, Partition, RefusedMerge, Region, Request, Unit,
    candidates::Candidates,
    choose::Chosen,
    cost::Costs,
    layouts::Layouts,
    placement::{Place, Placed},
    quotient::dependencies,
    solve::{Problem, Solution},
    verdict::{Verdict, attempts, verdicts},
};
use crate::{Error, Result, graph::OpId};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Makes regions of the groups, orders everything, and explains it.
pub fn assemble(problem: &Problem, solution: Solution, layouts: Layouts) -> Result<Partition> {
    let Problem { request, placed, candidates, prices, .. } = *problem;
    let Solution { chosen, refused, cost } = solution;
    let graph = request.graph;
    let count = graph.op_count();
    // A unit is named by its first operation.
    let mut unit_of: Vec<usize> = (0..count).collect();
    let mut first_of_group: Vec<Option<usize>> = vec![None; count];
    for (op, _) in graph.ops().filter(|(op, _)| chosen.owner[op.index()].is_some()) {
        let group = chosen.quotient.group(op).index();
        unit_of[op.index()] = *first_of_group[group].get_or_insert(op.index());
    }
    let sorted = sort_units(request, &unit_of)?;
    let mut region_of = vec![None; count];
    let mut numbers = vec![0; request.devices.len()];
    let mut regions: Vec<Region> = vec![];
    let mut costs = costs(problem, &chosen, cost);
    let mut order = vec![];
    for unit in sorted {
        let first = OpId(unit as u32);
        let Some(device) = chosen.device_of(candidates, first) else {
            order.push(Unit::Op(first));
            continue;
        };
        let group = chosen.quotient.group(first);
        let mut region = region(request, candidates, (&chosen, &layouts), group);
        region.device = device;
        region.number = numbers[device];
        numbers[device] += 1;
        region.ops.iter().for_each(|op| region_of[op.index()] = Some(regions.len()));
        order.push(Unit::Region(regions.len()));
        regions.push(region);
        costs.regions.push(prices.region(request, candidates, &chosen, group));
    }
    let verdicts = verdicts(problem, &chosen, &region_of);
    let attempts = graph.ops().map(|(op, _)| attempts(problem, op)).collect();
    check_placement(request, placed, &region_of, &verdicts)?;
    let refused = refused.into_iter().filter_map(|refused| {
        let regions = (region_of[refused.from.index()]?, region_of[refused.to.index()]?);
        let target = request.devices[refused.device].id.to_owned();
        Some(RefusedMerge { target, regions, reason: refused.reason })
    });
    let refused = refused.collect();
    let layouts = layouts.report;
    Ok(Partition { regions, order, region_of, verdicts, attempts, refused, costs, layouts })
}

/// All costs but those of the regions, which are not made yet.
fn costs(problem: &Problem, chosen: &Chosen, total: f64) -> Costs {
    let (graph, prices) = (problem.request.graph, problem.prices);
    Costs {
        total,
        host_only: graph.ops().map(|(op, _)| prices.on_host(op, |_| true)).sum(),
        on_host: graph
            .ops()
            .map(|(op, _)| {
                // Of what is on a device: if it were not.
                let own = chosen.owner[op.index()].is_some();
                prices.on_host(op, |other| own || chosen.owner[other.index()].is_none())
            })
            .collect(),
        matched: chosen.owner.iter().map(|owner| Some(prices.matches[(*owner)?])).collect(),
        host_measured: prices.host_measured.clone(),
        match_measured: chosen
            .owner
            .iter()
            .map(|owner| owner.is_some_and(|number| prices.match_measured[number]))
            .collect(),
        measured: prices.measured().0,
        prices: prices.measured().1,
        ..Costs::default()
    }
}

/// Sorts units topologically, those that come first in the program first.
fn sort_units(request: &Request, unit_of: &[usize]) -> Result<Vec<usize>> {
    let count = unit_of.len();
    let mut successors = vec![vec![]; count];
    let mut waiting = vec![0_usize; count];
    for (from, to) in dependencies(request.graph) {
        let (from, to) = (unit_of[from.index()], unit_of[to.index()]);
        if from != to {
            successors[from].push(to);
            waiting[to] += 1;
        }
    }
    let units = (0..count).filter(|op| unit_of[*op] == *op);
    let total = units.clone().count();
    let mut ready: BinaryHeap<Reverse<usize>> =
        units.filter(|unit| waiting[*unit] == 0).map(Reverse).collect();
    let mut sorted = vec![];
    while let Some(Reverse(unit)) = ready.pop() {
        sorted.push(unit);
        for next in &successors[unit] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    if sorted.len() != total {
        return Err(Error::internal("the regions of the partition wait for each other"));
    }
    Ok(sorted)
}

fn region(
    request: &Request,
    candidates: &Candidates,
    (chosen, layouts): (&Chosen, &Layouts),
    group: OpId,
) -> Region {
    let graph = request.graph;
    let mut ops = chosen.quotient.members(group).to_vec();
    ops.sort_unstable();
    let mut matches = chosen.matches_of(group);
    matches.sort_by_key(|number| candidates.matches[*number].found.root);
    let device = chosen.device_of(candidates, group).unwrap_or(0);
    let composites = matches.into_iter().map(|number| {
        let candidate = &candidates.matches[number];
        let pattern = &request.devices[candidate.device].patterns[candidate.pattern];
        Composite {
            pattern: candidate.pattern,
            name: pattern.name().to_owned(),
            found: candidate.found.in_layout(layouts.given.get(&number).cloned()),
        }
    });
    let composites = composites.collect();
    let (inputs, outputs) = graph.boundary(&ops);
    let input = |value| Input { value, constant: graph.is_constant(value) };
    Region {
        device,
        target: request.devices[device].id.to_owned(),
        inline: chosen.is_inline(request, candidates, group),
        number: 0,
        composites,
        ops,
        inputs: inputs.into_iter().map(input).collect(),
        outputs,
    }
}

/// Fails if an operation is not where the user wants it, naming all of them.
fn check_placement(
    request: &Request,
    placed: &Placed,
    region_of: &[Option<usize>],
    verdicts: &[Vec<Verdict>],
) -> Result<()> {
    let mut faults = vec![];
    for (id, _) in request.graph.ops() {
        let Place::Device(device) = placed.of[id.index()] else { continue };
        let verdict = &verdicts[id.index()][device];
        if region_of[id.index()].is_none() || !matches!(verdict, Verdict::Chosen { .. }) {
            faults.push(format!(
                "{} is placed on {}, which cannot take it: {}",
                request.graph.describe(id),
                request.devices[device].id,
                verdict.text(request.graph)
            ));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::invalid(faults.join("\n"))) }
}
