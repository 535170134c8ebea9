//! The kernel of convolutions and matrix products.
//!
//! Both are sums over a reduction space of `x[point + offset] * w[reduction, channel]` for points
//! of a grid (pixels or rows) and channels (filters or columns). A register tile holds some points
//! times some vectors of channels while the reduction runs; each step loads the vectors of
//! weights, and one scalar of x per point, which all lanes share; for bytes that is a few
//! neighbouring ones (see [`super::arithmetic`]).

use super::{
    Arithmetic, Buffer, Emitter, Isa, Ix, Types, Window,
    emit::{argument_types, function},
    start::{Start, StartBuffers},
    store::{self, Coordinate, Results},
    tiling::{Blocking, ChannelTiles, Order, PointTiles, Width},
    weights::Grouping,
};
use crate::{
    Result,
    ir::{Builder, Val},
};

/// Where the element of a point and channel lies in a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The first element.
    pub offset: i64,
    /// Step from one image or matrix to the next.
    pub batch: i64,
    /// Step from one row of points to the next.
    pub row: i64,
    /// Step from one point to the next in the row.
    pub col: i64,
    /// Step from one channel to the next: 1, or 0 if all channels share an element.
    pub channel: i64,
}

/// How the weights lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Channel blocks one after another, each `[reduction][lanes of the block]`.
    Packed,
    /// `[reduction][channels]` with this step between rows.
    Rows(i64),
}

/// A contraction with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// Element types.
    pub types: Types,
    /// Images or matrices.
    pub batch: i64,
    /// Rows of points.
    pub rows: i64,
    /// Points per row.
    pub cols: i64,
    /// Groups of channels that each have an input and weights of their own.
    pub groups: i64,
    /// Output channels of a group.
    pub channels: i64,
    /// Input channels of a group.
    pub depth: i64,
    /// Which points of the input an output point sees.
    pub window: Window,
    /// The input; its channels are the depth.
    pub x: View,
    /// The weights.
    pub weights: Weights,
    /// Step from the weights of one batch to those of the next.
    pub weights_batch: i64,
    /// What the sums start from, if not from 0.
    pub start: Option<Start>,
    /// The output.
    pub y: View,
    /// Operands of the epilogue.
    pub operands: Vec<View>,
}

/// What is done to each result before it is stored.
pub trait Epilogue<'c> {
    /// Emits it on vectors: the sum, and the operands' elements for the same points and channels.
    fn emit(&self, e: &Emitter<'c>, sum: Val<'c>, operands: &[Val<'c>]) -> Result<Val<'c>>;

    /// Whether it is so much code that it should be emitted once per tile, in a loop over the
    /// points, instead of once per register.
    fn is_large(&self) -> bool {
        false
    }
}

/// Stores the sums as they are.
pub struct NoEpilogue;

impl<'c> Epilogue<'c> for NoEpilogue {
    fn emit(&self, _: &Emitter<'c>, sum: Val<'c>, _: &[Val<'c>]) -> Result<Val<'c>> {
        Ok(sum)
    }
}

/// The buffers of a kernel, flattened.
struct Buffers<'c> {
    x: Val<'c>,
    w: Val<'c>,
    start: StartBuffers<'c>,
    operands: Vec<Val<'c>>,
    y: Val<'c>,
}

/// A place in the output.
#[derive(Clone, Copy)]
struct Place<'c> {
    batch: Ix<'c>,
    group: Ix<'c>,
    /// Channel, counted over all groups.
    channel: Ix<'c>,
    /// Channel, counted from the first of the group.
    within: Ix<'c>,
    row: Ix<'c>,
    col: Ix<'c>,
}

/// What a register tile covers.
#[derive(Clone, Copy)]
struct Tile<'t> {
    points: &'t PointTiles,
    widths: &'t [Width],
}

/// Where the operands of a reduction step lie: the tile's first point, and the row of weights.
#[derive(Clone, Copy)]
struct Cursor<'c> {
    x: Ix<'c>,
    w: Ix<'c>,
}

impl Contraction {
    /// Number of tasks of the kernel.
    pub fn tasks(&self, blocking: &Blocking) -> i64 {
        let (channels, rows, cols) = blocking.tasks();
        self.batch * self.groups * channels * rows * cols
    }

