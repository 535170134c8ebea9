//! The kernel of pools on images with their channels first.
//!
//! Vectors lie along the columns. For each row of the output the windows are folded downwards first, which gives a row of
//! scratch memory, and then along that row, where strided columns are shuffled together. At the ends of the scratch row
//! is what changes no fold, so that columns at the edges need no code of their own.

use super::{
    Buffer, Element, Emitter, Epilogue, Fold, Isa, Ix, View, Window,
    choose::MIN_TASKS,
    emit::{Run, argument_types, function, repeat_run},
    store::{self, Coordinate, Results},
    tiling::{PointTiles, Width, ceil_div, split_channels, split_points},
    window::{AXES, COL, PLANE, ROW},
};
use crate::{
    Result,
    ir::{Builder, Val},
};

/// Bytes of a scratch row that a tile should have at most.
const SCRATCH_BYTES: i64 = 8 << 10;
/// Bytes that it may have, if its window is very wide.
const MAX_SCRATCH_BYTES: i64 = 64 << 10;
/// Tiles with code of their own, at most.
const MAX_TILES: usize = 16;
/// Fewer columns are left to the general lowering.
const MIN_COLS: i64 = 4;
/// Steps between columns that are shuffled together; wider ones are read one by one.
const MAX_SHUFFLED: i64 = 4;
/// Taps that are written out.
const MAX_TAPS: i64 = 16;

/// A pool with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planar {
    /// Element type.
    pub element: Element,
    /// What is computed.
    pub fold: Fold,
    /// Images.
    pub batch: i64,
    /// Channels.
    pub channels: i64,
    /// Spatial dimensions.
    pub rank: usize,
    /// Output points along each axis.
    pub grid: [i64; AXES],
    /// The window.
    pub window: Window,
    /// The output. Its last dimension counts as channels.
    pub y: View,
    /// Operands of the epilogue.
    pub operands: Vec<View>,
}

/// How the work is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanarBlocking {
    /// Tiles along a row.
    pub cols: Vec<PointTiles>,
    /// Rows of a task.
    pub rows: i64,
    /// Lanes of a vector.
    pub lanes: i64,
    /// Vectors that are folded downwards together.
    pub vectors: i64,
}

impl Planar {
    /// Operations of the folds, with taps beside the input.
    pub fn flops(&self) -> i64 {
        self.batch * self.channels * self.grid.iter().product::<i64>() * self.window.taps()
    }

    /// Number of tasks of the kernel: parts of planes of the output.
    pub fn tasks(&self, blocking: &PlanarBlocking) -> i64 {
        self.batch * self.channels * self.grid[PLANE] * self.parts(blocking)
    }

    fn parts(&self, blocking: &PlanarBlocking) -> i64 {
        ceil_div(self.grid[ROW], blocking.rows)
    }

    /// Whether the kernel is better than loops, and its scratch memory small.
    pub fn is_worthwhile(&self) -> bool {
        let blocking = self.blocking(Isa::WIDEST);
        self.grid[COL] >= MIN_COLS
            && blocking.cols.len() <= MAX_TILES
            && self.scratch(&blocking) * self.element.bytes() <= MAX_SCRATCH_BYTES
    }

    /// Chooses how to cut the work.
    pub fn blocking(&self, isa: Isa) -> PlanarBlocking {
        let lanes = isa.lanes_of(self.element);
        let room = (SCRATCH_BYTES / self.element.bytes() - self.reach()) / self.window.stride[COL];
        let points = room.max(lanes).min(self.grid[COL]).max(1);
        let inside = |start, count| self.window.columns_inside(start, count);
        let images = self.batch * self.channels * self.grid[PLANE];
        let parts = ceil_div(MIN_TASKS, images.max(1)).min(self.grid[ROW]).max(1);
        PlanarBlocking {
            cols: split_points(self.grid[COL], points, inside),
            rows: ceil_div(self.grid[ROW], parts).max(1),
            lanes,
            vectors: if isa.registers >= 32 { 8 } else { 4 },
        }
    }

    /// Columns from the first tap of a window to its last.
    fn reach(&self) -> i64 {
        (self.window.kernel[COL] - 1) * self.window.dilation[COL]
    }

    /// Input columns that `points` neighbouring windows cover.
    fn span(&self, points: i64) -> i64 {
        (points - 1) * self.window.stride[COL] + self.reach() + 1
    }

    /// Elements of a scratch row, with those behind it that whole vectors read.
    fn scratch(&self, blocking: &PlanarBlocking) -> i64 {
        let points = blocking.cols.iter().map(|tiles| tiles.size).max().unwrap_or(1);
        self.span(points) + blocking.lanes * self.window.stride[COL]
    }

    /// The columns of the scratch row of a tile that lie in the input.
    fn covered(&self, points: &PointTiles) -> (i64, i64) {
        let span = self.span(points.size);
        if points.count > 1 {
            return (0, span);
        }
        let first = self.window.position(COL, points.start, 0);
        let lo = (-first).clamp(0, span);
        (lo, (self.window.input[COL] - first).clamp(lo, span))
    }

    /// Whether means at the ends of rows are of fewer columns.
    fn counts(&self) -> bool {
        self.fold == Fold::Mean && self.window.clips(COL, self.grid[COL])
    }

