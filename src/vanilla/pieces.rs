//! Cutting a dimension of a layer into pieces that all have static sizes.
//!
//! A piece of the output needs a stretch of the input, which is shorter where the piece touches a
//! border of the image. Neighbouring pieces of one form become a loop.

/// One dimension of a layer: how its output positions read its input positions. A dimension that
/// is not slid over is one with kernel and stride 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Input positions.
    pub input: i64,
    /// Output positions.
    pub output: i64,
    /// Taps of the kernel.
    pub kernel: i64,
    /// Input positions from one output position to the next.
    pub stride: i64,
    /// Input positions from one tap to the next.
    pub dilation: i64,
    /// Zeros before the input.
    pub pad: i64,
}

/// A piece of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First output position.
    pub output: i64,
    /// Number of output positions.
    pub output_size: i64,
    /// First input position that is needed.
    pub input: i64,
    /// Number of input positions.
    pub input_size: i64,
    /// Zeros before them. What lies after them is zero too.
    pub pad: i64,
    /// Whether it is the first piece of the dimension.
    pub first: bool,
    /// Whether it is the last one.
    pub last: bool,
}

/// `count` pieces in a row that differ only in where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of pieces.
    pub count: i64,
    /// The first of them.
    pub piece: Piece,
    /// Output positions from one to the next.
    pub output_step: i64,
    /// Input positions from one to the next.
    pub input_step: i64,
}

impl Axis {
    /// A dimension whose output positions are its input positions.
    pub fn plain(size: i64) -> Self {
        Self { input: size, output: size, kernel: 1, stride: 1, dilation: 1, pad: 0 }
    }

    /// The piece of `size` output positions from `start`.
    pub fn piece(&self, start: i64, size: i64) -> Piece {
        let extent = (size - 1) * self.stride + (self.kernel - 1) * self.dilation + 1;
        let begin = start * self.stride - self.pad;
        let (from, to) = (begin.max(0), (begin + extent).min(self.input));
        // A piece that reads only zeros still gets a position of the input, as no instruction takes
        // an empty one, behind so many zeros that nothing reaches it.
        let (from, to, pad) = if from < to {
            (from, to, from - begin)
        } else if begin < 0 {
            (0, 1, -begin)
        } else {
            (self.input - 1, self.input, extent)
        };
        Piece {
            output: start,
            output_size: size,
            input: from,
            input_size: to - from,
            pad,
            first: start == 0,
            last: start + size == self.output,
        }
    }

    /// All pieces of `size` output positions; the last may be smaller.
    pub fn pieces(&self, size: i64) -> Vec<Piece> {
        (0..self.output)
            .step_by(size.max(1) as usize)
            .map(|start| self.piece(start, size.min(self.output - start)))
            .collect()
    }

    /// The pieces as runs. With `ends`, the first and the last piece are apart from all others.
    pub fn runs(&self, size: i64, ends: bool) -> Vec<Run> {
        let mut runs: Vec<Run> = vec![];
        for piece in self.pieces(size) {
            if let Some(run) = runs.last_mut()
                && run.takes(&piece, ends)
            {
                if run.count == 1 {
                    run.output_step = piece.output - run.piece.output;
                    run.input_step = piece.input - run.piece.input;
                }
                run.count += 1;
            } else {
                runs.push(Run { count: 1, piece, output_step: 0, input_step: 0 });
            }
        }
        runs
    }

    /// Input positions of all pieces together, with what overlaps counted again, and the most that
    /// one has.
    pub fn inputs(&self, size: i64) -> (i64, i64) {
        self.pieces(size)
            .iter()
            .fold((0, 0), |(sum, most), piece| (sum + piece.input_size, most.max(piece.input_size)))
    }
}

impl Run {
    /// Whether the piece after the run continues it.
    fn takes(&self, piece: &Piece, ends: bool) -> bool {
        let form = |p: &Piece| (p.output_size, p.input_size, p.pad);
        let apart = ends && (self.piece.first || piece.last);
        let next = |start: i64, step: i64| start + step * self.count;
        let in_step = self.count == 1
            || (piece.output == next(self.piece.output, self.output_step)
                && piece.input == next(self.piece.input, self.input_step));
        form(&self.piece) == form(piece) && !apart && in_step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the device reads for output position `y` of a piece and tap `k`: none is zero.
    fn read(piece: &Piece, axis: &Axis, y: i64, k: i64) -> Option<i64> {
        let position = y * axis.stride - piece.pad + k * axis.dilation;
        (0..piece.input_size).contains(&position).then(|| piece.input + position)
    }

    fn axes() -> impl Strategy<Value = Axis> {
        (1..20_i64, 1..6_i64, 1..5_i64, 1..4_i64, 0..9_i64, 0..9_i64).prop_filter_map(
            "the kernel fits",
            |(input, kernel, stride, dilation, pad, end)| {
                let room = input + pad + end - dilation * (kernel - 1) - 1;
                let output = room / stride + 1;
                (room >= 0).then_some(Axis { input, output, kernel, stride, dilation, pad })
            },
        )
    }

    proptest! {
        #[test]
        fn pieces_read_what_the_whole_reads(axis in axes(), size in 1..9_i64) {
            let mut at = 0;
            for piece in axis.pieces(size) {
                prop_assert_eq!(piece.output, at);
                prop_assert!(piece.input_size >= 1 && piece.pad >= 0);
                prop_assert!(piece.input >= 0 && piece.input + piece.input_size <= axis.input);
                for y in 0..piece.output_size {
                    for k in 0..axis.kernel {
                        let whole = (at + y) * axis.stride - axis.pad + k * axis.dilation;
                        let expected = (0..axis.input).contains(&whole).then_some(whole);
                        prop_assert_eq!(read(&piece, &axis, y, k), expected);
                    }
                }
                at += piece.output_size;
            }
            prop_assert_eq!(at, axis.output);
        }

        #[test]
        fn runs_are_the_pieces(axis in axes(), size in 1..9_i64, ends in any::<bool>()) {
            let mut pieces = vec![];
            for run in axis.runs(size, ends) {
                prop_assert!(!ends || run.count == 1 || !(run.piece.first || run.piece.last));
                for i in 0..run.count {
                    let output = run.piece.output + i * run.output_step;
                    let input = run.piece.input + i * run.input_step;
                    pieces.push((output, run.piece.output_size, input, run.piece.input_size));
                }
            }
            let expected: Vec<_> = axis.pieces(size).iter()
                .map(|p| (p.output, p.output_size, p.input, p.input_size)).collect();
            prop_assert_eq!(pieces, expected);
        }
    }
}
