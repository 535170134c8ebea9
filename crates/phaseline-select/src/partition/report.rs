//! A partition as table and JSON: which operation runs where, and why not elsewhere.

use super::{
    Costs, LayoutReport, Partition, RefusedMerge, RefusedReason, RegionCost, Request, TileReport,
    verdict::{Attempt, Verdict, path_text},
};
use crate::{
    graph::OpId,
    tile::{choose::Account, stay::Stay},
};
use serde::Serialize;
use std::fmt::Write;

/// Report on one operation.
#[derive(Clone, Debug, Serialize)]
pub struct OpReport {
    /// Place in the program, from 0.
    pub index: usize,
    /// Name of the operation.
    pub op: String,
    /// Name of the node in the model.
    pub node: String,
    /// Types of its results.
    pub results: Vec<String>,
    /// Producers of its operands, constants and arguments aside.
    pub inputs: Vec<InputReport>,
    /// Id of its target.
    pub target: String,
    /// Number of its region; none on the host.
    pub region: Option<usize>,
    /// The pattern that has it; none on the host.
    pub pattern: Option<String>,
    /// Its cost in nanoseconds: that of its match, or of the operation on the host.
    pub cost: f64,
    /// True if `cost` was measured.
    pub cost_measured: bool,
    /// Its cost on the host, in nanoseconds.
    pub host_cost: f64,
    /// True if `host_cost` was measured.
    pub host_cost_measured: bool,
    /// The tiles of the match that ends with it, where its work is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tiles: Option<Account>,
    /// The profile's measurements of tiles of this match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile_times: Option<TileReport>,
    /// The decision for each device.
    pub verdicts: Vec<DeviceVerdict>,
}

/// An operand of an operation.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// The operation that makes it.
    pub op: usize,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
}

/// The decision about an operation and a device.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceVerdict {
    /// Id of the device.
    pub target: String,
    /// The decision as one line.
    pub text: String,
    /// The decision as data.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The patterns that were tried and do not match.
    pub attempts: Vec<Attempt>,
}

/// Report on one region.
#[derive(Clone, Debug, Serialize)]
pub struct RegionReport {
    /// Name of its function.
    pub name: String,
    /// Id of its target.
    pub target: String,
    /// True if the host's own code calls its function.
    pub inline: bool,
    /// Names of the patterns of its matches.
    pub patterns: Vec<String>,
    /// Its operations.
    pub ops: Vec<usize>,
    /// Number of inputs that are not constants.
    pub inputs: usize,
    /// Number of constants.
    pub constants: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Its cost, in nanoseconds.
    pub cost: RegionCost,
}

/// A refused merge in words.
#[derive(Clone, Debug, Serialize)]
pub struct MergeReport {
    /// The refusal as one line.
    pub text: String,
    /// The refusal as data.
    #[serde(flatten)]
    pub refused: RefusedMerge,
}

impl MergeReport {
    /// The operations of the path that is in the way.
    pub fn path(&self) -> &[OpId] {
        match &self.refused.reason {
            RefusedReason::Path { path } => path,
            RefusedReason::Outputs { .. }
            | RefusedReason::Parallel
            | RefusedReason::Limit { .. } => &[],
        }
    }
}

/// Everything about a partition, for people and programs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Id of the host.
    pub host: String,
    /// Ids of the devices in order.
    pub devices: Vec<String>,
    /// The operations in program order.
    pub ops: Vec<OpReport>,
    /// The regions in the order in which they run.
    pub regions: Vec<RegionReport>,
    /// Merges that were refused.
    pub refused_merges: Vec<MergeReport>,
    /// Cost of the partition, in nanoseconds.
    pub costs: Costs,
    /// The values that change their layout, where a device takes tensors as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layouts: Option<LayoutReport>,
    /// Decisions on results that could stay in pools of devices between calls, in all functions of
    /// the network.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<StayReport>,
    /// Reason that `stays` is not known: the network does not compile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays_unknown: Option<String>,
    /// Other functions of the network, which are divided by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionReport>,
}

