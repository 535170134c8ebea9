//! Cost model of partitions, in nanoseconds: work, calls and transfers.
//!
//! A match costs the value that its pattern declares, else the estimate of its operations at the
//! rates of the target. A region costs its matches, one call, and a transfer of each value that
//! enters or leaves it. Constants are not transferred: they are on the device from the start. An
//! operation on the host costs its estimate. Measurements take the place of estimates and
//! declarations ([`super::measured`]).
//!
//! An elementwise operation can take the value of the operation before it from registers
//! ([`super::fusion`]). It then costs no memory traffic for that value, if both are on the host.
//! The model knows no other fusion and no concurrency.

use super::{
    Request,
    candidates::{Candidate, Candidates},
    choose::Chosen,
    fusion::{chain, producers},
};
use crate::{
    expr::OptionValues,
    graph::{Facts, GraphView, OpId, OpTable, ValueId},
    tensor::ElementType,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// Cost rates of a target's work and transfers, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// One call of a region.
    pub per_call: f64,
    /// A byte that enters or leaves a region.
    pub per_byte: f64,
    /// An arithmetic operation, where nothing better is known.
    pub per_flop: f64,
    /// A byte that an operation reads or writes, where nothing better is known.
    pub per_access: f64,
}

impl Default for Rates {
    /// A device of which nothing is known: ten times as fast as the host, behind a slow call.
    fn default() -> Self {
        Self { per_call: 1000.0, per_byte: 0.1, per_flop: 0.001, per_access: 0.005 }
    }
}

impl Rates {
    /// A host of which nothing is known: one core of 100 GFLOP/s and 20 GB/s.
    pub fn host() -> Self {
        Self { per_call: 0.0, per_byte: 0.0, per_flop: 0.01, per_access: 0.05 }
    }
}

/// The parts of a region's cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RegionCost {
    /// Its matches.
    pub work: f64,
    /// Its call.
    pub call: f64,
    /// Transfers of what enters and leaves it.
    pub transfer: f64,
    /// Bytes that enter and leave it.
    pub bytes: f64,
    /// Cost of its operations on the host.
    pub on_host: f64,
}

impl RegionCost {
    /// All parts together.
    pub fn total(&self) -> f64 {
        self.work + self.call + self.transfer
    }
}

/// Search method that found a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// In order of preference, without regard to costs.
    #[default]
    Greedy,
    /// The cheapest of all choices of matches.
    Exact,
    /// The cheapest that a bounded search came upon.
    Bounded,
}

/// Cost of a partition and of its alternatives.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// The search method that found the partition.
    pub search: Search,
    /// The partition.
    pub total: f64,
    /// The partition in order of preference.
    pub greedy: f64,
    /// Everything on the host.
    pub host_only: f64,
    /// Number of measured prices, of operations on the host and of matches.
    pub measured: usize,
    /// Number of all such prices.
    pub prices: usize,
    /// Each operation on the host.
    #[serde(skip)]
    pub on_host: Vec<f64>,
    /// Each operation's match on its device; nothing for the host's.
    #[serde(skip)]
    pub matched: Vec<Option<f64>>,
    /// For each operation, true if its price on the host was measured.
    #[serde(skip)]
    pub host_measured: Vec<bool>,
    /// For each operation, true if the price of its match was measured.
    #[serde(skip)]
    pub match_measured: Vec<bool>,
    /// The regions in order.
    #[serde(skip)]
    pub regions: Vec<RegionCost>,
}

/// The price of what the host cannot do: more than anything that it can.
const NEVER: f64 = 1e15;

/// The prices of operations on the host and of matches on their devices.
pub struct Prices {
    /// By operation, the price without fusion: its producer is not on the host.
    pub host: Vec<f64>,
    /// By operation, the producer whose value it takes from registers if both are on the host, and
    /// its price then, which is no more than alone.
    pub fused: Vec<Option<(OpId, f64)>>,
    /// Prices of the matches.
    pub matches: Vec<f64>,
    /// By operation, true if the host's price was measured.
    pub host_measured: Vec<bool>,
    /// By match, true if its price was measured.
    pub match_measured: Vec<bool>,
}

impl Prices {
    /// Prices everything once.
    pub fn new(request: &Request, candidates: &Candidates) -> Self {
        let graph = request.graph;
        let (host, host_measured): (Vec<f64>, Vec<bool>) = graph
            .ops()
            .map(|(id, op)| {
                if op.device_only {
                    return (NEVER, false);
                }
                let known = request.measured.and_then(|m| m.on_host(request, &[id]));
                let price = known.unwrap_or_else(|| estimate(request, id, &request.host_rates));
                (price, known.is_some())
            })
            .unzip();
        let (matches, match_measured) = candidates
            .matches
            .iter()
            .map(|found| {
                let known = request.measured.and_then(|m| m.of_match(request, found));
                (known.unwrap_or_else(|| price(request, found)), known.is_some())
            })
            .unzip();
        let producers = producers(graph, request.table);
        let fused = graph.ops().map(|(id, _)| {
            let producer = producers[id.index()]?;
            let known = request.measured.and_then(|measured| {
                let with = measured.on_host(request, &chain(&producers, id))?;
                let without = measured.on_host(request, &chain(&producers, producer))?;
                Some((with - without).max(0.0))
            });
            let price = known.unwrap_or_else(|| estimate_fused(request, id, producer));
            Some((producer, price.min(host[id.index()])))
        });
        Self { fused: fused.collect(), host, matches, host_measured, match_measured }
    }

