//! The choice for each node that moves the fewest bytes: exact where there are few, else from several beginnings
//! downhill.

use super::Net;
use std::collections::{BTreeMap, BTreeSet};

/// Combinations of choices that are all tried.
const EXACT: usize = 4096;

/// Rounds over the nodes of a part, at most.
const ROUNDS: usize = 32;

/// For each node the number of its choice. Of equally good ones the first.
pub fn best(net: &Net) -> Vec<usize> {
    let mut picks = vec![0; net.nodes.len()];
    let mut edges_of: Vec<Vec<usize>> = vec![vec![]; net.nodes.len()];
    for (place, edge) in net.edges.iter().enumerate() {
        let ends: BTreeSet<usize> =
            edge.maker.into_iter().chain(edge.readers.iter().copied()).collect();
        ends.into_iter().for_each(|end| edges_of[end].push(place));
    }
    for nodes in components(net, &edges_of) {
        let edges: BTreeSet<usize> =
            nodes.iter().flat_map(|node| edges_of[*node].iter().copied()).collect();
        let part = Part { net, nodes, edges: edges.into_iter().collect(), edges_of: &edges_of };
        part.decide(&mut picks);
    }
    picks
}

/// The nodes with a choice, in parts that do not touch.
fn components(net: &Net, edges_of: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let is_free = |node: usize| net.nodes[node].choices.len() > 1;
    let mut seen = vec![false; net.nodes.len()];
    let mut parts = vec![];
    for start in (0..net.nodes.len()).filter(|node| is_free(*node)) {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let (mut part, mut next) = (vec![], vec![start]);
        while let Some(node) = next.pop() {
            part.push(node);
            for edge in edges_of[node].iter().map(|edge| &net.edges[*edge]) {
                for other in edge.maker.into_iter().chain(edge.readers.iter().copied()) {
                    if is_free(other) && !std::mem::replace(&mut seen[other], true) {
                        next.push(other);
                    }
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

struct Part<'a> {
    net: &'a Net<'a>,
    nodes: Vec<usize>,
    edges: Vec<usize>,
    edges_of: &'a [Vec<usize>],
}

impl Part<'_> {
    fn cost(&self, edges: &[usize], picks: &[usize]) -> i64 {
        let costs = edges.iter().map(|edge| self.net.cost(&self.net.edges[*edge], picks));
        costs.fold(0_i64, i64::saturating_add)
    }

    fn choices(&self, node: usize) -> usize {
        self.net.nodes[node].choices.len()
    }

    fn decide(&self, picks: &mut [usize]) {
        let sizes = self.nodes.iter().map(|node| self.choices(*node));
        let all = sizes.fold(1_usize, usize::saturating_mul);
        if all.saturating_mul(self.edges.len()) <= EXACT * 8 && all <= EXACT {
            return self.exact(picks);
        }
        let mut best: Option<(i64, Vec<usize>)> = None;
        for start in self.starts() {
            for (node, pick) in self.nodes.iter().zip(start) {
                picks[*node] = pick;
            }
            self.descend(picks);
            let cost = self.cost(&self.edges, picks);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, self.nodes.iter().map(|node| picks[*node]).collect()));
            }
        }
        for (node, pick) in self.nodes.iter().zip(best.into_iter().flat_map(|(_, picks)| picks)) {
            picks[*node] = pick;
        }
    }

    fn exact(&self, picks: &mut [usize]) {
        let mut best: Option<(i64, Vec<usize>)> = None;
        loop {
            let cost = self.cost(&self.edges, picks);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, self.nodes.iter().map(|node| picks[*node]).collect()));
            }
            // The last node's choice changes first, so that the first of equal ones has the first choices.
            let next = self.nodes.iter().rev().find(|node| {
                picks[**node] = (picks[**node] + 1) % self.choices(**node);
                picks[**node] != 0
            });
            if next.is_none() {
                break;
            }
        }
        for (node, pick) in self.nodes.iter().zip(best.into_iter().flat_map(|(_, picks)| picks)) {
            picks[*node] = pick;
        }
    }

    /// All first choices; then for each layout, all nodes that can in that.
    fn starts(&self) -> Vec<Vec<usize>> {
        let mut starts = vec![vec![0; self.nodes.len()]];
        let mut layouts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, node) in self.nodes.iter().enumerate() {
            for (pick, choice) in self.net.nodes[*node].choices.iter().enumerate() {
                let orders = choice.sides.iter().filter_map(|side| side.layout.as_ref()?.order());
                let names: BTreeSet<String> = orders.map(|order| format!("{order:?}")).collect();
                for name in names {
                    let start = layouts.entry(name).or_insert_with(|| starts[0].clone());
                    if start[place] == 0 {
                        start[place] = pick;
                    }
                }
            }
        }
        starts.extend(layouts.into_values());
        starts
    }

    /// Changes one node, or it and a neighbour, as long as that helps.
    fn descend(&self, picks: &mut [usize]) {
        for _ in 0..ROUNDS {
            let mut better = false;
            for node in &self.nodes {
                let edges = &self.edges_of[*node];
                let before = self.cost(edges, picks);
                let first = picks[*node];
                let mut least = (before, first);
                for pick in (0..self.choices(*node)).filter(|pick| *pick != first) {
                    picks[*node] = pick;
                    let cost = self.cost(edges, picks);
                    if cost < least.0 {
                        least = (cost, pick);
                    }
                }
                picks[*node] = least.1;
                better |= least.1 != first;
            }
            if !better {
                return;
            }
        }
    }
}
