//! Tiles that are parts of tensors in the pool.

use super::{Choice, Chooser, Cut, size_of};
use crate::tile::plan::{Pool, Tensor};

impl Chooser<'_> {
    /// Whether all tiles of tensors that are kept in their pool are adjacent bytes there, at places where
    /// tiles may be: calls know no strides.
    pub(super) fn are_adjacent(&self, cuts: &[&Cut]) -> bool {
        let kept = self.plan.tensors.iter().filter(|tensor| tensor.kept);
        let mut homes =
            kept.filter_map(|tensor| Some((tensor, self.plan.pools.get(tensor.pool_place()?)?)));
        homes.all(|(tensor, pool)| is_adjacent(tensor, pool, cuts))
    }

    /// Bytes of the buffers of a choice's tiles in a pool; none if it is not one of this plan's.
    pub fn tiles(&self, place: usize, choice: &Choice) -> Option<Vec<i64>> {
        let cuts = self.cuts_of(choice)?;
        let pool = self.plan.pools.get(place)?;
        let tensors = self.plan.tensors.iter().enumerate();
        let here = tensors.filter(|(_, tensor)| tensor.moved_pool() == Some(place));
        let bytes = |found| self.tile_bytes(found, pool, &|place| cuts[place], cuts.len());
        Some(here.map(bytes).collect())
    }

    /// What the cheapest tile costs; none if none fits.
    pub fn least_cost(&self) -> Option<f64> {
        Some(self.account(&self.choose()?)?.total)
    }
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
        if size < dim.size {
            is_cut = true;
            is_aligned &= stride % pool.alignment == 0;
        }
        stride = stride.saturating_mul(dim.size);
    }
    is_aligned
}
