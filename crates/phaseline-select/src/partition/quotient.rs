//! The graph of groups of operations, kept free of cycles.
//!
//! Regions that are convex one by one can still wait for each other. The quotient graph, in which
//! each group is one node, must stay acyclic after every merge. A topological order of the groups
//! is kept up to date (after Pearce and Kelly). A merge looks only at groups whose place is between
//! those of the merged ones, and moves only those that depend on them.

use crate::graph::{GraphView, OpId};
use std::collections::HashSet;

/// A dependency between operations of two groups: who makes the value, who uses it.
type Edge = (u32, u32);

/// Groups of operations, at first one for each.
pub struct Quotient {
    parent: Vec<u32>,
    position: Vec<u32>,
    successors: Vec<Vec<Edge>>,
    predecessors: Vec<Vec<Edge>>,
    members: Vec<Vec<OpId>>,
    /// For each group, the last pass over edges that met it: a set that costs nothing to empty.
    met: Vec<u32>,
    passes: u32,
}

/// Direction in which dependencies are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// All dependencies of a graph: operands, and the order of operations with effects.
pub fn dependencies(graph: &GraphView) -> Vec<(OpId, OpId)> {
    let mut edges = vec![];
    let mut last_effect = None;
    for (id, op) in graph.ops() {
        for (producer, _) in op.operands.iter().flatten().filter_map(|v| graph.definer(*v)) {
            edges.push((producer, id));
        }
        if op.side_effects {
            edges.extend(last_effect.map(|before| (before, id)));
            last_effect = Some(id);
        }
    }
    edges
}

impl Quotient {
    /// Each operation a group of its own.
    pub fn new(graph: &GraphView) -> Self {
        let count = graph.op_count();
        let mut successors = vec![vec![]; count];
        let mut predecessors = vec![vec![]; count];
        for (from, to) in dependencies(graph) {
            successors[from.index()].push((from.0, to.0));
            predecessors[to.index()].push((from.0, to.0));
        }
        Self {
            parent: (0..count as u32).collect(),
            position: (0..count as u32).collect(),
            successors,
            predecessors,
            members: (0..count as u32).map(|op| vec![OpId(op)]).collect(),
            met: vec![0; count],
            passes: 0,
        }
    }

    /// The group of an operation, named by one of its operations.
    pub fn group(&self, op: OpId) -> OpId {
        OpId(self.parent[op.index()])
    }

    /// The operations of a group, in no particular but a deterministic order.
    pub fn members(&self, group: OpId) -> &[OpId] {
        &self.members[group.index()]
    }

    /// The groups that a group depends on, without duplicates, in order of dependency.
    pub fn producers(&self, group: OpId) -> Vec<OpId> {
        let edges = self.edges(group, Direction::Backward).iter();
        let ends = edges.map(|edge| self.end(*edge, Direction::Backward));
        let groups = ends.filter(|other| *other != group);
        groups.collect::<indexmap::IndexSet<OpId>>().into_iter().collect()
    }

    /// The place of a group in a topological order.
    pub fn position(&self, group: OpId) -> u32 {
        self.position[group.index()]
    }

    fn edges(&self, group: OpId, direction: Direction) -> &[Edge] {
        match direction {
            Direction::Forward => &self.successors[group.index()],
            Direction::Backward => &self.predecessors[group.index()],
        }
    }

    fn end(&self, (from, to): Edge, direction: Direction) -> OpId {
        match direction {
            Direction::Forward => self.group(OpId(to)),
            Direction::Backward => self.group(OpId(from)),
        }
    }

    /// Makes one group of several, unless that closes a cycle: then returns a path that leaves the
    /// groups and comes back, as operations, and changes nothing.
    pub fn merge(&mut self, groups: &[OpId]) -> Result<OpId, Vec<OpId>> {
        let mut inside: Vec<OpId> = groups.iter().map(|group| self.group(*group)).collect();
        inside.sort_unstable();
        inside.dedup();
        let after = self.search(&inside, Direction::Forward)?;
        let before = self.search(&inside, Direction::Backward)?;
        self.reorder(&inside, before, after);
        Ok(self.join(&inside))
    }

    /// The path for which a merge of the groups would be refused; none if it would not.
    pub fn blocking_path(&self, groups: &[OpId]) -> Option<Vec<OpId>> {
        let mut inside: Vec<OpId> = groups.iter().map(|group| self.group(*group)).collect();
        inside.sort_unstable();
        inside.dedup();
        self.search(&inside, Direction::Forward).err()
    }

