//! Layout assignment for values that flow between calls. An operand `as given` gets the layout of
//! its neighbours. Of patterns that do the same for the same price, the one with fitting layouts
//! is taken.
//!
//! A value that leaves a call in a layout of its own is converted to the model's layout once, for
//! all readers of another layout. A further conversion makes each layout that a reader wants.
//! Layouts are chosen so that these conversions move the fewest bytes ([`search`]). The padding
//! of a result's blocks is undefined. So a call that wants zeros there gets a new image, or has
//! the padding filled again; one `as given`, which goes by places, does not.

mod search;
mod sides;

use super::{choose::Chosen, choose::Rejection, solve::Problem};
use crate::{
    expr::Val,
    graph::{Bound, Evaluator, Facts, GraphView, Scope, ValueId},
    pattern::{BlockPart, BoundLayout, GivenLayout, Layout, Match, Param, Pattern},
};
use serde::Serialize;
use sides::{Side, goes_by_places, may_read_anything, sides};
use std::collections::{BTreeMap, BTreeSet};

/// Layouts that a call is tried with, at most.
const MOST: usize = 8;

/// Decisions about layouts.
#[derive(Default)]
pub struct Layouts {
    /// By match, the layout of what its call takes as given; none for that of the model.
    pub given: BTreeMap<usize, GivenLayout>,
    /// The bytes that are moved, if there was something to decide.
    pub report: Option<LayoutReport>,
}

/// The number of changes of layout in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LayoutReport {
    /// Changes of layout between two calls.
    pub between_calls: usize,
    /// Bytes of the tensors that these move.
    pub between_bytes: i64,
    /// Changes at the borders: in front of a call that reads what the model or the host has, and behind one that
    /// makes it.
    pub at_borders: usize,
    /// Bytes of the tensors that these move.
    pub border_bytes: i64,
    /// Images in blocks that are not full, which are zero again between two calls, in place.
    pub filled: usize,
    /// Bytes of these.
    pub filled_bytes: i64,
}

impl LayoutReport {
    /// The report as one line.
    pub fn text(&self) -> String {
        let part = |count: usize, bytes: i64| match count {
            0 => "none".to_owned(),
            _ => format!("{count} of {bytes} bytes"),
        };
        let between = part(self.between_calls, self.between_bytes);
        let borders = part(self.at_borders, self.border_bytes);
        let filled = match self.filled {
            0 => String::new(),
            count => format!(", blocks filled up {}", part(count, self.filled_bytes)),
        };
        format!(
            "changes of layout: between calls {between}, at the host's borders {borders}{filled}"
        )
    }
}

/// One way to make a match's call.
struct Choice {
    /// The match.
    number: usize,
    given: Option<GivenLayout>,
    sides: Vec<Side>,
}

/// A match and the ways to make its call, the one that was chosen without regard to layouts first.
struct Node {
    choices: Vec<Choice>,
    /// True if the first choice takes the model's layout in place of others.
    is_given: bool,
}

/// A value between nodes.
struct Edge {
    value: ValueId,
    bytes: i64,
    maker: Option<usize>,
    readers: Vec<usize>,
    /// True if the host, or a reader of the model's outputs, reads it.
    in_host: bool,
}

/// The changes of layout of a value.
struct Moves {
    count: usize,
    /// True if they are between calls.
    between: bool,
    /// True if the fill of its blocks has to be zero again.
    filled: bool,
}

struct Net<'a> {
    graph: &'a GraphView,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// Chooses layouts, and among patterns of one price by layouts.
