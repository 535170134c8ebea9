//! Graphs that are looked for: from one that nearly meets the conditions and has nearly what it is to have, choice
//! by choice to one that does.

use super::{
    contest::rules,
    differential::{DifferentialRun, Fate},
    distance::Distance,
    draws::{Draw, Genes},
    goal::{self, Goal},
    judge::Judge,
    report::PatternReport,
    sampler::Sampler,
};
use crate::{
    Result,
    graph::{Facts, OpId},
    ir::{
        self, func,
        print::{Weights, print_module},
    },
    outline,
    pattern::{Capabilities, Pattern, find_forms, find_match},
};

/// Distance of a graph with other operations than the pattern's; one that cannot be made is
/// farther.
const STRANGE: f64 = 100.0;
const NONE: f64 = 1e6;

/// Measure for the match of a graph.
pub struct Measure<'g> {
    pub goal: Option<&'g Goal>,
}

/// Distance of a graph from a match and a goal.
#[derive(Default)]
pub struct Nearness {
    /// 0 if it has all that it is to have.
    pub distance: f64,
    /// Sizes that may be better.
    pub hints: Vec<i64>,
    /// The size that is searched for as the graph has it, if it is none that is too large.
    pub size: Option<i64>,
}

impl Measure<'_> {
    /// Measures the graph that ends with an operation.
    pub fn of(
        &self,
        pattern: &Pattern,
        facts: Facts,
        (rules, root): (&Capabilities, OpId),
        is_match: bool,
    ) -> Nearness {
        let forms = find_forms(pattern, facts, rules, root);
        let all = forms.iter().map(|found| {
            let mut distance = Distance::new(pattern, found, facts);
            // What is no condition, such as element types, has no distance.
            let conditions = if is_match { 0.0 } else { 0.5 + 2.0 * distance.of_conditions() };
            let size = self.goal.and_then(|goal| goal.size(found, facts, &distance));
            let goal = match (self.goal, size) {
                (Some(goal), Some(size)) => goal.distance(size, &mut distance.hints),
                (goal, _) => f64::from(u8::from(goal.is_some())),
            };
            Nearness { distance: conditions + goal, hints: distance.hints, size }
        });
        let best = all.min_by(|a, b| a.distance.total_cmp(&b.distance));
        let mut best = best.unwrap_or(Nearness { distance: STRANGE, ..Nearness::default() });
        if self.goal.is_some() {
            let excess = goal::excess(facts.graph);
            best.distance += excess;
            best.size = best.size.filter(|_| excess == 0.0);
        }
        best
    }
}

/// Position of a search.
struct Point {
    genes: Genes,
    draws: Vec<Draw>,
    nearness: Nearness,
}

impl DifferentialRun<'_> {
    /// Searches from a graph of these choices for one that matches and has what the goal says.
    pub fn climb(
        &self,
        pattern: &Pattern,
        sampler: &mut Sampler,
        (start, goal): (Option<Genes>, Option<&Goal>),
        steps: usize,
    ) -> Result<Option<(Fate<'_>, i64)>> {
        let mut best: Option<Point> = None;
        let mut largest: Option<(Fate<'_>, i64)> = None;
        for step in 0..steps {
            match (&best, &start) {
                (Some(point), _) => {
                    let genes = changed(point, sampler);
                    sampler.graph_of(genes);
                }
                (None, Some(start)) if step == 0 => sampler.graph_of(start.clone()),
                (None, _) => sampler.next_graph(),
            }
            let probe = self.probe(pattern, sampler, Some(&Measure { goal }))?;
            let (genes, draws) = sampler.made();
            let (fate, nearness) = match probe {
                Some((fate, nearness)) => (Some(fate), nearness),
                // The more operations fit together, the better.
                None => {
                    let distance = NONE - sampler.operations() as f64;
                    (None, Nearness { distance, ..Nearness::default() })
                }
            };
            let size = nearness.size.unwrap_or(0);
            let is_there = nearness.distance == 0.0;
            let will_do = goal.is_some_and(|goal| size >= goal.enough)
                && largest.as_ref().is_none_or(|(_, known)| size > *known);
            if let Some(fate @ Fate::Match(_)) = fate {
                if is_there {
                    return Ok(Some((fate, size)));
                }
                if will_do {
                    largest = Some((fate, size));
                }
            }
            let is_first = best.is_none() && nearness.distance < NONE;
            let is_better = |best: &Point| nearness.distance <= best.nearness.distance;
            if is_first || best.as_ref().is_some_and(is_better) {
                best = Some(Point { genes, draws, nearness });
            }
        }
        Ok(largest)
    }
}

