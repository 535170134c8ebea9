//! Contractions of bytes or of 16-bit floats in AMX's registers, each of which holds a matrix of up to 16 rows of 64 bytes.
//!
//! A register of the image has a row for each of some neighbouring output points: bytes that lie next to each
//! other wherever the window is. One of weights has sixteen channels, in the order in which VNNI reads them: four bytes
//! of each, or two floats. Their product
//! is added to the sums of these points and channels, which leave through memory for the epilogue.
//!
//! Windows may reach beyond the rows or columns of the input. A task then first copies the rows
//! that it reads, with zeros around them (`strip.rs`). All windows of the copy are alike, and taps
//! of a row often follow each other.

mod emit;
mod registers;
mod strip;
mod weights;

use self::registers::REGISTERS;
use super::{Contraction, View, Weights};
use crate::host::kernel::{
    Arithmetic, Blocking, Element, Halves, Isa, Order, PointTiles, TaskSize, Types,
    choose::{L1_BYTES, MIN_TASKS},
    split_channels,
    tiling::{ChannelTiles, ceil_div},
    weights::Grouping,
    window::{COL, PLANE, ROW},
};

/// Rows of a register, at most, and lanes of its rows of sums.
const ROWS: i64 = 16;
/// Bytes of a row.
const ROW_BYTES: i64 = 64;
/// Cycles of a product for each row of the image, and the fewest of one; a cycle has two vector multiply-adds, the unit
/// of costs.
const LEAST_ROWS: i64 = 8;
/// The unit of costs per cycle.
const PER_CYCLE: f64 = 2.0;
/// Cycles until a product can be added to.
const LATENCY: f64 = 52.0;
/// Cycles that a register of weights or of the image takes from the second level cache.
const FROM_L2: f64 = 24.0;
/// Bytes that the copied rows of a task have, to stay in the first level cache, and at most: they lie on the stack.
const STRIP_BYTES: i64 = 40 << 10;
const MOST_STRIP_BYTES: i64 = 256 << 10;
/// Bytes of the image that a task sees, if they are not copied.
const IMAGE_BYTES: i64 = 128 << 10;

/// Bytes of weights from which on they wait for memory: each is to be read by one task only, and fetched early.
const MANY_WEIGHTS: i64 = 256 << 10;

/// Tiling of a contraction for AMX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amx {
    /// Points in a register.
    points: i64,
    /// Registers of neighbouring points that are computed together.
    across: i64,
    /// Rows of the output that are computed together.
    rows: i64,
    /// Vectors of channels that are computed together.
    vectors: i64,
    /// Bytes of an element.
    bytes: i64,
    /// Elements that lie next to each other wherever the window is.
    run: i64,
    /// Bytes of a run that a register takes.
    chunk: i64,
    /// Bytes of a run after all whole chunks.
    rest: i64,
    /// True if tasks copy the part of the image that they read.
    copies: bool,
    /// Elements that a weight is the sum of.
    parts: usize,
}

impl Contraction {
    /// AMX tiling of the contraction with these weights, if the machine has AMX, the contraction
    /// fits it, and it is faster than vectors.
    pub fn amx(&self, isa: Isa, weights: &[i16]) -> Option<Amx> {
        let bytes = isa.amx && self.types.image.is_byte() && self.types.sum == Element::I32;
        let (amx, cost) = self.best_amx(weights::parts(weights).filter(|_| bytes)?)?;
        let vectors = self.vector_tiling(isa).cost * self.rows as f64;
        (cost * 1.1 < vectors).then_some(amx)
    }

    /// The same for one of 16-bit floats, with its cost for a plane of points and the channels of a group.
    pub fn amx_of_halves(&self, isa: Isa) -> Option<(Amx, f64)> {
        let fits = isa.halves == Halves::Matrices && self.types == Types::HALVES;
        let (amx, cost) = self.best_amx(Some(1).filter(|_| fits)?)?;
        Some((amx, cost * 1.1))
    }

    fn best_amx(&self, parts: usize) -> Option<(Amx, f64)> {
        let fits = self.weights == Weights::Packed
            && !self.has_matrices()
            && self.scales.is_none()
            && self.x.channel == 1;
        if !fits {
            return None;
        }
        let ((run, copies), bytes) = (self.run(), self.types.image.bytes());
        let (chunk, rest) = chunks(run * bytes);
        let registers = ceil_div(self.cols, ROWS);
        let points = ceil_div(self.cols, registers);
        let all = ceil_div(self.channels, ROWS);
        let most = match self.bytes_of_weights() < MANY_WEIGHTS {
            true => all,
            // There is a task for each block.
            false => (all * self.batch * self.groups * self.planes / (MIN_TASKS / 2)).max(1),
        };
        let sizes = (1..=all.min(most).min(3)).flat_map(|vectors| {
            let together = registers_of_sums(rest) / vectors;
            (1..=together.min(registers)).map(move |across| (vectors, across, together / across))
        });
        let candidates = sizes.map(|(vectors, across, rows)| {
            // As many as there may be, but the same number each time.
            let rows = ceil_div(self.rows, ceil_div(self.rows, rows));
            Amx { points, across, rows, vectors, bytes, run, chunk, rest, copies, parts }
        });
        let fits = |amx: &Amx| !copies || amx.strip_bytes(self, amx.rows) <= MOST_STRIP_BYTES;
        let costs = candidates.filter(fits).map(|amx| (amx, amx.cost(self)));
        costs.reduce(|best, other| if other.1 < best.1 { other } else { best })
    }