    /// The groups that are reached from `inside` and lie between its first and last place. The
    /// error is a path back into `inside`.
    fn search(&self, inside: &[OpId], direction: Direction) -> Result<Vec<OpId>, Vec<OpId>> {
        let places = inside.iter().map(|group| self.position(*group));
        let (low, high) = (places.clone().min().unwrap_or(0), places.max().unwrap_or(0));
        let mut seen: HashSet<OpId> = HashSet::new();
        // Each entry: a group, the edge into it, and the entry it was reached from.
        let mut reached: Vec<(OpId, Edge, Option<usize>)> = vec![];
        let mut next = 0;
        let mut sources: Vec<(OpId, Option<usize>)> = inside.iter().map(|g| (*g, None)).collect();
        while let Some((group, from)) = sources.pop() {
            for edge in self.edges(group, direction) {
                let target = self.end(*edge, direction);
                if target == group {
                    continue;
                }
                if inside.binary_search(&target).is_ok() {
                    match from {
                        None => continue,
                        Some(from) => return Err(trace(&reached, from, *edge, direction)),
                    }
                }
                let place = self.position(target);
                if (low..=high).contains(&place) && seen.insert(target) {
                    reached.push((target, *edge, from));
                }
            }
            if sources.is_empty() && next < reached.len() {
                sources.push((reached[next].0, Some(next)));
                next += 1;
            }
        }
        Ok(reached.into_iter().map(|(group, ..)| group).collect())
    }

    /// Gives the merged group a place after all of `before` and ahead of all of `after`.
    fn reorder(&mut self, inside: &[OpId], mut before: Vec<OpId>, mut after: Vec<OpId>) {
        before.sort_by_key(|group| self.position(*group));
        after.sort_by_key(|group| self.position(*group));
        let all = before.iter().chain(inside).chain(&after);
        let mut places: Vec<u32> = all.clone().map(|group| self.position(*group)).collect();
        places.sort_unstable();
        for (group, place) in all.copied().collect::<Vec<_>>().into_iter().zip(places) {
            self.position[group.index()] = place;
        }
    }

    /// Joins groups under the name of the largest, so that few operations change their group.
    fn join(&mut self, inside: &[OpId]) -> OpId {
        let size = |group: &&OpId| (self.members[group.index()].len(), std::cmp::Reverse(group.0));
        let into = inside.iter().max_by_key(size).copied().unwrap_or(OpId(0));
        let mut successors = vec![];
        let mut predecessors = vec![];
        let place = inside.iter().map(|group| self.position(*group)).min().unwrap_or(0);
        for group in inside {
            successors.append(&mut self.successors[group.index()]);
            predecessors.append(&mut self.predecessors[group.index()]);
            if *group != into {
                let members = std::mem::take(&mut self.members[group.index()]);
                members.iter().for_each(|op| self.parent[op.index()] = into.0);
                self.members[into.index()].extend(members);
            }
        }
        self.position[into.index()] = place;
        self.successors[into.index()] = self.outward(into, successors, Direction::Forward);
        self.predecessors[into.index()] = self.outward(into, predecessors, Direction::Backward);
        into
    }

    /// The first edge, in order of operations, to each other group.
    fn outward(&mut self, group: OpId, mut edges: Vec<Edge>, direction: Direction) -> Vec<Edge> {
        self.passes += 1;
        self.met[group.index()] = self.passes;
        edges.sort_unstable();
        edges.retain(|edge| {
            let end = self.end(*edge, direction);
            std::mem::replace(&mut self.met[end.index()], self.passes) != self.passes
        });
        edges
    }
}

/// The operations on the way to entry `from` and along `last`, in the direction of the data.
fn trace(
    reached: &[(OpId, Edge, Option<usize>)],
    from: usize,
    last: Edge,
    direction: Direction,
) -> Vec<OpId> {
    let mut edges = vec![last];
    let mut at = Some(from);
    while let Some((_, edge, before)) = at.and_then(|at| reached.get(at)) {
        edges.push(*edge);
        at = *before;
    }
    if direction == Direction::Forward {
        edges.reverse();
    }
    let mut path: Vec<OpId> = edges.iter().flat_map(|(a, b)| [OpId(*a), OpId(*b)]).collect();
    path.dedup();
    path
}
