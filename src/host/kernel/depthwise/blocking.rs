//! Tiling of a depthwise operation: tiles of a row, blocks of channels and tasks, and the loops
//! over those.

use super::{Depthwise, Fold};
use crate::{
    Result,
    host::kernel::{
        Emitter, Isa, Ix,
        choose::MIN_TASKS,
        emit::{Run, repeat_run},
        tiling::{ChannelTiles, PointTiles, Width, ceil_div, split_channels, split_points},
    },
};

/// Bytes of a line of the cache.
const LINE: i64 = 64;
/// Bytes of weights that stay in the second level cache from one tile to the next.
const NEAR_BYTES: i64 = 256 << 10;

/// Tiling of a depthwise operation.
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
    pub(super) fn tiles(&self) -> i64 {
        self.cols.iter().map(|tiles| tiles.count).sum()
    }

    /// Tasks of a row.
    pub(super) fn parts(&self) -> i64 {
        ceil_div(self.tiles(), self.task)
    }

    /// Goes through tiles of a row: what they cover, and their first point.
    pub(super) fn for_points<'c>(
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
    pub(super) fn for_channels<'c>(
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

impl Depthwise {
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

    /// True if the weights of all channels are too many for the second level cache.
    pub(super) fn has_many_weights(&self) -> bool {
        let bytes = self.window.taps() * self.channels * self.types.weights.bytes();
        self.fold == Fold::Weighted && bytes > NEAR_BYTES
    }
}