    fn bytes_of_weights(&self) -> i64 {
        self.groups * self.channels * self.reduction() * self.types.image.bytes()
    }

    /// The elements of the image that lie next to each other wherever the window is, and whether they do so only in a
    /// copy.
    fn run(&self) -> (i64, bool) {
        let window = &self.window;
        let (taps, dilation) = (window.kernel[COL], window.dilation[COL]);
        let bytes = self.types.image.bytes();
        let joined = taps == 1 || dilation * self.x.col == self.depth;
        let joined_in_copy = taps == 1 || dilation == 1;
        let run = |joined: bool| if joined { taps * self.depth } else { self.depth };
        let clips = window.clips(ROW, self.rows) || window.clips(COL, self.cols);
        // Registers take words, and behind the last one nothing need be.
        let copies = clips
            || run(joined) * bytes % 4 != 0
            || joined_in_copy && !joined && self.depth * bytes % ROW_BYTES != 0;
        (run(if copies { joined_in_copy } else { joined }), copies)
    }
}

/// Bytes of a run that registers take at once, and the rest: as few registers as possible, equal ones if so few can be.
fn chunks(run: i64) -> (i64, i64) {
    let words = ceil_div(run, 4);
    let count = ceil_div(words * 4, ROW_BYTES);
    match words % count {
        0 => (words / count * 4, 0),
        _ => (ROW_BYTES, words * 4 % ROW_BYTES),
    }
}

/// Registers for sums: the others hold the image and weights, of whole chunks and of rests.
fn registers_of_sums(rest: i64) -> i64 {
    if rest == 0 { REGISTERS - 2 } else { REGISTERS - 4 }
}

impl Amx {
    /// Register tiles, order and sizes of tasks.
    pub fn blocking(&self, spec: &Contraction) -> Blocking {
        let channels = self.channels(spec);
        let mut blocking = Blocking {
            rows: spec.planes * spec.rows,
            cols: self.cols(spec),
            channels,
            order: Order::PointsOuter,
            task: TaskSize { channels: 1, rows: spec.rows, cols: 1 },
            unroll: 1,
        };
        let (blocks, tiles) = blocking.counts();
        let (strips, image) = Self::strips(spec, blocks);
        let pixels = self.points * self.across * spec.x.col * self.bytes;
        blocking.task.cols = tiles;
        if spec.rows == 1 && !self.copies {
            let most = (image / pixels.max(1)).clamp(1, tiles);
            blocking.task.cols = most.min(ceil_div(tiles, strips));
        }
        blocking.task.rows = self.task_rows(spec, blocks);
        let others = spec.batch * spec.groups * spec.planes;
        if others * ceil_div(spec.rows, blocking.task.rows) >= 4 * MIN_TASKS {
            // Enough tasks without those of channels.
            blocking.task.channels = blocks;
        }
        blocking
    }

    /// Desired number of tasks for a plane and a block of channels, and bytes of the image that one
    /// may read.
    fn strips(spec: &Contraction, blocks: i64) -> (i64, i64) {
        if spec.bytes_of_weights() >= MANY_WEIGHTS {
            return (1, 4 * IMAGE_BYTES);
        }
        let others = spec.batch * spec.groups * spec.planes;
        (ceil_div(MIN_TASKS, others * blocks), IMAGE_BYTES)
    }

    /// Rows of a task: whole groups of rows, as many as fit, or fewer for the sake of tasks.
    fn task_rows(&self, spec: &Contraction, blocks: i64) -> i64 {
        let (strips, image) = Self::strips(spec, blocks);
        let fits = |rows: i64| match self.copies {
            true => self.strip_bytes(spec, rows) <= STRIP_BYTES,
            false => rows * spec.cols * spec.x.col * self.bytes <= image,
        };
        let groups = ceil_div(spec.rows, self.rows);
        let most = ceil_div(groups, strips);
        let most = (1..=most).rev().find(|groups| fits(groups * self.rows)).unwrap_or(1);
        ceil_div(groups, ceil_div(groups, most)) * self.rows
    }

