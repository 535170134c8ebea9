//! Goals for graphs beside a match: large sizes, so that devices do all that they do for large
//! networks. Examples are several blocks and pieces, long sums and long rows.

use super::distance::{Distance, near};
use crate::{
    expr::{Expr, Val},
    graph::{Facts, GraphView, Op},
    pattern::{BlockPart, CallProto, Layout, Match, Param, Pattern},
};

/// Sizes beyond what fits small buffers and loops: more than a vector's elements, and rows of more than
/// 4 KiB.
const LONG: i64 = 1100;

/// A size that is better than none if there is no longer one.
const ENOUGH: i64 = 40;

/// Multiplications of a graph, about, and elements of all its tensors.
const WORK: f64 = 2_000_000.0;
const ELEMENTS: f64 = 400_000.0;

/// A least size of something.
pub struct Goal {
    /// Name of the size for people.
    pub text: String,
    what: What,
    /// The size that is searched for.
    pub least: i64,
    /// The size that will do.
    pub enough: i64,
}

enum What {
    Dim(String, usize),
    Number(Expr),
}

impl Goal {
    /// The size that a match has, if it has what is to be large at all.
    pub fn size(&self, found: &Match, facts: Facts, distance: &Distance<'_>) -> Option<i64> {
        match &self.what {
            What::Dim(name, dim) => {
                let value = found.capture(name)?.value?;
                *facts.graph.value(value).ty.shape.get(*dim)?
            }
            What::Number(expr) => distance.value(expr).as_int(),
        }
    }

    /// Distance of a size from the goal; adds promising sizes to `hints`.
    pub fn distance(&self, now: i64, hints: &mut Vec<i64>) -> f64 {
        if now < self.least {
            hints.extend([
                now,
                self.least,
                self.least + self.least / 2,
                now + (self.least - now) / 2,
            ]);
        }
        near((self.least - now).max(0) as f64)
    }

    fn new(text: String, what: What, least: i64) -> Self {
        Self { text, what, least, enough: least }
    }
}

/// The goals of a pattern, by a match of it: those that cost most to miss first.
pub fn goals(pattern: &Pattern, found: &Match, facts: Facts) -> Vec<Goal> {
    let mut goals: Vec<Goal> = vec![];
    let number = |expr: &Expr| match found.eval(pattern, facts, expr) {
        Val::Int(number) if number > 0 => Some(number),
        _ => None,
    };
    for (name, extent, limits) in pattern.tile.iter().flat_map(|tile| tile.extents()) {
        let limits = limits.map(|limit| limit.and_then(number));
        // A first piece, one in the middle, and a last one that is not full.
        let piece = limits.into_iter().flatten().max().filter(|piece| *piece > 1);
        if let Some(piece) = piece {
            let what = What::Number(extent.clone());
            goals.push(Goal::new(format!("positions of loop '{name}'"), what, 2 * piece + 1));
        }
    }
    for (name, dim, block) in blocks(pattern.call.as_ref()) {
        if let Some(block) = number(block).filter(|block| *block > 1) {
            let text = format!("{name}.shape[{dim}], in blocks of {block}");
            let whole = Goal::new(text.clone(), What::Dim(name.to_owned(), dim), 2 * block);
            let more = Goal::new(text, What::Dim(name.to_owned(), dim), 2 * block + 1);
            goals.extend([more, whole]);
        }
    }
    let tensors: Vec<(&String, Vec<Option<i64>>)> = found
        .captures
        .iter()
        .filter_map(|(name, bound)| Some((name, facts.graph.value(bound.value?).ty.shape.clone())))
        .filter(|(_, shape)| shape.iter().flatten().any(|size| *size > 1))
        .collect();
    for (name, shape) in &tensors {
        // The last one first: it has the rows.
        for dim in (0..shape.len()).rev() {
            let what = What::Dim((*name).clone(), dim);
            let goal = Goal::new(format!("{name}.shape[{dim}]"), what, LONG);
            goals.push(Goal { enough: ENOUGH, ..goal });
        }
    }
    goals
}

/// Dimensions of captures that a call is passed in blocks.
fn blocks(call: Option<&CallProto>) -> Vec<(&str, usize, &Expr)> {
    let mut found = vec![];
    for param in call.iter().flat_map(|call| &call.params).flat_map(Param::flat) {
        let Param::In { capture, layout: Some(Layout::Blocked(parts)), .. } = param else {
            continue;
        };
        found.extend(parts.iter().filter_map(|part| match part {
            BlockPart::Inner(dim, size) => Some((capture.as_str(), *dim, size)),
            _ => None,
        }));
    }
    found
}

/// Penalty for a graph too large for a simulated device: 0 if it is not.
pub fn excess(graph: &GraphView) -> f64 {
    let elements = |value: usize| {
        let value = crate::graph::ValueId(value as u32);
        graph.value(value).ty.elements().unwrap_or(0) as f64
    };
    let all: f64 = (0..graph.value_count()).map(elements).sum();
    let work: f64 = graph.ops().map(|(_, op)| work(graph, op)).sum();
    [all / ELEMENTS, work / WORK]
        .map(|part| if part > 1.0 { 0.1 + part.log2() } else { 0.0 })
        .iter()
        .sum()
}

/// About how many multiplications an operation takes.
fn work(graph: &GraphView, op: &Op) -> f64 {
    let sizes = |value| {
        let ty = &graph.value(value).ty;
        (ty.elements().unwrap_or(0) as f64, ty.shape.first().copied().flatten().unwrap_or(1) as f64)
    };
    let of = |place: usize| op.operands.get(place).copied().flatten().map_or((1.0, 1.0), sizes);
    let made: f64 = op.results.iter().map(|value| sizes(*value).0).sum();
    let weights = of(if op.name.starts_with("qlinear") { 3 } else { 1 });
    if op.name.contains("conv") {
        return made * weights.0 / weights.1.max(1.0);
    }
    if ["matmul", "gemm", "einsum"].iter().any(|part| op.name.contains(part)) {
        return (made * weights.0 * of(0).0).sqrt();
    }
    made
}
