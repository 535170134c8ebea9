//! Chooses how to cut a contraction: a small cost model, whose unit is one vector multiply-add.
//!
//! The constants come from measurements (`cargo bench --bench kernels`). They need not be exact:
//! the choices that lose much are tiles that spill, that leave most of a vector empty, or whose
//! points fall into the same cache sets.

use super::{
    Arithmetic, Contraction, Isa, Section, Weights,
    tiling::{
        Blocking, ChannelTiles, Order, PointTiles, TaskSize, ceil_div, split_channels, split_points,
    },
    window::{AXES, COL},
};

/// Multiply-adds that fit in the latency of one, times those started per cycle.
const LATENCY: f64 = 8.0;
/// Weights of a channel block up to this size stay in the first level cache of a machine with AVX-512.
pub(super) const L1_BYTES: i64 = 24 << 10;
/// Tasks that a kernel should have at least, to share them out evenly.
pub(super) const MIN_TASKS: i64 = 16;

/// Bytes of the weights of a channel block that stay in the first and in the second level cache. Machines with shorter
/// vectors have smaller ones: 32 KiB and 256 to 512 KiB, not 48 KiB and 1 to 2 MiB.
fn caches(isa: Isa) -> [i64; 2] {
    if isa.lanes == Isa::WIDEST.lanes { [L1_BYTES, 640 << 10] } else { [16 << 10, 320 << 10] }
}

/// Register tiles, and what they cost.
#[derive(Default)]
pub(super) struct Tiling {
    pub cost: f64,
    pub cols: Vec<PointTiles>,
    pub channels: Vec<ChannelTiles>,
}

impl Tiling {
    /// The first of the cheapest.
    fn best(tilings: impl Iterator<Item = Self>) -> Option<Self> {
        tilings.reduce(|best, other| if other.cost < best.cost { other } else { best })
    }
}

impl Contraction {
    /// Chooses register tiles, task order and task sizes.
    pub fn blocking(&self, isa: Isa) -> Blocking {
        if let Some(amx) = &self.amx {
            return amx.blocking(self);
        }
        let Tiling { cols, channels, .. } = self.vector_tiling(isa);
        self.with_tasks(cols, channels, isa)
    }

    /// The best register tiles of vectors, with their cost.
    pub(super) fn vector_tiling(&self, isa: Isa) -> Tiling {
        // Channels with fewer taps are better left together with others if they fill no vectors alone.
        let kinds = if self.sections.is_empty() { &[false][..] } else { &[false, true] };
        let tilings = (1..isa.registers / 2).flat_map(|vectors| {
            (1..isa.registers - 2)
                .flat_map(|points| kinds.iter().map(move |kind| (points, *kind)))
                .filter_map(move |size| self.tiling(isa, size, vectors))
        });
        Tiling::best(tilings).unwrap_or_default()
    }

    /// The cost of all that it computes, in vectors.
    pub fn cost_of_vectors(&self, isa: Isa) -> f64 {
        let rows = self.batch * self.groups * self.planes * self.rows;
        self.vector_tiling(isa).cost * rows as f64
    }

    /// The best register tiles of at most so many points, if that many fit in registers.
    pub(super) fn tiling_of(&self, isa: Isa, points: i64) -> Option<Tiling> {
        Tiling::best(
            (1..isa.registers / 2).filter_map(|vectors| self.tiling(isa, (points, false), vectors)),
        )
    }

    /// The register tiles of so many points and vectors, if they fit in registers. Sections of channels are
    /// tiled one by one if that is said.
    fn tiling(&self, isa: Isa, (points, apart): (i64, bool), vectors: i64) -> Option<Tiling> {
        let arithmetic = Arithmetic::of(isa, self.types);
        let operands = vectors + arithmetic.image_registers();
        if points * vectors + operands > isa.registers {
            return None;
        }
        let inside = |start, count| self.window.columns_inside(start, count);
        let cols = split_points(self.cols, points, inside);
        let (lanes, least) = (isa.lanes_of(self.types.sum), arithmetic.least_lanes());
        let all = [Section { channels: self.channels, skip: [0; AXES] }];
        let sections = if apart { &self.sections[..] } else { &all };
        let split = |section: &Section| {
            let tiles = split_channels(section.channels, lanes, vectors, least);
            let skip = section.skip;
            tiles.into_iter().map(move |tiles| ChannelTiles { skip, ..tiles })
        };
        let channels: Vec<_> = sections.iter().flat_map(split).collect();
        let cost = self.cost(&cols, &channels, isa);
        Some(Tiling { cost, cols, channels })
    }

