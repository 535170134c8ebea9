//! The loops of a contraction in AMX's registers.

use super::{
    Amx, MANY_WEIGHTS, ROWS,
    registers::{self, Operands, address},
    strip::{Seen, Strip},
};
use crate::{
    Result,
    host::kernel::{
        Emitter, Ix, PointTiles, View, Width,
        contraction::tile::{Kernel, Place, Tile, range},
        emit::{Run, repeat_run},
        tiling::ChannelTiles,
        window::{COL, PLANE, ROW},
    },
    ir::Val,
};

/// Points whose epilogue is one piece of code.
const TOGETHER: i64 = 4;
/// Bytes between the weights in use and those that are prefetched.
const AHEAD: i64 = 8 << 10;
/// Chunks of a run that a turn of a loop takes.
const UNROLL: i64 = 4;

impl Amx {
    /// Emits the tasks `lo..hi` of a kernel.
    pub(in crate::host::kernel) fn emit<'c>(
        &self,
        e: &Emitter<'c>,
        kernel: &Kernel<'_, 'c>,
        (lo, hi): (Ix<'c>, Ix<'c>),
    ) -> Result<()> {
        let Kernel { spec, blocking, .. } = kernel;
        self.configure(e)?;
        let strip = match self.copies {
            true => Some(Strip::new(e, self, spec, blocking.task.rows)?),
            false => None,
        };
        let image = strip.as_ref().map_or(kernel.buffers.x, |strip| strip.memory);
        let lanes = self.vectors * ROWS;
        let points = blocking.cols.iter().map(|tiles| tiles.size.max(self.points)).max();
        let sums = e.scratch(self.rows * points.unwrap_or(0) * lanes, spec.types.sum)?;
        let own = Loops {
            kernel,
            amx: self,
            strip: &strip,
            image: address(e, image)?,
            weights: address(e, kernel.buffers.w)?,
            sums,
            sums_at: address(e, sums)?,
        };
        own.strips(e, (lo, hi))?;
        registers::release(e)
    }
}

struct Loops<'k, 'c> {
    kernel: &'k Kernel<'k, 'c>,
    amx: &'k Amx,
    strip: &'k Option<Strip<'k, 'c>>,
    /// Addresses of the image, or its copy, and of the weights.
    image: Ix<'c>,
    weights: Ix<'c>,
    /// Scratch memory for the sums of a tile, and its address.
    sums: Val<'c>,
    sums_at: Ix<'c>,
}

/// A tile that is computed at once.
#[derive(Clone, Copy)]
struct Block<'t> {
    points: &'t PointTiles,
    channels: &'t ChannelTiles,
    /// Rows of the output.
    rows: i64,
}

/// The steps between addresses of the image, in bytes.
struct Steps {
    view: View,
    /// From one row of output points to the next.
    row: i64,
    /// From one point to the next.
    col: i64,
}