/// A decision about results of a region's calls.
#[derive(Clone, Debug, Serialize)]
pub struct StayReport {
    /// Name of the region's function.
    pub region: String,
    /// The decision.
    #[serde(flatten)]
    pub stay: Stay,
}

/// The report of a function besides the network's own.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// Its name.
    pub name: String,
    /// Its report.
    #[serde(flatten)]
    pub report: Report,
}

impl Report {
    /// Describes a partition.
    pub fn new(request: &Request, partition: &Partition) -> Self {
        Self {
            host: request.host.to_owned(),
            devices: request.devices.iter().map(|device| device.id.to_owned()).collect(),
            ops: ops(request, partition),
            regions: partition
                .regions
                .iter()
                .zip(&partition.costs.regions)
                .map(|(region, cost)| RegionReport {
                    name: region.name(),
                    target: region.target.clone(),
                    inline: region.inline,
                    patterns: region.composites.iter().map(|c| c.name.clone()).collect(),
                    ops: region.ops.iter().map(|op| op.index()).collect(),
                    inputs: region.inputs.iter().filter(|input| !input.constant).count(),
                    constants: region.inputs.iter().filter(|input| input.constant).count(),
                    outputs: region.outputs.len(),
                    cost: *cost,
                })
                .collect(),
            refused_merges: partition
                .refused
                .iter()
                .map(|refused| MergeReport {
                    text: refusal_text(request, partition, refused),
                    refused: refused.clone(),
                })
                .collect(),
            costs: partition.costs.clone(),
            layouts: partition.layouts.clone(),
            stays: vec![],
            stays_unknown: None,
            functions: vec![],
        }
    }

    /// The table of `phaseline partition`: one line an operation, with the reasons of devices that
    /// did not get it, then the totals and the refused merges.
    pub fn table(&self) -> String {
        let rows: Vec<[String; 4]> = self
            .ops
            .iter()
            .map(|op| {
                let region = op.region.and_then(|region| self.regions.get(region));
                let place = match region {
                    None => op.target.clone(),
                    Some(region) if region.inline => format!("{} in {}", region.target, self.host),
                    Some(region) => region.name.clone(),
                };
                let pattern = op.pattern.clone().unwrap_or_default();
                [op.op.clone(), shorten(&op.node, 40), place, pattern]
            })
            .collect();
        let titles = ["operation", "node", "runs on", "pattern"];
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([titles[column].len()]).max().unwrap_or(0)
        };
        let widths = [0, 1, 2, 3].map(width);
        let mut out = String::new();
        let mut line = |cells: [&str; 4], why: &str| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
            let line = padded.collect::<String>() + why;
            // Writing to a string does not fail.
            let _ = writeln!(out, "{}", line.trim_end());
        };
        line(titles, "why not elsewhere");
        for (row, op) in rows.iter().zip(&self.ops) {
            let others = op.verdicts.iter().take_while(|other| other.target != op.target);
            let why: Vec<String> =
                others.map(|other| format!("{}: {}", other.target, other.text)).collect();
            line([&row[0], &row[1], &row[2], &row[3]], &why.join("; "));
        }
        out + &self.summary()
    }

    /// Number of operations and regions of each target, refused merges, and changes of layout.
    pub fn summary(&self) -> String {
        let mut out = format!("\n{}", self.totals());
        for refused in &self.refused_merges {
            let _ = writeln!(out, "not merged: {}", refused.text);
        }
        if let Some(layouts) = &self.layouts {
            let _ = writeln!(out, "{}", layouts.text());
        }
        out
    }

    /// Number of operations and regions of each target.
    pub fn totals(&self) -> String {
        let mut out = String::new();
        for target in self.devices.iter().chain([&self.host]) {
            let ops = self.ops.iter().filter(|op| op.target == *target).count();
            let own = || self.regions.iter().filter(|region| region.target == *target);
            let calls = own().filter(|region| region.inline).count();
            let regions = own().count() - calls;
            let places: Vec<String> = [
                (regions > 0).then(|| format!("{regions} regions")),
                (calls > 0).then(|| format!("{calls} calls in the code of {}", self.host)),
            ]
            .into_iter()
            .flatten()
            .collect();
            let places = match places.join(" and ") {
                none if none.is_empty() => none,
                places => format!(" in {places}"),
            };
            let _ = writeln!(out, "{target}: {ops} of {} operations{places}", self.ops.len());
        }
        out
    }

    /// The report as JSON.
    pub fn to_json(&self) -> crate::Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|error| crate::Error::internal(error.to_string()))
    }
}

