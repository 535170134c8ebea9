//! Choosing the sizes of tiles and the order of loops.
//!
//! Sizes that cut loops into nearly equal pieces are compared by what the plan says that transfers
//! and computation cost, and the cheapest that fits the pool is taken: first of a coarse choice of
//! sizes, then of all sizes of one loop after the other around the best.

mod any;

use super::{
    formula::Formula,
    plan::{Loop, Plan, Tensor},
};
use crate::{
    expr::{Expr, ExprKind},
    tile::TileRef,
};

/// The sizes of a tile and the order of the loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Positions of a piece of each loop.
    pub sizes: Vec<i64>,
    /// The loops that are cut and do not reduce, outermost first.
    pub order: Vec<usize>,
}

/// Loops that are cut, beyond which only the declared order is looked at.
const MAX_PERMUTED: usize = 4;

/// A coarse choice has each next size smaller by this.
const COARSE: f64 = 0.8;

/// What a size of a loop means.
#[derive(Clone)]
struct Cut {
    size: i64,
    /// Number of pieces.
    count: i64,
    /// For each window, the most input positions of a piece, and those of a piece on average.
    inputs: Vec<(i64, f64)>,
    /// Which part of the pieces is loaded while another one is computed on: those in loops, but for
    /// the first of each.
    ahead: f64,
}

impl Cut {
    /// `ends` says whether the first and the last piece differ from others.
    fn new(l: &Loop, size: i64, ends: bool) -> Self {
        let count = divide_up(l.extent, size);
        if l.windows.is_empty() {
            let alike = if ends { count - 2 } else { l.extent / size };
            let ahead = (alike - 1).max(0) as f64 / count as f64;
            return Self { size, count, inputs: vec![], ahead };
        }
        let mut inputs = vec![(0, 0.0); l.windows.len()];
        let mut ahead = 0;
        for run in l.runs(size, ends) {
            ahead += run.count - 1;
            for ((most, sum), reach) in inputs.iter_mut().zip(&run.piece.reaches) {
                *most = (*most).max(reach.size);
                *sum += (reach.size * run.count) as f64;
            }
        }
        inputs.iter_mut().for_each(|(_, sum)| *sum /= count as f64);
        Self { size, count, inputs, ahead: ahead as f64 / count as f64 }
    }
}

/// Compares tiles of a plan.
pub struct Chooser<'a> {
    plan: &'a Plan,
    transfer: Formula,
    compute: Option<Formula>,
    /// What each variable of `compute` is: a loop, and a window of it.
    variables: Vec<(usize, Option<usize>)>,
    /// The sizes that each loop may be cut to, descending.
    cuts: Vec<Vec<Cut>>,
    reads: usize,
}

impl<'a> Chooser<'a> {
    /// For a plan whose first `reads` tensors are read and the others written. `given` are sizes
    /// that are decided already, 0 for others.
    pub fn new(plan: &'a Plan, reads: usize, given: &[i64]) -> Result<Self, String> {
        let mut variables = vec![];
        for (place, l) in plan.loops.iter().enumerate() {
            variables.push((place, None));
            variables.extend((0..l.windows.len()).map(|window| (place, Some(window))));
        }
        let parse = |text: &str| Expr::parse(text).map_err(|error| error.to_string());
        let variable = |expr: &Expr| {
            let wanted = match TileRef::of(expr)? {
                TileRef::Size(name) => (plan.loop_named(&name)?, None),
                TileRef::Shape(tensor, dim) => {
                    let (place, window) = plan.window(&tensor, dim)?;
                    (place, Some(window))
                }
                _ => return None,
            };
            variables.iter().position(|known| *known == wanted)
        };
        let compute = match &plan.cost {
            Some(text) => Some(Formula::compile(&parse(text)?, &variable)?),
            None => None,
        };
        let transfer = Formula::compile(&parse(&plan.pool.dma.cost)?, &transfer_variable)?;
        let args: Vec<Expr> =
            plan.args.iter().map(|argument| parse(&argument.value)).collect::<Result<_, _>>()?;
        let cuts = plan.loops.iter().enumerate().map(|(place, l)| {
            let ends = args.iter().any(|argument| names_ends(argument, &l.name));
            let given = given.get(place).copied().filter(|size| *size > 0);
            let sizes = given.map_or_else(|| sizes(l), |size| vec![size.min(l.extent)]);
            sizes.into_iter().map(|size| Cut::new(l, size, ends)).collect()
        });
        Ok(Self { plan, transfer, compute, variables, cuts: cuts.collect(), reads })
    }

    /// Bytes of the smallest tile.
    pub fn least_bytes(&self) -> i64 {
        let least: Vec<&Cut> = self.cuts.iter().filter_map(|cuts| cuts.last()).collect();
        self.bytes(&|place| least[place], least.len())
    }