impl DifferentialRun<'_> {
    /// Runs graphs that are large in one way or another, searched for from others.
    pub fn compare_large(
        &self,
        (pattern, starts): (&Pattern, Vec<Genes>),
        sampler: &mut Sampler,
        judge: &mut Judge<'_>,
        report: &mut PatternReport,
    ) -> Result<()> {
        if starts.is_empty() || self.options.samples < super::THOROUGH {
            return Ok(());
        }
        for text in self.large(pattern, &starts, sampler, report)? {
            if self.is_enough(report) {
                break;
            }
            if self.compare(&text, &[pattern], judge, report) {
                report.compared += 1;
            }
        }
        Ok(())
    }

    /// Graphs that are large: with several blocks, long sums and rows, as far as conditions allow.
    fn large(
        &self,
        pattern: &Pattern,
        starts: &[Genes],
        sampler: &mut Sampler,
        report: &mut PatternReport,
    ) -> Result<Vec<String>> {
        let mut texts: Vec<String> = vec![];
        let Some(goals) = self.goals(pattern, starts, sampler)? else { return Ok(texts) };
        let most = self.options.samples.div_ceil(3);
        let mut searches = 0;
        let mut met: Vec<bool> = vec![false; goals.len()];
        for place in 0..goals.len() {
            let (Some(goal), false) = (goals.get(place), met[place]) else { continue };
            if texts.len() >= most || searches >= SEARCHES {
                break;
            }
            searches += 1;
            let mut start = starts[searches % starts.len()].clone();
            start.is_full = texts.len() % 2 == 1;
            let found = self.climb(pattern, sampler, (Some(start), Some(goal)), STEPS)?;
            let Some((Fate::Match(module), size)) = found else {
                report.missed.push(goal.text.clone());
                continue;
            };
            report.reached.push(format!("{} = {size}", goal.text));
            // It may have more of what graphs are to have.
            let main = func::main(ir::root(&module)).ok_or_else(func::no_main)?;
            let view = outline::view(main, self.table)?;
            let facts =
                Facts { graph: &view.graph, table: self.table, options: &self.device.options };
            for (met, other) in met.iter_mut().zip(&goals) {
                *met |= self.is_met(pattern, facts, other);
            }
            texts.push(print_module(&module, Weights::Print)?);
        }
        Ok(texts)
    }

    fn is_met(&self, pattern: &Pattern, facts: Facts, goal: &Goal) -> bool {
        let roots = (0..facts.graph.op_count()).rev().map(|root| OpId(root as u32));
        let found = roots.filter_map(|root| {
            find_match(pattern, facts, &rules(self.device), root, &|_| true).ok()
        });
        found.take(1).any(|found| {
            let distance = Distance::new(pattern, &found, facts);
            goal.size(&found, facts, &distance).is_some_and(|size| size >= goal.least)
        })
    }

    /// Goals for graphs of a pattern, derived from one that matches.
    fn goals(
        &self,
        pattern: &Pattern,
        starts: &[Genes],
        sampler: &mut Sampler,
    ) -> Result<Option<Vec<Goal>>> {
        let Some(start) = starts.first() else { return Ok(None) };
        sampler.graph_of(start.clone());
        let Some((Fate::Match(module), _)) = self.probe(pattern, sampler, None)? else {
            return Ok(None);
        };
        let main = func::main(ir::root(&module)).ok_or_else(func::no_main)?;
        let view = outline::view(main, self.table)?;
        let facts = Facts { graph: &view.graph, table: self.table, options: &self.device.options };
        let roots = (0..facts.graph.op_count()).rev().map(|root| OpId(root as u32));
        let mut found = roots.filter_map(|root| {
            find_match(pattern, facts, &rules(self.device), root, &|_| true).ok()
        });
        Ok(found.next().map(|found| goal::goals(pattern, &found, facts)))
    }
}

/// Searches for large graphs of a pattern, and steps of each.
const SEARCHES: usize = 14;
const STEPS: usize = 110;

/// A few choices changed.
fn changed(point: &Point, sampler: &mut Sampler) -> Genes {
    let (sizes, others): (Vec<&Draw>, Vec<&Draw>) =
        point.draws.iter().partition(|draw| draw.bound.is_none());
    let hints = &point.nearness.hints;
    let mut genes = point.genes.clone();
    let mut below = |bound: usize| (sampler.random() % bound.max(1) as u64) as usize;
    let count = [1, 1, 1, 2, 2, 3][below(6)];
    for _ in 0..count {
        let is_size = !sizes.is_empty() && (others.is_empty() || below(10) < 6);
        let Some(draw) = (if is_size { &sizes } else { &others }).get(below(if is_size {
            sizes.len()
        } else {
            others.len()
        })) else {
            continue;
        };
        let value = match draw.bound {
            Some(bound) => below(bound) as i64,
            None => match below(8) {
                0 => draw.value + 1,
                1 => draw.value - 1,
                2 => draw.value * 2,
                3 => draw.value / 2,
                4 => sizes[below(sizes.len())].value,
                _ if hints.is_empty() => 1 + below(64) as i64,
                _ => hints[below(hints.len())],
            },
        };
        genes = genes.with(draw.key, value);
    }
    genes
}