pub fn assign(problem: &Problem, chosen: &mut Chosen) -> Layouts {
    let request = problem.request;
    let is_given = |pattern: &Pattern| pattern.call.as_ref().is_some_and(|call| call.is_given());
    let any_given = request.devices.iter().any(|device| device.patterns.iter().any(is_given));
    let nodes: BTreeSet<usize> = chosen.owner.iter().flatten().copied().collect();
    let nodes: Vec<usize> = nodes.into_iter().collect();
    let rivals = rivals(problem, &nodes);
    if nodes.is_empty() || (!any_given && rivals.is_empty()) {
        return Layouts::default();
    }
    let mut net = Net::new(problem, chosen, &nodes, &rivals);
    match request.layout {
        Some(number) => net.force(problem, number),
        None => net.add_given(problem),
    }
    let picks = search::best(&net);
    let mut layouts = Layouts::default();
    for (node, pick) in net.nodes.iter().zip(&picks) {
        let (first, choice) = (node.choices[0].number, &node.choices[*pick]);
        if let Some(given) = &choice.given {
            layouts.given.insert(choice.number, given.clone());
        }
        if choice.number != first {
            let owners = chosen.owner.iter_mut().filter(|owner| **owner == Some(first));
            owners.for_each(|owner| *owner = Some(choice.number));
            chosen.rejections[choice.number] = None;
            chosen.rejections[first] = Some(Rejection::Taken { by: choice.number });
        }
    }
    let is_decided = any_given || picks.iter().any(|pick| *pick > 0);
    layouts.report = is_decided.then(|| net.report(&picks));
    layouts
}

/// For each match, others of the same device that do the same for the same price, in another layout.
fn rivals(problem: &Problem, nodes: &[usize]) -> BTreeMap<usize, Vec<usize>> {
    let candidates = &problem.candidates.matches;
    let pattern = |number: usize| {
        let candidate = &candidates[number];
        &problem.request.devices[candidate.device].patterns[candidate.pattern]
    };
    let has_layouts = |number: usize| {
        let params = pattern(number).call.iter().flat_map(|call| &call.params);
        params.flat_map(Param::flat).any(|param| param.layout().is_some())
    };
    let mut by_root: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (number, candidate) in candidates.iter().enumerate() {
        let key = (candidate.device, candidate.found.root.index());
        by_root.entry(key).or_default().push(number);
    }
    let is_rival = |one: usize, other: usize| {
        let (a, b) = (&candidates[one].found, &candidates[other].found);
        let (p, q) = (pattern(one), pattern(other));
        let price = |number: usize| problem.prices.matches[number];
        // What a region has once at most may be there already.
        let once = &problem.request.devices[candidates[one].device].capabilities.region.once;
        one != other
            && !once.iter().any(|name| name == p.name() || name == q.name())
            && problem.barred[other].is_none()
            && (&a.ops, &a.inputs, &a.outputs) == (&b.ops, &b.inputs, &b.outputs)
            && q.call.is_some()
            && p.call.is_some()
            && (p.spec.inline, p.spec.compute, p.spec.benefit, &p.spec.lower)
                == (q.spec.inline, q.spec.compute, q.spec.benefit, &q.spec.lower)
            && price(one).total_cmp(&price(other)).is_eq()
            && (has_layouts(one) || has_layouts(other))
    };
    let mut found = BTreeMap::new();
    for number in nodes {
        let candidate = &candidates[*number];
        let all = by_root.get(&(candidate.device, candidate.found.root.index()));
        let all = all.into_iter().flatten().copied();
        let others: Vec<usize> = all.filter(|other| is_rival(*number, *other)).take(MOST).collect();
        if !others.is_empty() {
            found.insert(*number, others);
        }
    }
    found
}

