//! Weights in the order in which kernels read them, packed when a model is compiled.

mod constants;

pub use constants::{Float, Number, bytes, constant, floats, floats_of, splat};

use super::{
    arithmetic::Arithmetic,
    tiling::{ChannelTiles, ceil_div},
};
use crate::{
    ir::{blob::Plain, constant::Elements},
    parallel,
};
use constants::byte_values;

/// Memory layout of a constant `[filters][reduction]` or `[reduction][channels]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// ONNX filters: `[group][filter][input channel][tap]`, where a reduction goes over taps
    /// first: `[tap][input channel]`.
    Filters {
        /// Groups.
        groups: usize,
        /// Filters of a group.
        filters: usize,
        /// Input channels of a group.
        depth: usize,
        /// Kernel rows times columns.
        taps: usize,
    },
    /// Matrices `[rows][columns]`, rows being the reduction.
    Matrix {
        /// Number of matrices.
        count: usize,
        /// Length of the reduction.
        rows: usize,
        /// Channels.
        columns: usize,
        /// True if the matrix is stored as `[columns][rows]`.
        transposed: bool,
    },
}

/// Order of the elements of a reduction in packed weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// Elements of the image that lie next to each other wherever the window is. Steps of the
    /// reduction do not go beyond their end: what they lack there is 0.
    pub run: i64,
    /// Arithmetic of a step.
    pub arithmetic: Arithmetic,
}

impl Grouping {
    /// Elements of a reduction in memory, `reduction` of which are in the image.
    pub fn padded(&self, reduction: i64) -> i64 {
        let group = self.arithmetic.group();
        reduction / self.run.max(1) * (ceil_div(self.run, group) * group)
    }
}

impl Source {
    /// Groups or matrices, reduction length and channels of each.
    fn sizes(&self) -> (usize, usize, usize) {
        match *self {
            Self::Filters { groups, filters, depth, taps } => (groups, taps * depth, filters),
            Self::Matrix { count, rows, columns, .. } => (count, rows, columns),
        }
    }

    /// Position of an element in the source.
    fn index(&self, group: usize, reduction: usize, channel: usize) -> usize {
        self.first(group, channel) + self.step(reduction)
    }

    /// Position of a channel's first element.
    fn first(&self, group: usize, channel: usize) -> usize {
        match *self {
            Self::Filters { filters, depth, taps, .. } => {
                (group * filters + channel) * depth * taps
            }
            Self::Matrix { rows, columns, transposed: false, .. } => {
                group * rows * columns + channel
            }
            Self::Matrix { rows, columns, transposed: true, .. } => {
                (group * columns + channel) * rows
            }
        }
    }

    /// Distance of an element of the reduction from the channel's first element.
    fn step(&self, reduction: usize) -> usize {
        match *self {
            Self::Filters { depth, taps, .. } => reduction % depth * taps + reduction / depth,
            Self::Matrix { columns, transposed: false, .. } => reduction * columns,
            Self::Matrix { transposed: true, .. } => reduction,
        }
    }

    /// The values block by block, each block `[reduction][lanes of the block]`, where a step of
    /// several elements of the reduction is `[part][lanes of the block][elements of the part]`;
    /// lanes without a channel are 0.
    pub fn pack<T: Plain + Default>(
        &self,
        values: &[T],
        blocks: &[ChannelTiles],
        grouping: Grouping,
    ) -> Vec<T> {
        let (groups, reduction, _) = self.sizes();
        let rows = self.rows(reduction, grouping);
        let part = grouping.arithmetic.parts()[0].len();
        let lanes =
            blocks.iter().map(|tiles| (tiles.lanes() * tiles.count) as usize).sum::<usize>();
        let mut packed = vec![T::default(); groups * rows.len() * lanes];
        let mut rest = packed.as_mut_slice();
        let mut parts = vec![];
        for group in 0..groups {
            let mut channel = 0;
            for tiles in blocks {
                let (width, lanes) = (tiles.width() as usize, tiles.lanes() as usize);
                for _ in 0..tiles.count {
                    let block;
                    (block, rest) = rest.split_at_mut(rows.len() * lanes);
                    parts.push((group, channel..channel + width, lanes, block));
                    channel += width;
                }
            }
        }
        parallel::each(parts, values.len(), |(group, channels, lanes, block)| {
            let firsts: Vec<usize> = channels.map(|c| self.first(group, c)).collect();
            for (at, row) in rows.iter().enumerate() {
                let Some(row) = *row else { continue };
                let start = at / part * part * lanes + at % part;
                copy_row(values, &firsts, row, &mut block[start..], part);
            }
        });
        packed
    }

