//! The work that there is to measure in a network.

use crate::{
    Result,
    graph::{Facts, GraphView, OpId, ValueId},
    outline::PartitionInput,
    partition::{self, Device, Possible, chain, describe, key, producers, tile_key},
    pattern::Match,
    tile::plan::Plan,
};
use std::collections::BTreeSet;

/// One thing to measure.
pub struct Workload {
    /// Place of the target: the devices in order, then the host.
    pub target: usize,
    /// The pattern; none for an operation of the host.
    pub pattern: Option<String>,
    /// Identity of the work; equal keys are the same work.
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
    /// The tiles that its call may have.
    pub tiled: Option<Tiled>,
}

/// A call that is computed tile by tile.
pub struct Tiled {
    /// Identity of the call; equal keys are the same call.
    pub key: String,
    /// For people.
    pub text: String,
    /// Plan of its possible tiles.
    pub plan: Plan,
    /// Number of tensors that it reads.
    pub reads: usize,
}

/// Work that is known already, by target, pattern and key.
pub type Seen = BTreeSet<(usize, Option<String>, String)>;

/// All matches of all devices, all operations of the host and all chains that it computes in one
/// go, each kind of work once.
pub fn collect(partition_input: &PartitionInput, seen: &mut Seen) -> Result<Vec<Workload>> {
    let devices = partition_input.devices()?;
    let request = partition_input.request(&devices, &[])?;
    let graph = request.graph;
    let mut all = vec![];
    let mut add = |work: Workload| {
        if seen.insert((work.target, work.pattern.clone(), work.key.clone())) {
            all.push(work);
        }
    };
    for Possible { device, pattern, found, bytes } in partition::possible(&request)? {
        let tiled = tiled(partition_input, (&devices[device], &pattern), &found);
        add(Workload {
            tiled,
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
    let producers = producers(graph, request.table);
    for (id, op) in graph.ops() {
        // What only gives a tensor another shape costs nothing between other operations.
        if !live[id.index()] || op.side_effects || request.table.traits(&op.name).view {
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
        tiled: None,
    }
}

/// The tiles of the call of a match; none if it has none, or is no call.
fn tiled(
    partition_input: &PartitionInput,
    (device, pattern): (&Device, &str),
    found: &Match,
) -> Option<Tiled> {
    let pattern = device.patterns.iter().find(|known| known.name() == pattern)?;
    let graph = &partition_input.view.graph;
    let facts = Facts { graph, table: &partition_input.table, options: device.options };
    // A match is one because its call could be bound.
    let call = pattern.call.as_ref()?.bind(pattern, found, facts).ok()?;
    let (key, text) = tile_key(graph, found, &call)?;
    let plan = call.tile?;
    let reads = plan.reads(found.outputs.len());
    Some(Tiled { key, text, plan, reads })
}
