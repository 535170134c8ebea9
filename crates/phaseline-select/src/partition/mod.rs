//! Divides a graph between targets.
//!
//! 1. *Collect*: every match of every pattern of every target ([`crate::pattern`]).
//! 2. *Choose*: what the user placed by hand first, then by order of targets, benefit, size, order
//!    of declaration and place in the program; or, on demand, what costs least (`search`). No
//!    operation is in two matches.
//! 3. *Merge*: neighbouring matches of one target become one region.
//! 4. *Return*: regions without real work go back to the host, and what is left is divided again.
//!
//! 5. *Lay out*: calls that take tensors as given get the layouts that move the fewest bytes ([`layouts`]).
//!
//! Steps 2 and 3 keep the graph of groups acyclic ([`quotient::Quotient`]), so that regions and
//! the remaining operations can run one after the other. Nothing depends on hash order: equal
//! inputs give equal partitions. For each operation and target there is a [`Verdict`], and for
//! each refused merge the reason.

mod candidates;
mod choose;
mod cost;
mod explain;
mod fusion;
mod key;
mod layouts;
mod limits;
mod measured;
mod merge;
mod picture;
pub mod placement;
mod profile;
pub mod quotient;
pub mod report;
mod search;
mod solve;
#[cfg(test)]
mod tests;
mod tiles;
mod units;
mod verdict;

pub use cost::{Costs, Rates, RegionCost, Search, bytes};
pub use fusion::{chain, producers};
pub use key::{describe, key};
pub use layouts::LayoutReport;
pub use measured::{Measured, Times};
pub use placement::Placement;
pub use profile::{Entry, Profile, ProfiledMachine, ProfiledTarget, Skipped, Transfer};
pub use report::{DeviceVerdict, FunctionReport, Report, StayReport};
pub use tiles::{TileReport, TileTime, TiledCall, TiledCalls, tile_key};
pub use verdict::{Attempt, Verdict};

use crate::{
    Result,
    expr::OptionValues,
    graph::{GraphView, OpId, OpTable, ValueId},
    pattern::{Capabilities, Match, Pattern},
};
use serde::Serialize;

/// A device among the targets.
#[derive(Clone, Debug)]
pub struct Device<'a> {
    /// Id of the target instance.
    pub id: &'a str,
    /// Its patterns in order of declaration.
    pub patterns: &'a [Pattern],
    /// Its options.
    pub options: &'a OptionValues,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Cost rates of its work and transfers.
    pub rates: Rates,
}

/// The graph to divide, the targets that take parts of it, and their costs.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The graph.
    pub graph: &'a GraphView,
    /// The operations' declarations.
    pub table: &'a OpTable,
    /// Devices, most preferred first.
    pub devices: &'a [Device<'a>],
    /// Id of the host, which takes the rest.
    pub host: &'a str,
    /// Cost rates of work on the host.
    pub host_rates: Rates,
    /// Measured times, in place of estimates.
    pub measured: Option<&'a Measured>,
    /// Look for the partition that costs least, instead of going by preference.
    pub search: bool,
    /// Regions with a verdict of their own.
    pub judged: &'a [Judged],
    /// For checks: the number of the layout that calls with tensors as given get, in place of the best.
    pub layout: Option<u64>,
}

/// A region with a verdict that was given before it got its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Number of the device.
    pub device: usize,
    /// The operations of the region, in program order.
    pub ops: Vec<OpId>,
    /// The verdict.
    pub judgement: Judgement,
}

/// The verdict on a region before it gets its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The device's reason for declining it, if it does.
    pub declined: Option<String>,
    /// The cost of its work in nanoseconds, in place of the sum of its matches.
    pub cost: Option<f64>,
    /// True if the partition is cheaper without it at that cost.
    pub dear: bool,
}

impl Request<'_> {
    /// The verdict on a region.
    pub fn judgement(&self, device: usize, ops: &[OpId]) -> Option<&Judgement> {
        let mut judged = self.judged.iter();
        let found = judged.find(|judged| judged.device == device && judged.ops == ops);
        found.map(|judged| &judged.judgement)
    }

    /// Rejection of operations that are all in a region that the device declined, or that costs
    /// too much there.
    fn rejection(&self, device: usize, ops: &[OpId]) -> Option<choose::Rejection> {
        let judged = self.judged.iter().filter(|judged| judged.device == device);
        let mut inside = judged.filter(|judged| {
            let is_out = judged.judgement.dear || judged.judgement.declined.is_some();
            is_out && ops.iter().all(|op| judged.ops.binary_search(op).is_ok())
        });
        inside.next().map(|judged| match &judged.judgement.declined {
            Some(reason) => choose::Rejection::Declined { reason: reason.clone() },
            None => choose::Rejection::Dear,
        })
    }
}