impl<'a> Net<'a> {
    fn new(
        problem: &Problem<'a>,
        chosen: &Chosen,
        numbers: &[usize],
        rivals: &BTreeMap<usize, Vec<usize>>,
    ) -> Self {
        let graph = problem.request.graph;
        let place: BTreeMap<usize, usize> =
            numbers.iter().enumerate().map(|(place, number)| (*number, place)).collect();
        let owner = |op: crate::graph::OpId| {
            chosen.owner[op.index()].and_then(|number| place.get(&number).copied())
        };
        let nodes = numbers.iter().map(|number| {
            let first = choice(problem, *number, None).unwrap_or_else(|| {
                let found = &problem.candidates.matches[*number].found;
                Choice { number: *number, given: None, sides: Side::of_model(found) }
            });
            let others = rivals.get(number).into_iter().flatten();
            let others = others.filter_map(|other| choice(problem, *other, None));
            let is_given = given_shape(problem, *number).is_some();
            Node { choices: [first].into_iter().chain(others).collect(), is_given }
        });
        let nodes = nodes.collect();
        let mut edges = vec![];
        for index in 0..graph.value_count() {
            let value = ValueId(index as u32);
            let node = graph.value(value);
            if graph.is_constant(value) {
                continue;
            }
            let maker = graph.definer(value).and_then(|(op, _)| owner(op));
            let users: BTreeSet<Option<usize>> =
                node.uses.iter().map(|user| owner(user.op)).collect();
            let in_host = node.returned || users.contains(&None);
            let readers: Vec<usize> = users.into_iter().flatten().collect();
            if maker.is_some() || !readers.is_empty() {
                let bytes = super::bytes(graph, value) as i64;
                edges.push(Edge { value, bytes, maker, readers, in_host });
            }
        }
        Self { graph, nodes, edges }
    }

    /// Gives calls that take tensors as given the layouts that reach them from neighbours.
    fn add_given(&mut self, problem: &Problem) {
        let count = self.nodes.len();
        let mut known: Vec<Vec<BoundLayout>> = vec![vec![]; count];
        let mut waiting: BTreeSet<usize> = BTreeSet::new();
        // What others have at a value of a call as given.
        for edge in &self.edges {
            let ends: BTreeSet<usize> =
                edge.maker.into_iter().chain(edge.readers.clone()).collect();
            let fixed = ends.iter().filter(|end| !self.nodes[**end].is_given);
            let sides = fixed.flat_map(|end| &self.nodes[*end].choices).flat_map(|c| &c.sides);
            let layouts = sides.filter(|side| side.value == edge.value);
            let layouts: Vec<BoundLayout> =
                layouts.filter_map(|side| side.layout.as_ref()?.order()).collect();
            for end in ends.iter().filter(|end| self.takes_given(**end, edge.value)) {
                for layout in &layouts {
                    learn(&mut known[*end], layout);
                }
                waiting.insert(*end);
            }
        }
        // And what these pass on.
        while let Some(node) = waiting.pop_first() {
            for edge in self.edges.iter().filter(|edge| self.takes_given(node, edge.value)) {
                let ends = edge.maker.into_iter().chain(edge.readers.iter().copied());
                for other in ends.filter(|other| *other != node) {
                    if !self.takes_given(other, edge.value) {
                        continue;
                    }
                    for layout in known[node].clone() {
                        if learn(&mut known[other], &layout) {
                            waiting.insert(other);
                        }
                    }
                }
            }
        }
        for (node, layouts) in known.into_iter().enumerate() {
            let made: Vec<Choice> = layouts
                .into_iter()
                .filter_map(|layout| self.given_choice(problem, node, layout))
                .collect();
            self.nodes[node].choices.extend(made);
        }
    }

    /// True if a call takes a value as given.
    fn takes_given(&self, node: usize, value: ValueId) -> bool {
        let node = &self.nodes[node];
        let mut sides = node.choices[0].sides.iter();
        node.is_given && sides.any(|side| side.is_given && side.value == value)
    }

    /// The call of a node with what it takes as given in a layout; none if that cannot be.
    fn given_choice(&self, problem: &Problem, node: usize, layout: BoundLayout) -> Option<Choice> {
        let number = self.nodes[node].choices[0].number;
        let (found, _) = parts(problem, number);
        let shape = given_shape(problem, number)?;
        if layout.rank() != Some(shape.len()) {
            return None;
        }
        let padding = may_read_anything(found, self.graph);
        let given = GivenLayout { shapes: self.shapes(node, &layout), layout, padding };
        choice(problem, number, Some(given))
    }

