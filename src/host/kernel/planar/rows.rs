//! Loops over the rows and tiles of a pool.

use super::{Planar, PlanarBlocking, columns::Line};
use crate::{
    Error, Result,
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
    /// The scratch rows.
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

/// The planes and rows of windows that lie in the input.
type Taps<'c> = [(Ix<'c>, Ix<'c>); 2];

/// The first element of the input that a row of windows has, the view of the input, and the planes and rows of the windows
/// that lie in it.
pub(super) type Source<'v, 'c> = (Ix<'c>, &'v View, Taps<'c>);

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
                if !self.is_prepared_once() {
                    self.prepare(e, points)?;
                }
                e.repeat((rows.0, rows.1, blocking.together), vec![], |e, row, _| {
                    self.output_rows(e, points, Place { image, plane, row, col }, rows.1)?;
                    Ok(vec![])
                })?;
                Ok(())
            })?;
            blocks_before += count;
        }
        Ok(())
    }

    /// Initialises the scratch memory of all tasks. Vectors reach beyond its rows, and arithmetic
    /// on subnormal numbers that happen to lie there takes many times as long.
    pub(super) fn begin(&self, e: &Emitter<'c>) -> Result<()> {
        let spec = self.spec;
        let pitch = spec.pitch(self.blocking);
        let nothing = spec.fold.start(spec.element);
        self.set(e, self.row, (0, self.blocking.together * pitch), nothing)?;
        if let Some((ones, counts)) = self.counts {
            self.set(e, ones, (0, pitch), 1.0)?;
            self.set(e, counts, (0, pitch), 1.0)?;
        }
        if let Some(sums) = self.sums {
            self.set(e, sums, (0, pitch), 0.0)?;
        }
        if self.is_prepared_once() { self.prepare(e, &self.blocking.cols[0]) } else { Ok(()) }
    }

    /// True if the ends of scratch rows are the same for all tiles.
    fn is_prepared_once(&self) -> bool {
        self.blocking.cols.len() == 1
    }

    /// Writes the ends of the scratch rows, and counts the columns of means.
    fn prepare(&self, e: &Emitter<'c>, points: &PointTiles) -> Result<()> {
        let spec = self.spec;
        let ((lo, hi), span) = (spec.covered(points), spec.span(points.size));
        let nothing = spec.fold.start(spec.element);
        for row in 0..self.blocking.together {
            let first = row * spec.pitch(self.blocking);
            self.set(e, self.row, (first, first + lo), nothing)?;
            self.set(e, self.row, (first + hi, first + span), nothing)?;
        }
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
    pub(super) fn set(
        &self,
        e: &Emitter<'c>,
        row: Val<'c>,
        columns: (i64, i64),
        number: f64,
    ) -> Result<()> {
        self.blocks(e, columns, 1, |e, mut at, widths| {
            for width in widths {
                e.store(e.splat(number, width.lanes, self.spec.element)?, row, at, *width)?;
                at = e.add(at, Ix::Const(width.lanes))?;
            }
            Ok(())
        })
    }

    /// Loops over some columns, so many vectors at once; the body gets the first column.
    pub(super) fn blocks(
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

    /// Emits the output rows from `place` on, several of which are folded one after the other. A
    /// scratch row has then left the processor's store buffer when it is read: a load that spans
    /// two of its entries waits for both.
    fn output_rows(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        place: Place<'c>,
        end: Ix<'c>,
    ) -> Result<()> {
        let together = self.blocking.together;
        if together == 1 {
            let (line, taps) = (Line::scratch(self.row), self.taps_inside(e, place)?);
            self.fold_row(e, points, (place, taps), line)?;
            return self.finish_row(e, points, (place, taps), line);
        }
        let end = e.smaller(e.add(place.row, Ix::Const(together))?, end)?;
        let first = e.mul(place.row, -1)?;
        let at = |e: &Emitter<'c>, row| {
            let place = Place { row, ..place };
            let from = e.mul(e.add(row, first)?, self.spec.pitch(self.blocking))?;
            let line = Line { from, ..Line::scratch(self.row) };
            Ok::<_, Error>(((place, self.taps_inside(e, place)?), line))
        };
        e.repeat((place.row, end, 1), vec![], |e, row, _| {
            let (place, line) = at(e, row)?;
            self.fold_row(e, points, place, line)?;
            Ok(vec![])
        })?;
        e.repeat((place.row, end, 1), vec![], |e, row, _| {
            let (place, line) = at(e, row)?;
            self.finish_row(e, points, place, line)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// The planes and rows of a row of windows that lie in the input.
    fn taps_inside(&self, e: &Emitter<'c>, place: Place<'c>) -> Result<Taps<'c>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let planes = window.taps_inside(e, PLANE, (place.plane, spec.grid[PLANE]))?;
        let rows = window.taps_inside(e, ROW, (place.row, spec.grid[ROW]))?;
        Ok([planes, rows])
    }

    /// Folds a row of windows into scratch memory.
    fn fold_row(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (place, taps): (Place<'c>, Taps<'c>),
        line: Line<'c>,
    ) -> Result<()> {
        let window = &self.spec.window;
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
        match self.sums {
            Some(sums) => self.sum(e, points, (x, &view, taps), sums),
            None => self.fold_down(e, points, (x, &view, taps), line),
        }
    }

    /// Folds along a scratch row, and writes the results.
    fn finish_row(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (place, taps): (Place<'c>, Taps<'c>),
        line: Line<'c>,
    ) -> Result<()> {
        let divisor = self.divisor(e, taps)?;
        self.blocks(e, (0, points.size), 2, |e, col, widths| {
            let mut at = col;
            let mut values = vec![];
            for width in widths {
                let fold = match self.sums {
                    Some(sums) => e.load(sums, at, Width::full(width.lanes))?,
                    None => self.along(e, line, (at, *width), None)?,
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
        line: Line<'c>,
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
            self.store_row(e, line.buffer, (e.add(line.from, col)?, widths), &folds)
        })
    }

    /// Writes vectors to a scratch row.
    pub(super) fn store_row(
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

    /// Divisor of means, without the part that differs from column to column.
    fn divisor(&self, e: &Emitter<'c>, taps: Taps<'c>) -> Result<Option<Val<'c>>> {
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
