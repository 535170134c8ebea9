//! The kernel of operations that treat each channel alone: depthwise convolutions and pools.
//!
//! Vectors lie along the channels. A register tile holds some neighbouring points of a row; the
//! loop over the window's rows is clipped to the input, and within a row the taps that lie outside
//! are left out when the kernel is emitted.

use super::{
    Buffer, Element, Emitter, Epilogue, Isa, Ix, Types, View, Weights, Window,
    arithmetic::{multiply_add_lanes, weights_in_lanes},
    choose::MIN_TASKS,
    emit::{Run, argument_types, function, repeat_run},
    start::{Start, StartBuffers},
    store::{self, Coordinate, Results},
    tiling::{ChannelTiles, PointTiles, Width, ceil_div, split_channels, split_points},
    window::{AXES, COL, PLANE, ROW},
};
use crate::{
    Result,
    ir::{Builder, Val},
    lower::scalar::float::greater,
};

/// What is computed of the elements that a window covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum of their products with weights.
    Weighted,
    /// The greatest.
    Max,
    /// The mean of those inside of the input.
    Mean,
    /// The sum divided by the size of the window.
    PaddedMean,
}

impl Fold {
    /// What folds of elements start from.
    pub fn start(self, element: Element) -> f64 {
        match (self, element) {
            (Self::Max, Element::F32 | Element::F64) => f64::NEG_INFINITY,
            (Self::Max, Element::I8) => f64::from(i8::MIN),
            _ => 0.0,
        }
    }

    /// A fold and another element.
    pub fn combine<'c>(
        self,
        e: &Emitter<'c>,
        element: Element,
        fold: Val<'c>,
        value: Val<'c>,
    ) -> Result<Val<'c>> {
        match (self, element) {
            (Self::Max, element) if element.is_float() => greater(&e.builder, fold, value),
            (Self::Max, Element::U8) => e.builder.binary("arith.maxui", fold, value),
            (Self::Max, _) => e.builder.binary("arith.maxsi", fold, value),
            _ => e.float("arith.addf", fold, value),
        }
    }
}

/// Bytes of a line of the cache.
const LINE: i64 = 64;
/// Bytes of weights that stay in the second level cache from one tile to the next.
const NEAR_BYTES: i64 = 256 << 10;

/// A depthwise operation with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depthwise {
    /// Element types.
    pub types: Types,
    /// What is computed.
    pub fold: Fold,
    /// Images.
    pub batch: i64,
    /// Planes of the output.
    pub planes: i64,
    /// Rows of a plane.
    pub rows: i64,
    /// Points per row.
    pub cols: i64,
    /// Channels.
    pub channels: i64,
    /// The window.
    pub window: Window,
    /// The input.
    pub x: View,
    /// How the weights lie in memory: tap by tap for each block of channels, or for all channels.
    pub weights: Weights,
    /// What the sums start from, if not from 0.
    pub start: Option<Start>,
    /// The output.
    pub y: View,
    /// Operands of the epilogue.
    pub operands: Vec<View>,
}

/// How the work is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthwiseBlocking {
    /// Tiles along a row.
    pub cols: Vec<PointTiles>,
    /// Channel blocks.
    pub channels: Vec<ChannelTiles>,
    /// Tiles of a row that a task does.
    pub task: i64,
}

impl DepthwiseBlocking {
    /// Tiles of a row.
    fn tiles(&self) -> i64 {
        self.cols.iter().map(|tiles| tiles.count).sum()
    }

    /// Tasks of a row.
    fn parts(&self) -> i64 {
        ceil_div(self.tiles(), self.task)
    }

    /// Goes through tiles of a row: what they cover, and their first point.
    fn for_points<'c>(
        &self,
        e: &Emitter<'c>,
        tiles: (Ix<'c>, Ix<'c>),
        body: impl Fn(&Emitter<'c>, &PointTiles, Ix<'c>) -> Result<()>,
    ) -> Result<()> {
        let mut blocks_before = 0;
        for points in &self.cols {
            let PointTiles { count, size, start } = *points;
            let run = Run { count, size, blocks_before, start };
            repeat_run(e, &run, tiles, |e, col| body(e, points, col))?;
            blocks_before += count;
        }
        Ok(())
    }

    /// Goes through the channel blocks: their vectors, and their first channel.
    fn for_channels<'c>(
        &self,
        e: &Emitter<'c>,
        body: impl Fn(&Emitter<'c>, &[Width], Ix<'c>) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        for channels in &self.channels {
            let width = channels.width();
            let bounds = (Ix::Const(first), Ix::Const(first + channels.count * width), width);
            e.repeat(bounds, vec![], |e, channel, _| {
                body(e, &channels.widths, channel)?;
                Ok(vec![])
            })?;
            first += channels.count * width;
        }
        Ok(())
    }
}