fn ops(request: &Request, partition: &Partition) -> Vec<OpReport> {
    let graph = request.graph;
    let report = |(id, op): (crate::graph::OpId, &crate::graph::Op)| {
        let region = partition.region_of[id.index()];
        let attempts = &partition.attempts[id.index()];
        let verdicts = partition.verdicts[id.index()].iter().zip(attempts).zip(request.devices);
        let pattern = partition.verdicts[id.index()].iter().find_map(|verdict| match verdict {
            Verdict::Chosen { pattern, .. } => Some(pattern.clone()),
            _ => None,
        });
        OpReport {
            index: id.index(),
            op: op.name.clone(),
            node: op.location.clone(),
            results: op.results.iter().map(|v| graph.value(*v).ty.to_string()).collect(),
            target: region
                .map_or_else(|| request.host.to_owned(), |r| partition.regions[r].target.clone()),
            region,
            pattern,
            inputs: inputs(graph, op),
            tiles: None,
            tile_times: None,
            cost: partition.costs.matched[id.index()]
                .unwrap_or(partition.costs.on_host[id.index()]),
            cost_measured: match partition.costs.matched[id.index()] {
                Some(_) => partition.costs.match_measured[id.index()],
                None => partition.costs.host_measured[id.index()],
            },
            host_cost: partition.costs.on_host[id.index()],
            host_cost_measured: partition.costs.host_measured[id.index()],
            verdicts: verdicts
                .map(|((verdict, attempts), device)| DeviceVerdict {
                    attempts: attempts.clone(),
                    target: device.id.to_owned(),
                    text: verdict.text(graph),
                    verdict: verdict.clone(),
                })
                .collect(),
        }
    };
    graph.ops().map(report).collect()
}

fn inputs(graph: &crate::graph::GraphView, op: &crate::graph::Op) -> Vec<InputReport> {
    let operands = op.operands.iter().flatten();
    let made = operands.filter_map(|value| Some((graph.definer(*value)?.0, *value)));
    made.map(|(maker, value)| InputReport {
        op: maker.index(),
        ty: graph.value(value).ty.to_string(),
    })
    .collect()
}

fn refusal_text(request: &Request, partition: &Partition, refused: &RefusedMerge) -> String {
    let name = |region: usize| partition.regions[region].name();
    let (from, to) = (name(refused.regions.0), name(refused.regions.1));
    match &refused.reason {
        RefusedReason::Path { path } => {
            let path = path_text(request.graph, path);
            format!("{from} and {to}: a path leaves them and comes back: {path}")
        }
        RefusedReason::Limit { limit } => {
            format!("{from} and {to}: a region of {} may not have {limit}", refused.target)
        }
        RefusedReason::Parallel => {
            format!("{from} and {to}: {} works on several regions at once", refused.target)
        }
        RefusedReason::Outputs { count } => {
            format!("{from} and {to}: {count} outputs, and {} allows one", refused.target)
        }
    }
}

/// The end of a long name, which is what tells nodes apart.
fn shorten(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length + 3 - limit).collect();
    format!("...{tail}")
}
