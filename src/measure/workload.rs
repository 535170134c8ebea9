//! The work that there is to measure in a network.

use crate::{
    Result,
    graph::{GraphView, OpId, ValueId},
    outline::PartitionInput,
    partition::{self, Possible, chain, describe, is_view, key, producers},
};
use std::collections::BTreeSet;

/// One thing to measure.
pub struct Workload {
    /// Place of the target: the devices in order, then the host.
    pub target: usize,
    /// The pattern; none for an operation of the host.
    pub pattern: Option<String>,
    /// What makes work the same.
    pub key: String,
    /// For people.
    pub text: String,
    /// Bytes that enter and leave it, constants aside.
    pub bytes: f64,
    /// The operations.
    pub ops: Vec<OpId>,
    /// Values from outside.
    pub inputs: Vec<ValueId>,
    /// Values that are used outside.
    pub outputs: Vec<ValueId>,
}

/// All matches of all devices, all operations of the host and all chains that it computes in one
/// go, each kind of work once.
pub fn collect(partition_input: &PartitionInput) -> Result<Vec<Workload>> {
    let devices = partition_input.devices()?;
    let request = partition_input.request(&devices)?;
    let graph = request.graph;
    let mut seen = BTreeSet::new();
    let mut all = vec![];
    let mut add = |work: Workload| {
        if seen.insert((work.target, work.pattern.clone(), work.key.clone())) {
            all.push(work);
        }
    };
    for Possible { device, pattern, found, bytes } in partition::possible(&request)? {
        add(Workload {
            target: device,
            pattern: Some(pattern),
            key: key(graph, &found.ops),
            text: describe(graph, &found.ops),
            bytes,
            ops: found.ops,
            inputs: found.inputs,
            outputs: found.outputs,
        });
    }
    let live = graph.live_ops();
    let producers = producers(graph);
    for (id, op) in graph.ops() {
        // What only gives a tensor another shape costs nothing between other operations.
        if !live[id.index()] || op.side_effects || is_view(&op.name) {
            continue;
        }
        add(on_host(graph, devices.len(), vec![id]));
        if producers[id.index()].is_some() {
            add(on_host(graph, devices.len(), chain(&producers, id)));
        }
    }
    Ok(all)
}

fn on_host(graph: &GraphView, target: usize, ops: Vec<OpId>) -> Workload {
    let (inputs, outputs) = graph.boundary(&ops);
    let moved = inputs.iter().filter(|value| !graph.is_constant(**value));
    Workload {
        target,
        pattern: None,
        key: key(graph, &ops),
        text: describe(graph, &ops),
        bytes: moved.chain(&outputs).map(|value| partition::bytes(graph, *value)).sum(),
        ops,
        inputs,
        outputs,
    }
}
