//! The loops of a contraction: tasks, strips of a row, and register tiles.

use super::{Contraction, Epilogue, Weights, reduction::Cursor};
use crate::{
    Result,
    host::kernel::{
        Emitter, Ix,
        emit::{Run, repeat_run},
        start::StartBuffers,
        store::{self, Coordinate, Results},
        tiling::{Blocking, ChannelTiles, Order, PointTiles, Width, ceil_div},
        weights::Grouping,
        window::{COL, PLANE, ROW},
    },
    ir::Val,
};

/// The buffers of a kernel, flattened.
pub(in crate::host::kernel) struct Buffers<'c> {
    pub x: Val<'c>,
    pub w: Val<'c>,
    pub scales: Option<Val<'c>>,
    pub start: StartBuffers<'c>,
    pub operands: Vec<Val<'c>>,
    pub y: Val<'c>,
}

/// A place in the output.
#[derive(Clone, Copy)]
pub(in crate::host::kernel) struct Place<'c> {
    pub batch: Ix<'c>,
    pub group: Ix<'c>,
    /// Channel, counted over all groups.
    pub channel: Ix<'c>,
    /// Channel, counted from the first of the group.
    pub within: Ix<'c>,
    pub plane: Ix<'c>,
    pub row: Ix<'c>,
    pub col: Ix<'c>,
}

impl<'c> Place<'c> {
    /// The indices, with the step of a view that belongs to each.
    pub fn coordinates(&self) -> [Coordinate<'c>; 5] {
        [
            (self.batch, |view| view.batch),
            (self.plane, |view| view.plane),
            (self.row, |view| view.row),
            (self.col, |view| view.col),
            (self.channel, |view| view.channel),
        ]
    }
}

/// A register tile: points by vectors of channels.
#[derive(Clone, Copy)]
pub(super) struct Tile<'t> {
    pub points: &'t PointTiles,
    pub channels: &'t ChannelTiles,
    pub widths: &'t [Width],
}

/// The blocks of a task, which is `index` of so many, each of `step` blocks, of all.
pub(super) fn range<'c>(
    e: &Emitter<'c>,
    index: Ix<'c>,
    (tasks, step, blocks): (i64, i64, i64),
) -> Result<(Ix<'c>, Ix<'c>)> {
    if tasks == 1 {
        return Ok((Ix::Const(0), Ix::Const(blocks)));
    }
    let lo = e.mul(index, step)?;
    let hi = e.add(lo, Ix::Const(step))?;
    Ok((lo, if blocks % step == 0 { hi } else { e.min(hi, blocks)? }))
}

pub(in crate::host::kernel) struct Kernel<'k, 'c> {
    pub spec: &'k Contraction,
    pub grouping: Grouping,
    pub blocking: &'k Blocking,
    pub buffers: Buffers<'c>,
    pub epilogue: &'k dyn Epilogue<'c>,
}