    /// Cost of an operation on the host; less if it is fused with a producer that is there too.
    pub fn on_host(&self, op: OpId, is_on_host: impl Fn(OpId) -> bool) -> f64 {
        match self.fused[op.index()] {
            Some((producer, price)) if is_on_host(producer) => price,
            _ => self.host[op.index()],
        }
    }

    /// Number of measured prices, and of all.
    pub fn measured(&self) -> (usize, usize) {
        let all = self.host_measured.iter().chain(&self.match_measured);
        (all.clone().filter(|measured| **measured).count(), all.count())
    }

    /// Cost of a partition with these groups.
    pub fn total(&self, request: &Request, candidates: &Candidates, chosen: &Chosen) -> f64 {
        let mut total = 0.0;
        let mut groups = BTreeSet::new();
        for (op, _) in request.graph.ops() {
            match chosen.owner[op.index()] {
                Some(_) => drop(groups.insert(chosen.quotient.group(op))),
                None => {
                    total += self.on_host(op, |other| chosen.owner[other.index()].is_none());
                }
            }
        }
        let regions =
            groups.into_iter().map(|group| self.region(request, candidates, chosen, group));
        total + regions.map(|region| region.total()).sum::<f64>()
    }

    /// Cost of the region that a device's group makes.
    pub fn region(
        &self,
        request: &Request,
        candidates: &Candidates,
        chosen: &Chosen,
        group: OpId,
    ) -> RegionCost {
        let mut ops = chosen.quotient.members(group).to_vec();
        ops.sort_unstable();
        let device = chosen.device_of(candidates, group).unwrap_or(0);
        let rates = &request.devices[device].rates;
        let (inputs, outputs) = request.graph.boundary(&ops);
        let moved = inputs.iter().filter(|value| !request.graph.is_constant(**value));
        let bytes: f64 = moved.chain(&outputs).map(|value| bytes(request.graph, *value)).sum();
        let matches = chosen.matches_of(group);
        let said = request.judgement(device, &ops).and_then(|said| said.cost);
        RegionCost {
            work: said.unwrap_or_else(|| matches.iter().map(|number| self.matches[*number]).sum()),
            call: rates.per_call,
            transfer: rates.per_byte * bytes,
            bytes,
            on_host: ops
                .iter()
                .map(|op| {
                    self.on_host(*op, |other| {
                        chosen.owner[other.index()].is_none() || ops.binary_search(&other).is_ok()
                    })
                })
                .sum(),
        }
    }
}

fn price(request: &Request, candidate: &Candidate) -> f64 {
    let device = &request.devices[candidate.device];
    let facts = Facts { graph: request.graph, table: request.table, options: device.options };
    let declared = device.patterns[candidate.pattern].cost_of(&candidate.found, facts);
    declared.unwrap_or_else(|| {
        let ops = candidate.found.ops.iter();
        ops.map(|op| estimate(request, *op, &device.rates)).sum()
    })
}

/// The size of a value; dynamic dimensions count as 1.
pub fn bytes(graph: &GraphView, value: ValueId) -> f64 {
    let ty = &graph.value(value).ty;
    elements(graph, value) * ty.dtype.map_or(32, ElementType::bits) as f64 / 8.0
}

fn elements(graph: &GraphView, value: ValueId) -> f64 {
    let dims = graph.value(value).ty.shape.iter();
    dims.map(|dim| dim.unwrap_or(1) as f64).product()
}

/// Roofline estimate of an operation: the longer of its arithmetic and its memory traffic.
fn estimate(request: &Request, id: OpId, rates: &Rates) -> f64 {
    let graph = request.graph;
    let op = graph.op(id);
    if request.table.traits(&op.name).view {
        return 0.0;
    }
    let operands = op.operands.iter().flatten();
    let touched: f64 = operands.chain(&op.results).map(|value| bytes(graph, *value)).sum();
    (flops(graph, id, request.table) * rates.per_flop).max(touched * rates.per_access)
}

/// Estimate of an operation that takes the value of `producer` from registers. Its result takes
/// the place of the producer's in memory, so that only its other operands count as traffic.
fn estimate_fused(request: &Request, id: OpId, producer: OpId) -> f64 {
    let graph = request.graph;
    let op = graph.op(id);
    let rates = &request.host_rates;
    let others = op
        .operands
        .iter()
        .flatten()
        .filter(|value| graph.definer(**value).is_none_or(|(definer, _)| definer != producer));
    let touched: f64 = others.map(|value| bytes(graph, *value)).sum();
    (flops(graph, id, request.table) * rates.per_flop).max(touched * rates.per_access)
}

/// The arithmetic operations that an operation takes, as its ODS says.
fn flops(graph: &GraphView, id: OpId, table: &OpTable) -> f64 {
    let op = graph.op(id);
    let declared = table.get(&op.name).and_then(|decl| decl.flops.as_ref());
    let options = OptionValues::new();
    let facts = Facts { graph, table, options: &options };
    // What depends on a dynamic dimension falls back to the size of the results.
    declared.and_then(|flops| flops.of_op(id, facts)).unwrap_or_else(|| {
        let elements: f64 = op.results.iter().map(|value| elements(graph, *value)).sum();
        f64::from(table.traits(&op.name).cost) * elements
    })
}
