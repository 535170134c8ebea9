//! Choosing the sizes of tiles and the order of loops.
//!
//! Sizes that cut loops into nearly equal pieces are compared by the plan's costs of transfers and
//! computation. The cheapest that fits the pool is taken: first of a coarse choice of sizes, then
//! of all sizes of one loop after the other around the best.

mod account;
mod any;
mod candidates;
mod cost;
mod cut;
mod decided;
mod kept;
mod order;
mod second;

pub use account::Account;
pub use cut::{least, sizes};
pub use kept::{shift_of, transfer_of};

use super::{
    formula::{Condition, Formula},
    plan::{Dim, Plan, Tensor},
    pool::Pool,
};
use crate::{
    expr::{Expr, ExprKind},
    tile::TileRef,
};
use candidates::Kept;
use cut::{Cut, divide_up, thinned};
use order::orders;

/// The sizes of a tile and the order of the loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Positions of a piece of each loop.
    pub sizes: Vec<i64>,
    /// The loops that are cut and do not reduce, outermost first.
    pub order: Vec<usize>,
}

/// Compares tiles of a plan.
pub struct Chooser<'a> {
    plan: &'a Plan,
    /// Cost of a transfer to or from each pool.
    transfers: Vec<Formula>,
    compute: Option<Formula>,
    /// Conditions on a tile, each with the number of loops that are cut when it is known.
    require: Vec<(usize, Condition)>,
    /// The loop, and the window of it if any, that each variable of `compute` and `require` is.
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
        let mut require = vec![];
        for text in &plan.require {
            let expr = parse(text)?;
            let mut known = 0;
            expr.visit(&mut |part| {
                let place = variable(part).map_or(0, |variable| variables[variable].0 + 1);
                known = known.max(place);
            });
            require.push((known, Condition::compile(&expr, &variable)?));
        }
        let compute = match &plan.cost {
            Some(text) => Some(Formula::compile(&parse(text)?, &variable)?),
            None => None,
        };
        let transfers = plan
            .pools
            .iter()
            .map(|pool| Formula::compile(&parse(&pool.dma.cost)?, &transfer_variable));
        let transfers = transfers.collect::<Result<_, String>>()?;
        let args: Vec<Expr> =
            plan.args.iter().map(|argument| parse(&argument.value)).collect::<Result<_, _>>()?;
        let cuts = plan.loops.iter().enumerate().map(|(place, l)| {
            let ends = args.iter().any(|argument| names_ends(argument, &l.name));
            let given = given.get(place).copied().filter(|size| *size > 0);
            let sizes = given.map_or_else(|| sizes(l), |size| vec![size.min(l.extent)]);
            sizes.into_iter().map(|size| Cut::new(l, size, ends)).collect()
        });
        Ok(Self { plan, transfers, compute, require, variables, cuts: cuts.collect(), reads })
    }

    /// The pool that the smallest tile fills most beyond its size, and bytes of that tile there; none
    /// if it fits.
    pub fn overfull(&self) -> Option<(&'a Pool, i64)> {
        let least: Vec<&Cut> = self.cuts.iter().filter_map(|cuts| cuts.last()).collect();
        let pools = self.plan.pools.iter().enumerate();
        let used = pools.map(|(place, pool)| (pool, self.bytes(place, &|place| least[place])));
        used.filter(|(pool, bytes)| *bytes > pool.room())
            .max_by_key(|(pool, bytes)| bytes - pool.room())
    }

    /// Reason that there is no choice, in words that follow "no tile".
    pub fn refusal(&self) -> String {
        match self.overfull() {
            Some((pool, bytes)) => format!(
                "fits pool '{}': the smallest takes {bytes} of its {} bytes",
                pool.name,
                pool.room()
            ),
            None if self.plan.require.is_empty() => "fits its pools".to_owned(),
            None => format!("meets all that is required: {}", self.plan.require.join("; ")),
        }
    }

    /// The cheapest tile that fits; none if not even the smallest does.
    pub fn choose(&self) -> Option<Choice> {
        self.cheapest().map(|(_, choice)| choice)
    }

    /// The cheapest tile that fits, with its cost.
    fn cheapest(&self) -> Option<(f64, Choice)> {
        let mut best = Kept::cheapest();
        self.search_coarse(&mut best);
        loop {
            let (cost, choice) = best.first()?.clone();
            for place in 0..self.cuts.len() {
                let of = |other: usize| {
                    let is = |cut: &&Cut| other == place || cut.size == choice.sizes[other];
                    self.cuts[other].iter().filter(is).collect()
                };
                let around: Vec<Vec<&Cut>> = (0..self.cuts.len()).map(of).collect();
                self.search(&around, &mut vec![], &mut best);
            }
            if best.first().is_some_and(|(now, _)| *now >= cost) {
                return best.first().cloned();
            }
        }
    }

    /// Compares a coarse choice of sizes, and all of them where too few of those fit.
    fn search_coarse(&self, best: &mut Kept) {
        let coarse: Vec<Vec<&Cut>> = self.cuts.iter().map(|cuts| thinned(cuts)).collect();
        self.search(&coarse, &mut vec![], best);
        if !best.is_full() {
            // What is in between may fit where neither neighbour does.
            let all: Vec<Vec<&Cut>> = self.cuts.iter().map(|cuts| cuts.iter().collect()).collect();
            best.clear();
            self.search(&all, &mut vec![], best);
        }
    }

    fn search<'s>(&'s self, cuts: &[Vec<&'s Cut>], chosen: &mut Vec<&'s Cut>, best: &mut Kept) {
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
        self.has_room(&cut) && self.holds(chosen, known..=known)
    }

    fn fits(&self, cuts: &[&Cut]) -> bool {
        self.has_room(&|place| cuts[place])
            && self.holds(cuts, 0..=cuts.len())
            && self.are_adjacent(cuts)
    }

    /// True if the requirements hold that are known when so many loops are cut.
    fn holds(&self, cuts: &[&Cut], known: std::ops::RangeInclusive<usize>) -> bool {
        let mut require = self.require.iter().filter(|(count, _)| known.contains(count)).peekable();
        if require.peek().is_none() {
            return true;
        }
        let values = self.values(cuts);
        require.all(|(_, condition)| condition.holds(&values))
    }

    /// True if each pool has space for its part of a tile.
    fn has_room<'s>(&self, cut: &dyn Fn(usize) -> &'s Cut) -> bool {
        let mut pools = self.plan.pools.iter().enumerate();
        pools.all(|(place, pool)| self.bytes(place, cut) <= pool.room())
    }

    /// Bytes of a tile in a pool, with one buffer for each tensor.
    fn bytes<'s>(&self, place: usize, cut: &dyn Fn(usize) -> &'s Cut) -> i64 {
        let pool = &self.plan.pools[place];
        let bytes = self.plan.tensors.iter().map(|tensor| {
            let is_kept = tensor.kept && self.plan.keeping(tensor) == Some(place);
            let kept = if is_kept { tensor.bytes_in(pool) } else { 0 };
            match tensor.moved_pool() == Some(place) {
                true => tile_bytes(tensor, pool, cut).saturating_add(kept),
                false => kept,
            }
        });
        bytes.fold(0, i64::saturating_add)
    }

    fn compare(&self, cuts: &[&Cut], best: &mut Kept) {
        let compute = self.compute_cost(cuts);
        let transfers: Vec<f64> =
            self.plan.tensors.iter().map(|tensor| self.transfer_cost(tensor, cuts)).collect();
        // Whatever the order, each tile is moved once, and computed.
        let moved = self.plan.tensors.iter().zip(&transfers).map(|(tensor, transfer)| {
            let places = (0..cuts.len()).filter(|place| tensor.depends_on(*place));
            transfer * places.map(|place| cuts[place].count as f64).product::<f64>()
        });
        let bound = compute.max(moved.sum());
        if best.is_beyond(bound) {
            return;
        }
        let sizes: Vec<i64> = cuts.iter().map(|cut| cut.size).collect();
        let all = orders(self.plan, &self.free(cuts)).into_iter().map(|order| {
            let cost = self.cost(cuts, &order, (compute, &transfers)).total;
            (cost, Choice { sizes: sizes.clone(), order })
        });
        best.take(all.collect());
    }

    /// The loops whose order is chosen: those that are cut and do not reduce.
    fn free(&self, cuts: &[&Cut]) -> Vec<usize> {
        let is_cut = |place: &usize| cuts[*place].count > 1 && !self.plan.loops[*place].reduce;
        (0..cuts.len()).filter(is_cut).collect()
    }

    /// The cuts of the loops in a choice; none if a size is not among those that may be chosen.
    fn cuts_of(&self, choice: &Choice) -> Option<Vec<&Cut>> {
        if choice.sizes.len() != self.cuts.len() {
            return None;
        }
        let all = self.cuts.iter().zip(&choice.sizes);
        all.map(|(cuts, size)| cuts.iter().find(|cut| cut.size == *size)).collect()
    }
}

