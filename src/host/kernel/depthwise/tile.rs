//! The code of a depthwise operation: a task, a register tile, and the taps of its window.

use super::{Depthwise, DepthwiseBlocking, Fold};
use crate::{
    Result,
    host::kernel::{
        Element, Emitter, Epilogue, Ix, Weights,
        arithmetic::{multiply_add_lanes, weights_in_lanes},
        start::StartBuffers,
        store::{self, Coordinate, Results},
        tiling::{PointTiles, Width},
        window::{COL, PLANE, ROW},
    },
    ir::Val,
};

/// A depthwise operation and the buffers that its code is emitted for.
pub(super) struct Kernel<'k, 'c> {
    pub spec: &'k Depthwise,
    pub x: Val<'c>,
    pub w: Option<Val<'c>>,
    pub start: StartBuffers<'c>,
    pub operands: Vec<Val<'c>>,
    pub y: Val<'c>,
    pub epilogue: &'k dyn Epilogue<'c>,
}

/// The tile at hand.
struct Tile<'t, 'c> {
    points: &'t PointTiles,
    widths: &'t [Width],
    batch: Ix<'c>,
    plane: Ix<'c>,
    row: Ix<'c>,
    col: Ix<'c>,
    channel: Ix<'c>,
}

impl<'c> Kernel<'_, 'c> {
    /// Does a task.
    pub fn task(&self, e: &Emitter<'c>, blocking: &DepthwiseBlocking, task: Ix<'c>) -> Result<()> {
        let spec = self.spec;
        let known = |count: i64, ix: Ix<'c>| if count == 1 { Ix::Const(0) } else { ix };
        let (task, part) = e.div_rem(task, blocking.parts())?;
        let (task, row) = e.div_rem(task, spec.rows)?;
        let (batch, plane) = e.div_rem(task, spec.planes)?;
        let (batch, plane) = (known(spec.batch, batch), known(spec.planes, plane));
        let tiles = match blocking.parts() {
            1 => (Ix::Const(0), Ix::Const(blocking.tiles())),
            _ => {
                let from = e.mul(part, blocking.task)?;
                (from, e.min(e.add(from, Ix::Const(blocking.task))?, blocking.tiles())?)
            }
        };
        let tile = |e: &Emitter<'c>, points: &PointTiles, col, widths: &[Width], channel| {
            self.tile(e, &Tile { points, widths, batch, plane, row, col, channel })
        };
        // The image's elements are read again by the channels of the next block, or the weights by the next points.
        if spec.has_many_weights() {
            return blocking.for_channels(e, |e, widths, channel| {
                blocking
                    .for_points(e, tiles, |e, points, col| tile(e, points, col, widths, channel))
            });
        }
        blocking.for_points(e, tiles, |e, points, col| {
            blocking.for_channels(e, |e, widths, channel| tile(e, points, col, widths, channel))
        })
    }

    fn tile(&self, e: &Emitter<'c>, tile: &Tile<'_, 'c>) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        let view = &spec.x;
        let (seen, _) = e.div_rem(tile.channel, spec.shared)?;
        let x = e.sum(
            window.corner(view),
            &[
                (tile.batch, view.batch),
                (tile.plane, window.stride[PLANE] * view.plane),
                (tile.row, window.stride[ROW] * view.row),
                (tile.col, window.stride[COL] * view.col),
                (seen, view.channel),
            ],
        )?;
        let folds = self.starts(e, tile)?;
        let planes = window.taps_inside(e, PLANE, (tile.plane, spec.planes))?;
        let rows = window.taps_inside(e, ROW, (tile.row, spec.rows))?;
        let weights_row = window.kernel[COL] * self.weights_step(tile);
        let first = match spec.weights {
            Weights::Packed => e.mul(tile.channel, window.taps())?,
            Weights::Rows(_) => tile.channel,
        };
        let folds = e.repeat((planes.0, planes.1, 1), folds, |e, tap, folds| {
            let x = e.add(e.mul(tap, window.dilation[PLANE] * view.plane)?, x)?;
            let w = e.add(e.mul(tap, window.kernel[ROW] * weights_row)?, first)?;
            e.repeat((rows.0, rows.1, 1), folds, |e, tap, folds| {
                let x = e.add(e.mul(tap, window.dilation[ROW] * view.row)?, x)?;
                let w = e.add(e.mul(tap, weights_row)?, w)?;
                self.row_of_taps(e, tile, (x, w), folds)
            })
        })?;
        self.finish(e, tile, [planes, rows], folds)
    }

    /// Weights from one tap to the next.
    fn weights_step(&self, tile: &Tile<'_, 'c>) -> i64 {
        match self.spec.weights {
            Weights::Packed => tile.widths.iter().map(|width| width.used).sum(),
            Weights::Rows(step) => step,
        }
    }

    /// Initial folds of a tile.
    fn starts(&self, e: &Emitter<'c>, tile: &Tile<'_, 'c>) -> Result<Vec<Val<'c>>> {
        let spec = self.spec;
        if let Some(start) = spec.start {
            let table = start.of_window(&spec.window, spec.grid());
            let channels = (tile.channel, spec.channels);
            let points = (tile.points, tile.widths);
            return table.load(e, &self.start, [tile.plane, tile.row, tile.col], channels, points);
        }
        let start = spec.fold.start(spec.types.sum);
        let mut folds = vec![];
        for _ in 0..tile.points.size {
            for width in tile.widths {
                folds.push(e.splat(start, width.lanes, spec.types.sum)?);
            }
        }
        Ok(folds)
    }

    /// The taps of one row of the window.
    fn row_of_taps(
        &self,
        e: &Emitter<'c>,
        tile: &Tile<'_, 'c>,
        (x, w): (Ix<'c>, Ix<'c>),
        mut folds: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let PointTiles { count, size, start } = *tile.points;
        let inside = count > 1 || window.columns_inside(start, size);
        if inside && size == 1 && window.kernel[COL] > 8 {
            let bounds = (Ix::Const(0), Ix::Const(window.kernel[COL]), 1);
            return e.repeat(bounds, folds, |e, tap, folds| {
                let x = e.add(e.mul(tap, window.dilation[COL] * spec.x.col)?, x)?;
                let w = e.add(e.mul(tap, self.weights_step(tile))?, w)?;
                self.taps(e, tile, (x, w), &|_| (0, 1), 1, folds)
            });
        }
        let active = |tap| if inside { (0, size) } else { window.active(start, size, tap) };
        folds = self.taps(e, tile, (x, w), &active, window.kernel[COL], folds)?;
        Ok(folds)
    }

    fn taps(
        &self,
        e: &Emitter<'c>,
        tile: &Tile<'_, 'c>,
        (x, w): (Ix<'c>, Ix<'c>),
        active: &dyn Fn(i64) -> (i64, i64),
        count: i64,
        mut folds: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let mut lane = 0;
        for (v, width) in tile.widths.iter().enumerate() {
            // Windows overlap: each position of the input is loaded once.
            let span = (tile.points.size - 1) * window.stride[COL]
                + (count - 1) * window.dilation[COL]
                + 1;
            let mut loaded: Vec<Option<Val<'c>>> = vec![None; span as usize];
            for tap in 0..count {
                let weight = match self.w {
                    Some(buffer) => {
                        let at = e.add(w, Ix::Const(tap * self.weights_step(tile) + lane))?;
                        let weight = e.load(buffer, at, *width)?;
                        Some(if self.is_integer() { weights_in_lanes(e, weight)? } else { weight })
                    }
                    None => None,
                };
                let (from, to) = active(tap);
                for point in from..to {
                    let position = point * window.stride[COL] + tap * window.dilation[COL];
                    let slot = &mut loaded[position as usize];
                    let value = match *slot {
                        Some(value) => value,
                        None => {
                            let from = position * spec.x.col + lane / spec.shared;
                            self.elements(e, e.add(x, Ix::Const(from))?, *width)?
                        }
                    };
                    *slot = Some(value);
                    let fold = &mut folds[point as usize * tile.widths.len() + v];
                    *fold = self.combine(e, value, weight, *fold)?;
                }
            }
            lane += width.lanes;
        }
        Ok(folds)
    }

    /// The elements of the input that the channels of a vector see.
    fn elements(&self, e: &Emitter<'c>, at: Ix<'c>, width: Width) -> Result<Val<'c>> {
        let shared = self.spec.shared;
        let seen = Width { lanes: width.lanes / shared, used: width.used / shared };
        let mut value = e.load(self.x, at, seen)?;
        if shared > 1 {
            let lanes: Vec<i64> = (0..width.lanes).map(|lane| lane / shared).collect();
            value = e.shuffle(value, &lanes)?;
        }
        let signed = self.spec.types.image != Element::U8;
        if self.is_integer() { e.extend(value, signed) } else { Ok(value) }
    }

    /// True for sums of products of integers.
    fn is_integer(&self) -> bool {
        self.spec.types.sum == Element::I32
    }

    fn combine(
        &self,
        e: &Emitter<'c>,
        value: Val<'c>,
        weight: Option<Val<'c>>,
        fold: Val<'c>,
    ) -> Result<Val<'c>> {
        match weight {
            Some(weight) if self.is_integer() => multiply_add_lanes(e, value, weight, fold),
            Some(weight) => e.fma(value, weight, fold),
            None => self.spec.fold.combine(e, self.spec.types.sum, fold, value),
        }
    }

    /// Divides means, applies the epilogue and stores.
    fn finish(
        &self,
        e: &Emitter<'c>,
        tile: &Tile<'_, 'c>,
        taps: [(Ix<'c>, Ix<'c>); 2],
        mut folds: Vec<Val<'c>>,
    ) -> Result<()> {
        let spec = self.spec;
        for point in 0..tile.points.size {
            let scale = self.scale(e, tile, taps, point)?;
            for (v, width) in tile.widths.iter().enumerate() {
                if let Some(scale) = scale {
                    let scale = e.broadcast(scale, width.lanes)?;
                    let fold = &mut folds[point as usize * tile.widths.len() + v];
                    *fold = e.float("arith.mulf", *fold, scale)?;
                }
            }
        }
        let place: [Coordinate<'c>; 5] = [
            (tile.batch, |view| view.batch),
            (tile.plane, |view| view.plane),
            (tile.row, |view| view.row),
            (tile.col, |view| view.col),
            (tile.channel, |view| view.channel),
        ];
        store::finish(
            e,
            Results {
                place: &place,
                points: tile.points.size,
                widths: tile.widths,
                values: &folds,
                y: (&spec.y, self.y),
                operands: &spec
                    .operands
                    .iter()
                    .zip(self.operands.iter().copied())
                    .collect::<Vec<_>>(),
                epilogue: self.epilogue,
            },
        )
    }

    /// Factor of a mean's sum; none for other folds.
    fn scale(
        &self,
        e: &Emitter<'c>,
        tile: &Tile<'_, 'c>,
        taps: [(Ix<'c>, Ix<'c>); 2],
        point: i64,
    ) -> Result<Option<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let PointTiles { count, size, start } = *tile.points;
        let in_row = match spec.fold {
            Fold::Weighted | Fold::Max => return Ok(None),
            Fold::Mean if count == 1 && !window.columns_inside(start, size) => {
                (0..window.kernel[COL])
                    .filter(|tap| {
                        let (from, to) = window.active(start, size, *tap);
                        (from..to).contains(&point)
                    })
                    .count() as i64
            }
            _ => window.kernel[COL],
        };
        let b = e.builder;
        let real = spec.types.sum.r#type(&b);
        let (known, covered) = window.mean_of(e, spec.fold, taps, real)?;
        let known = known * in_row;
        let Some(covered) = covered else {
            return Ok(Some(b.constant(real, 1.0 / known as f64)?));
        };
        let covered = e.float("arith.mulf", covered, b.constant(real, known as f64)?)?;
        Ok(Some(e.float("arith.divf", b.constant(real, 1.0)?, covered)?))
    }
}
