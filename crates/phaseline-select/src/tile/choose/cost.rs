//! Cost model of tiles.

use super::{Chooser, Cut, divide_up};
use crate::tile::plan::Tensor;

/// Transfers of the tile of a tensor in an order of loops.
pub(super) struct Moves {
    /// Number of transfers.
    pub times: f64,
    /// The part of them that is done while another tile is computed on.
    pub ahead: f64,
    /// The part that would be, had its pool space for a second buffer.
    pub withheld: f64,
}

/// The parts of a cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub compute: f64,
    pub transfers: f64,
    /// All, without what overlaps.
    pub total: f64,
}

impl Chooser<'_> {
    /// The values of the variables of formulas over a tile; 0 for loops that are not cut yet.
    pub(super) fn values(&self, cuts: &[&Cut]) -> Vec<f64> {
        let size = |(place, window): &(usize, Option<usize>)| match window {
            Some(window) => cuts.get(*place).map_or(0.0, |cut| cut.inputs[*window].0 as f64),
            None => cuts.get(*place).map_or(0.0, |cut| cut.size as f64),
        };
        self.variables.iter().map(size).collect()
    }

    /// Cost of the computation of all tiles.
    pub(super) fn compute_cost(&self, cuts: &[&Cut]) -> f64 {
        let Some(formula) = &self.compute else { return 0.0 };
        let tiles: f64 = cuts.iter().map(|cut| cut.count as f64).product();
        tiles * formula.value(&self.values(cuts))
    }

    /// Average number of runs of adjacent bytes in a tile of a tensor, and bytes of each.
    pub(super) fn runs(&self, tensor: &Tensor, cuts: &[&Cut]) -> (f64, f64) {
        // From the innermost dimension: bytes are adjacent until a dimension is cut.
        let (mut run, mut runs, mut adjacent) = (tensor.moved_element() as f64, 1.0, true);
        for dim in tensor.dims.iter().rev() {
            let size = match (dim.loop_place(), dim.window_place()) {
                (Some(place), Some(window)) => cuts[place].inputs[window].1,
                (Some(place), None) => divide_up(cuts[place].size, dim.divisor) as f64,
                _ => dim.size as f64,
            };
            *(if adjacent { &mut run } else { &mut runs }) *= size;
            adjacent &= size >= dim.size as f64;
        }
        (runs, run)
    }

    /// Cost of the transfer of a tile of a tensor.
    pub(super) fn transfer_cost(&self, tensor: &Tensor, cuts: &[&Cut]) -> f64 {
        // What stays where it is costs nothing.
        let Some(pool) = tensor.moved_pool() else { return 0.0 };
        let (runs, run) = self.runs(tensor, cuts);
        self.transfers[pool].value(&[runs, run, runs * run])
    }

    /// Transfers of each tensor's tile in an order of loops.
    pub(super) fn moves(&self, cuts: &[&Cut], order: &[usize]) -> Vec<Moves> {
        let count = |place: usize| cuts[place].count as f64;
        let is_reduced = |place: &usize| self.plan.loops[*place].reduce && cuts[*place].count > 1;
        let reduced = (0..cuts.len()).filter(is_reduced);
        let nest: Vec<usize> = order.iter().copied().chain(reduced).collect();
        // Loads run ahead in the innermost loop, and where its pieces all differ, in the next one.
        let inner = nest.iter().rposition(|place| cuts[*place].ahead > 0.0);
        let moves = self.plan.tensors.iter().enumerate().map(|(index, tensor)| {
            if index >= self.reads {
                let times = order.iter().map(|place| count(*place)).product();
                // Stores go on beside the innermost loop, unless that adds up.
                let innermost = order.last().filter(|_| nest.len() == order.len());
                let ahead = match innermost {
                    Some(place) if Some(*place) == inner.map(|at| nest[at]) => {
                        self.stores_overlap(tensor) * cuts[*place].ahead
                    }
                    _ => 0.0,
                };
                return Moves { times, ahead, withheld: 0.0 };
            }
            let depth = nest.iter().rposition(|place| tensor.depends_on(*place));
            let around = &nest[..depth.map_or(0, |depth| depth + 1)];
            let ahead = match depth {
                Some(depth) if Some(depth) == inner && self.runs_ahead(tensor) => {
                    cuts[nest[depth]].ahead
                }
                _ => 0.0,
            };
            let times = around.iter().map(|place| count(*place)).product();
            Moves { times, ahead, withheld: 0.0 }
        });
        let mut moves: Vec<Moves> = moves.collect();
        self.grant(cuts, &mut moves);
        moves
    }

    /// Cost of all tiles in an order of loops.
    pub(super) fn cost(
        &self,
        cuts: &[&Cut],
        order: &[usize],
        (compute, transfers): (f64, &[f64]),
    ) -> Cost {
        let (mut ahead, mut waited) = (0.0, 0.0);
        for (moves, transfer) in self.moves(cuts, order).iter().zip(transfers) {
            ahead += moves.times * transfer * moves.ahead;
            waited += moves.times * transfer * (1.0 - moves.ahead);
        }
        Cost { compute, transfers: ahead + waited, total: ahead.max(compute) + waited }
    }

    /// 1 if the next tile is computed while one of a tensor is stored, else 0.
    fn stores_overlap(&self, tensor: &Tensor) -> f64 {
        let pool = tensor.moved_pool().map(|place| &self.plan.pools[place]);
        f64::from(u8::from(pool.is_some_and(|pool| pool.dma.overlap_stores)))
    }

    /// True if the next tile of a tensor is loaded while one is computed on.
    fn runs_ahead(&self, tensor: &Tensor) -> bool {
        tensor.moved_pool().is_some_and(|place| self.plan.pools[place].dma.double_buffer)
    }
}
