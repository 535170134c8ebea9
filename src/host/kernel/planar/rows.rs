//! Loops over the rows and tiles of a pool.

use super::{Planar, PlanarBlocking, columns::Line};
use crate::{
    Result,
    host::kernel::{
        Emitter, Epilogue, Fold, Ix, View,
        emit::{Run, repeat_run},
        store::{self, Coordinate, Results},
        tiling::{PointTiles, Width, split_channels},
        window::{COL, PLANE, ROW},
    },
    ir::Val,
};

/// The kernel that is being emitted.
pub(super) struct Kernel<'k, 'c> {
    pub(super) spec: &'k Planar,
    pub(super) blocking: &'k PlanarBlocking,
    pub(super) x: Val<'c>,
    /// The scratch row.
    pub(super) row: Val<'c>,
    /// For means: the sums of output columns.
    pub(super) sums: Option<Val<'c>>,
    /// For means: a row of ones where the input is, and how many of them each output column has.
    pub(super) counts: Option<(Val<'c>, Val<'c>)>,
    pub(super) operands: Vec<Val<'c>>,
    pub(super) y: Val<'c>,
    pub(super) epilogue: &'k dyn Epilogue<'c>,
}

/// A row of a tile.
#[derive(Clone, Copy)]
struct Place<'c> {
    image: Ix<'c>,
    plane: Ix<'c>,
    row: Ix<'c>,
    /// The first output column of the tile.
    col: Ix<'c>,
}

/// The first element of the input that a row of windows has, the view of the input, and the planes and rows of the windows
/// that lie in it.
type Source<'v, 'c> = (Ix<'c>, &'v View, [(Ix<'c>, Ix<'c>); 2]);