    /// Length of the whole reduction.
    pub fn reduction(&self) -> i64 {
        self.window.kernel[0] * self.window.kernel[1] * self.depth
    }

    /// How weights are packed for it.
    pub fn grouping(&self, isa: Isa) -> Grouping {
        let window = &self.window;
        let taps = window.kernel[1];
        let row = taps == 1 || window.dilation[1] * self.x.col == self.depth * self.x.channel;
        let run = if row && window.columns_inside(0, self.cols) { taps } else { 1 } * self.depth;
        Grouping { run, arithmetic: Arithmetic::of(isa, self.types) }
    }

    /// Emits the kernel as function `name(x, w, [start, [zero,]] operands.., y, lo, hi)`, whose
    /// buffers are `buffers`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        blocking: &Blocking,
        epilogue: &dyn Epilogue<'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (memrefs, bounds) = arguments.split_at(buffers.len());
            let mut flat =
                memrefs.iter().map(|memref| e.flatten(*memref)).collect::<Result<Vec<_>>>()?;
            let y = flat.pop().unwrap_or(memrefs[0]);
            let operands = flat.split_off(2 + self.start.map_or(0, Start::buffers));
            let start = StartBuffers::of(&flat[2..]);
            let buffers = Buffers { x: flat[0], w: flat[1], start, operands, y };
            let grouping = self.grouping(isa);
            let kernel = Kernel { spec: self, grouping, blocking, buffers, epilogue };
            e.repeat((Ix::Value(bounds[0]), Ix::Value(bounds[1]), 1), vec![], |e, task, _| {
                kernel.task(e, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}

struct Kernel<'k, 'c> {
    spec: &'k Contraction,
    grouping: Grouping,
    blocking: &'k Blocking,
    buffers: Buffers<'c>,
    epilogue: &'k dyn Epilogue<'c>,
}

/// A run of equal blocks: how many, their size, and the blocks and elements before them.
struct Run {
    count: i64,
    size: i64,
    blocks_before: i64,
    start: i64,
}

/// Loops over the blocks of `run` that are in `lo..hi`; `body` gets the first element of each.
fn repeat_run<'c>(
    e: &Emitter<'c>,
    run: &Run,
    (lo, hi): (Ix<'c>, Ix<'c>),
    body: impl FnOnce(&Emitter<'c>, Ix<'c>) -> Result<()>,
) -> Result<()> {
    let from = e.max(lo, run.blocks_before)?;
    let to = e.min(hi, run.blocks_before + run.count)?;
    e.repeat((from, to, 1), vec![], |e, block, _| {
        let element = if run.count == 1 {
            Ix::Const(run.start)
        } else {
            e.add(e.mul(block, run.size)?, Ix::Const(run.start - run.blocks_before * run.size))?
        };
        body(e, element)?;
        Ok(vec![])
    })?;
    Ok(())
}

impl<'c> Kernel<'_, 'c> {
    fn task(&self, e: &Emitter<'c>, task: Ix<'c>) -> Result<()> {
        let (channels, rows, cols) = self.blocking.tasks();
        let (rest, channel, row, col);
        match self.blocking.order {
            Order::ChannelsOuter => {
                let (above, c) = e.div_rem(task, cols)?;
                let (above, r) = e.div_rem(above, rows)?;
                (row, col) = (r, c);
                (rest, channel) = e.div_rem(above, channels)?;
            }
            Order::PointsOuter => {
                let (above, f) = e.div_rem(task, channels)?;
                let (above, c) = e.div_rem(above, cols)?;
                (channel, col) = (f, c);
                (rest, row) = e.div_rem(above, rows)?;
            }
        }
        let (batch, group) = e.div_rem(rest, self.spec.groups)?;
        let known = |count: i64, ix: Ix<'c>| if count == 1 { Ix::Const(0) } else { ix };
        let (batch, group) = (known(self.spec.batch, batch), known(self.spec.groups, group));
        let range = |index: Ix<'c>, tasks: i64, step: i64, blocks: i64| {
            if tasks == 1 {
                return Ok((Ix::Const(0), Ix::Const(blocks)));
            }
            let lo = e.mul(index, step)?;
            let hi = e.add(lo, Ix::Const(step))?;
            Ok::<_, crate::Error>((lo, if blocks % step == 0 { hi } else { e.min(hi, blocks)? }))
        };
        let (size, blocks) = (&self.blocking.task, self.blocking.counts());
        let channel_range = range(channel, channels, size.channels, blocks.0)?;
        let row_range = range(row, rows, size.rows, self.blocking.rows)?;
        let col_range = range(col, cols, size.cols, blocks.1)?;
        self.channel_blocks(e, channel_range, |e, tiles, within| {
            let channel = e.add(e.mul(group, self.spec.channels)?, within)?;
            e.repeat((row_range.0, row_range.1, 1), vec![], |e, row, _| {
                let row = known(self.spec.rows, row);
                self.strip(
                    e,
                    &tiles.widths,
                    col_range,
                    Place { batch, group, channel, within, row, col: Ix::Const(0) },
                )?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }

    fn channel_blocks(
        &self,
        e: &Emitter<'c>,
        range: (Ix<'c>, Ix<'c>),
        body: impl Fn(&Emitter<'c>, &ChannelTiles, Ix<'c>) -> Result<()>,
    ) -> Result<()> {
        let (mut blocks_before, mut start) = (0, 0);
        for tiles in &self.blocking.channels {
            let run = Run { count: tiles.count, size: tiles.width(), blocks_before, start };
            repeat_run(e, &run, range, |e, channel| body(e, tiles, channel))?;
            blocks_before += tiles.count;
            start += tiles.count * tiles.width();
        }
        Ok(())
    }

    /// The tiles `range` of one row.
    fn strip(
        &self,
        e: &Emitter<'c>,
        widths: &[Width],
        range: (Ix<'c>, Ix<'c>),
        place: Place<'c>,
    ) -> Result<()> {
        let mut blocks_before = 0;
        for points in &self.blocking.cols {
            let PointTiles { count, size, start } = *points;
            let run = Run { count, size, blocks_before, start };
            repeat_run(e, &run, range, |e, col| {
                self.tile(e, Tile { points, widths }, Place { col, ..place })
            })?;
            blocks_before += count;
        }
        Ok(())
    }

    /// Rows of weights per element, and channels per row, for the block of a tile.
    fn weights_step(&self, widths: &[Width]) -> i64 {
        match self.spec.weights {
            Weights::Packed => widths.iter().map(|width| width.lanes).sum(),
            Weights::Rows(step) => step,
        }
    }

    fn tile(&self, e: &Emitter<'c>, tile: Tile<'_>, place: Place<'c>) -> Result<()> {
        let spec = self.spec;
        let (window, view) = (&spec.window, &spec.x);
        let corner = view.offset - window.pad[0] * view.row - window.pad[1] * view.col;
        let x = e.sum(
            corner,
            &[
                (place.batch, view.batch),
                (place.row, window.stride[0] * view.row),
                (place.col, window.stride[1] * view.col),
                (place.group, spec.depth * view.channel),
            ],
        )?;
        let w = match spec.weights {
            // Blocks before this one have a whole reduction for each of their channels.
            Weights::Packed => {
                let lanes: i64 =
                    self.blocking.channels.iter().map(|tiles| tiles.count * tiles.lanes()).sum();
                let reduction = self.grouping.padded(spec.reduction());
                e.sum(0, &[(place.group, reduction * lanes), (place.within, reduction)])?
            }
            Weights::Rows(_) => {
                e.sum(0, &[(place.batch, spec.weights_batch), (place.channel, 1)])?
            }
        };
        let sums = self.starts(e, tile, place)?;
        let taps = window.row_taps(e, place.row, spec.rows)?;
        let row = self.grouping.padded(window.kernel[1] * spec.depth);
        let weights_row = row * self.weights_step(tile.widths);
        let sums = e.repeat((taps.0, taps.1, 1), sums, |e, tap, sums| {
            let at = Cursor {
                x: e.add(e.mul(tap, window.dilation[0] * view.row)?, x)?,
                w: e.add(e.mul(tap, weights_row)?, w)?,
            };
            self.row_of_taps(e, tile, at, sums)
        })?;
        self.finish(e, tile, place, &sums)
    }

    /// What the sums of a tile start from.
    fn starts(&self, e: &Emitter<'c>, tile: Tile<'_>, place: Place<'c>) -> Result<Vec<Val<'c>>> {
        let spec = self.spec;
        let Some(start) = spec.start else {
            let mut sums = vec![];
            for _ in 0..tile.points.size {
                for width in tile.widths {
                    sums.push(e.splat(0.0, width.lanes, spec.types.sum)?);
                }
            }
            return Ok(sums);
        };
        let table = start.of_window(&spec.window, (spec.rows, spec.cols));
        let channels = (place.channel, spec.groups * spec.channels);
        let tile = (tile.points, tile.widths);
        table.load(e, &self.buffers.start, (place.row, place.col), channels, tile)
    }

    /// The reduction over the horizontal taps and the depth.
    fn row_of_taps(
        &self,
        e: &Emitter<'c>,
        tile: Tile<'_>,
        at: Cursor<'c>,
        mut sums: Vec<Val<'c>>,
    ) -> Result<Vec<Val<'c>>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let taps = window.kernel[1];
        let step = window.dilation[1] * spec.x.col;
        let PointTiles { count, size, start } = *tile.points;
        if count > 1 || window.columns_inside(start, size) {
            // The taps and their channels are often one row of the input.
            let row = taps == 1 || step == spec.depth * spec.x.channel;
            let Grouping { run, arithmetic } = self.grouping;
            if row && (run == taps * spec.depth || spec.depth % arithmetic.group() == 0) {
                return self.depth_loop(e, tile, (0, size), at, taps * spec.depth, sums);
            }
            let row = self.grouping.padded(spec.depth) * self.weights_step(tile.widths);
            return e.repeat((Ix::Const(0), Ix::Const(taps), 1), sums, |e, tap, sums| {
                let at = Cursor {
                    x: e.add(e.mul(tap, step)?, at.x)?,
                    w: e.add(e.mul(tap, row)?, at.w)?,
                };
                self.depth_loop(e, tile, (0, size), at, spec.depth, sums)
            });
        }
        for tap in 0..taps {
            let active = window.active(start, size, tap);
            let row = tap * self.grouping.padded(spec.depth) * self.weights_step(tile.widths);
            let at =
                Cursor { x: e.add(at.x, Ix::Const(tap * step))?, w: e.add(at.w, Ix::Const(row))? };
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
            for u in (0..count).step_by(group as usize) {
                let at = Cursor {
                    x: e.add(x, Ix::Const(u * x_step))?,
                    w: e.add(w, Ix::Const(u * w_step))?,
                };
                self.step(e, tile.widths, active, (at, group.min(count - u)), &mut sums)?;
            }
            Ok::<_, crate::Error>(sums)
        };
        let by = self.blocking.unroll.min(extent / group).max(1) * group;
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
        widths: &[Width],
        active: (i64, i64),
        (at, used): (Cursor<'c>, i64),
        sums: &mut [Val<'c>],
    ) -> Result<()> {
        let arithmetic = self.grouping.arithmetic;
        let mut weights = vec![];
        let mut lane = 0;
        for part in arithmetic.parts() {
            for width in widths {
                // Packed weights are padded.
                let width = match self.spec.weights {
                    Weights::Packed => Width::full(width.lanes),
                    Weights::Rows(_) => *width,
                };
                let at = e.add(at.w, Ix::Const(lane))?;
                weights.push(arithmetic.load_weights(e, self.buffers.w, at, width)?);
                lane += width.lanes * part.len() as i64;
            }
        }
        let point_step = self.spec.window.stride[1] * self.spec.x.col;
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

    fn finish(
        &self,
        e: &Emitter<'c>,
        tile: Tile<'_>,
        place: Place<'c>,
        sums: &[Val<'c>],
    ) -> Result<()> {
        let coordinates: [Coordinate<'c>; 4] = [
            (place.batch, |view| view.batch),
            (place.row, |view| view.row),
            (place.col, |view| view.col),
            (place.channel, |view| view.channel),
        ];
        let buffers = self.buffers.operands.iter().copied();
        store::finish(
            e,
            Results {
                place: &coordinates,
                points: tile.points.size,
                widths: tile.widths,
                values: sums,
                y: (&self.spec.y, self.buffers.y),
                operands: &self.spec.operands.iter().zip(buffers).collect::<Vec<_>>(),
                epilogue: self.epilogue,
            },
        )
    }
}
