//! Verdicts: the decision about an operation and a device, with its reason.

use super::{
    Request,
    choose::{Chosen, Rejection},
    placement::Place,
    solve::Problem,
};
use crate::{
    graph::{GraphView, OpId},
    pattern::Reason,
};
use serde::Serialize;

/// The decision about one operation and one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The device has it.
    Chosen {
        /// The pattern.
        pattern: String,
        /// Number of the region.
        region: usize,
        /// Cost of the match, in nanoseconds.
        cost: f64,
    },
    /// The user placed it elsewhere.
    Placed {
        /// On this target.
        target: String,
    },
    /// Nothing depends on it.
    Unused,
    /// The operation does more than compute its results.
    Effects,
    /// A pattern matches, but an operation of the match went to another match.
    Lost {
        /// The pattern.
        pattern: String,
        /// The winner's target.
        target: String,
        /// The winner's pattern.
        winner: String,
        /// The operation that both want.
        op: OpId,
        /// Cost of the match.
        cost: f64,
        /// Cost of the winner.
        winner_cost: f64,
    },
    /// A pattern matches, but the match and operations outside would wait for each other.
    Cycle {
        /// The pattern.
        pattern: String,
        /// A path that leaves the match and comes back.
        path: Vec<OpId>,
    },
    /// A pattern matches, but its region would have had no real work.
    Idle {
        /// The pattern.
        pattern: String,
    },
    /// A pattern matches, but the partition is cheaper without the match.
    Dear {
        /// The pattern.
        pattern: String,
        /// Cost of the match, transfers and call aside.
        cost: f64,
        /// Cost of its operations on the host.
        on_host: f64,
    },
    /// A pattern matches, but the match alone breaks a limit of the device on regions.
    Limit {
        /// The pattern.
        pattern: String,
        /// The limit, with the values that break it.
        limit: String,
    },
    /// A pattern matches, but the device's own code does not take the region of the match.
    Declined {
        /// The pattern.
        pattern: String,
        /// The device's reason.
        reason: String,
    },
    /// A pattern comes close.
    Failed {
        /// The pattern.
        pattern: String,
        /// Reason for the mismatch.
        #[serde(flatten)]
        reason: Reason,
    },
    /// A pattern has such an operation, but none of its matches comes here.
    Unreached {
        /// The pattern.
        pattern: String,
    },
    /// No pattern has such an operation.
    NoPattern,
}

impl Verdict {
    /// One line for people.
    pub fn text(&self, graph: &GraphView) -> String {
        match self {
            Verdict::Chosen { pattern, .. } => format!("matched by '{pattern}'"),
            Verdict::Placed { target } => format!("placed on {target} by hand"),
            Verdict::Unused => "nothing uses its results".to_owned(),
            Verdict::Effects => "it has effects".to_owned(),
            Verdict::Lost { pattern, target, winner, op, .. } => format!(
                "'{pattern}' matches, but {} went to '{winner}' of {target}",
                graph.describe(*op)
            ),
            Verdict::Cycle { pattern, path } => {
                format!(
                    "'{pattern}' matches, but would wait for itself: {}",
                    path_text(graph, path)
                )
            }
            Verdict::Idle { pattern } => {
                format!("'{pattern}' matches, but alone it is not worth a transfer")
            }
            Verdict::Dear { pattern, cost, on_host } => format!(
                "'{pattern}' matches, but the partition is cheaper without: {} and transfers, \
                 on the host {}",
                time_text(*cost),
                time_text(*on_host)
            ),
            Verdict::Limit { pattern, limit } => {
                format!("'{pattern}' matches, but a region may not have {limit}")
            }
            Verdict::Declined { pattern, reason } => {
                format!(
                    "'{pattern}' matches, but the hook graph-to-runtime declines its region: {reason}"
                )
            }
            Verdict::Failed { pattern, reason } => format!("'{pattern}': {reason}"),
            Verdict::Unreached { pattern } => {
                format!("it occurs only within '{pattern}', which does not match around here")
            }
            Verdict::NoPattern => "no pattern has this operation".to_owned(),
        }
    }
}

/// A pattern that does not match at an operation, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attempt {
    /// The pattern.
    pub pattern: String,
    /// The reason as one line.
    pub text: String,
    /// The reason as data.
    #[serde(flatten)]
    pub reason: Reason,
}

/// For an operation and each device, all patterns that were tried and do not match.
pub fn attempts(problem: &Problem, op: OpId) -> Vec<Vec<Attempt>> {
    let Problem { request, candidates, .. } = *problem;
    let of_device = |(number, device): (usize, &super::Device)| {
        let failures = candidates.failures[number][op.index()].iter();
        let attempt = |(pattern, failure): &(usize, crate::pattern::Failure)| Attempt {
            pattern: device.patterns[*pattern].name().to_owned(),
            text: failure.reason.to_string(),
            reason: failure.reason.clone(),
        };
        failures.map(attempt).collect()
    };
    request.devices.iter().enumerate().map(of_device).collect()
}