impl<'c> Kernel<'_, 'c> {
    /// Does a task.
    pub fn task(&self, e: &Emitter<'c>, task: Ix<'c>) -> Result<()> {
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
        let (size, blocks) = (&self.blocking.task, self.blocking.counts());
        let channel_range = range(e, channel, (channels, size.channels, blocks.0))?;
        let row_range = range(e, row, (rows, size.rows, self.blocking.rows))?;
        let col_range = range(e, col, (cols, size.cols, blocks.1))?;
        self.channel_blocks(e, channel_range, |e, tiles, within| {
            let channel = e.add(e.mul(group, self.spec.channels)?, within)?;
            e.repeat((row_range.0, row_range.1, 1), vec![], |e, row, _| {
                let (plane, row) = e.div_rem(row, self.spec.rows)?;
                let plane = known(self.spec.planes, plane);
                let row = known(self.spec.rows, row);
                self.strip(
                    e,
                    tiles,
                    col_range,
                    Place { batch, group, channel, within, plane, row, col: Ix::Const(0) },
                )?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }

    pub fn channel_blocks(
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
    pub fn strip(
        &self,
        e: &Emitter<'c>,
        channels: &ChannelTiles,
        range: (Ix<'c>, Ix<'c>),
        place: Place<'c>,
    ) -> Result<()> {
        let widths = &channels.widths;
        let mut blocks_before = 0;
        for points in &self.blocking.cols {
            let PointTiles { count, size, start } = *points;
            let run = Run { count, size, blocks_before, start };
            repeat_run(e, &run, range, |e, col| {
                self.tile(e, Tile { points, channels, widths }, Place { col, ..place })
            })?;
            blocks_before += count;
        }
        Ok(())
    }

    /// Rows of weights per element, and channels per row, for the block of a tile.
    pub(super) fn weights_step(&self, widths: &[Width]) -> i64 {
        match self.spec.weights {
            Weights::Packed => {
                let lanes: i64 = widths.iter().map(|width| width.lanes).sum();
                lanes / self.grouping.arithmetic.shared()
            }
            Weights::Rows(step) => step,
        }
    }

    fn tile(&self, e: &Emitter<'c>, tile: Tile<'_>, place: Place<'c>) -> Result<()> {
        let spec = self.spec;
        let (window, view) = (&spec.window, &spec.x);
        let x = e.sum(
            window.corner(view),
            &[
                (place.batch, view.batch),
                (place.plane, window.stride[PLANE] * view.plane),
                (place.row, window.stride[ROW] * view.row),
                (place.col, window.stride[COL] * view.col),
                (place.group, spec.depth * view.channel),
            ],
        )?;
        let w = match spec.weights {
            Weights::Packed => self.packed_weights(e, tile.channels, place)?,
            Weights::Rows(_) => {
                let steps = [
                    (place.batch, spec.weights_batch),
                    (place.plane, spec.weights_plane),
                    (place.channel, 1),
                ];
                e.sum(0, &steps)?
            }
        };
        let scale = match spec.scales {
            Some(block) => e.mul(place.within, ceil_div(spec.reduction(), block))?,
            None => Ix::Const(0),
        };
        self.prefetch(e, tile, place)?;
        let sums = self.starts(e, tile, place)?;
        let inside = |axis, place| {
            let (lo, hi) = window.taps_inside(e, axis, place)?;
            let skip = tile.channels.skip[axis];
            Ok::<_, crate::Error>((if skip == 0 { lo } else { e.max(lo, skip)? }, hi))
        };
        let planes = inside(PLANE, (place.plane, spec.planes))?;
        let rows = inside(ROW, (place.row, spec.rows))?;
        let row = self.grouping.padded(window.kernel[COL] * spec.depth);
        let weights_row = row * self.weights_step(tile.widths);
        let weights_plane = weights_row * window.kernel[ROW];
        let next = |e: &Emitter<'c>, at: Cursor<'c>, tap, (x, w): (i64, i64)| {
            let (x, w) = (e.add(e.mul(tap, x)?, at.x)?, e.add(e.mul(tap, w)?, at.w)?);
            Ok::<_, crate::Error>(Cursor { x, w, ..at })
        };
        let sums = e.repeat((planes.0, planes.1, 1), sums, |e, tap, sums| {
            let steps = (window.dilation[PLANE] * view.plane, weights_plane);
            let at = next(e, Cursor { x, w, scale }, tap, steps)?;
            e.repeat((rows.0, rows.1, 1), sums, |e, tap, sums| {
                let at = next(e, at, tap, (window.dilation[ROW] * view.row, weights_row))?;
                self.row_of_taps(e, tile, at, sums)
            })
        })?;
        self.finish(e, tile, place, &sums)
    }

    /// Asks for what the end of a tile reads and writes.
    fn prefetch(&self, e: &Emitter<'c>, tile: Tile<'_>, place: Place<'c>) -> Result<()> {
        let spec = self.spec;
        let buffers = self.buffers.operands.iter().copied();
        let operands: Vec<_> = spec.operands.iter().zip(buffers).collect();
        let lanes = tile.widths.iter().map(|width| width.used).sum();
        let steps = spec.live(tile.channels.skip) / self.grouping.arithmetic.group();
        let buffers = ((&spec.y, self.buffers.y), &operands[..]);
        store::prefetch(e, &place.coordinates(), (tile.points.size, lanes), buffers, steps)
    }

    /// The first of the packed weights of a channel block.
    pub(super) fn packed_weights(
        &self,
        e: &Emitter<'c>,
        block: &ChannelTiles,
        place: Place<'c>,
    ) -> Result<Ix<'c>> {
        // Blocks before this one have a whole reduction for each of their channels.
        let lanes: i64 =
            self.blocking.channels.iter().map(|tiles| tiles.count * tiles.lanes()).sum();
        let arithmetic = self.grouping.arithmetic;
        let reduction = self.grouping.padded(self.spec.reduction()) / arithmetic.shared();
        let unused = self.unused_before(block) * reduction;
        let size = reduction * lanes;
        let [batch, plane] = self.spec.matrices();
        let steps = [
            (place.batch, batch * size),
            (place.plane, plane * size),
            (place.group, size),
            (place.within, reduction),
        ];
        e.sum(unused, &steps)
    }

    /// Lanes of the channel blocks before one that hold no channels.
    fn unused_before(&self, block: &ChannelTiles) -> i64 {
        let all = self.blocking.channels.iter();
        let before = all.take_while(|tiles| !std::ptr::eq(*tiles, block));
        before.map(|tiles| tiles.count * (tiles.lanes() - tiles.width())).sum()
    }

    /// Initial sums of a tile.
    pub(super) fn starts(
        &self,
        e: &Emitter<'c>,
        tile: Tile<'_>,
        place: Place<'c>,
    ) -> Result<Vec<Val<'c>>> {
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
        let table = start.of_window(&spec.window, spec.grid());
        let [batch, plane] = spec.matrices();
        let all = spec.groups * spec.channels;
        let steps = [(place.batch, batch * all), (place.plane, plane * all), (place.channel, 1)];
        let channels = (e.sum(0, &steps)?, all * spec.matrix_count());
        let tile = (tile.points, tile.widths);
        table.load(e, &self.buffers.start, [place.plane, place.row, place.col], channels, tile)
    }

    /// Applies the epilogue and stores.
    pub(super) fn finish(
        &self,
        e: &Emitter<'c>,
        tile: Tile<'_>,
        place: Place<'c>,
        sums: &[Val<'c>],
    ) -> Result<()> {
        let buffers = self.buffers.operands.iter().copied();
        store::finish(
            e,
            Results {
                place: &place.coordinates(),
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
