//! Convolutions of neighbouring points by Winograd's algorithm: fewer products, of tiles of the image.
//!
//! A tile of the input of `m + r - 1` points along each axis gives `m` results of a window of `r`
//! taps. It takes as many products per channel as it has points: 36 instead of 144 for 4 x 4
//! results and 3 x 3 taps. The products of all channels are a matrix product for each point of a
//! tile. A block of tiles goes through all of it before the next, so that intermediate results stay
//! in the second level cache. Its input is transformed. For each block of channels the products are
//! made, transformed back, and stored as elsewhere.
//!
//! Results differ from sums tap by tap as those do from each other in another order, about (`transform.rs`). An
//! infinity makes all results of its tiles NaN.
//!
//! Bytes become numbers of 16 bits, whose products are added up in 32 bits, with the maps that have
//! whole factors. Filters are multiplied by a power of two for that, and results divided by it.
//! They are exact: what wraps between is undone, since the results fit.

mod elements;
mod emit;
mod input;
mod output;
mod pack;
#[cfg(test)]
mod tests;
mod tiles;
mod transform;

pub use tiles::Tiles;

use super::{
    Buffer, Contraction, Element, Isa, View, Weights, Window,
    choose::MIN_TASKS,
    tiling::{Blocking, ceil_div},
    window::{AXES, COL, PLANE, ROW},
};
use elements::{has_floats, has_pairs, matrix_step, packing, product_types, row_step};
use transform::{MOST_PRODUCTS, Maps};

/// Results of a tile along an axis that are tried.
const RESULTS: [i64; 5] = [2, 3, 4, 5, 6];
/// Bytes that the tiles of a block may take in between: most of the second level cache is left for weights.
const BLOCK_BYTES: i64 = 448 << 10;
/// Tiles of a block from which on nothing is gained by more.
const MOST_TILES: i64 = 64;
/// Vectors of channels that are computed together, about.
const VECTORS: i64 = 3;
/// Tiles of blocks of integers that have little memory.
const BLOCKS: [i64; 5] = [32, 16, 12, 8, 6];
/// Bytes that filters may take more than before, if that is more than twice as much; packages are not to grow by
/// more.
const GROWTH: i64 = 8 << 20;
/// Bytes of weights that stay near, and in the last level of cache, from one block to the next.
const NEAR_BYTES: i64 = 640 << 10;
const CACHE_BYTES: i64 = 24 << 20;
/// Bytes that come from memory, and from the last level of cache, while a lane of 32 bits does a multiply-add; a vector's
/// is the unit of costs. Of memory this is what the slowest of some machines has: 10 GB/s.
const MEMORY_RATE: f64 = 0.2;
const CACHE_RATE: f64 = 1.0;
/// Units that a load or store of a vector takes, and one that may lie outside of the image.
const ACCESS: f64 = 1.5;
/// The part of its cost at which it is worth having more weights, and larger tiles.
const WORTHWHILE: f64 = 0.85;

/// A convolution that is computed by tiles, with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Winograd {
    /// The convolution.
    pub conv: Contraction,
    /// Results of a tile along each axis; 1 along those that are not tiled.
    results: [i64; AXES],
    /// The products of a block of tiles, a matrix for each point of a tile. Its rows are tiles, and a place's `row` is
    /// where the block lies in the working memory.
    product: Contraction,
    /// Tiling of the products.
    blocking: Blocking,
    /// Tiles of a block.
    tiles: i64,
    /// Blocks of a task.
    blocks: i64,
    /// Parts of the blocks of channels; each is a task of its own.
    parts: i64,
    /// Tasks.
    tasks: i64,
    /// The results are divided by two to this power.
    shift: i64,
}

/// True for a convolution with overlapping windows, constant weights, and elements that tiles have.
fn is_plain(spec: &Contraction, isa: Isa) -> bool {
    let window = &spec.window;
    let ones = [1; AXES];
    (has_floats(spec) || has_pairs(spec, isa))
        && spec.weights == Weights::Packed
        && !spec.has_matrices()
        && spec.x.channel == 1
        && (spec.scales, spec.amx) == (None, None)
        && (window.stride == ones || window.dilation == ones)
        && window.taps() > 1
        && spec.groups * spec.depth >= isa.lanes_of(spec.types.sum)
}