struct Kernel<'k, 'c> {
    spec: &'k Depthwise,
    x: Val<'c>,
    w: Option<Val<'c>>,
    start: StartBuffers<'c>,
    operands: Vec<Val<'c>>,
    y: Val<'c>,
    epilogue: &'k dyn Epilogue<'c>,
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

impl Depthwise {
    /// Output points along each axis.
    pub fn grid(&self) -> [i64; AXES] {
        [self.planes, self.rows, self.cols]
    }

    /// Multiplications and additions, or what a pool does, with taps beside the input.
    pub fn flops(&self) -> i64 {
        let each = if self.fold == Fold::Weighted { 2 } else { 1 };
        let points: i64 = self.grid().iter().product();
        each * self.batch * points * self.channels * self.window.taps()
    }

    /// Number of tasks of the kernel: parts of rows of the output.
    pub fn tasks(&self, blocking: &DepthwiseBlocking) -> i64 {
        self.batch * self.planes * self.rows * blocking.parts()
    }

    /// Chooses how to cut the work.
    pub fn blocking(&self, isa: Isa) -> DepthwiseBlocking {
        let inside = |start, count| self.window.columns_inside(start, count);
        // A single chain of additions per point waits on itself, so few points need more vectors. With 16 registers, seven
        // points leave one for weights beside the sums and the elements that neighbours share.
        let points = if isa.registers >= 32 { 8 } else { 7 };
        let lanes = isa.lanes_of(self.types.sum);
        let vectors = match self.cols {
            ..4 => 4,
            // The taps of a large window would fetch a line of the cache for each of its vectors.
            _ if self.has_many_weights() => (LINE / (lanes * self.types.image.bytes())).max(1),
            _ => 1,
        };
        let least = if self.types.sum.is_float() { 1 } else { 4 };
        let mut blocking = DepthwiseBlocking {
            cols: split_points(self.cols, points, inside),
            channels: split_channels(self.channels, lanes, vectors, least),
            task: 1,
        };
        let parts = ceil_div(MIN_TASKS, self.batch * self.planes * self.rows);
        blocking.task = ceil_div(blocking.tiles(), parts);
        blocking
    }

    /// Whether the weights of all channels are too many for the second level cache.
    fn has_many_weights(&self) -> bool {
        let bytes = self.window.taps() * self.channels * self.types.weights.bytes();
        self.fold == Fold::Weighted && bytes > NEAR_BYTES
    }

    /// Emits the kernel as function `name(x, [w, [start, [zero,]]] operands.., y, lo, hi)`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        blocking: &DepthwiseBlocking,
        epilogue: &dyn Epilogue<'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (mut flat, y, bounds) = e.buffers(arguments, buffers.len())?;
            let weighted = self.fold == Fold::Weighted;
            let first = if weighted { 2 } else { 1 };
            let operands = flat.split_off(first + self.start.map_or(0, Start::buffers));
            let start = StartBuffers::of(&flat[first..]);
            let w = weighted.then(|| flat[1]);
            let kernel = Kernel { spec: self, x: flat[0], w, start, operands, y, epilogue };
            e.repeat((Ix::Value(bounds[0]), Ix::Value(bounds[1]), 1), vec![], |e, task, _| {
                kernel.task(e, blocking, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}

impl<'c> Kernel<'_, 'c> {
    fn task(&self, e: &Emitter<'c>, blocking: &DepthwiseBlocking, task: Ix<'c>) -> Result<()> {
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
        let x = e.sum(
            window.corner(view),
            &[
                (tile.batch, view.batch),
                (tile.plane, window.stride[PLANE] * view.plane),
                (tile.row, window.stride[ROW] * view.row),
                (tile.col, window.stride[COL] * view.col),
                (tile.channel, view.channel),
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

    /// What the folds of a tile start from.
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
                            let at = e.add(x, Ix::Const(position * spec.x.col + lane))?;
                            let value = e.load(self.x, at, *width)?;
                            let signed = spec.types.image != Element::U8;
                            if self.is_integer() { e.extend(value, signed)? } else { value }
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

    /// Whether sums are those of products of integers.
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

    /// What a mean's sum is to be multiplied with.
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