    /// Factors `[block][channel]` of a matrix, channel block by channel block like its packed weights.
    pub fn pack_scales(&self, scales: &[f32], blocks: &[ChannelTiles]) -> Vec<f32> {
        let (.., channels) = self.sizes();
        let mut packed = vec![];
        let mut channel = 0;
        for tiles in blocks {
            let (width, lanes) = (tiles.width() as usize, tiles.lanes() as usize);
            for _ in 0..tiles.count {
                for row in scales.chunks(channels.max(1)) {
                    packed.extend(&row[channel..channel + width]);
                    packed.resize(packed.len() + lanes - width, 0.0);
                }
                channel += width;
            }
        }
        packed
    }

    /// The steps of a reduction in the order in which they are packed, with nothing where a group
    /// is filled up.
    fn rows(&self, reduction: usize, grouping: Grouping) -> Vec<Option<usize>> {
        let run = grouping.run.max(1) as usize;
        let mut rows = vec![];
        for start in (0..reduction).step_by(run) {
            for from in (start..start + run).step_by(grouping.arithmetic.group() as usize) {
                let parts = grouping.arithmetic.parts().iter().flat_map(|part| part.iter());
                rows.extend(
                    parts.map(|row| (from + row < start + run).then(|| self.step(from + row))),
                );
            }
        }
        rows
    }

    /// The sums of the values over the input channels, for each tap and each channel of all
    /// groups.
    pub fn tap_sums(&self, values: &[i16]) -> Vec<Vec<i64>> {
        let (groups, reduction, channels) = self.sizes();
        let depth = match *self {
            Self::Filters { depth, .. } => depth,
            Self::Matrix { rows, .. } => rows,
        };
        let firsts: Vec<_> = (0..groups)
            .flat_map(|group| (0..channels).map(move |channel| (group, channel)))
            .map(|(group, channel)| self.first(group, channel))
            .collect();
        let tap = |from: usize| {
            let mut sums = vec![0; firsts.len()];
            for row in from..from + depth {
                let step = self.step(row);
                for (sum, first) in sums.iter_mut().zip(&firsts) {
                    *sum += i64::from(values[first + step]);
                }
            }
            sums
        };
        (0..reduction).step_by(depth.max(1)).map(tap).collect()
    }

    /// The values less a zero point, which is one for all, or one for each channel of all groups.
    pub fn centered(&self, values: &Elements<'_>, zeros: &[i64]) -> Option<Vec<i16>> {
        let (groups, reduction, channels) = self.sizes();
        let mut centered: Vec<i16> = byte_values(values)?;
        match zeros {
            [] | [0] => {}
            [zero] => centered.iter_mut().for_each(|value| *value -= *zero as i16),
            // Matrices may share the zero points of their columns.
            zeros if [groups * channels, channels].contains(&zeros.len()) => {
                for group in 0..groups {
                    for channel in 0..channels {
                        let zero = zeros[(group * channels + channel) % zeros.len()] as i16;
                        for r in 0..reduction {
                            centered[self.index(group, r, channel)] -= zero;
                        }
                    }
                }
            }
            _ => return None,
        }
        Some(centered)
    }

    /// The values of depthwise filters as `[tap][channel]`, channel block by channel block.
    pub fn pack_depthwise<T: Copy>(&self, values: &[T], blocks: &[ChannelTiles]) -> Vec<T> {
        let (groups, reduction, _) = self.sizes();
        let mut packed = Vec::with_capacity(groups * reduction);
        let mut first = 0;
        for tiles in blocks {
            for _ in 0..tiles.count {
                let block = first..first + tiles.width() as usize;
                first = block.end;
                for r in 0..reduction {
                    packed.extend(block.clone().map(|group| values[self.index(group, r, 0)]));
                }
            }
        }
        packed
    }
}