/// Bytes of a buffer for a tensor's tile.
fn tile_bytes<'s>(tensor: &Tensor, pool: &Pool, cut: &dyn Fn(usize) -> &'s Cut) -> i64 {
    let mut sizes = tensor.dims.iter().rev().map(|dim| size_of(dim, cut));
    let row = pool.filled(sizes.next().unwrap_or(1), tensor.element);
    let elements = sizes.fold(row, i64::saturating_mul);
    pool.aligned(elements.saturating_mul(tensor.element))
}

/// The most positions that a tile has of a dimension.
fn size_of<'s>(dim: &Dim, cut: &dyn Fn(usize) -> &'s Cut) -> i64 {
    match (dim.loop_place(), dim.window_place()) {
        (Some(place), Some(window)) => cut(place).inputs[window].0,
        (Some(place), None) => divide_up(cut(place).size, dim.divisor),
        _ => dim.size,
    }
}

/// True if an argument depends on which piece of a loop is the first or the last.
pub fn names_ends(value: &Expr, name: &str) -> bool {
    let mut found = false;
    value.visit(&mut |part| {
        if let Some(TileRef::First(other) | TileRef::Last(other)) = TileRef::of(part) {
            found |= other == name;
        }
    });
    found
}

/// Variables of the cost of a transfer: number of runs of adjacent bytes, bytes of a run, bytes.
pub fn transfer_variable(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Name(name) => ["runs", "run_bytes", "bytes"].iter().position(|n| n == name),
        _ => None,
    }
}
