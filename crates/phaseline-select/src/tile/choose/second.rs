//! The tiles that have a second buffer, so that one is moved while the other is used.

use super::{Chooser, Cut, cost::Moves, tile_bytes};
use std::cmp::Reverse;

impl Chooser<'_> {
    /// Takes second buffers from the tiles for which their pools have no space. Loads get one
    /// before stores, and large tiles before small ones, as in `tir-double-buffer` and
    /// `tir-overlap-stores`.
    pub(super) fn grant(&self, cuts: &[&Cut], moves: &mut [Moves]) {
        let wanted = |index: &usize| moves[*index].ahead > 0.0;
        let mut wanted: Vec<usize> = (0..moves.len()).filter(wanted).collect();
        if wanted.is_empty() {
            return;
        }
        let cut = |place: usize| cuts[place];
        let pools = self.plan.pools.iter().enumerate();
        let mut left: Vec<i64> = pools
            .map(|(place, pool)| pool.room().saturating_sub(self.bytes(place, &cut)))
            .collect();
        wanted
            .sort_by_key(|index| (*index >= self.reads, Reverse(self.second_bytes(*index, cuts))));
        for index in wanted {
            let place = self.plan.tensors[index].moved_pool();
            let room = place.and_then(|place| left.get_mut(place));
            let bytes = self.second_bytes(index, cuts);
            match room.filter(|room| **room >= bytes) {
                Some(room) => *room -= bytes,
                None => moves[index].withheld = std::mem::take(&mut moves[index].ahead),
            }
        }
    }

    /// Bytes of a second buffer for the tile of a tensor; 0 for what is not moved.
    pub(super) fn second_bytes(&self, index: usize, cuts: &[&Cut]) -> i64 {
        let tensor = &self.plan.tensors[index];
        let pool = tensor.moved_pool().and_then(|place| self.plan.pools.get(place));
        pool.map_or(0, |pool| tile_bytes(tensor, pool, &|place| cuts[place]))
    }
}