    /// Number of tasks along channels, tiles of columns and rows of a plane.
    pub fn tasks(&self, spec: &Contraction, blocking: &Blocking) -> [i64; 3] {
        let ((blocks, tiles), task) = (blocking.counts(), blocking.task);
        let rows = ceil_div(spec.rows, task.rows);
        [ceil_div(blocks, task.channels), ceil_div(tiles, task.cols), rows]
    }

    /// Order of a reduction's elements in packed weights.
    pub fn grouping(&self) -> Grouping {
        Grouping { run: self.run, arithmetic: self.arithmetic() }
    }

    fn arithmetic(&self) -> Arithmetic {
        if self.bytes == 1 { Arithmetic::Tiles } else { Arithmetic::HalfTiles }
    }

    /// Whole chunks of a run.
    fn whole_chunks(&self) -> i64 {
        ceil_div(self.run * self.bytes, 4) * 4 / self.chunk
    }

    fn channels(&self, spec: &Contraction) -> Vec<ChannelTiles> {
        split_channels(spec.channels, ROWS, self.vectors, ROWS)
    }

    fn cols(&self, spec: &Contraction) -> Vec<PointTiles> {
        let size = self.points * self.across;
        let (count, rest) = (spec.cols / size, spec.cols % size);
        let tiles = [
            PointTiles { count, size, start: 0 },
            PointTiles { count: 1, size: rest, start: count * size },
        ];
        tiles.into_iter().filter(|tile| tile.count * tile.size > 0).collect()
    }

    /// Registers that take the points of a tile, and the first point of each, counted from that of the tile. The last
    /// register takes points again where there are too few for all its rows, which may be some before the tile.
    fn starts(&self, points: &PointTiles) -> Vec<i64> {
        let registers = ceil_div(points.size, self.points);
        (0..registers).map(|i| (i * self.points).min(points.size - self.points)).collect()
    }

    /// Cost of the points of a plane, for all channels of a group.
    fn cost(&self, spec: &Contraction) -> f64 {
        let window = &spec.window;
        let runs = spec.reduction() / self.run;
        let chunks =
            (self.parts as i64 * runs * (self.whole_chunks() + i64::from(self.rest > 0))) as f64;
        let (whole, left) = (spec.rows / self.rows, spec.rows % self.rows);
        let mut cost = 0.0;
        for (rows, groups) in [(self.rows, whole), (left, i64::from(left > 0))] {
            for points in self.cols(spec) {
                for block in self.channels(spec) {
                    let n = block.widths.len() as i64;
                    let registers = rows * ceil_div(points.size, self.points);
                    let products = (registers * n * self.points.max(LEAST_ROWS)) as f64;
                    let panel = spec.reduction() * block.lanes() * self.bytes;
                    let strip = if self.copies { self.strip_bytes(spec, rows) } else { 0 };
                    let far =
                        i64::from(panel > L1_BYTES) + i64::from(strip > STRIP_BYTES) * registers;
                    let step = products.max(LATENCY).max(FROM_L2 * (far * n) as f64);
                    let tile = step * chunks + (3 * rows * points.size * n) as f64 + 100.0;
                    cost += tile * (groups * points.count * block.count) as f64;
                }
            }
        }
        if self.copies {
            let blocks = self.channels(spec).iter().map(|block| block.count).sum();
            let task = self.task_rows(spec, blocks);
            let view = self.strip_view(spec, task);
            let rows = view.plane / view.row * ceil_div(spec.rows, task) * window.kernel[PLANE];
            let bytes = (view.row * self.bytes) as f64;
            cost += rows as f64 * (bytes / ROW_BYTES as f64 * 2.0 + 20.0);
        }
        cost * PER_CYCLE
    }

    /// The copy of what the windows of some rows see: planes of taps, rows and columns of the input, and those beside
    /// it.
    fn strip_view(&self, spec: &Contraction, rows: i64) -> View {
        let window = &spec.window;
        let span = |axis: usize, points: i64| {
            (points - 1) * window.stride[axis]
                + (window.kernel[axis] - 1) * window.dilation[axis]
                + 1
        };
        let row = span(COL, spec.cols) * spec.depth;
        let plane = span(ROW, rows) * row;
        View { plane, row, col: spec.depth, channel: 1, ..View::default() }
    }

    /// Bytes of the copy for so many rows of the output. The last register reads beyond it.
    fn strip_bytes(&self, spec: &Contraction, rows: i64) -> i64 {
        self.strip_view(spec, rows).plane * spec.window.kernel[PLANE] * self.bytes + ROW_BYTES
    }
}

impl Contraction {
    /// Arithmetic of the reduction steps.
    pub fn arithmetic(&self, isa: Isa) -> Arithmetic {
        match self.amx {
            Some(amx) => amx.arithmetic(),
            None => Arithmetic::of(isa, self.types),
        }
    }
}