    /// Emits the kernel as function `name(x, operands.., y, lo, hi)`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        blocking: &PlanarBlocking,
        epilogue: &dyn Epilogue<'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (memrefs, bounds) = arguments.split_at(buffers.len());
            let mut flat =
                memrefs.iter().map(|memref| e.flatten(*memref)).collect::<Result<Vec<_>>>()?;
            let y = flat.pop().unwrap_or(memrefs[0]);
            let operands = flat.split_off(1);
            let row = |e: &Emitter<'c>| e.scratch(self.scratch(blocking), self.element);
            let kernel = Kernel {
                spec: self,
                blocking,
                x: flat[0],
                row: row(e)?,
                counts: if self.counts() { Some((row(e)?, row(e)?)) } else { None },
                operands,
                y,
                epilogue,
            };
            e.repeat((Ix::Value(bounds[0]), Ix::Value(bounds[1]), 1), vec![], |e, task, _| {
                kernel.task(e, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}

struct Kernel<'k, 'c> {
    spec: &'k Planar,
    blocking: &'k PlanarBlocking,
    x: Val<'c>,
    /// The scratch row.
    row: Val<'c>,
    /// For means: a row of ones where the input is, and how many of them each output column has.
    counts: Option<(Val<'c>, Val<'c>)>,
    operands: Vec<Val<'c>>,
    y: Val<'c>,
    epilogue: &'k dyn Epilogue<'c>,
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

impl<'c> Kernel<'_, 'c> {
    fn task(&self, e: &Emitter<'c>, task: Ix<'c>) -> Result<()> {
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
                let count = self.along(e, ones, at, *width)?;
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
            let mut at = col;
            for (fold, width) in folds.into_iter().zip(widths) {
                e.store(fold, self.row, at, *width)?;
                at = e.add(at, Ix::Const(width.lanes))?;
            }
            Ok(())
        })?;
        let divisor = self.divisor(e, [planes, rows])?;
        self.blocks(e, (0, points.size), 2, |e, col, widths| {
            let mut at = col;
            let mut values = vec![];
            for width in widths {
                let fold = self.along(e, self.row, at, *width)?;
                values.push(self.mean(e, fold, divisor, (at, *width))?);
                at = e.add(at, Ix::Const(width.lanes))?;
            }
            self.finish(e, place, (col, widths), &values)
        })
    }

    /// The folds of the windows of output columns from `col` on along a scratch row.
    fn along(&self, e: &Emitter<'c>, row: Val<'c>, col: Ix<'c>, width: Width) -> Result<Val<'c>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let (stride, dilation) = (window.stride[COL], window.dilation[COL]);
        let taps = window.kernel[COL];
        let from = e.mul(col, stride)?;
        if taps > MAX_TAPS {
            let start = e.splat(spec.fold.start(spec.element), width.lanes, spec.element)?;
            let bounds = (Ix::Const(0), Ix::Const(taps), 1);
            let folds = e.repeat(bounds, vec![start], |e, tap, folds| {
                let at = e.add(from, e.mul(tap, dilation)?)?;
                let value = self.strided(e, row, (at, 0), width, &mut vec![])?;
                Ok(vec![spec.fold.combine(e, spec.element, folds[0], value)?])
            })?;
            return Ok(folds[0]);
        }
        let mut loaded = vec![];
        let mut fold = self.strided(e, row, (from, 0), width, &mut loaded)?;
        for tap in 1..taps {
            let value = self.strided(e, row, (from, tap * dilation), width, &mut loaded)?;
            fold = spec.fold.combine(e, spec.element, fold, value)?;
        }
        Ok(fold)
    }

    /// The elements of a scratch row from `from + offset` on that are a stride apart. Those between are loaded, too, and
    /// remembered for other taps by the first of them.
    fn strided(
        &self,
        e: &Emitter<'c>,
        row: Val<'c>,
        (from, offset): (Ix<'c>, i64),
        width: Width,
        loaded: &mut Vec<(i64, Val<'c>)>,
    ) -> Result<Val<'c>> {
        let stride = self.spec.window.stride[COL];
        let lanes = width.lanes;
        if stride == 1 {
            return e.load(row, e.add(from, Ix::Const(offset))?, Width::full(lanes));
        }
        if stride > MAX_SHUFFLED {
            let values = (0..lanes).map(|lane| {
                let at = offset + if lane < width.used { lane * stride } else { 0 };
                e.load_scalar(row, e.add(from, Ix::Const(at))?)
            });
            return e.from_elements(&values.collect::<Result<Vec<_>>>()?);
        }
        let first = offset / stride * stride;
        let all = match loaded.iter().find(|(other, _)| *other == first) {
            Some((_, all)) => *all,
            None => {
                let at = e.add(from, Ix::Const(first))?;
                e.load(row, at, Width::full(lanes * stride))?
            }
        };
        loaded.push((first, all));
        let places: Vec<_> = (0..lanes).map(|lane| lane * stride + offset - first).collect();
        e.shuffle(all, &places)
    }

    /// What means are divided by, except for what differs from column to column.
    fn divisor(&self, e: &Emitter<'c>, taps: [(Ix<'c>, Ix<'c>); 2]) -> Result<Option<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        if spec.fold == Fold::Max {
            return Ok(None);
        }
        let real = spec.element.r#type(&e.builder);
        let mut known = if self.counts.is_some() { 1 } else { window.kernel[COL] };
        let mut counted: Option<Val<'c>> = None;
        for ((lo, hi), axis) in taps.into_iter().zip([PLANE, ROW]) {
            let (Fold::Mean, Ix::Value(lo), Ix::Value(hi)) = (spec.fold, lo, hi) else {
                known *= window.kernel[axis];
                continue;
            };
            let b = e.builder;
            let count = b.op1("arith.index_cast", &[b.binary("arith.subi", hi, lo)?], b.int(32))?;
            let count = b.op1("arith.sitofp", &[count], real)?;
            counted = Some(match counted {
                Some(others) => e.float("arith.mulf", others, count)?,
                None => count,
            });
        }
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