    /// The cheapest tile that fits; none if not even the smallest does.
    pub fn choose(&self) -> Option<Choice> {
        let mut best: Option<(f64, Choice)> = None;
        let coarse: Vec<Vec<&Cut>> = self.cuts.iter().map(|cuts| thinned(cuts)).collect();
        self.search(&coarse, &mut vec![], &mut best);
        if best.is_none() {
            // What is in between may fit where neither neighbour does.
            let all: Vec<Vec<&Cut>> = self.cuts.iter().map(|cuts| cuts.iter().collect()).collect();
            self.search(&all, &mut vec![], &mut best);
        }
        loop {
            let (cost, choice) = best.clone()?;
            for place in 0..self.cuts.len() {
                let of = |other: usize| {
                    let is = |cut: &&Cut| other == place || cut.size == choice.sizes[other];
                    self.cuts[other].iter().filter(is).collect()
                };
                let around: Vec<Vec<&Cut>> = (0..self.cuts.len()).map(of).collect();
                self.search(&around, &mut vec![], &mut best);
            }
            if best.as_ref().is_some_and(|(now, _)| *now >= cost) {
                return best.map(|(_, choice)| choice);
            }
        }
    }

    fn search<'s>(
        &'s self,
        cuts: &[Vec<&'s Cut>],
        chosen: &mut Vec<&'s Cut>,
        best: &mut Option<(f64, Choice)>,
    ) {
        if chosen.len() == cuts.len() {
            if self.fits(chosen) {
                self.compare(chosen, best);
            }
            return;
        }
        for cut in &cuts[chosen.len()] {
            chosen.push(cut);
            if self.may_fit(chosen, cuts) {
                self.search(cuts, chosen, best);
            }
            chosen.pop();
        }
    }

    /// False if these cuts do not fit with whatever the other loops are cut to.
    fn may_fit(&self, chosen: &[&Cut], cuts: &[Vec<&Cut>]) -> bool {
        let known = chosen.len();
        let cut = |place: usize| {
            if place < known { chosen[place] } else { cuts[place][cuts[place].len() - 1] }
        };
        self.bytes(&cut, known) <= self.plan.pool.bytes
    }

    fn fits(&self, cuts: &[&Cut]) -> bool {
        self.bytes(&|place| cuts[place], cuts.len()) <= self.plan.pool.bytes
    }

    /// Bytes of the buffers of a tile. Only the first `known` loops are taken to be cut for good.
    fn bytes<'s>(&self, cut: &dyn Fn(usize) -> &'s Cut, known: usize) -> i64 {
        let pool = &self.plan.pool;
        let mut sum: i64 = 0;
        for (index, tensor) in self.plan.tensors.iter().enumerate() {
            let mut bytes = tensor.element;
            let mut is_moved = false;
            for dim in &tensor.dims {
                let size = match (dim.loop_place(), dim.window_place()) {
                    (Some(place), Some(window)) => cut(place).inputs[window].0,
                    (Some(place), None) => divide_up(cut(place).size, dim.divisor),
                    _ => dim.size,
                };
                let moves = |place: usize| place < known && cut(place).count > 1;
                is_moved |= dim.loop_place().is_some_and(moves);
                bytes = bytes.saturating_mul(size);
            }
            let aligned = divide_up(bytes, pool.alignment).saturating_mul(pool.alignment);
            let twice = pool.dma.double_buffer && index < self.reads && is_moved;
            sum = sum.saturating_add(aligned.saturating_mul(if twice { 2 } else { 1 }));
        }
        sum
    }

    fn compare(&self, cuts: &[&Cut], best: &mut Option<(f64, Choice)>) {
        let is_cut = |place: &usize| cuts[*place].count > 1 && !self.plan.loops[*place].reduce;
        let free: Vec<usize> = (0..cuts.len()).filter(is_cut).collect();
        let tiles: f64 = cuts.iter().map(|cut| cut.count as f64).product();
        let compute = tiles * self.compute_cost(cuts);
        let transfers: Vec<f64> =
            self.plan.tensors.iter().map(|tensor| self.transfer_cost(tensor, cuts)).collect();
        // Whatever the order, each tile is moved once, and computed.
        let moved = self.plan.tensors.iter().zip(&transfers).map(|(tensor, transfer)| {
            let places = (0..cuts.len()).filter(|place| tensor.depends_on(*place));
            transfer * places.map(|place| cuts[place].count as f64).product::<f64>()
        });
        let bound = compute.max(moved.sum());
        if best.as_ref().is_some_and(|(least, _)| bound >= *least) {
            return;
        }
        for order in orders(&free) {
            let cost = self.cost(cuts, &order, compute, &transfers);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                let sizes = cuts.iter().map(|cut| cut.size).collect();
                *best = Some((cost, Choice { sizes, order }));
            }
        }
    }

    /// What the computation of one tile costs.
    fn compute_cost(&self, cuts: &[&Cut]) -> f64 {
        let Some(formula) = &self.compute else { return 0.0 };
        let size = |(place, window): &(usize, Option<usize>)| match window {
            Some(window) => cuts[*place].inputs[*window].0 as f64,
            None => cuts[*place].size as f64,
        };
        formula.value(&self.variables.iter().map(size).collect::<Vec<_>>())
    }

    /// What the transfer of a tile of a tensor costs.
    fn transfer_cost(&self, tensor: &Tensor, cuts: &[&Cut]) -> f64 {
        // From the innermost dimension: bytes are adjacent until a dimension is cut.
        let (mut run, mut runs, mut adjacent) = (tensor.element as f64, 1.0, true);
        for dim in tensor.dims.iter().rev() {
            let size = match (dim.loop_place(), dim.window_place()) {
                (Some(place), Some(window)) => cuts[place].inputs[window].1,
                (Some(place), None) => divide_up(cuts[place].size, dim.divisor) as f64,
                _ => dim.size as f64,
            };
            *(if adjacent { &mut run } else { &mut runs }) *= size;
            adjacent &= size >= dim.size as f64;
        }
        self.transfer.value(&[runs, run, runs * run])
    }

    /// What all tiles cost in an order of loops.
    fn cost(&self, cuts: &[&Cut], order: &[usize], compute: f64, transfers: &[f64]) -> f64 {
        let count = |place: usize| cuts[place].count as f64;
        let is_reduced = |place: &usize| self.plan.loops[*place].reduce && cuts[*place].count > 1;
        let reduced = (0..cuts.len()).filter(is_reduced);
        let nest: Vec<usize> = order.iter().copied().chain(reduced).collect();
        // Loads run ahead in the innermost loop, and where its pieces all differ, in the next one.
        let inner = nest.iter().rposition(|place| cuts[*place].ahead > 0.0);
        let (mut ahead, mut waited) = (0.0, 0.0);
        for (index, (tensor, transfer)) in self.plan.tensors.iter().zip(transfers).enumerate() {
            if index >= self.reads {
                let outer: f64 = order.iter().map(|place| count(*place)).product();
                waited += outer * transfer;
                continue;
            }
            let depth = nest.iter().rposition(|place| tensor.depends_on(*place));
            let around = &nest[..depth.map_or(0, |depth| depth + 1)];
            let times: f64 = around.iter().map(|place| count(*place)).product();
            let part = match depth {
                Some(depth) if Some(depth) == inner => cuts[nest[depth]].ahead,
                _ => 0.0,
            };
            ahead += times * transfer * part;
            waited += times * transfer * (1.0 - part);
        }
        if self.plan.pool.dma.double_buffer {
            ahead.max(compute) + waited
        } else {
            ahead + waited + compute
        }
    }
}

