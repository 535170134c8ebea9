//! The weights of a step of the reduction, as they are multiplied.

use super::{Weights, tile::Kernel};
use crate::{
    Result,
    host::kernel::{Arithmetic, Emitter, Ix, arithmetic::halves, tiling::Width},
    ir::Val,
};

impl<'c> Kernel<'_, 'c> {
    /// The factors of the tile's channels in the row `from` of the reduction.
    pub(super) fn scales(
        &self,
        e: &Emitter<'c>,
        widths: &[Width],
        (first, from): (Ix<'c>, Ix<'c>),
    ) -> Result<Vec<Val<'c>>> {
        let (Some(block), Some(scales)) = (self.spec.scales, self.buffers.scales) else {
            return Ok(vec![]);
        };
        let lanes: i64 = widths.iter().map(|width| width.lanes).sum();
        let (row, _) = e.div_rem(from, block)?;
        let mut at = e.add(first, e.mul(row, lanes)?)?;
        let mut loaded = vec![];
        for width in widths {
            loaded.push(e.load(scales, at, Width::full(width.lanes))?);
            at = e.add(at, Ix::Const(width.lanes))?;
        }
        Ok(loaded)
    }

    /// The weights of a step, part by part, times their factors if they have any.
    pub(super) fn weights(
        &self,
        e: &Emitter<'c>,
        widths: &[Width],
        at: Ix<'c>,
        scales: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let arithmetic = self.grouping.arithmetic;
        let mut weights = vec![];
        let mut lane = 0;
        if arithmetic == Arithmetic::Nibbles {
            let mut parts = [vec![], vec![]];
            for width in widths {
                let at = e.add(at, Ix::Const(lane))?;
                let bytes = e.load(self.buffers.w, at, Width::full(width.lanes))?;
                for (part, half) in parts.iter_mut().zip(halves(e, bytes)?) {
                    part.push(half);
                }
                lane += width.lanes;
            }
            weights = parts.concat();
        } else {
            for part in arithmetic.parts() {
                for width in widths {
                    // Packed weights are padded.
                    let width = match self.spec.weights {
                        Weights::Packed => Width::full(width.lanes),
                        Weights::Rows(_) => *width,
                    };
                    let at = e.add(at, Ix::Const(lane))?;
                    weights.push(arithmetic.load_weights(e, self.buffers.w, at, width)?);
                    lane += width.lanes * part.len() as i64;
                }
            }
        }
        for (weight, scale) in weights.iter_mut().zip(scales.iter().cycle()) {
            *weight = e.float("arith.mulf", *weight, *scale)?;
        }
        Ok(weights)
    }
}
