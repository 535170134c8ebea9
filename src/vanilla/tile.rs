//! Choosing the size of the tiles of a layer.
//!
//! All sizes that divide a dimension evenly enough are compared by the cycles that the device's
//! model gives them (runtime-c/README.md), and the cheapest that fits is taken.

use super::{LANES, pieces::Axis};

/// A dimension of the image cut into pieces.
#[derive(Clone, Copy)]
struct Cut {
    /// Output positions of a piece.
    size: i64,
    /// Input positions of all pieces together.
    total: i64,
    /// The most input positions of one piece.
    most: i64,
}

impl Cut {
    fn new(axis: &Axis, size: i64) -> Self {
        let (total, most) = axis.inputs(size);
        Self { size, total, most }
    }

    /// The cuts into 1, 2, 3, ... nearly equal pieces.
    fn all(axis: &Axis) -> Vec<Self> {
        parts(axis.output).into_iter().map(|size| Self::new(axis, size)).collect()
    }
}

/// The shape of a layer, as the chooser sees it. A product of matrices is a convolution of `rows`
/// by 1 positions with one tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Images.
    pub batch: i64,
    /// Input channels.
    pub in_c: i64,
    /// Output channels.
    pub out_c: i64,
    /// Rows.
    pub height: Axis,
    /// Columns.
    pub width: Axis,
    /// Whether output channel c reads input channel c only.
    pub depthwise: bool,
}

/// Sizes of a tile, in output positions, output channels and input channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Output channels: all, or a multiple of the lanes.
    pub out_c: i64,
    /// Rows of the output.
    pub height: i64,
    /// Columns of the output.
    pub width: i64,
    /// Input channels.
    pub in_c: i64,
    /// Whether loops over output channels are around those over the image, so that weights are
    /// loaded once and the image often; else the reverse.
    pub channels_outside: bool,
}

/// The memory that tiles must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of the scratchpad.
    pub bytes: i64,
    /// What every buffer starts at a multiple of.
    pub alignment: i64,
    /// Whether the next tile is loaded while one is computed on, so that two must fit.
    pub double_buffer: bool,
}

/// Bytes of the buffers of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Input.
    pub input: i64,
    /// Packed weights.
    pub weights: i64,
    /// Bias.
    pub bias: i64,
    /// Output.
    pub output: i64,
}

const FLOAT: i64 = 4;

fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

impl Shape {
    fn taps(&self) -> i64 {
        self.height.kernel * self.width.kernel
    }

    /// Bytes of the buffers of a tile.
    pub fn footprint(&self, tile: &Tile) -> Footprint {
        let rows = Cut::new(&self.height, tile.height);
        self.bytes(tile, rows, Cut::new(&self.width, tile.width))
    }

    fn bytes(&self, tile: &Tile, rows: Cut, columns: Cut) -> Footprint {
        let (input_c, weights_c) =
            if self.depthwise { (tile.out_c, 1) } else { (tile.in_c, tile.in_c) };
        Footprint {
            input: FLOAT * input_c * rows.most * columns.most,
            weights: FLOAT * ceil(tile.out_c, LANES) * LANES * weights_c * self.taps(),
            bias: FLOAT * tile.out_c,
            output: FLOAT * tile.out_c * tile.height * tile.width,
        }
    }

    /// Number of tiles along output channels, rows, columns and input channels.
    fn counts(&self, tile: &Tile) -> [i64; 4] {
        [
            ceil(self.out_c, tile.out_c),
            ceil(self.height.output, tile.height),
            ceil(self.width.output, tile.width),
            if self.depthwise { 1 } else { ceil(self.in_c, tile.in_c) },
        ]
    }

    fn fits(&self, tile: &Tile, footprint: Footprint, budget: &Budget) -> bool {
        let [channels, rows, columns, chunks] = self.counts(tile);
        let twice = |repeated: bool| 1 + i64::from(budget.double_buffer && repeated);
        let aligned = |bytes: i64| ceil(bytes, budget.alignment) * budget.alignment;
        let moves = self.batch * rows * columns * chunks > 1 || channels > 1;
        aligned(footprint.input) * twice(moves)
            + aligned(footprint.weights) * twice(channels * chunks > 1)
            + aligned(footprint.bias) * twice(channels > 1)
            + aligned(footprint.output)
            <= budget.bytes
    }