/// Packed weights of 4 bits with two rows in a byte, the first in the lower half. All blocks have `rows` rows, an even
/// number.
pub fn pairs_of_rows(values: &[i16], blocks: &[ChannelTiles], rows: i64) -> Vec<i8> {
    let mut packed = Vec::with_capacity(values.len() / 2);
    let mut rest = values;
    for tiles in blocks {
        let lanes = tiles.lanes() as usize;
        let (own, others) = rest.split_at(lanes * (rows * tiles.count) as usize);
        for pair in own.chunks_exact(2 * lanes.max(1)) {
            let (first, second) = pair.split_at(lanes);
            packed.extend(first.iter().zip(second).map(|(a, b)| (a & 15 | b << 4) as i8));
        }
        rest = others;
    }
    packed
}

/// Copies the elements that are `row` behind each of `firsts` to every `part`th element of `to`.
fn copy_row<T: Copy>(values: &[T], firsts: &[usize], row: usize, to: &mut [T], part: usize) {
    let (Some(first), Some(last)) = (firsts.first(), firsts.last()) else { return };
    if part == 1 && last - first + 1 == firsts.len() {
        to[..firsts.len()].copy_from_slice(&values[first + row..=last + row]);
        return;
    }
    for (lane, first) in firsts.iter().enumerate() {
        to[lane * part] = values[first + row];
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Arithmetic, split_channels},
        Grouping, Source,
    };

    const SINGLE: Grouping = Grouping { run: 4, arithmetic: Arithmetic::Single };

    #[test]
    fn blocks_of_filters_are_interleaved_and_padded() {
        // Three filters of two channels and two taps.
        let source = Source::Filters { groups: 1, filters: 3, depth: 2, taps: 2 };
        let values: Vec<f32> = (0..12u8).map(f32::from).collect();
        let packed = source.pack(&values, &split_channels(3, 4, 1, 1), SINGLE);
        // Tap by tap, channel by channel, the three filters and an unused lane.
        assert_eq!(
            packed,
            [0.0, 4.0, 8.0, 0.0, 2.0, 6.0, 10.0, 0.0, 1.0, 5.0, 9.0, 0.0, 3.0, 7.0, 11.0, 0.0]
        );
    }

    #[test]
    fn a_transposed_matrix_packs_like_its_transpose() {
        let plain = Source::Matrix { count: 1, rows: 2, columns: 4, transposed: false };
        let transposed = Source::Matrix { count: 1, rows: 2, columns: 4, transposed: true };
        let blocks = split_channels(4, 2, 1, 1);
        let (a, b): (Vec<f32>, Vec<f32>) =
            ((0..8u8).map(f32::from).collect(), vec![0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
        let grouping = Grouping { run: 2, ..SINGLE };
        assert_eq!(plain.pack(&a, &blocks, grouping), transposed.pack(&b, &blocks, grouping));
    }

    #[test]
    fn steps_of_four_are_padded_where_a_run_ends() {
        // Two filters of one tap with three channels.
        let source = Source::Filters { groups: 1, filters: 2, depth: 3, taps: 1 };
        let values: Vec<i8> = (1..=6).collect();
        let blocks = split_channels(2, 4, 1, 4);
        let pack = |arithmetic| source.pack(&values, &blocks, Grouping { run: 3, arithmetic });
        assert_eq!(pack(Arithmetic::Bytes), [1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(pack(Arithmetic::Words), [1, 3, 4, 6, 0, 0, 0, 0, 2, 0, 5, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn sums_of_filters_are_by_tap_and_channel() {
        let source = Source::Filters { groups: 2, filters: 1, depth: 2, taps: 2 };
        let values: Vec<i16> = (1..=8).collect();
        assert_eq!(source.tap_sums(&values), [[4, 12], [6, 14]]);
    }
}
