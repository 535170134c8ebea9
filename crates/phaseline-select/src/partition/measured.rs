//! Measured costs, which take the place of estimates.

use super::{Request, candidates::Candidate, cost::bytes, key::key};
use crate::graph::OpId;
use std::collections::BTreeMap;

/// Times in nanoseconds of one target, by pattern and key; the host's have no pattern.
pub type Times = BTreeMap<(Option<String>, String), f64>;

/// Measured times of the targets of a request.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// For each device, the times of regions of one match: call and transfers are in them.
    pub devices: Vec<Times>,
    /// The times of operations on the host, and of chains that it computes in one go.
    pub host: Times,
}

impl Measured {
    /// Measured time of an operation, or of a chain of them, on the host.
    pub fn on_host(&self, request: &Request, ops: &[OpId]) -> Option<f64> {
        if self.host.is_empty() {
            return None;
        }
        self.host.get(&(None, key(request.graph, ops))).copied()
    }

    /// Measured time of a match without the call and the transfers of a region of its own. Those
    /// are added for the region that it becomes a part of.
    pub fn of_match(&self, request: &Request, candidate: &Candidate) -> Option<f64> {
        let device = &request.devices[candidate.device];
        let pattern = device.patterns[candidate.pattern].name().to_owned();
        let key = key(request.graph, &candidate.found.ops);
        let whole = self.devices.get(candidate.device)?.get(&(Some(pattern), key))?;
        let rates = &device.rates;
        Some((whole - rates.per_call - rates.per_byte * crossing(request, candidate)).max(0.0))
    }
}

/// Bytes that enter and leave a region of one match.
pub fn crossing(request: &Request, candidate: &Candidate) -> f64 {
    let inputs = candidate.found.inputs.iter();
    let moved = inputs.filter(|value| !request.graph.is_constant(**value));
    moved.chain(&candidate.found.outputs).map(|value| bytes(request.graph, *value)).sum()
}