/// Whether an argument depends on which piece of a loop is the first or the last.
pub fn names_ends(value: &Expr, name: &str) -> bool {
    let mut found = false;
    value.visit(&mut |part| {
        if let Some(TileRef::First(other) | TileRef::Last(other)) = TileRef::of(part) {
            found |= other == name;
        }
    });
    found
}

/// The variables of what a transfer costs: number of runs of adjacent bytes, bytes of a run, bytes.
pub fn transfer_variable(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Name(name) => ["runs", "run_bytes", "bytes"].iter().position(|n| n == name),
        _ => None,
    }
}

fn divide_up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// The sizes that a loop may be cut to, descending.
pub fn sizes(l: &Loop) -> Vec<i64> {
    let all = parts(divide_up(l.extent, l.multiple));
    let all = all.into_iter().map(|part| (part * l.multiple).min(l.extent));
    let fits: Vec<i64> = all.clone().filter(|size| l.max == 0 || *size <= l.max).collect();
    if fits.is_empty() { vec![least(l)] } else { fits }
}

/// The least size that a loop may be cut to.
pub fn least(l: &Loop) -> i64 {
    l.multiple.min(l.extent)
}

/// The sizes of the largest piece when `size` is cut in 1, 2, 3, ... nearly equal pieces,
/// descending.
fn parts(size: i64) -> Vec<i64> {
    let mut found = vec![];
    let mut pieces = 1;
    while pieces <= size {
        let part = divide_up(size, pieces);
        found.push(part);
        if part == 1 {
            break;
        }
        // The least number of pieces that gives a smaller part.
        pieces = divide_up(size, part - 1);
    }
    found
}

/// A coarse choice of sizes, with the largest and the smallest.
fn thinned(cuts: &[Cut]) -> Vec<&Cut> {
    let mut chosen: Vec<&Cut> = vec![];
    for (index, cut) in cuts.iter().enumerate() {
        let smaller = chosen.last().is_none_or(|last| cut.size as f64 <= COARSE * last.size as f64);
        if smaller || index + 1 == cuts.len() {
            chosen.push(cut);
        }
    }
    chosen
}

/// The orders of loops that are compared.
fn orders(loops: &[usize]) -> Vec<Vec<usize>> {
    if loops.len() > MAX_PERMUTED {
        return vec![loops.to_vec()];
    }
    let Some((first, rest)) = loops.split_first() else { return vec![vec![]] };
    let mut all = vec![];
    for order in orders(rest) {
        for place in 0..=order.len() {
            let mut longer = order.clone();
            longer.insert(place, *first);
            all.push(longer);
        }
    }
    all
}