    /// The dimensions that neighbours with fixed layouts have of a blocked tensor.
    fn shapes(&self, node: usize, layout: &BoundLayout) -> Vec<(ValueId, Vec<i64>)> {
        let mut found = vec![];
        for edge in self.edges.iter().filter(|edge| self.takes_given(node, edge.value)) {
            let ends = edge.maker.into_iter().chain(edge.readers.iter().copied());
            let fixed = ends.filter(|end| *end != node && !self.nodes[*end].is_given);
            let sides = fixed.flat_map(|end| &self.nodes[end].choices).flat_map(|c| &c.sides);
            let shape = sides.filter(|side| side.value == edge.value).find_map(|side| {
                match side.layout.as_ref()? {
                    own @ BoundLayout::Blocked { shape: Some(shape), .. }
                        if own.order().as_ref() == Some(layout) =>
                    {
                        Some(shape.clone())
                    }
                    _ => None,
                }
            });
            found.extend(shape.map(|shape| (edge.value, shape)));
        }
        found
    }

    /// For checks: calls that take tensors as given get one of all layouts that their device has, whatever their
    /// neighbours have.
    fn force(&mut self, problem: &Problem, number: u64) {
        for node in 0..self.nodes.len() {
            if !self.nodes[node].is_given {
                continue;
            }
            let first = self.nodes[node].choices[0].number;
            let Some(shape) = given_shape(problem, first) else { continue };
            let device = problem.candidates.matches[first].device;
            let layouts = declared(problem, device, shape.len());
            let pick = number % (layouts.len() as u64 + 1);
            let layout = usize::try_from(pick).ok().and_then(|pick| layouts.get(pick));
            let made = layout.and_then(|layout| self.given_choice(problem, node, layout.clone()));
            if let Some(made) = made {
                self.nodes[node].choices = vec![made];
            }
        }
    }

    /// The changes of layout of a value.
    fn moves(&self, edge: &Edge, picks: &[usize]) -> Moves {
        let sides = |node: usize, makes: bool| {
            let sides = self.nodes[node].choices[picks[node]].sides.iter();
            sides.filter(move |side| side.value == edge.value && side.makes == makes)
        };
        let made = edge.maker.and_then(|maker| sides(maker, true).next()?.layout.as_ref());
        let shape = self.graph.value(edge.value).ty.shape.iter();
        let shape: Vec<i64> = shape.map(|size| size.unwrap_or(1)).collect();
        let is_full = made.is_none_or(|layout| layout.is_full(&shape));
        // Where each part of a block has a dimension of its own.
        let is_plain = made.is_some_and(|layout| match layout {
            BoundLayout::Blocked { shape: Some(own), .. } => *own == layout.extents(&shape),
            _ => true,
        });
        let (mut back, mut packs): (bool, Vec<&BoundLayout>) = (false, vec![]);
        let (mut between, mut filled) = (false, false);
        for side in edge.readers.iter().flat_map(|reader| sides(*reader, false)) {
            let wanted = side.layout.as_ref();
            if wanted == made && (is_full || side.padding) {
                continue;
            }
            if wanted == made && is_plain {
                filled = true;
                continue;
            }
            back |= made.is_some();
            between |= edge.maker.is_some();
            if let Some(wanted) = wanted
                && !packs.contains(&wanted)
            {
                packs.push(wanted);
            }
        }
        back |= edge.in_host && made.is_some();
        Moves { count: usize::from(back) + packs.len(), between, filled }
    }

    /// The cost of a value's changes of layout: the bytes that are moved; of equally many rather those at the borders
    /// than those between calls.
    fn cost(&self, edge: &Edge, picks: &[usize]) -> i64 {
        let moves = self.moves(edge, picks);
        let bytes = (moves.count as i64).saturating_mul(edge.bytes);
        let filled = if moves.filled { edge.bytes.saturating_mul(16) } else { 0 };
        let between = if moves.between { bytes } else { 0 };
        bytes.saturating_mul(16).saturating_add(filled).saturating_add(between)
    }

