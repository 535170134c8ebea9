//! The order of the nodes, and the subset that matters.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;

use crate::import::ImportError;

use super::flatten::Node;
use super::model::initializer_names;
use super::proto::GraphProto;

/// Producer of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Producer {
    /// An input of the graph, or an initializer.
    Outside,
    /// The node with this number.
    Node(usize),
}

/// The structure of a graph: names resolved, and found to be sound.
#[derive(Debug)]
pub(crate) struct Topology<'a> {
    /// Numbers of the nodes that the outputs depend on, each after those that it depends on; the
    /// order of the file where that leaves a choice.
    pub(crate) order: Vec<usize>,
    /// Values that such a node, or an output of the graph, reads.
    pub(crate) used: HashSet<&'a str>,
}

impl<'a> Topology<'a> {
    /// Resolves the names of a graph with these nodes; `outer` tells which values its surroundings
    /// provide. Errors are values without or with two producers, and cycles.
    pub(crate) fn new(
        path: &Path,
        graph: &'a GraphProto,
        nodes: &'a [Node<'_>],
        outer: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ImportError> {
        let fail = |message: String| ImportError::graph(path, message);
        let producers = producers(graph, nodes).map_err(fail)?;
        for node in nodes {
            for input in node.reads().filter(|name| !name.is_empty()) {
                if !producers.contains_key(input) && !outer(input) {
                    return Err(fail(format!(
                        "node {} reads `{input}`, which no node, input or initializer provides",
                        node.label()
                    )));
                }
            }
        }
        for output in &graph.output {
            if !producers.contains_key(output.name.as_str()) && !outer(&output.name) {
                return Err(fail(format!(
                    "the graph's output `{}` is provided by no node, input or initializer",
                    output.name
                )));
            }
        }
        let sorted = sort(nodes, &producers).map_err(fail)?;
        let live = live_nodes(graph, nodes, &producers);
        let order: Vec<usize> = sorted.into_iter().filter(|&node| live[node]).collect();
        let used = order
            .iter()
            .flat_map(|&node| nodes[node].reads())
            .chain(graph.output.iter().map(|output| output.name.as_str()))
            .collect();
        Ok(Self { order, used })
    }
}

fn producers<'a>(
    graph: &'a GraphProto,
    nodes: &'a [Node<'_>],
) -> Result<HashMap<&'a str, Producer>, String> {
    let mut producers = HashMap::new();
    for input in &graph.input {
        if producers.insert(input.name.as_str(), Producer::Outside).is_some() {
            return Err(format!("there are two inputs `{}`", input.name));
        }
    }
    let mut initializers = HashSet::new();
    for name in initializer_names(graph) {
        if !initializers.insert(name) {
            return Err(format!("there are two initializers `{name}`"));
        }
        // An initializer may also be listed as an input: it is then the default value.
        producers.insert(name, Producer::Outside);
    }
    for (number, node) in nodes.iter().enumerate() {
        for output in node.proto.output.iter().filter(|name| !name.is_empty()) {
            let other = match producers.insert(output, Producer::Node(number)) {
                None => continue,
                Some(Producer::Outside) => "an input or initializer".to_string(),
                Some(Producer::Node(other)) => format!("node {}", nodes[other].label()),
            };
            return Err(format!(
                "node {} provides the value `{output}`, which {other} provides, too",
                node.label()
            ));
        }
    }
    Ok(producers)
}

/// The numbers of the nodes that `node` reads from; with repetitions.
fn sources<'a>(
    node: &'a Node<'_>,
    producers: &'a HashMap<&str, Producer>,
) -> impl Iterator<Item = usize> + 'a {
    node.reads().filter_map(|input| match producers.get(input) {
        Some(Producer::Node(number)) => Some(*number),
        _ => None,
    })
}

/// All nodes, each after those that it reads from.
fn sort(nodes: &[Node<'_>], producers: &HashMap<&str, Producer>) -> Result<Vec<usize>, String> {
    let mut waiting = vec![0usize; nodes.len()];
    let mut readers = vec![Vec::new(); nodes.len()];
    for (number, node) in nodes.iter().enumerate() {
        for source in sources(node, producers) {
            waiting[number] += 1;
            readers[source].push(number);
        }
    }
    let ready = (0..nodes.len()).filter(|&node| waiting[node] == 0).map(Reverse);
    let mut ready: BinaryHeap<_> = ready.collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &reader in &readers[node] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    if order.len() < nodes.len() {
        return Err(describe_cycle(nodes, producers, &waiting));
    }
    Ok(order)
}

/// Names shown of a cycle.
const CYCLE_SHOWN: usize = 8;

fn describe_cycle(
    nodes: &[Node<'_>],
    producers: &HashMap<&str, Producer>,
    waiting: &[usize],
) -> String {
    // Every node that still waits reads from another one that does, so walking against the edges
    // must come back to a node that was passed.
    let mut path: Vec<usize> = waiting.iter().position(|&count| count > 0).into_iter().collect();
    let cycle = loop {
        let last = path.last().copied().unwrap_or_default();
        let next = sources(&nodes[last], producers).find(|&source| waiting[source] > 0);
        let Some(next) = next else { break &path[..] };
        if let Some(start) = path.iter().position(|&node| node == next) {
            break &path[start..];
        }
        path.push(next);
    };
    let mut names: Vec<_> =
        cycle.iter().rev().take(CYCLE_SHOWN).map(|&node| nodes[node].label()).collect();
    if cycle.len() > CYCLE_SHOWN {
        names.push(format!("... ({} nodes)", cycle.len()));
    }
    format!("the graph is cyclic: {} -> back to the first", names.join(" -> "))
}

fn live_nodes(
    graph: &GraphProto,
    nodes: &[Node<'_>],
    producers: &HashMap<&str, Producer>,
) -> Vec<bool> {
    let mut live = vec![false; nodes.len()];
    let outputs = graph.output.iter();
    let mut stack: Vec<usize> = outputs
        .filter_map(|output| match producers.get(output.name.as_str()) {
            Some(Producer::Node(number)) => Some(*number),
            _ => None,
        })
        .collect();
    while let Some(number) = stack.pop() {
        if !std::mem::replace(&mut live[number], true) {
            stack.extend(sources(&nodes[number], producers));
        }
    }
    live
}

/// True for a node that holds graphs and runs them.
pub(super) fn is_control_flow(node: &Node<'_>) -> bool {
    node.domain().is_empty() && matches!(node.proto.op_type.as_str(), "If" | "Loop" | "Scan")
}
