//! The kernel of pools on images with their channels first.
//!
//! Vectors lie along the columns. For each row of the output, windows are folded downwards first,
//! which gives a row of scratch memory. They are then folded along that row, where strided columns
//! are shuffled together: a window of 7 by 7 takes 14 steps. Sums of columns first are rounded
//! differently than those of loops, but are no worse. At the ends of a scratch row is what changes
//! no fold, so that columns at the edges need no code of their own.

mod columns;
mod rows;
mod sums;

use self::rows::Kernel;
use super::{
    Buffer, Element, Emitter, Epilogue, Fold, HostKernel, Isa, Ix, Kind, Types, View, Window,
    choose::MIN_TASKS,
    emit::{argument_types, function},
    program::Program,
    tiling::{PointTiles, ceil_div, split_points},
    window::{AXES, COL, PLANE, ROW},
};
use crate::{
    Result,
    ir::{Builder, graph, view::OpView},
};

/// Pools that stayed on images with their channels first.
pub const KIND: Kind = Kind {
    anchor: |op| match () {
        () if graph::MaxPool::is(op) => Some("max_pool"),
        () if graph::AveragePool::is(op) => Some("average_pool"),
        () => None,
    },
    images: true,
    recognize: |scope, op| scope.planar_pool(op),
};

/// Bytes of a scratch row that a tile should have at most.
const SCRATCH_BYTES: i64 = 8 << 10;
/// Scratch rows that are filled before the first of them is read, at most.
const MAX_TOGETHER: i64 = 8;
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
    /// Reduction of a window.
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

/// Tiling of a pool.
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
    /// Scratch rows.
    pub together: i64,
}

impl HostKernel for Planar {
    fn types(&self) -> Types {
        Types::uniform(self.element)
    }

    fn operands(&mut self) -> &mut Vec<View> {
        &mut self.operands
    }

    fn output(&mut self) -> Option<&mut View> {
        Some(&mut self.y)
    }

    fn stores_any(&self) -> bool {
        true
    }

    fn key(&self, isa: Isa) -> String {
        format!("Planar({self:?}, {:?})", self.blocking(isa))
    }

    /// Operations of the folds, with taps beside the input.
    fn flops(&self) -> i64 {
        self.batch * self.channels * self.grid.iter().product::<i64>() * self.window.taps()
    }

    fn rate(&self, isa: Isa) -> f64 {
        2.0 * isa.lanes as f64
    }

    /// Parts of planes of the output.
    fn tasks(&self, isa: Isa) -> i64 {
        let parts = self.parts(&self.blocking(isa));
        self.batch * self.channels * self.grid[PLANE] * parts
    }

    fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        epilogue: &Program<'c>,
    ) -> Result<()> {
        let blocking = &self.blocking(isa);
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (mut flat, y, bounds) = e.buffers(arguments, buffers.len())?;
            let operands = flat.split_off(1);
            let row = |e: &Emitter<'c>| e.scratch(self.pitch(blocking), self.element);
            let kernel = Kernel {
                spec: self,
                blocking,
                x: flat[0],
                row: e.scratch(blocking.together * self.pitch(blocking), self.element)?,
                sums: if self.sums_apart() { Some(row(e)?) } else { None },
                counts: if self.counts() { Some((row(e)?, row(e)?)) } else { None },
                operands,
                y,
                epilogue: epilogue as &dyn Epilogue<'c>,
            };
            kernel.begin(e)?;
            e.repeat((Ix::Value(bounds[0]), Ix::Value(bounds[1]), 1), vec![], |e, task, _| {
                kernel.task(e, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}

impl Planar {
    fn parts(&self, blocking: &PlanarBlocking) -> i64 {
        ceil_div(self.grid[ROW], blocking.rows)
    }

    /// True if the kernel is better than loops, and its scratch memory small.
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
        let images = self.batch * self.channels * self.grid[PLANE];
        let parts = ceil_div(MIN_TASKS, images.max(1)).min(self.grid[ROW]).max(1);
        let mut blocking = PlanarBlocking {
            cols: self.tiles(points),
            rows: ceil_div(self.grid[ROW], parts).max(1),
            lanes,
            vectors: if isa.registers >= 32 { 8 } else { 4 },
            together: 1,
        };
        if !self.sums_apart() {
            let fitting = SCRATCH_BYTES / (self.pitch(&blocking) * self.element.bytes());
            blocking.together = fitting.clamp(1, MAX_TOGETHER).min(blocking.rows);
        }
        blocking
    }

    /// Tiles of so many points along a row. If sums are made of the input itself, columns whose
    /// windows reach beyond the input have tiles of their own.
    fn tiles(&self, points: i64) -> Vec<PointTiles> {
        let cols = self.grid[COL];
        let inside = |start, count| self.window.columns_inside(start, count);
        let first = match self.window.columns_inside_any(cols) {
            Some(first) if self.sums_apart() => first,
            _ => return split_points(cols, points, inside),
        };
        let end = (first..cols).find(|col| !inside(*col, 1)).unwrap_or(cols);
        let edge = |from: i64, to: i64| {
            let tiles = split_points(to - from, points, |_, _| false);
            tiles.into_iter().map(move |tile| PointTiles { start: from + tile.start, ..tile })
        };
        let between = split_points(end - first, points, |_, _| true);
        let between =
            between.into_iter().map(|tile| PointTiles { start: first + tile.start, ..tile });
        edge(0, first).chain(between).chain(edge(end, cols)).collect()
    }

    /// True if sums are made of the input itself: windows of one row have nothing to fold
    /// downwards.
    fn sums_apart(&self) -> bool {
        self.fold != Fold::Max && self.window.kernel[PLANE] * self.window.kernel[ROW] == 1
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

    /// Elements from a scratch row to the next one, which begins with a whole vector.
    fn pitch(&self, blocking: &PlanarBlocking) -> i64 {
        ceil_div(self.scratch(blocking), blocking.lanes) * blocking.lanes
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

    /// True if means at the ends of rows are of fewer columns.
    fn counts(&self) -> bool {
        self.fold == Fold::Mean && self.window.clips(COL, self.grid[COL])
    }
}