    fn report(&self, picks: &[usize]) -> LayoutReport {
        let mut report = LayoutReport::default();
        for edge in &self.edges {
            let Moves { count, between, filled } = self.moves(edge, picks);
            let bytes = (count as i64).saturating_mul(edge.bytes);
            if filled {
                report.filled += 1;
                report.filled_bytes = report.filled_bytes.saturating_add(edge.bytes);
            }
            if between {
                report.between_calls += count;
                report.between_bytes = report.between_bytes.saturating_add(bytes);
            } else {
                report.at_borders += count;
                report.border_bytes = report.border_bytes.saturating_add(bytes);
            }
        }
        report
    }
}

/// Adds a layout to those that a call may have; true if it is new.
fn learn(known: &mut Vec<BoundLayout>, layout: &BoundLayout) -> bool {
    let is_new = known.len() < MOST && !known.contains(layout);
    if is_new {
        known.push(layout.clone());
    }
    is_new
}

fn parts<'a>(problem: &Problem<'a>, number: usize) -> (&'a Match, &'a Pattern) {
    let candidate = &problem.candidates.matches[number];
    (&candidate.found, &problem.request.devices[candidate.device].patterns[candidate.pattern])
}

fn facts<'a>(problem: &Problem<'a>, number: usize) -> Facts<'a> {
    let request = problem.request;
    let device = &request.devices[problem.candidates.matches[number].device];
    Facts { graph: request.graph, table: request.table, options: device.options }
}

/// The call of a match with what it takes as given in a layout; none if it has no call, or not such a one.
fn choice(problem: &Problem, number: usize, given: Option<GivenLayout>) -> Option<Choice> {
    let (found, pattern) = parts(problem, number);
    let facts = facts(problem, number);
    let found = found.in_layout(given.clone());
    let call = pattern.call.as_ref()?.bind(pattern, &found, facts).ok()?;
    let sides = sides(&call, (pattern, &found), facts.graph);
    Some(Choice { number, given, sides })
}

/// The shape of what a call takes as given, if any layout of it will do.
fn given_shape(problem: &Problem, number: usize) -> Option<Vec<i64>> {
    let (found, pattern) = parts(problem, number);
    goes_by_places(found, pattern, facts(problem, number))
}

/// The layouts of all calls of a device for tensors of some number of dimensions.
fn declared(problem: &Problem, device: usize, rank: usize) -> Vec<BoundLayout> {
    struct NoNames;
    impl Scope for NoNames {
        fn lookup(&self, _: &str) -> Option<Bound> {
            None
        }
    }
    let request = problem.request;
    let device = &request.devices[device];
    let facts = Facts { graph: request.graph, table: request.table, options: device.options };
    let bound = |part: &BlockPart| {
        let block = match part.block().map(|block| Evaluator::new(facts, &NoNames).eval(block)) {
            None => 1,
            Some(Val::Int(block)) if (1..=4096).contains(&block) => block,
            Some(_) => return None,
        };
        Some((part.dim(), block, matches!(part, BlockPart::Inner(..))))
    };
    let params = device.patterns.iter().flat_map(|pattern| &pattern.call);
    let params = params.flat_map(|call| &call.params).flat_map(Param::flat);
    let mut found = vec![];
    for layout in params.filter_map(Param::layout) {
        let layout = match layout {
            Layout::Permuted(order) => BoundLayout::Permuted(order.clone()).order(),
            Layout::Blocked(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(bound).collect();
                parts.map(|parts| BoundLayout::Blocked { parts, shape: None })
            }
            Layout::Flat | Layout::Given => None,
        };
        if let Some(layout) = layout.filter(|layout| layout.rank() == Some(rank)) {
            learn(&mut found, &layout);
        }
    }
    found
}

#[cfg(test)]
mod tests;
