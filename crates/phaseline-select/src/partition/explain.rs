//! `phaseline partition --explain`: every decision with its reason and its cost, as text.

use super::{
    Search, TileReport,
    report::{OpReport, RegionReport, Report, StayReport},
    verdict::{Attempt, Verdict, time_text},
};
use std::fmt::Write;

impl Report {
    /// All decisions: for each operation its target, and for each other device the reason against
    /// it; then regions, refused merges and costs. With `all`, the reason of each pattern that was
    /// tried and does not match, not only of the one that came closest.
    pub fn explanation(&self, all: bool) -> String {
        let mut out = String::new();
        for op in &self.ops {
            // Writing to a string does not fail.
            let _ = writeln!(out, "{}", op.headline());
            for line in self.reasons(op, all) {
                let _ = writeln!(out, "    {line}");
            }
        }
        for region in &self.regions {
            let _ = writeln!(out, "{}", region.explanation());
        }
        out + &self.summary() + &self.cost_text()
    }

    /// The lines below an operation: its target, then each device that does not have it, with the
    /// reason. With `all`, each pattern of a device that does not match follows, with the reason.
    pub fn reasons(&self, op: &OpReport, all: bool) -> Vec<String> {
        let region = op.region.and_then(|region| self.regions.get(region));
        let on_host = price_text(op.host_cost, op.host_cost_measured);
        let mut lines = vec![match (region, &op.pattern) {
            (Some(region), Some(pattern)) => {
                let cost = price_text(op.cost, op.cost_measured);
                format!(
                    "runs on {} in a match of '{pattern}': {cost}; alone on the host {on_host}",
                    region.name
                )
            }
            _ => format!("runs on {}: {on_host}", op.target),
        }];
        if let Some(tiles) = &op.tiles {
            lines.extend(tiles.to_string().lines().map(str::to_owned));
        }
        lines.extend(op.tile_times.as_ref().map(tile_text));
        for other in op.verdicts.iter().filter(|other| other.target != op.target) {
            let costs = match &other.verdict {
                Verdict::Lost { cost, winner_cost, .. } => {
                    format!(
                        " (it costs {}, the other {})",
                        time_text(*cost),
                        time_text(*winner_cost)
                    )
                }
                _ => String::new(),
            };
            lines.push(format!("not on {}: {}{costs}", other.target, other.text));
        }
        for device in op.verdicts.iter().filter(|_| all) {
            // What the verdict says need not be said again.
            let told = match &device.verdict {
                Verdict::Failed { pattern, .. } => Some(pattern),
                _ => None,
            };
            for attempt in device.attempts.iter().filter(|a| Some(&a.pattern) != told) {
                let Attempt { pattern, text, .. } = attempt;
                lines.push(format!("no match of '{pattern}' of {}: {text}", device.target));
            }
        }
        lines
    }

    /// Decisions on results that could stay in pools of devices between calls, one line each.
    pub fn stays_text(&self) -> String {
        if let Some(reason) = &self.stays_unknown {
            return format!(
                "\nresults between calls: not known, since the network does not compile: {reason}\n"
            );
        }
        let line = |StayReport { region, stay }: &StayReport| format!("{region}: {stay}\n");
        let lines: String = self.stays.iter().map(line).collect();
        if lines.is_empty() { lines } else { format!("\nresults between calls:\n{lines}") }
    }

    /// Cost of the partition and of its alternatives, as a line.
    pub fn cost_text(&self) -> String {
        let costs = &self.costs;
        let how = match costs.search {
            Search::Greedy => "in order of preference",
            Search::Exact => "the cheapest of all",
            Search::Bounded => "the cheapest found",
        };
        let what = if costs.measured == 0 { "estimated cost" } else { "cost" };
        let mut out = format!("{what}: {}, {how}", time_text(costs.total));
        if costs.search != Search::Greedy {
            let _ = write!(out, "; in order of preference {}", time_text(costs.greedy));
        }
        let _ = write!(out, "; all on the host {}", time_text(costs.host_only));
        if costs.measured > 0 {
            let _ = write!(out, "; {} of {} prices measured", costs.measured, costs.prices);
        }
        out + "\n"
    }
}

/// A price as text, with a word where it is no estimate.
fn price_text(ns: f64, measured: bool) -> String {
    time_text(ns) + if measured { " measured" } else { "" }
}

/// Choice among measured tiles, as a line.
fn tile_text(tiles: &TileReport) -> String {
    let TileReport { fastest, nanoseconds, cheapest, by_cost, candidates, used } = tiles;
    if !used {
        return format!(
            "tiles chosen by cost: {fastest} was the fastest of {candidates} measured, but does not fit \
             any more"
        );
    }
    let others = match fastest == cheapest {
        true => ", which also cost least".to_owned(),
        false => format!("; {} with {cheapest}, which cost least", time_text(*by_cost)),
    };
    let time = time_text(*nanoseconds);
    format!("tiles measured: {time} with these, the fastest of {candidates}{others}")
}

impl OpReport {
    /// Its place, name, node and types.
    pub fn headline(&self) -> String {
        let node = if self.node.is_empty() { String::new() } else { format!(" '{}'", self.node) };
        format!("{} {}{node}: {}", self.index, self.op, self.results.join(", "))
    }
}

impl RegionReport {
    /// Its contents and its cost, as a line.
    pub fn explanation(&self) -> String {
        let cost = &self.cost;
        format!(
            "{}: {} operations, {} inputs, {} constants, {} outputs; work {} + call {} + {} bytes \
             {} = {}; on the host {}",
            self.name,
            self.ops.len(),
            self.inputs,
            self.constants,
            self.outputs,
            time_text(cost.work),
            time_text(cost.call),
            cost.bytes,
            time_text(cost.transfer),
            time_text(cost.total()),
            time_text(cost.on_host)
        )
    }
}