/// A time in nanoseconds as text.
pub fn time_text(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}

/// A path of operations as text.
pub fn path_text(graph: &GraphView, path: &[OpId]) -> String {
    let names: Vec<String> = path.iter().map(|op| graph.describe(*op)).collect();
    names.join(" -> ")
}

/// The decisions about all operations and devices. `region_of` is the region of each operation.
pub fn verdicts(
    problem: &Problem,
    chosen: &Chosen,
    region_of: &[Option<usize>],
) -> Vec<Vec<Verdict>> {
    let Problem { request, candidates, .. } = *problem;
    // The largest of an operation's refused matches tells most.
    let mut refused: Vec<Vec<Option<usize>>> =
        vec![vec![None; request.devices.len()]; request.graph.op_count()];
    for (number, candidate) in candidates.matches.iter().enumerate() {
        for op in &candidate.found.ops {
            let slot = &mut refused[op.index()][candidate.device];
            let size = |number: &usize| candidates.matches[*number].found.ops.len();
            if slot.as_ref().is_none_or(|known| size(known) < candidate.found.ops.len()) {
                *slot = Some(number);
            }
        }
    }
    let judge = |op: OpId, device: usize| {
        let known = refused[op.index()][device];
        verdict(problem, chosen, (op, device, known), region_of)
    };
    let row = |op| (0..request.devices.len()).map(|device| judge(op, device)).collect();
    request.graph.ops().map(|(op, _)| row(op)).collect()
}

fn verdict(
    problem: &Problem,
    chosen: &Chosen,
    (op, device, known): (OpId, usize, Option<usize>),
    region_of: &[Option<usize>],
) -> Verdict {
    let Problem { request, placed, candidates, prices, .. } = *problem;
    let name_of = |device, pattern| pattern_name(request, device, pattern);
    if let (Some(number), Some(region)) = (chosen.owner[op.index()], region_of[op.index()])
        && candidates.matches[number].device == device
    {
        let pattern = name_of(device, candidates.matches[number].pattern);
        return Verdict::Chosen { pattern, region, cost: prices.matches[number] };
    }
    match placed.of[op.index()] {
        Place::Host => return Verdict::Placed { target: request.host.to_owned() },
        Place::Device(other) if other != device => {
            return Verdict::Placed { target: request.devices[other].id.to_owned() };
        }
        Place::Free | Place::Device(_) => {}
    }
    let node = request.graph.op(op);
    if node.side_effects {
        return Verdict::Effects;
    }
    if !placed.live[op.index()] {
        return Verdict::Unused;
    }
    if let Some((number, rejection)) =
        known.and_then(|number| Some((number, chosen.rejections[number].as_ref()?)))
    {
        return rejected(problem, chosen, (op, number), rejection);
    }
    if let Some((pattern, failure)) = candidates.closest(device, op) {
        let pattern = name_of(device, *pattern);
        return Verdict::Failed { pattern, reason: failure.reason.clone() };
    }
    match candidates.mentions[device].get(&node.name) {
        Some(pattern) => Verdict::Unreached { pattern: name_of(device, *pattern) },
        None => Verdict::NoPattern,
    }
}

/// Verdict on an operation whose match was not chosen.
fn rejected(
    problem: &Problem,
    chosen: &Chosen,
    (op, number): (OpId, usize),
    rejection: &Rejection,
) -> Verdict {
    let Problem { request, candidates, prices, .. } = *problem;
    let candidate = &candidates.matches[number];
    let pattern = pattern_name(request, candidate.device, candidate.pattern);
    match rejection {
        Rejection::Idle => Verdict::Idle { pattern },
        Rejection::Limit { limit } => Verdict::Limit { pattern, limit: limit.clone() },
        Rejection::Declined { reason } => Verdict::Declined { pattern, reason: reason.clone() },
        Rejection::Dear => {
            let ops = candidate.found.ops.iter();
            let on_host = ops
                .map(|op| prices.on_host(*op, |other| chosen.owner[other.index()].is_none()))
                .sum();
            Verdict::Dear { pattern, cost: prices.matches[number], on_host }
        }
        Rejection::Cycle { path } => Verdict::Cycle { pattern, path: path.clone() },
        Rejection::Taken { by } => {
            let winner = &candidates.matches[*by];
            let shared = candidate.found.ops.iter().find(|op| winner.found.ops.contains(op));
            Verdict::Lost {
                pattern,
                target: request.devices[winner.device].id.to_owned(),
                winner: pattern_name(request, winner.device, winner.pattern),
                op: shared.copied().unwrap_or(op),
                cost: prices.matches[number],
                winner_cost: prices.matches[*by],
            }
        }
    }
}

fn pattern_name(request: &Request, device: usize, pattern: usize) -> String {
    request.devices[device].patterns[pattern].name().to_owned()
}
