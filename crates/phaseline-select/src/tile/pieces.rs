//! Cutting a loop into pieces that all have static sizes.
//!
//! A piece of a loop needs a stretch of each dimension that a window of it slides over, which is
//! shorter where the piece touches a border. Neighbouring pieces of one form become a loop.

use super::plan::{Loop, Window};

/// Input positions that a piece reads through a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// First position that is needed.
    pub start: i64,
    /// Number of positions.
    pub size: i64,
    /// Zeros before them.
    pub pad: i64,
    /// Zeros after them that are read.
    pub pad_end: i64,
}

/// A piece of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First position.
    pub start: i64,
    /// Number of positions.
    pub size: i64,
    /// True for the first piece of the loop.
    pub first: bool,
    /// True for the last piece of the loop.
    pub last: bool,
    /// Input positions that it reads through each window.
    pub reaches: Vec<Reach>,
}

/// `count` pieces in a row that differ only in where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of pieces.
    pub count: i64,
    /// The first of them.
    pub piece: Piece,
    /// Positions from one to the next.
    pub step: i64,
    /// For each window, input positions from one to the next.
    pub input_steps: Vec<i64>,
}

impl Window {
    /// Input positions that `size` positions from `start` read.
    pub fn reach(&self, start: i64, size: i64) -> Reach {
        let extent = (size - 1) * self.stride + (self.kernel - 1) * self.dilation + 1;
        let begin = start * self.stride - self.pad;
        let (from, to) = (begin.max(0), (begin + extent).min(self.input));
        // A piece that reads only zeros still gets a position of the input, as no function takes
        // an empty one, behind so many zeros that nothing reaches it.
        let (from, to, pad) = if from < to {
            (from, to, from - begin)
        } else if begin < 0 {
            (0, 1, -begin)
        } else {
            (self.input - 1, self.input, extent)
        };
        let size = to - from;
        Reach { start: from, size, pad, pad_end: (extent - pad - size).max(0) }
    }
}

impl Loop {
    /// The piece of `size` positions from `start`.
    pub fn piece(&self, start: i64, size: i64) -> Piece {
        Piece {
            start,
            size,
            first: start == 0,
            last: start + size == self.extent,
            reaches: self.windows.iter().map(|window| window.reach(start, size)).collect(),
        }
    }

    /// All pieces of `size` positions; the last may be smaller.
    pub fn pieces(&self, size: i64) -> impl Iterator<Item = Piece> {
        let size = size.max(1);
        (0..self.extent)
            .step_by(size as usize)
            .map(move |start| self.piece(start, size.min(self.extent - start)))
    }

    /// The pieces as runs. With `ends`, the first and the last piece are runs of their own.
    pub fn runs(&self, size: i64, ends: bool) -> Vec<Run> {
        let mut runs: Vec<Run> = vec![];
        for piece in self.pieces(size) {
            match runs.last_mut() {
                Some(run) if run.takes(&piece, ends) => run.append(&piece),
                _ => {
                    let input_steps = vec![0; piece.reaches.len()];
                    runs.push(Run { count: 1, piece, step: 0, input_steps });
                }
            }
        }
        runs
    }
}

impl Run {
    fn append(&mut self, piece: &Piece) {
        if self.count == 1 {
            self.step = piece.start - self.piece.start;
            let starts = self.piece.reaches.iter().zip(&piece.reaches);
            self.input_steps = starts.map(|(old, new)| new.start - old.start).collect();
        }
        self.count += 1;
    }

    /// True if the piece after the run continues it.
    fn takes(&self, piece: &Piece, ends: bool) -> bool {
        let sizes = |p: &Piece| {
            let reaches = p.reaches.iter().map(|r| (r.size, r.pad, r.pad_end));
            (p.size, reaches.collect::<Vec<_>>())
        };
        let apart = ends && (self.piece.first || piece.last);
        let next = |start: i64, step: i64| start + step * self.count;
        let inputs = self.piece.reaches.iter().zip(&self.input_steps).zip(&piece.reaches);
        let in_step = self.count == 1
            || (piece.start == next(self.piece.start, self.step)
                && inputs
                    .into_iter()
                    .all(|((first, step), r)| r.start == next(first.start, *step)));
        sizes(&self.piece) == sizes(piece) && !apart && in_step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Input position that the device reads for position `y` of a piece and tap `k`; none for a
    /// zero.
    fn read(reach: &Reach, window: &Window, y: i64, k: i64) -> Option<i64> {
        let position = y * window.stride - reach.pad + k * window.dilation;
        (0..reach.size).contains(&position).then(|| reach.start + position)
    }

    fn loops() -> impl Strategy<Value = Loop> {
        (1..20_i64, 1..6_i64, 1..5_i64, 1..4_i64, 0..9_i64, 0..9_i64).prop_filter_map(
            "the kernel fits",
            |(input, kernel, stride, dilation, pad, end)| {
                let room = input + pad + end - dilation * (kernel - 1) - 1;
                let window =
                    Window { tensor: "x".into(), dim: 0, input, kernel, stride, dilation, pad };
                (room >= 0).then_some(Loop {
                    name: "y".into(),
                    extent: room / stride + 1,
                    multiple: 1,
                    max: 0,
                    reduce: false,
                    windows: vec![window],
                })
            },
        )
    }

    proptest! {
        #[test]
        fn pieces_read_what_the_whole_reads(l in loops(), size in 1..9_i64) {
            let mut at = 0;
            let window = &l.windows[0];
            for piece in l.pieces(size) {
                let reach = &piece.reaches[0];
                prop_assert_eq!(piece.start, at);
                prop_assert!(reach.size >= 1 && reach.pad >= 0);
                prop_assert!(reach.start >= 0 && reach.start + reach.size <= window.input);
                for y in 0..piece.size {
                    for k in 0..window.kernel {
                        let whole = (at + y) * window.stride - window.pad + k * window.dilation;
                        let expected = (0..window.input).contains(&whole).then_some(whole);
                        prop_assert_eq!(read(reach, window, y, k), expected);
                    }
                }
                at += piece.size;
            }
            prop_assert_eq!(at, l.extent);
        }

        #[test]
        fn runs_are_the_pieces(l in loops(), size in 1..9_i64, ends in any::<bool>()) {
            let mut pieces = vec![];
            for run in l.runs(size, ends) {
                prop_assert!(!ends || run.count == 1 || !(run.piece.first || run.piece.last));
                for i in 0..run.count {
                    let start = run.piece.start + i * run.step;
                    let input = run.piece.reaches[0].start + i * run.input_steps[0];
                    pieces.push((start, run.piece.size, input, run.piece.reaches[0].size));
                }
            }
            let expected: Vec<_> = l.pieces(size)
                .map(|p| (p.start, p.size, p.reaches[0].start, p.reaches[0].size)).collect();
            prop_assert_eq!(pieces, expected);
        }
    }
}