impl<'c> Kernel<'_, 'c> {
    pub(super) fn task(&self, e: &Emitter<'c>, task: Ix<'c>) -> Result<()> {
        let (spec, blocking) = (self.spec, self.blocking);
        let known = |count: i64, ix: Ix<'c>| if count == 1 { Ix::Const(0) } else { ix };
        let (image, part) = e.div_rem(task, spec.parts(blocking))?;
        let (image, plane) = e.div_rem(image, spec.grid[PLANE])?;
        let image = known(spec.batch * spec.channels, image);
        let rows = match spec.parts(blocking) {
            1 => (Ix::Const(0), Ix::Const(spec.grid[ROW])),
            _ => {
                let from = e.mul(part, blocking.rows)?;
                (from, e.min(e.add(from, Ix::Const(blocking.rows))?, spec.grid[ROW])?)
            }
        };
        let tiles = blocking.cols.iter().map(|tiles| tiles.count).sum();
        let mut blocks_before = 0;
        for points in &blocking.cols {
            let PointTiles { count, size, start } = *points;
            let run = Run { count, size, blocks_before, start };
            repeat_run(e, &run, (Ix::Const(0), Ix::Const(tiles)), |e, col| {
                self.prepare(e, points)?;
                e.repeat((rows.0, rows.1, 1), vec![], |e, row, _| {
                    self.output_row(e, points, Place { image, plane, row, col })?;
                    Ok(vec![])
                })?;
                Ok(())
            })?;
            blocks_before += count;
        }
        Ok(())
    }

    /// Writes the ends of the scratch row, and counts the columns of means.
    fn prepare(&self, e: &Emitter<'c>, points: &PointTiles) -> Result<()> {
        let spec = self.spec;
        let ((lo, hi), span) = (spec.covered(points), spec.span(points.size));
        let nothing = spec.fold.start(spec.element);
        self.set(e, self.row, (0, lo), nothing)?;
        self.set(e, self.row, (hi, span), nothing)?;
        let Some((ones, counts)) = self.counts else { return Ok(()) };
        self.set(e, ones, (0, lo), 0.0)?;
        self.set(e, ones, (lo, hi), 1.0)?;
        self.set(e, ones, (hi, span), 0.0)?;
        self.blocks(e, (0, points.size), 1, |e, col, widths| {
            let mut at = col;
            for width in widths {
                let count = self.along(e, Line::scratch(ones), (at, *width), None)?;
                e.store(count, counts, at, *width)?;
                at = e.add(at, Ix::Const(width.lanes))?;
            }
            Ok(())
        })
    }

    /// Writes a number to some columns of a scratch row.
    fn set(&self, e: &Emitter<'c>, row: Val<'c>, columns: (i64, i64), number: f64) -> Result<()> {
        self.blocks(e, columns, 1, |e, mut at, widths| {
            for width in widths {
                e.store(e.splat(number, width.lanes, self.spec.element)?, row, at, *width)?;
                at = e.add(at, Ix::Const(width.lanes))?;
            }
            Ok(())
        })
    }

    /// Loops over some columns, so many vectors at once; the body gets the first column.
    fn blocks(
        &self,
        e: &Emitter<'c>,
        (lo, hi): (i64, i64),
        vectors: i64,
        body: impl Fn(&Emitter<'c>, Ix<'c>, &[Width]) -> Result<()>,
    ) -> Result<()> {
        let mut first = lo;
        for block in split_channels(hi - lo, self.blocking.lanes, vectors, 1) {
            let end = first + block.count * block.width();
            e.repeat((Ix::Const(first), Ix::Const(end), block.width()), vec![], |e, col, _| {
                body(e, col, &block.widths)?;
                Ok(vec![])
            })?;
            first = end;
        }
        Ok(())
    }

    fn output_row(&self, e: &Emitter<'c>, points: &PointTiles, place: Place<'c>) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        let [planes, rows, cols] = window.input;
        let view = View { plane: rows * cols, row: cols, col: 1, ..Default::default() };
        let x = e.sum(
            window.corner(&view),
            &[
                (place.image, planes * view.plane),
                (place.plane, window.stride[PLANE] * view.plane),
                (place.row, window.stride[ROW] * view.row),
                (place.col, window.stride[COL]),
            ],
        )?;
        let taps = [(PLANE, place.plane), (ROW, place.row)];
        let [planes, rows] =
            taps.map(|(axis, point)| window.taps_inside(e, axis, (point, spec.grid[axis])));
        let (planes, rows) = (planes?, rows?);
        if let Some(sums) = self.sums {
            self.sum(e, points, (x, &view, [planes, rows]), sums)?;
        } else {
            self.fold_down(e, points, (x, &view, [planes, rows]))?;
        }
        let divisor = self.divisor(e, [planes, rows])?;
        self.blocks(e, (0, points.size), 2, |e, col, widths| {
            let mut at = col;
            let mut values = vec![];
            for width in widths {
                let fold = match self.sums {
                    Some(sums) => e.load(sums, at, Width::full(width.lanes))?,
                    None => self.along(e, Line::scratch(self.row), (at, *width), None)?,
                };
                values.push(self.mean(e, fold, divisor, (at, *width))?);
                at = e.add(at, Ix::Const(width.lanes))?;
            }
            self.finish(e, place, (col, widths), &values)
        })
    }

    /// Folds the rows of windows into the scratch row.
    fn fold_down(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (x, view, [planes, rows]): Source<'_, 'c>,
    ) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        self.blocks(e, spec.covered(points), self.blocking.vectors, |e, col, widths| {
            let x = e.add(x, col)?;
            let start =
                |width: &Width| e.splat(spec.fold.start(spec.element), width.lanes, spec.element);
            let folds = widths.iter().map(start).collect::<Result<Vec<_>>>()?;
            let folds = e.repeat((planes.0, planes.1, 1), folds, |e, tap, folds| {
                let x = e.add(e.mul(tap, window.dilation[PLANE] * view.plane)?, x)?;
                e.repeat((rows.0, rows.1, 1), folds, |e, tap, mut folds| {
                    let mut x = e.add(e.mul(tap, window.dilation[ROW] * view.row)?, x)?;
                    for (fold, width) in folds.iter_mut().zip(widths) {
                        let value = e.load(self.x, x, *width)?;
                        *fold = spec.fold.combine(e, spec.element, *fold, value)?;
                        x = e.add(x, Ix::Const(width.lanes))?;
                    }
                    Ok(folds)
                })
            })?;
            self.store_row(e, self.row, (col, widths), &folds)
        })
    }

    /// Adds up windows row by row, in the order of their elements.
    fn sum(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (x, view, [planes, rows]): Source<'_, 'c>,
        sums: Val<'c>,
    ) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        if spec.covered(points) == (0, spec.span(points.size)) {
            return self.sum_inside(e, points, (x, view, [planes, rows]), sums);
        }
        self.set(e, sums, (0, points.size), 0.0)?;
        e.repeat((planes.0, planes.1, 1), vec![], |e, tap, _| {
            let x = e.add(e.mul(tap, window.dilation[PLANE] * view.plane)?, x)?;
            e.repeat((rows.0, rows.1, 1), vec![], |e, tap, _| {
                let x = e.add(e.mul(tap, window.dilation[ROW] * view.row)?, x)?;
                self.blocks(e, spec.covered(points), self.blocking.vectors, |e, col, widths| {
                    let mut values = vec![];
                    let mut x = e.add(x, col)?;
                    for width in widths {
                        values.push(e.load(self.x, x, *width)?);
                        x = e.add(x, Ix::Const(width.lanes))?;
                    }
                    self.store_row(e, self.row, (col, widths), &values)
                })?;
                self.blocks(e, (0, points.size), 2, |e, col, widths| {
                    let mut at = col;
                    let mut values = vec![];
                    for width in widths {
                        let sum = e.load(sums, at, Width::full(width.lanes))?;
                        values.push(self.along(
                            e,
                            Line::scratch(self.row),
                            (at, *width),
                            Some(sum),
                        )?);
                        at = e.add(at, Ix::Const(width.lanes))?;
                    }
                    self.store_row(e, sums, (col, widths), &values)
                })?;
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// The same for windows whose columns all lie in the input.
    fn sum_inside(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (x, view, [planes, rows]): Source<'_, 'c>,
        sums: Val<'c>,
    ) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        self.blocks(e, (0, points.size), self.blocking.vectors, |e, col, widths| {
            let zero = |width: &Width| e.splat(0.0, width.lanes, spec.element);
            let zeros = widths.iter().map(zero).collect::<Result<Vec<_>>>()?;
            let values = e.repeat((planes.0, planes.1, 1), zeros, |e, tap, values| {
                let x = e.add(e.mul(tap, window.dilation[PLANE] * view.plane)?, x)?;
                e.repeat((rows.0, rows.1, 1), values, |e, tap, mut values| {
                    let from = e.add(e.mul(tap, window.dilation[ROW] * view.row)?, x)?;
                    let line = Line { buffer: self.x, from, has_room: false };
                    let mut at = col;
                    for (value, width) in values.iter_mut().zip(widths) {
                        *value = self.along(e, line, (at, *width), Some(*value))?;
                        at = e.add(at, Ix::Const(width.lanes))?;
                    }
                    Ok(values)
                })
            })?;
            self.store_row(e, sums, (col, widths), &values)
        })
    }

    /// Writes vectors to a scratch row.
    fn store_row(
        &self,
        e: &Emitter<'c>,
        row: Val<'c>,
        (mut at, widths): (Ix<'c>, &[Width]),
        values: &[Val<'c>],
    ) -> Result<()> {
        for (value, width) in values.iter().zip(widths) {
            e.store(*value, row, at, *width)?;
            at = e.add(at, Ix::Const(width.lanes))?;
        }
        Ok(())
    }

    /// What means are divided by, except for what differs from column to column.
    fn divisor(&self, e: &Emitter<'c>, taps: [(Ix<'c>, Ix<'c>); 2]) -> Result<Option<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        if spec.fold == Fold::Max {
            return Ok(None);
        }
        let real = spec.element.r#type(&e.builder);
        let columns = if self.counts.is_some() { 1 } else { window.kernel[COL] };
        let (known, counted) = window.mean_of(e, spec.fold, taps, real)?;
        let known = known * columns;
        let known = e.builder.constant(real, known as f64)?;
        Ok(Some(match counted {
            Some(count) => e.float("arith.mulf", count, known)?,
            None => known,
        }))
    }

    fn mean(
        &self,
        e: &Emitter<'c>,
        fold: Val<'c>,
        divisor: Option<Val<'c>>,
        (col, width): (Ix<'c>, Width),
    ) -> Result<Val<'c>> {
        let Some(divisor) = divisor else { return Ok(fold) };
        let mut divisor = e.broadcast(divisor, width.lanes)?;
        if let Some((_, counts)) = self.counts {
            let counts = e.load(counts, col, Width::full(width.lanes))?;
            divisor = e.float("arith.mulf", divisor, counts)?;
        }
        e.float("arith.divf", fold, divisor)
    }

    /// Applies the epilogue and stores.
    fn finish(
        &self,
        e: &Emitter<'c>,
        place: Place<'c>,
        (col, widths): (Ix<'c>, &[Width]),
        values: &[Val<'c>],
    ) -> Result<()> {
        let spec = self.spec;
        let (batch, channel) = e.div_rem(place.image, spec.channels)?;
        let col = e.add(place.col, col)?;
        // The steps of a view are named as if channels came last.
        let coordinates: Vec<Coordinate<'c>> = match spec.rank {
            1 => vec![(batch, |v| v.batch), (channel, |v| v.col), (col, |v| v.channel)],
            2 => vec![
                (batch, |v| v.batch),
                (channel, |v| v.row),
                (place.row, |v| v.col),
                (col, |v| v.channel),
            ],
            _ => vec![
                (batch, |v| v.batch),
                (channel, |v| v.plane),
                (place.plane, |v| v.row),
                (place.row, |v| v.col),
                (col, |v| v.channel),
            ],
        };
        store::finish(
            e,
            Results {
                place: &coordinates,
                points: 1,
                widths,
                values,
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
}