    /// Cost of one row of points for all channels of a group.
    fn cost(&self, cols: &[PointTiles], channels: &[ChannelTiles], isa: Isa) -> f64 {
        let grouping = self.grouping(isa);
        let arithmetic = grouping.arithmetic;
        let [first, second] = caches(isa);
        let instructions = arithmetic.instructions() as f64;
        // Steps of several elements end with their run, however few are left.
        let filled = grouping.padded(self.reduction()) as f64 / self.reduction().max(1) as f64;
        let group = arithmetic.group();
        let ends = if grouping.run % group == 0 {
            0.0
        } else {
            1.0 / ceil_div(grouping.run, group) as f64
        };
        let mut cost = 0.0;
        let mut code = 0.0;
        for points in cols {
            for block in channels {
                let (p, n) = (points.size as f64, block.widths.len() as f64);
                let steps = self.live(block.skip) as f64 * filled / arithmetic.group() as f64;
                let panel = self.reduction() * block.width() * self.weights_bytes(arithmetic);
                let from_l2 = if panel > first { 4.0 * n } else { 0.0 };
                let spread = if panel > second { 8.0 * n } else { 0.0 };
                let step = (p * n * instructions).max(p + n).max(LATENCY).max(from_l2).max(spread)
                    + 0.05 * (p + 2.0 * n)
                    + ends * p;
                let tile = step * steps + 2.0 * p * n + 24.0;
                let sets = if self.conflicts(points.size) { 1.3 } else { 1.0 };
                cost += tile * sets * (points.count * block.count) as f64;
                code += p * n;
            }
        }
        // Large code costs compile time, and cache.
        cost * (1.0 + 0.0005 * code)
    }

    /// Tests for cache conflicts between neighbouring points of a tile. The first level has 64 sets
    /// of 8 lines.
    fn conflicts(&self, points: i64) -> bool {
        let step = self.window.stride[COL] * self.x.col * self.types.image.bytes();
        if step % 64 != 0 {
            return false;
        }
        let distinct = 64 / gcd(step / 64, 64);
        ceil_div(points, distinct) > 8
    }

    fn weights_bytes(&self, arithmetic: Arithmetic) -> i64 {
        self.packed(arithmetic).bytes()
    }

    pub(super) fn with_tasks(
        &self,
        cols: Vec<PointTiles>,
        channels: Vec<ChannelTiles>,
        isa: Isa,
    ) -> Blocking {
        let arithmetic = self.grouping(isa).arithmetic;
        let [_, cache] = caches(isa);
        let weights = self.reduction() * self.channels * self.weights_bytes(arithmetic);
        let pixels: i64 = self.window.input.iter().product();
        let rows = self.planes * self.rows;
        let input = pixels * self.x.col * self.types.image.bytes();
        let small = channels.iter().map(|block| block.widths.len()).max().unwrap_or(1) as i64
            * cols.iter().map(|tiles| tiles.size).max().unwrap_or(1);
        let depth = match self.weights {
            Weights::Packed => self.depth / arithmetic.group(),
            Weights::Rows(_) => 1,
        };
        let unroll = [4, 3, 2].into_iter().find(|u| depth % u == 0 && small * u <= 24).unwrap_or(1);
        let mut blocking = Blocking {
            rows,
            cols,
            channels,
            order: Order::ChannelsOuter,
            task: TaskSize { channels: 1, rows, cols: 1 },
            unroll,
        };
        let (blocks, tiles) = blocking.counts();
        blocking.task.cols = tiles;
        if weights <= cache / 2 && input > cache && self.batch * rows * tiles >= 64 {
            let strips = if rows == 1 { tiles.min(8) } else { tiles };
            blocking.order = Order::PointsOuter;
            blocking.task = TaskSize { channels: blocks, rows: 1, cols: strips };
            return blocking;
        }
        let parts = ceil_div(MIN_TASKS, self.batch * self.groups * blocks);
        if rows >= parts {
            blocking.task.rows = ceil_div(rows, parts);
        } else {
            blocking.task.cols = ceil_div(tiles, parts);
        }
        blocking
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