impl Winograd {
    /// The cheapest way to cut a convolution into tiles, if there is one that is worth it. If the results of a tile
    /// along an axis are given, it is taken wherever it is possible.
    pub fn of(spec: &Contraction, isa: Isa, tiles: Tiles) -> Option<Self> {
        let given = tiles.results;
        if given == Some(1) || !is_plain(spec, isa) {
            return None;
        }
        let candidates =
            RESULTS.into_iter().filter(|results| given.is_none_or(|given| given == *results));
        let mut plain = spec.clone();
        if plain.is_widened(isa) {
            plain.types.image = Element::I16;
        }
        let direct = plain.cost_of_vectors(isa)
            + spec.memory_cost(spec.window.taps(), 1.0, (isa, tiles.near));
        let mut best: Option<(f64, Self)> = None;
        for results in candidates {
            let along = |axis: usize| if spec.window.kernel[axis] == 1 { 1 } else { results };
            let results = [along(PLANE), along(ROW), along(COL)];
            let Some(found) = Self::in_memory(spec, isa, results, tiles) else { continue };
            let most = GROWTH.max(spec.bytes_of(spec.window.taps())).min(tiles.room);
            if given.is_none() && found.growth() > most {
                continue;
            }
            let cost = found.cost(isa, tiles);
            let limit = best.as_ref().map_or(direct, |(cost, _)| *cost);
            if cost < WORTHWHILE * limit || given.is_some() {
                best = Some((cost, found));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Tiles of so many results, in blocks that are so small that enough tasks have memory.
    fn in_memory(spec: &Contraction, isa: Isa, results: [i64; AXES], tiles: Tiles) -> Option<Self> {
        let whole = Self::with_results(spec, isa, results, (MOST_TILES, MIN_TASKS))?;
        if spec.types.sum.is_float() || tiles.results.is_some() {
            return Some(whole);
        }
        let sizes = BLOCKS.into_iter().filter(|tiles| *tiles < whole.tiles);
        // Fewer tasks would be too few for machines with many cores.
        let found = std::iter::once(whole.tiles).chain(sizes).flat_map(|tiles| {
            let tasks = [MIN_TASKS, MIN_TASKS / 2].into_iter();
            tasks.filter_map(move |tasks| Self::with_results(spec, isa, results, (tiles, tasks)))
        });
        { found }.find(|found| found.memory().bytes() <= tiles.memory)
    }

    /// The best blocks of at most so many tiles of so many results. There are at most so many tasks
    /// if the working memory of more would be larger than what the convolution reads and writes.
    fn with_results(
        spec: &Contraction,
        isa: Isa,
        results: [i64; AXES],
        (most_tiles, few_tasks): (i64, i64),
    ) -> Option<Self> {
        let maps = maps_of(spec, results)?;
        let shift = match spec.types.sum.is_float() {
            true => 0,
            false => maps.iter().map(Maps::whole).sum::<Option<i64>>()?,
        };
        let tiled = results.iter().filter(|results| **results > 1).count();
        if tiled > 1 && maps.iter().any(|maps| maps.degree > MOST_PRODUCTS) {
            return None;
        }
        let points = maps.map(|maps| maps.positions.len() as i64);
        let grid = spec.grid();
        let all = spec.batch * tile_grid(spec, results).iter().product::<i64>();
        let bytes = spec.types.sum.bytes() * points.iter().product::<i64>();
        let widest = VECTORS * isa.lanes_of(spec.types.sum);
        let types = product_types(spec);
        let step = row_step(spec.groups * spec.depth, types.image) / packing(types);
        let most = (BLOCK_BYTES / (bytes * (step + widest))).clamp(1, most_tiles).min(all);
        // Blocks are shared out evenly.
        let tiles = ceil_div(all, ceil_div(all, most));
        let mut product = product(spec, points, tiles);
        let blocking = product.blocking(isa);
        let widest = blocking.channels.iter().map(|tiles| tiles.lanes()).max().unwrap_or(1);
        product.y.plane = matrix_step(tiles * widest, types.sum);
        product.y.col = widest;
        let (channels, _) = blocking.counts();
        let blocks = ceil_div(all, tiles);
        // Each part transforms the input again, of which groups see but a bit.
        let most = if spec.groups == 1 { ceil_div(channels, 2) } else { 1 };
        let parts = ceil_div(few_tasks, blocks).clamp(1, most.max(1));
        let parts = ceil_div(channels, ceil_div(channels, parts));
        let mut found = Self {
            conv: spec.clone(),
            results,
            product,
            blocking,
            tiles,
            blocks: 1,
            parts,
            tasks: blocks * parts,
            shift,
        };
        // The working memory of all tasks is to be no larger than what the convolution reads and writes.
        let image = spec.window.input.iter().product::<i64>() * spec.depth
            + grid.iter().product::<i64>() * spec.channels;
        let task = found.memory_of_task();
        let most = match types.sum.is_float() {
            true => (spec.batch * spec.groups * image / task).max(few_tasks),
            false => few_tasks,
        };
        found.blocks = ceil_div(blocks, ceil_div(most, parts)).max(1);
        found.tasks = ceil_div(blocks, found.blocks) * parts;
        Some(found)
    }

    /// Bytes that its filters take more than before.
    pub fn growth(&self) -> i64 {
        self.conv.bytes_of(self.product.planes) - self.conv.bytes_of(self.conv.window.taps())
    }

    /// Tiles along each axis.
    fn grid(&self) -> [i64; AXES] {
        tile_grid(&self.conv, self.results)
    }

    /// Number of tiles of all images.
    fn count(&self) -> i64 {
        self.conv.batch * self.grid().iter().product::<i64>()
    }

    /// Number of tasks.
    pub fn tasks(&self) -> i64 {
        self.tasks
    }

    /// Approximate number of multiplications and additions of a thread per nanosecond.
    pub fn rate(&self, isa: Isa) -> f64 {
        (5 * isa.lanes_of(self.conv.types.sum) * packing(self.product.types)) as f64
    }

    /// Multiplications and additions of the products.
    pub fn flops(&self) -> i64 {
        self.product.flops() * ceil_div(self.count(), self.tiles)
    }

    /// Elements of sums that the transformed input and the products of a block take.
    fn memory_of_task(&self) -> i64 {
        self.product.y.offset + self.product.planes * self.product.y.plane
    }

    /// The working memory, as bytes if elements of several types lie in it. A call takes the part of its first task.
    pub fn memory(&self) -> Buffer {
        let (sum, count) = (self.conv.types.sum, self.memory_of_task());
        match packing(self.product.types) {
            1 => Buffer { shape: vec![self.tasks, count], element: sum },
            _ => Buffer { shape: vec![self.tasks, count * sum.bytes()], element: Element::I8 },
        }
    }

    /// Cost, in vector multiply-adds.
    pub fn cost(&self, isa: Isa, tiles: Tiles) -> f64 {
        let lanes = isa.lanes_of(self.conv.types.sum);
        let vectors = |channels: i64| (self.tiles * ceil_div(channels, lanes)) as f64;
        let points = self.product.planes as f64;
        let results = self.results.iter().product::<i64>() as f64;
        let axes = self.results.iter().filter(|results| **results > 1).count() as f64;
        // A line of a map takes about as many operations as one and a half times its points.
        let sums = 1.5 * axes * points;
        let groups = self.conv.groups;
        let packing = packing(self.product.types);
        let input = vectors(ceil_div(groups * self.conv.depth, packing))
            * (2.0 * ACCESS * points + sums)
            * self.parts.min(2) as f64;
        let output = groups as f64
            * vectors(self.conv.channels)
            * (2.0 * ACCESS * (points + results) + sums);
        let products = self.product.vector_tiling(isa).cost * points * groups as f64;
        let blocks = ceil_div(self.count(), self.tiles) as f64;
        blocks * (input + products + output)
            + self.conv.memory_cost(self.product.planes, blocks, (isa, tiles.near))
    }

    /// The maps along each axis.
    fn maps(&self) -> crate::Result<[Maps; AXES]> {
        maps_of(&self.conv, self.results)
            .ok_or_else(|| crate::Error::internal("a tile without maps"))
    }
}

impl Contraction {
    /// Bytes of packed weights of `points` for each pair of channels.
    fn bytes_of(&self, points: i64) -> i64 {
        points * self.groups * self.depth * self.channels * product_types(self).weights.bytes()
    }

    /// Cost of reading these weights `times` times. They come from memory first, or from the last
    /// level of cache if those of the module are near, and then from where they stay.
    fn memory_cost(&self, points: i64, times: f64, (isa, near): (Isa, bool)) -> f64 {
        let bytes = self.bytes_of(points);
        let [memory, cache] = [MEMORY_RATE, CACHE_RATE].map(|rate| rate * isa.lanes as f64);
        let again = if bytes <= NEAR_BYTES {
            0.0
        } else {
            (times - 1.0) / if bytes <= CACHE_BYTES { cache } else { memory }
        };
        bytes as f64 * (1.0 / if near { cache } else { memory } + again)
    }
}

/// The maps of a tile of so many results along each axis.
fn maps_of(spec: &Contraction, results: [i64; AXES]) -> Option<[Maps; AXES]> {
    let of =
        |axis: usize| Maps::of(results[axis], spec.window.kernel[axis], spec.window.stride[axis]);
    Some([of(PLANE)?, of(ROW)?, of(COL)?])
}

/// Tiles of so many results along each axis. Points that are a dilation apart see the same ones: each of those phases
/// has tiles of its own.
fn tile_grid(spec: &Contraction, results: [i64; AXES]) -> [i64; AXES] {
    let (grid, dilation) = (spec.grid(), spec.window.dilation);
    [0, 1, 2].map(|axis| {
        let phases = if results[axis] == 1 { 1 } else { dilation[axis] };
        phases * ceil_div(ceil_div(grid[axis], phases), results[axis])
    })
}

/// The products of `tiles` tiles of `points` points. Its batches are groups.
fn product(spec: &Contraction, points: [i64; AXES], tiles: i64) -> Contraction {
    let planes = points.iter().product();
    let types = product_types(spec);
    let step = row_step(spec.groups * spec.depth, types.image);
    let x = View {
        batch: spec.depth,
        plane: matrix_step(tiles * step, types.image),
        row: packing(types),
        col: step,
        channel: 1,
        ..View::default()
    };
    Contraction {
        types,
        batch: spec.groups,
        planes,
        rows: 1,
        cols: tiles,
        groups: 1,
        channels: spec.channels,
        sections: vec![],
        depth: spec.depth,
        window: Window::point([planes, 1, tiles]),
        x,
        weights: Weights::Packed,
        weights_batch: planes * spec.depth * spec.channels,
        weights_plane: spec.depth * spec.channels,
        scales: None,
        start: None,
        amx: None,
        y: View { offset: planes * x.plane / x.row, row: 1, channel: 1, ..View::default() },
        operands: vec![],
    }
}
