//! Placement by hand: demands on operations, and files that hold them.

use super::{Partition, Request};
use crate::{Error, Result, error::suggestion, graph::GraphView};
use serde::{Deserialize, Serialize};

/// The word for the host in placements, whatever its id.
pub const HOST: &str = "host";

/// Demand of the user on the target of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Wherever a target takes it.
    Free,
    /// The host.
    Host,
    /// The device with this number.
    Device(usize),
}

/// The demands on all operations, and which of them matter at all.
pub struct Placed {
    /// For each operation, the demand on its target.
    pub of: Vec<Place>,
    /// For each operation, true if anything depends on it.
    pub live: Vec<bool>,
}

/// Finds the targets that placements name.
pub fn resolve(request: &Request) -> Result<Placed> {
    let ids = || request.devices.iter().map(|device| device.id);
    let mut faults = vec![];
    let mut of = vec![];
    for (id, op) in request.graph.ops() {
        let describe = || request.graph.describe(id);
        of.push(match &op.placement {
            None => Place::Free,
            Some(target) if target == HOST || target == request.host => Place::Host,
            Some(target) => match ids().position(|id| id == target) {
                Some(device) => Place::Device(device),
                None => {
                    let known = ids().chain([request.host, HOST]);
                    faults.push(format!(
                        "{} is placed on '{target}', which is none of the targets{}",
                        describe(),
                        suggestion(target, known)
                    ));
                    Place::Host
                }
            },
        });
        if let (Some(pattern), Some(Place::Device(device))) = (&op.pattern, of.last()) {
            let device = &request.devices[*device];
            let names = || device.patterns.iter().map(|pattern| pattern.name());
            if !names().any(|name| name == pattern) {
                faults.push(format!(
                    "{} is placed on pattern '{pattern}' of {}, which has no such pattern{}",
                    describe(),
                    device.id,
                    suggestion(pattern, names())
                ));
            }
        }
    }
    if !faults.is_empty() {
        return Err(Error::invalid(faults.join("\n")));
    }
    Ok(Placed { of, live: request.graph.live_ops() })
}

/// An operation of a placement file. It is found by `index` and recognised by the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedOp {
    /// Place of the operation in the program, from 0.
    pub index: usize,
    /// Name of the operation.
    pub op: String,
    /// Name of the node in the model.
    #[serde(default)]
    pub node: String,
    /// Id of a target, or `host`.
    pub target: String,
    /// The pattern that must match; any, if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// A placement file: which operation runs where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// Version of the format.
    pub version: u32,
    /// The operations; those that are not listed are free.
    pub ops: Vec<PlacedOp>,
}

impl Placement {
    /// The version that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// The placement of each operation in a partition.
    pub fn of(graph: &GraphView, partition: &Partition) -> Self {
        let place = |index: usize| -> (String, Option<String>) {
            let Some(region) = partition.region_of[index].map(|r| &partition.regions[r]) else {
                return (HOST.to_owned(), None);
            };
            let has = |ops: &[crate::graph::OpId]| ops.iter().any(|op| op.index() == index);
            let composite = region.composites.iter().find(|c| has(&c.found.ops));
            (region.target.clone(), composite.map(|composite| composite.name.clone()))
        };
        let ops = graph.ops().map(|(id, op)| {
            let (target, pattern) = place(id.index());
            PlacedOp {
                index: id.index(),
                op: op.name.clone(),
                node: op.location.clone(),
                target,
                pattern,
            }
        });
        Self { version: Self::VERSION, ops: ops.collect() }
    }

    /// True if it was made for a graph: each operation that it names is where it says.
    pub fn fits(&self, graph: &GraphView) -> bool {
        self.ops.iter().all(|placed| {
            let id = u32::try_from(placed.index).ok().map(crate::graph::OpId);
            let op = id.filter(|id| id.index() < graph.op_count()).map(|id| graph.op(id));
            op.is_some_and(|op| op.name == placed.op && op.location == placed.node)
        })
    }

    /// Puts the demands on the operations of a graph.
    pub fn apply(&self, graph: &mut GraphView) -> Result<()> {
        for placed in &self.ops {
            let id = crate::graph::OpId(u32::try_from(placed.index).unwrap_or(u32::MAX));
            let found = (id.index() < graph.op_count()).then(|| graph.op(id));
            match found {
                Some(op) if op.name == placed.op && op.location == placed.node => {}
                other => {
                    let found = other.map_or_else(
                        || format!("the model has {} operations", graph.op_count()),
                        |_| format!("the model has {} there", graph.describe(id)),
                    );
                    return Err(Error::invalid(format!(
                        "the placement's operation {} is {} '{}', but {found}: it was made for \
                         another model or other passes; make a new one with --save-placement",
                        placed.index, placed.op, placed.node
                    )));
                }
            }
            graph.set_placement(id, Some(placed.target.clone()), placed.pattern.clone());
        }
        Ok(())
    }

    /// The file's text.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|error| Error::internal(error.to_string()))
    }

    /// Reads a file's text; `name` stands for the file in errors.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        let placement: Self = serde_json::from_str(text)
            .map_err(|error| Error::invalid(format!("{name}: not a placement: {error}")))?;
        if placement.version != Self::VERSION {
            return Err(Error::invalid(format!(
                "{name}: placement version {}, but this program reads version {}",
                placement.version,
                Self::VERSION
            )));
        }
        Ok(placement)
    }
}
