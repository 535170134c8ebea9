//! Tiling of a kernel's work: register tiles, blocks of channels, tasks.

/// Neighbouring output points of one row that are computed together, `count` times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointTiles {
    /// Number of tiles.
    pub count: i64,
    /// Points of each.
    pub size: i64,
    /// First point of the first tile.
    pub start: i64,
}

/// Channels that are computed together, `count` times in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelTiles {
    /// Number of blocks.
    pub count: i64,
    /// The vectors of each.
    pub widths: Vec<Width>,
    /// First planes, rows and columns of the window at which their weights are 0.
    pub skip: [i64; 3],
}

/// A vector of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Lanes of the vector, a power of two.
    pub lanes: i64,
    /// The lanes that hold channels; the others have no memory behind them.
    pub used: i64,
}

impl Width {
    /// A vector whose lanes are all used.
    pub fn full(lanes: i64) -> Self {
        Self { lanes, used: lanes }
    }
}

/// Loop order of the tasks: the blocks that vary fastest from one task to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Points: the weights of a channel block stay in cache while the input passes.
    ChannelsOuter,
    /// Channels: a strip of the input stays in cache while the weights pass.
    PointsOuter,
}

/// Size of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSize {
    /// Channel blocks.
    pub channels: i64,
    /// Rows of points.
    pub rows: i64,
    /// Tiles along a row.
    pub cols: i64,
}

/// All decisions about one contraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocking {
    /// Rows of the output.
    pub rows: i64,
    /// Tiles along each row.
    pub cols: Vec<PointTiles>,
    /// Channel blocks.
    pub channels: Vec<ChannelTiles>,
    /// Task order.
    pub order: Order,
    /// Task size.
    pub task: TaskSize,
    /// Steps of the innermost reduction loop per iteration.
    pub unroll: i64,
}

/// `a / b` rounded up, for a non-negative `a` and positive `b`.
pub fn ceil_div(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// Cuts `total` points into as few tiles of at most `most` as possible. Their sizes differ by one
/// at most. `inside` gets a tile's first point and size; a tile for which it does not hold stands
/// alone. Of tiles of one size, those for which it holds are to follow each other.
pub fn split_points(total: i64, most: i64, inside: impl Fn(i64, i64) -> bool) -> Vec<PointTiles> {
    let count = ceil_div(total, most);
    let large = ceil_div(total, count.max(1));
    let small = count * large - total;
    let mut tiles = vec![];
    let mut start = 0;
    for (mut left, size) in [(count - small, large), (small, large - 1)] {
        while left > 0 {
            // Found by halving: there may be many millions of them.
            let (mut run, mut beyond) = (0, left + 1);
            while beyond - run > 1 && inside(start, size) {
                let middle = run + (beyond - run) / 2;
                match inside(start + (middle - 1) * size, size) {
                    true => run = middle,
                    false => beyond = middle,
                }
            }
            let run = run.max(1);
            tiles.push(PointTiles { count: run, size, start });
            left -= run;
            start += run * size;
        }
    }
    tiles
}

/// Cuts `total` channels into blocks of `vectors` full vectors, and the rest into one block, whose
/// last vector may be narrower, with at least `least` lanes, and partly unused.
pub fn split_channels(total: i64, lanes: i64, vectors: i64, least: i64) -> Vec<ChannelTiles> {
    let width = lanes * vectors;
    let mut blocks = vec![];
    if total >= width {
        let widths = vec![Width::full(lanes); vectors as usize];
        blocks.push(ChannelTiles { count: total / width, widths, skip: [0; 3] });
    }
    let rest = total % width;
    let mut widths = vec![Width::full(lanes); (rest / lanes) as usize];
    let last = rest % lanes;
    if last > 0 {
        // Wide vectors cost no more than narrow ones, so one is better than an exact sum.
        let lanes = ((last as u64).next_power_of_two() as i64).max(least);
        widths.push(Width { lanes, used: last });
    }
    if !widths.is_empty() {
        blocks.push(ChannelTiles { count: 1, widths, skip: [0; 3] });
    }
    blocks
}

impl ChannelTiles {
    /// Channels of one block.
    pub fn width(&self) -> i64 {
        self.widths.iter().map(|width| width.used).sum()
    }

    /// Lanes of one block.
    pub fn lanes(&self) -> i64 {
        self.widths.iter().map(|width| width.lanes).sum()
    }
}

impl Blocking {
    /// Number of channel blocks, and of tiles along a row.
    pub fn counts(&self) -> (i64, i64) {
        let channels = self.channels.iter().map(|tiles| tiles.count).sum();
        (channels, self.cols.iter().map(|tiles| tiles.count).sum())
    }

    /// Number of tasks along channels, rows and columns.
    pub fn tasks(&self) -> (i64, i64, i64) {
        let (channels, cols) = self.counts();
        (
            ceil_div(channels, self.task.channels),
            ceil_div(self.rows, self.task.rows),
            ceil_div(cols, self.task.cols),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_split_evenly() {
        let tiles = split_points(49, 14, |_, _| true);
        assert_eq!(
            tiles,
            [
                PointTiles { count: 1, size: 13, start: 0 },
                PointTiles { count: 3, size: 12, start: 13 }
            ]
        );
        assert!(split_points(0, 8, |_, _| true).is_empty());
    }

    #[test]
    fn tiles_at_the_edge_stand_alone() {
        let tiles = split_points(32, 8, |start, size| start > 0 && start + size < 32);
        assert_eq!(
            tiles,
            [
                PointTiles { count: 1, size: 8, start: 0 },
                PointTiles { count: 2, size: 8, start: 8 },
                PointTiles { count: 1, size: 8, start: 24 }
            ]
        );
    }

    #[test]
    fn tiles_inside_are_counted_not_listed() {
        let tiles =
            split_points(1 << 50, 8, |start, size| start >= 16 && start + size <= (1 << 50) - 8);
        let counts: Vec<_> = tiles.iter().map(|tile| tile.count).collect();
        assert_eq!(counts, [1, 1, (1 << 47) - 3, 1]);
    }

    #[test]
    fn channels_end_in_one_narrower_vector() {
        let blocks = split_channels(70, 16, 2, 1);
        assert_eq!(
            blocks,
            [
                ChannelTiles { count: 2, widths: vec![Width::full(16); 2], skip: [0; 3] },
                ChannelTiles { count: 1, widths: vec![Width { lanes: 8, used: 6 }], skip: [0; 3] }
            ]
        );
        assert_eq!(
            split_channels(24, 16, 4, 1),
            [ChannelTiles {
                count: 1,
                widths: vec![Width::full(16), Width::full(8)],
                skip: [0; 3]
            }]
        );
    }
}
