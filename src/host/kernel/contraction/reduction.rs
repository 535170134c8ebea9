//! The reduction of a register tile: taps of a row of the window, the depth, and a step of it.

use super::tile::{Kernel, Tile};
use crate::{
    Result,
    host::kernel::{
        Emitter, Ix,
        tiling::{PointTiles, Width},
        weights::Grouping,
        window::COL,
    },
    ir::Val,
};

/// Positions of the operands of a reduction step: the tile's first point, the row of weights, and
/// the first factor of the tile's channels.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'c> {
    pub x: Ix<'c>,
    pub w: Ix<'c>,
    pub scale: Ix<'c>,
}

impl<'c> Kernel<'_, 'c> {
    /// The reduction over the horizontal taps and the depth.
    pub(super) fn row_of_taps(
        &self,
        e: &Emitter<'c>,
        tile: Tile<'_>,
        at: Cursor<'c>,
        mut sums: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let (taps, skip) = (window.kernel[COL], tile.channels.skip[COL]);
        let step = window.dilation[COL] * spec.x.col;
        let PointTiles { count, size, start } = *tile.points;
        if count > 1 || window.columns_inside(start, size) {
            // The taps and their channels are often one row of the input.
            let row = taps == 1 || step == spec.depth * spec.x.channel;
            let Grouping { run, arithmetic } = self.grouping;
            if row && (run == taps * spec.depth || spec.depth % arithmetic.group() == 0) {
                // A step of several elements may begin with zeros.
                let from = skip * spec.depth;
                let from = from - from % arithmetic.group();
                let at = Cursor {
                    x: e.add(at.x, Ix::Const(from * spec.x.channel))?,
                    w: e.add(at.w, Ix::Const(from * self.weights_step(tile.widths)))?,
                    ..at
                };
                return self.depth_loop(e, tile, (0, size), at, taps * spec.depth - from, sums);
            }
            let row = self.grouping.padded(spec.depth) * self.weights_step(tile.widths);
            return e.repeat((Ix::Const(skip), Ix::Const(taps), 1), sums, |e, tap, sums| {
                let at = Cursor {
                    x: e.add(e.mul(tap, step)?, at.x)?,
                    w: e.add(e.mul(tap, row)?, at.w)?,
                    ..at
                };
                self.depth_loop(e, tile, (0, size), at, spec.depth, sums)
            });
        }
        for tap in skip..taps {
            let active = window.active(start, size, tap);
            let row = tap * self.grouping.padded(spec.depth) * self.weights_step(tile.widths);
            let (x, w) = (e.add(at.x, Ix::Const(tap * step))?, e.add(at.w, Ix::Const(row))?);
            let at = Cursor { x, w, ..at };
            sums = self.depth_loop(e, tile, active, at, spec.depth, sums)?;
        }
        Ok(sums)
    }

    /// The innermost loop: `extent` steps for the points `active` of the tile.
    fn depth_loop(
        &self,
        e: &Emitter<'c>,
        tile: Tile<'_>,
        active: (i64, i64),
        at: Cursor<'c>,
        extent: i64,
        mut sums: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        if active.0 >= active.1 {
            return Ok(sums);
        }
        let vectors = tile.widths.len();
        let slots = active.0 as usize * vectors..active.1 as usize * vectors;
        let group = self.grouping.arithmetic.group();
        let (x_step, w_step) = (self.spec.x.channel, self.weights_step(tile.widths));
        let steps = |e: &Emitter<'c>, from: Ix<'c>, count: i64, mut sums: Vec<Val<'c>>| {
            let (x, w) = (e.add(e.mul(from, x_step)?, at.x)?, e.add(e.mul(from, w_step)?, at.w)?);
            let scales = self.scales(e, tile.widths, (at.scale, from))?;
            for u in (0..count).step_by(group as usize) {
                let at = Cursor {
                    x: e.add(x, Ix::Const(u * x_step))?,
                    w: e.add(w, Ix::Const(u * w_step))?,
                    ..at
                };
                let weights = self.weights(e, tile.widths, at.w, &scales)?;
                self.step(
                    e,
                    (tile.widths, &weights),
                    active,
                    (at, group.min(count - u)),
                    &mut sums,
                )?;
            }
            Ok::<_, crate::Error>(sums)
        };
        let by = self.blocking.unroll.min(extent / group).max(1) * group;
        // Steps of one turn of the loop have the same factors.
        let by = if self.spec.scales.is_some_and(|block| block % by != 0) { group } else { by };
        let whole = extent - extent % by;
        let bounds = (Ix::Const(0), Ix::Const(whole), by);
        let mut part = e.repeat(bounds, sums[slots.clone()].to_vec(), |e, from, sums| {
            steps(e, from, by, sums)
        })?;
        if whole < extent {
            part = steps(e, Ix::Const(whole), extent - whole, part)?;
        }
        sums.splice(slots, part);
        Ok(sums)
    }

    /// One step of the reduction, of so many elements, for some points of the tile, whose sums are
    /// given.
    fn step(
        &self,
        e: &Emitter<'c>,
        (widths, weights): (&[Width], &[Val<'c>]),
        active: (i64, i64),
        (at, used): (Cursor<'c>, i64),
        sums: &mut [Val<'c>],
    ) -> Result<()> {
        let arithmetic = self.grouping.arithmetic;
        let point_step = self.spec.window.stride[COL] * self.spec.x.col;
        let image = (self.spec.types.image, used);
        for point in active.0..active.1 {
            let x = e.add(at.x, Ix::Const(point * point_step))?;
            let mut splat: Option<(i64, Vec<Val<'c>>)> = None;
            for (v, Width { lanes, .. }) in widths.iter().enumerate() {
                let values = match splat {
                    Some((others, values)) if others == *lanes => values,
                    _ => arithmetic.load_image(e, self.buffers.x, x, image, *lanes)?,
                };
                let sum = &mut sums[(point - active.0) as usize * widths.len() + v];
                for (value, weights) in values.iter().zip(weights.chunks(widths.len())) {
                    *sum = arithmetic.multiply_add(e, *value, weights[v], *sum)?;
                }
                splat = Some((*lanes, values));
            }
        }
        Ok(())
    }
}
