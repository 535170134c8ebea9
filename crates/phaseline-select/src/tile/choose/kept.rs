//! Tiles that are parts of tensors in the pool.

use super::{Choice, Chooser, Cut, cost::Moves, size_of, tile_bytes, transfer_variable};
use crate::{
    expr::Expr,
    tile::{formula::Formula, plan::Tensor, pool::Pool},
};

/// A call that is a single tile.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Cost of its computation.
    pub compute: f64,
    /// Cost of transfers that may run ahead of it in a loop around the call.
    pub ahead: f64,
    /// Cost of other transfers.
    pub waited: f64,
    /// Its tiles: pool, bytes, and whether they may be loaded ahead.
    pub tiles: Vec<(String, i64, bool)>,
}

impl Chooser<'_> {
    /// True if all tiles of tensors that are kept in a pool may be where they are in it. A tile
    /// that a call uses there must be adjacent bytes at an aligned place, as calls know no strides.
    /// A function that moves tiles to such a place knows strides and only asks for the alignment.
    pub(super) fn are_adjacent(&self, cuts: &[&Cut]) -> bool {
        let kept = self.plan.tensors.iter().filter(|tensor| tensor.kept);
        let mut homes = kept
            .filter_map(|tensor| Some((tensor, self.plan.pools.get(self.plan.keeping(tensor)?)?)));
        homes.all(|(tensor, pool)| match tensor.is_part() {
            true => is_adjacent(tensor, pool, cuts),
            false => is_aligned(tensor, pool, cuts),
        })
    }

    /// Bytes of the buffers of a choice's tiles in a pool; none if it is not one of this plan's.
    pub fn tiles(&self, place: usize, choice: &Choice) -> Option<Vec<i64>> {
        let cuts = self.cuts_of(choice)?;
        let pool = self.plan.pools.get(place)?;
        let moves = self.moves(&cuts, &choice.order);
        let tensors = self.plan.tensors.iter().zip(moves);
        let here = tensors.filter(|(tensor, _)| tensor.moved_pool() == Some(place));
        let bytes = |(tensor, moves): (&Tensor, Moves)| {
            let one = tile_bytes(tensor, pool, &|place| cuts[place]);
            one.saturating_mul(if moves.ahead > 0.0 { 2 } else { 1 })
        };
        Some(here.map(bytes).collect())
    }

    /// The call as a single tile; none if that does not fit.
    pub fn whole(&self) -> Option<Whole> {
        let cuts: Option<Vec<&Cut>> =
            self.cuts.iter().map(|cuts| cuts.first().filter(|cut| cut.count == 1)).collect();
        let cuts = cuts.filter(|cuts| self.fits(cuts))?;
        let mut whole =
            Whole { compute: self.compute_cost(&cuts), ahead: 0.0, waited: 0.0, tiles: vec![] };
        for (index, tensor) in self.plan.tensors.iter().enumerate() {
            let Some(place) = tensor.moved_pool() else { continue };
            let pool = self.plan.pools.get(place)?;
            let is_ahead = index < self.reads && pool.dma.double_buffer;
            let bytes = tile_bytes(tensor, pool, &|place| cuts[place]);
            whole.tiles.push((pool.name.clone(), bytes, is_ahead));
            let cost = self.transfer_cost(tensor, &cuts);
            *(if is_ahead { &mut whole.ahead } else { &mut whole.waited }) += cost;
        }
        Some(whole)
    }

    /// Cost of the cheapest tile; none if none fits.
    pub fn least_cost(&self) -> Option<f64> {
        Some(self.account(&self.choose()?)?.total)
    }
}

/// True if tiles that are moved to where a tensor is kept begin at multiples of the alignment there.
fn is_aligned(tensor: &Tensor, pool: &Pool, cuts: &[&Cut]) -> bool {
    let mut stride = tensor.kept_element();
    tensor.dims.iter().rev().all(|dim| {
        let size = size_of(dim, &|place| cuts[place]);
        let step = stride.saturating_mul(size);
        stride = stride.saturating_mul(dim.size);
        size >= dim.size || step % pool.alignment.max(1) == 0
    })
}

fn is_adjacent(tensor: &Tensor, pool: &Pool, cuts: &[&Cut]) -> bool {
    let mut stride = tensor.element;
    // From the innermost dimension: behind one that is cut, only single positions are adjacent.
    let (mut is_cut, mut is_aligned) = (false, true);
    for dim in tensor.dims.iter().rev() {
        let size = size_of(dim, &|place| cuts[place]);
        if is_cut && size > 1 {
            return false;
        }
        // At a border a window may reach less than elsewhere, where it is all of the dimension.
        let is_less = match (dim.loop_place(), dim.window_place()) {
            (Some(place), Some(window)) => cuts[place].inputs[window].1 < dim.size as f64,
            _ => size < dim.size,
        };
        if is_less {
            is_cut = true;
            is_aligned &= stride % pool.alignment == 0;
        }
        stride = stride.saturating_mul(dim.size);
    }
    is_aligned
}

/// The cost of moving so many bytes to the start of a tile.
pub fn shift_of(pool: &Pool, bytes: i64) -> Result<f64, String> {
    let Some(cost) = &pool.dma.shift_cost else { return Ok(0.0) };
    let cost = Expr::parse(cost).map_err(|error| error.to_string())?;
    let formula = Formula::compile(&cost, &transfer_variable)?;
    Ok(formula.value(&[1.0, bytes as f64, bytes as f64]))
}

/// Cost of moving so many adjacent bytes to or from a pool at once.
pub fn transfer_of(pool: &Pool, bytes: i64) -> Result<f64, String> {
    let cost = Expr::parse(&pool.dma.cost).map_err(|error| error.to_string())?;
    let formula = Formula::compile(&cost, &transfer_variable)?;
    Ok(formula.value(&[1.0, bytes as f64, bytes as f64]))
}