impl<'c> Loops<'_, 'c> {
    /// Tasks that see the same part of the image follow each other.
    fn strips(&self, e: &Emitter<'c>, (lo, hi): (Ix<'c>, Ix<'c>)) -> Result<()> {
        let Kernel { spec, blocking, .. } = self.kernel;
        let [channels, cols, rows] = self.amx.tasks(spec, blocking);
        let (first, _) = e.div_rem(lo, channels)?;
        let (last, _) = e.div_rem(e.add(hi, Ix::Const(channels - 1))?, channels)?;
        let counts = blocking.counts();
        e.repeat((first, last, 1), vec![], |e, strip, _| {
            let (rest, col) = e.div_rem(strip, cols)?;
            let (rest, row) = e.div_rem(rest, rows)?;
            let (rest, plane) = e.div_rem(rest, spec.planes)?;
            let (batch, group) = e.div_rem(rest, spec.groups)?;
            let known = |count: i64, ix: Ix<'c>| if count == 1 { Ix::Const(0) } else { ix };
            let (batch, group) = (known(spec.batch, batch), known(spec.groups, group));
            let plane = known(spec.planes, plane);
            let rows = range(e, row, (rows, blocking.task.rows, spec.rows))?;
            let cols = range(e, col, (cols, blocking.task.cols, counts.1))?;
            if let Some(strip) = self.strip {
                strip.fill(e, self.kernel.buffers.x, Seen { batch, group, plane, rows })?;
            }
            let before = e.mul(strip, -channels)?;
            let tasks = (e.max(e.add(lo, before)?, 0)?, e.min(e.add(hi, before)?, channels)?);
            let zero = Ix::Const(0);
            let place =
                Place { batch, group, channel: zero, within: zero, plane, row: zero, col: zero };
            e.repeat((tasks.0, tasks.1, 1), vec![], |e, task, _| {
                let blocks = range(e, task, (channels, blocking.task.channels, counts.0))?;
                self.kernel.channel_blocks(e, blocks, |e, channels, within| {
                    let channel = e.add(e.mul(group, spec.channels)?, within)?;
                    self.rows(e, channels, (rows, cols), Place { channel, within, ..place })
                })?;
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// The rows and columns of a task for a block of channels.
    fn rows(
        &self,
        e: &Emitter<'c>,
        channels: &ChannelTiles,
        (rows, cols): ((Ix<'c>, Ix<'c>), (Ix<'c>, Ix<'c>)),
        place: Place<'c>,
    ) -> Result<()> {
        let (spec, together) = (self.kernel.spec, self.amx.rows);
        let groups = |e: &Emitter<'c>, count: i64, (lo, hi): (Ix<'c>, Ix<'c>)| {
            if count == 0 {
                return Ok(());
            }
            e.repeat((lo, hi, count), vec![], |e, row, _| {
                let place = Place { row, ..place };
                self.cols(e, (channels, count), (rows.0, cols), place)?;
                Ok(vec![])
            })?;
            Ok::<_, crate::Error>(())
        };
        let whole = if spec.rows % together == 0 {
            rows.1
        } else {
            let count = e.add(rows.1, e.mul(rows.0, -1)?)?;
            let (_, left) = e.div_rem(count, together)?;
            e.add(rows.1, e.mul(left, -1)?)?
        };
        groups(e, together, (rows.0, whole))?;
        // The last rows of all.
        groups(e, spec.rows % together, (whole, rows.1))
    }

    /// The tiles of some rows.
    fn cols(
        &self,
        e: &Emitter<'c>,
        (channels, rows): (&ChannelTiles, i64),
        (first, range): (Ix<'c>, (Ix<'c>, Ix<'c>)),
        place: Place<'c>,
    ) -> Result<()> {
        let mut blocks_before = 0;
        for points in &self.kernel.blocking.cols {
            let PointTiles { count, size, start } = *points;
            let run = Run { count, size, blocks_before, start };
            repeat_run(e, &run, range, |e, col| {
                let block = Block { points, channels, rows };
                self.block(e, block, first, Place { col, ..place })
            })?;
            blocks_before += count;
        }
        Ok(())
    }

    /// One tile; `first` is the first row of the task.
    fn block(
        &self,
        e: &Emitter<'c>,
        block: Block<'_>,
        first: Ix<'c>,
        place: Place<'c>,
    ) -> Result<()> {
        let window = &self.kernel.spec.window;
        for sums in 0..self.registers(block) {
            registers::zero(e, sums)?;
        }
        let (steps, x) = self.image(e, first, place)?;
        let grouping = &self.kernel.grouping;
        let (lanes, parts) = (block.channels.lanes() * self.amx.bytes, self.amx.parts as i64);
        let w = self.kernel.packed_weights(e, block.channels, place)?;
        let w = e.add(self.weights, e.mul(w, parts * self.amx.bytes)?)?;
        let part = grouping.padded(self.kernel.spec.reduction()) * lanes;
        // Where runs are whole rows of taps, there is one for each row.
        let taps = window.kernel[COL] * self.kernel.spec.depth / self.amx.run;
        let run = grouping.padded(self.amx.run) * lanes;
        let next = |e: &Emitter<'c>, (x, w): (Ix<'c>, Ix<'c>), tap, (dx, dw): (i64, i64)| {
            Ok::<_, crate::Error>((e.add(e.mul(tap, dx)?, x)?, e.add(e.mul(tap, dw)?, w)?))
        };
        let over = |axis, step| (window.dilation[axis] * step, run * taps);
        let planes = window.taps_inside(e, PLANE, (place.plane, self.kernel.spec.planes))?;
        e.repeat((Ix::Const(0), Ix::Const(parts), 1), vec![], |e, index, _| {
            let at = next(e, (x, w), index, (0, part))?;
            e.repeat((planes.0, planes.1, 1), vec![], |e, tap, _| {
                let (dx, dw) = over(PLANE, steps.view.plane);
                // The copy has a plane for each tap.
                let dx = if self.strip.is_some() { steps.view.plane } else { dx };
                let at = next(e, at, tap, (dx, dw * window.kernel[ROW]))?;
                e.repeat((Ix::Const(0), Ix::Const(window.kernel[ROW]), 1), vec![], |e, tap, _| {
                    let at = next(e, at, tap, over(ROW, steps.view.row))?;
                    e.repeat((Ix::Const(0), Ix::Const(taps), 1), vec![], |e, tap, _| {
                        let (dx, _) = over(COL, steps.view.col);
                        let at = next(e, at, tap, (dx, run))?;
                        self.run(e, block, &steps, at)?;
                        Ok(vec![])
                    })
                })
            })
        })?;
        self.finish(e, block, place)
    }

    /// Registers that hold the sums of a tile.
    fn registers(&self, block: Block<'_>) -> i64 {
        let across = self.amx.starts(block.points).len();
        block.rows * (across * block.channels.widths.len()) as i64
    }

    /// The address of the image at the first tap of a tile.
    fn image(&self, e: &Emitter<'c>, first: Ix<'c>, place: Place<'c>) -> Result<(Steps, Ix<'c>)> {
        let spec = self.kernel.spec;
        let stride = spec.window.stride;
        let steps = |view: &View| {
            let view = view.in_bytes(self.amx.bytes);
            Steps { view, row: stride[ROW] * view.row, col: stride[COL] * view.col }
        };
        if let Some(strip) = self.strip {
            let steps = steps(&strip.view);
            let row = e.add(place.row, e.mul(first, -1)?)?;
            let at = e.sum(0, &[(row, steps.row), (place.col, steps.col)])?;
            return Ok((steps, e.add(self.image, at)?));
        }
        let steps = steps(&spec.x);
        let view = &steps.view;
        let at = e.sum(
            spec.window.corner(view),
            &[
                (place.batch, view.batch),
                (place.plane, stride[PLANE] * view.plane),
                (place.row, steps.row),
                (place.col, steps.col),
                (place.group, spec.depth * self.amx.bytes),
            ],
        )?;
        Ok((steps, e.add(self.image, at)?))
    }

    /// The products of a run.
    fn run(
        &self,
        e: &Emitter<'c>,
        block: Block<'_>,
        steps: &Steps,
        (x, w): (Ix<'c>, Ix<'c>),
    ) -> Result<()> {
        let Amx { chunk, rest, .. } = *self.amx;
        let lanes = block.channels.lanes();
        let chunks = self.amx.whole_chunks();
        let at = |e: &Emitter<'c>, from: Ix<'c>, more: i64| {
            let from = e.add(from, Ix::Const(more))?;
            Ok::<_, crate::Error>((e.add(from, x)?, e.add(e.mul(from, lanes)?, w)?))
        };
        let unroll = (1..=UNROLL).rev().find(|unroll| chunks % unroll == 0).unwrap_or(1);
        let bounds = (Ix::Const(0), Ix::Const(chunks * chunk), unroll * chunk);
        e.repeat(bounds, vec![], |e, from, _| {
            for i in 0..unroll {
                self.chunk(e, block, steps, (at(e, from, i * chunk)?, false))?;
            }
            Ok(vec![])
        })?;
        if rest > 0 {
            self.chunk(e, block, steps, (at(e, Ix::Const(chunks * chunk), 0)?, true))?;
        }
        Ok(())
    }

    /// The products of a chunk of a run, or of its rest.
    fn chunk(
        &self,
        e: &Emitter<'c>,
        block: Block<'_>,
        steps: &Steps,
        ((x, w), rest): ((Ix<'c>, Ix<'c>), bool),
    ) -> Result<()> {
        let operands = Operands::of(rest);
        let image = self.kernel.spec.types.image;
        let starts = self.amx.starts(block.points);
        let vectors = block.channels.widths.len() as i64;
        let registers = block.rows * starts.len() as i64;
        // Registers are renamed, so that loads wait for no product.
        for vector in 0..vectors {
            let from = e.add(w, Ix::Const(vector * ROWS * 4))?;
            registers::load(e, operands.weights, from, block.channels.lanes() * 4)?;
            self.prefetch(e, block, (from, rest))?;
            for register in 0..registers {
                if registers > 1 || vector == 0 {
                    let (row, i) = (register / starts.len() as i64, register % starts.len() as i64);
                    let from = row * steps.row + starts[i as usize] * steps.col;
                    let from = e.add(x, Ix::Const(from))?;
                    registers::load(e, operands.image, from, steps.col)?;
                }
                registers::multiply_add(e, register * vectors + vector, operands, image)?;
            }
        }
        Ok(())
    }

    /// Brings in weights that are used a little later, if there are so many that they cannot stay in a cache.
    fn prefetch(
        &self,
        e: &Emitter<'c>,
        block: Block<'_>,
        (from, rest): (Ix<'c>, bool),
    ) -> Result<()> {
        let spec = self.kernel.spec;
        if spec.bytes_of_weights() < MANY_WEIGHTS {
            return Ok(());
        }
        let (row, bytes) =
            (block.channels.lanes() * 4, if rest { self.amx.rest } else { self.amx.chunk });
        for line in 0..bytes / 4 {
            registers::prefetch(e, e.add(from, Ix::Const(AHEAD + line * row))?)?;
        }
        Ok(())
    }

    /// Stores the sums of a tile, and does what comes after them.
    fn finish(&self, e: &Emitter<'c>, block: Block<'_>, place: Place<'c>) -> Result<()> {
        let (lanes, size) = (block.channels.lanes(), block.points.size);
        let starts = self.amx.starts(block.points);
        let vectors = block.channels.widths.len() as i64;
        // Points before the tile.
        let before = (self.amx.points - size).max(0);
        let row = (before + size) * lanes;
        for register in 0..self.registers(block) {
            let (point, vector) = (register / vectors, register % vectors);
            let (line, i) = (point / starts.len() as i64, point % starts.len() as i64);
            let first = line * row + (before + starts[i as usize]) * lanes + vector * ROWS;
            let to = e.add(self.sums_at, Ix::Const(first * 4))?;
            registers::store(e, register, to, lanes * 4)?;
        }
        let by = if self.kernel.epilogue.is_large() { 1 } else { TOGETHER.min(size) };
        let whole = size - size % by;
        e.repeat((Ix::Const(0), Ix::Const(block.rows), 1), vec![], |e, line, _| {
            let from = e.add(e.mul(line, row)?, Ix::Const(before * lanes))?;
            let place = Place { row: e.add(place.row, line)?, ..place };
            let points = |e: &Emitter<'c>, point, count: i64| {
                let from = e.add(e.mul(point, lanes)?, from)?;
                let place = Place { col: e.add(place.col, point)?, ..place };
                self.points(e, block.channels, (from, count), place)
            };
            e.repeat((Ix::Const(0), Ix::Const(whole), by), vec![], |e, point, _| {
                points(e, point, by)?;
                Ok(vec![])
            })?;
            if whole < size {
                points(e, Ix::Const(whole), size - whole)?;
            }
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Finishes some points whose products lie in memory: adds their initial sums, and applies the
    /// epilogue.
    fn points(
        &self,
        e: &Emitter<'c>,
        channels: &ChannelTiles,
        (from, count): (Ix<'c>, i64),
        place: Place<'c>,
    ) -> Result<()> {
        let points = PointTiles { count: 1, size: count, start: 0 };
        let tile = Tile { points: &points, channels, widths: &channels.widths };
        let mut sums = self.kernel.starts(e, tile, place)?;
        for (i, sum) in sums.iter_mut().enumerate() {
            let at = e.add(from, Ix::Const(i as i64 * ROWS))?;
            let products = e.load(self.sums, at, Width::full(ROWS))?;
            let add = if self.amx.bytes == 1 { "arith.addi" } else { "arith.addf" };
            *sum = e.builder.binary(add, *sum, products)?;
        }
        self.kernel.finish(e, tile, place, &sums)
    }
}