    /// Cycles that the device takes, if transfers and instructions overlap well.
    fn cycles(&self, tile: &Tile, all_rows: i64, all_columns: i64) -> i64 {
        let [channels, rows, columns, chunks] = self.counts(tile);
        let images = self.batch * rows * columns;
        // How often the image and the weights are loaded as a whole.
        let split = chunks > 1;
        let image_loads =
            if self.depthwise || !(split || tile.channels_outside) { 1 } else { channels };
        let weight_loads = if split || !tile.channels_outside { images } else { 1 };
        let in_c = if self.depthwise { self.out_c } else { self.in_c };
        let steps = images * channels * chunks;
        let weights_c = if self.depthwise { 1 } else { self.in_c };
        let weights = ceil(self.out_c, LANES) * LANES * weights_c * self.taps();
        let input_runs = self.batch * in_c * all_rows * image_loads;
        let output_runs = self.batch * self.out_c * self.height.output;
        let quads = |floats: i64| ceil(floats, 4);
        let loads = input_runs * quads(all_columns)
            + input_runs * (columns - 1)
            + weight_loads * quads(weights)
            + output_runs * (quads(self.width.output) + columns - 1)
            + 32 * (steps * 2 + images * channels);
        let compute = steps * 16
            + ceil(self.out_c, LANES)
                * images
                * ceil(tile.height * tile.width, 8)
                * self.taps()
                * weights_c;
        // Of equally fast ones the one that moves less.
        loads.max(compute) + loads / 8
    }

    /// The cheapest tile that fits; none if not even the smallest does.
    pub fn choose(&self, budget: &Budget) -> Option<Tile> {
        let mut best: Option<(i64, Tile)> = None;
        let (rows, columns) = (Cut::all(&self.height), Cut::all(&self.width));
        let blocks = ceil(self.out_c, LANES);
        for out_c in parts(blocks).into_iter().map(|size| (size * LANES).min(self.out_c)) {
            for in_c in parts(if self.depthwise { 1 } else { self.in_c }) {
                for channels_outside in [true, false] {
                    let tile = Tile { out_c, height: 0, width: 0, in_c, channels_outside };
                    self.choose_plane(tile, &rows, &columns, budget, &mut best);
                }
            }
        }
        best.map(|(_, tile)| tile)
    }

    /// Tries the sizes of the plane. Columns are split only when not even one row of all of them
    /// fits.
    fn choose_plane(
        &self,
        tile: Tile,
        rows: &[Cut],
        columns: &[Cut],
        budget: &Budget,
        best: &mut Option<(i64, Tile)>,
    ) {
        for columns in columns {
            let mut any = false;
            for rows in rows {
                let tile = Tile { height: rows.size, width: columns.size, ..tile };
                if !self.fits(&tile, self.bytes(&tile, *rows, *columns), budget) {
                    continue;
                }
                any = true;
                let cycles = self.cycles(&tile, rows.total, columns.total);
                if best.is_none_or(|(least, _)| cycles < least) {
                    *best = Some((cycles, tile));
                }
            }
            if any {
                return;
            }
        }
    }
}

/// The sizes of the largest piece when `size` is cut in 1, 2, 3, ... nearly equal pieces,
/// descending.
fn parts(size: i64) -> Vec<i64> {
    let mut found = vec![];
    let mut pieces = 1;
    while pieces <= size {
        let part = ceil(size, pieces);
        found.push(part);
        if part == 1 {
            break;
        }
        // The least number of pieces that gives a smaller part.
        pieces = ceil(size, part - 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { bytes: 65536, alignment: 64, double_buffer: true };

    fn conv(in_c: i64, out_c: i64, size: i64, kernel: i64) -> Shape {
        let pad = kernel / 2;
        let axis = Axis { input: size, output: size, kernel, stride: 1, dilation: 1, pad };
        Shape { batch: 1, in_c, out_c, height: axis, width: axis, depthwise: false }
    }

    #[test]
    fn parts_are_distinct_and_end_at_one() {
        assert_eq!(parts(1), [1]);
        assert_eq!(parts(7), [7, 4, 3, 2, 1]);
        assert!(parts(1000).windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn small_layers_are_one_tile() {
        let tile = conv(3, 8, 8, 3).choose(&BUDGET).unwrap();
        assert_eq!((tile.out_c, tile.height, tile.width, tile.in_c), (8, 8, 8, 3));
    }

    #[test]
    fn chosen_tiles_fit() {
        for (in_c, out_c, size, kernel) in
            [(3, 64, 224, 7), (512, 512, 14, 3), (2048, 1000, 1, 1), (64, 64, 2000, 3)]
        {
            let shape = conv(in_c, out_c, size, kernel);
            let tile = shape.choose(&BUDGET).expect("fits");
            assert!(shape.fits(&tile, shape.footprint(&tile), &BUDGET), "{shape:?} {tile:?}");
            assert!(tile.out_c == out_c || tile.out_c % LANES == 0);
        }
    }

    #[test]
    fn what_cannot_fit_is_refused() {
        assert_eq!(conv(1, 1, 400, 399).choose(&BUDGET), None);
    }
}