/// A match that a partition could have.
#[derive(Clone, Debug)]
pub struct Possible {
    /// Number of the device.
    pub device: usize,
    /// Name of the pattern.
    pub pattern: String,
    /// The match.
    pub found: Match,
    /// Bytes that enter and leave it, constants aside.
    pub bytes: f64,
}

/// All matches of all devices, those that overlap included.
pub fn possible(request: &Request) -> Result<Vec<Possible>> {
    let placed = placement::resolve(request)?;
    let candidates = candidates::collect(request, &placed);
    let all = candidates.matches.into_iter().map(|candidate| Possible {
        device: candidate.device,
        pattern: request.devices[candidate.device].patterns[candidate.pattern].name().to_owned(),
        bytes: measured::crossing(request, &candidate),
        found: candidate.found,
    });
    Ok(all.collect())
}

/// Matched operations that are lowered together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composite {
    /// Number of the pattern in its device.
    pub pattern: usize,
    /// Name of the pattern.
    pub name: String,
    /// Operations, captures, inputs and outputs.
    pub found: Match,
}

/// A value that flows into a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The value.
    pub value: ValueId,
    /// True if it is a constant, which the region may keep for itself.
    pub constant: bool,
}

/// Operations that become one function of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Number of the device.
    pub device: usize,
    /// Id of the device.
    pub target: String,
    /// True for a region of one match whose function the host's own code calls.
    pub inline: bool,
    /// Number among the regions of the device, from 0.
    pub number: usize,
    /// Its matches, in order of their last operations.
    pub composites: Vec<Composite>,
    /// All operations in program order.
    pub ops: Vec<OpId>,
    /// Values from outside, in order of first use, without duplicates.
    pub inputs: Vec<Input>,
    /// Values that are used outside, in order of definition.
    pub outputs: Vec<ValueId>,
}

impl Region {
    /// Name of its function, before clashes are resolved.
    pub fn name(&self) -> String {
        format!("{}_{}", self.target, self.number)
    }
}

/// A step of the divided program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// The region with this number.
    Region(usize),
    /// An operation that stays on the host.
    Op(OpId),
}

/// Two neighbouring regions that could not be merged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedMerge {
    /// Id of the target.
    pub target: String,
    /// Numbers of the two regions; the first feeds the second.
    pub regions: (usize, usize),
    /// The reason.
    #[serde(flatten)]
    pub reason: RefusedReason,
}

/// Reason for refusing a merge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum RefusedReason {
    /// A path leaves the regions and comes back.
    Path {
        /// Its operations, first and last in the regions.
        path: Vec<OpId>,
    },
    /// The target allows one output, and the merged region would have more.
    Outputs {
        /// Number of outputs that it would have.
        count: usize,
    },
    /// The target works on several regions at once, and something could run beside one of them.
    Parallel,
    /// The merged region would break a limit of the target.
    Limit {
        /// The limit, with the values that break it.
        limit: String,
    },
}

/// A graph divided between targets.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Regions in an order in which they can run.
    pub regions: Vec<Region>,
    /// Regions and host operations in an order in which they can run.
    #[allow(dead_code, reason = "tests see from it that partitions are acyclic")]
    pub order: Vec<Unit>,
    /// For each operation, the region that has it.
    pub region_of: Vec<Option<usize>>,
    /// For each operation and device, the decision and its reason.
    pub verdicts: Vec<Vec<Verdict>>,
    /// For each operation and device, the patterns that were tried and do not match.
    pub attempts: Vec<Vec<Vec<Attempt>>>,
    /// Merges that were refused.
    pub refused: Vec<RefusedMerge>,
    /// Its costs, and those of its alternatives.
    pub costs: Costs,
    /// The values that change their layout, where a device takes tensors as given.
    pub layouts: Option<LayoutReport>,
}

/// Divides a graph.
pub fn partition(request: &Request) -> Result<Partition> {
    let placed = placement::resolve(request)?;
    let candidates = candidates::collect(request, &placed);
    let prices = cost::Prices::new(request, &candidates);
    let barred = choose::barred(request, &candidates);
    let problem = solve::Problem {
        request,
        placed: &placed,
        candidates: &candidates,
        prices: &prices,
        barred: &barred,
    };
    let preferred = choose::preference(request, &candidates, &placed);
    let greedy = problem.solve(&preferred);
    let greedy_cost = greedy.cost;
    let (found, search) = match request.search {
        true => search::search(&problem, &preferred, greedy),
        false => (greedy, Search::Greedy),
    };
    let mut found = found;
    let layouts = layouts::assign(&problem, &mut found.chosen);
    let mut partition = units::assemble(&problem, found, layouts)?;
    partition.costs.search = search;
    partition.costs.greedy = greedy_cost;
    Ok(partition)
}
