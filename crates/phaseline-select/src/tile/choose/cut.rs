//! The sizes that a loop may be cut to, and the pieces that each makes.

use crate::tile::plan::Loop;

/// A coarse choice has each next size smaller by this.
pub(super) const COARSE: f64 = 0.8;

/// A size of a loop, with the pieces that it makes.
#[derive(Clone)]
pub(super) struct Cut {
    pub size: i64,
    /// Number of pieces.
    pub count: i64,
    /// For each window, the most input positions of a piece, and those of a piece on average.
    pub inputs: Vec<(i64, f64)>,
    /// The part of the pieces that is loaded while another one is computed on: those in loops, but
    /// for the first of each.
    pub ahead: f64,
}

impl Cut {
    /// `ends` says whether the first and the last piece differ from others.
    pub fn new(l: &Loop, size: i64, ends: bool) -> Self {
        let count = divide_up(l.extent, size);
        if l.windows.is_empty() {
            let alike = if ends { count - 2 } else { l.extent / size };
            let ahead = (alike - 1).max(0) as f64 / count as f64;
            return Self { size, count, inputs: vec![], ahead };
        }
        let mut inputs = vec![(0, 0.0); l.windows.len()];
        let mut ahead = 0;
        for run in l.runs(size, ends) {
            ahead += run.count - 1;
            for ((most, sum), reach) in inputs.iter_mut().zip(&run.piece.reaches) {
                *most = (*most).max(reach.size);
                *sum += (reach.size * run.count) as f64;
            }
        }
        inputs.iter_mut().for_each(|(_, sum)| *sum /= count as f64);
        Self { size, count, inputs, ahead: ahead as f64 / count as f64 }
    }
}

pub(super) fn divide_up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// The sizes that a loop may be cut to, descending.
pub fn sizes(l: &Loop) -> Vec<i64> {
    let all = parts(divide_up(l.extent, l.multiple));
    let all = all.into_iter().map(|part| (part * l.multiple).min(l.extent));
    let fits: Vec<i64> = all.clone().filter(|size| l.max == 0 || *size <= l.max).collect();
    if fits.is_empty() { vec![least(l)] } else { fits }
}

/// The least size that a loop may be cut to.
pub fn least(l: &Loop) -> i64 {
    l.multiple.min(l.extent)
}

/// The sizes of the largest piece when `size` is cut in 1, 2, 3, ... nearly equal pieces,
/// descending.
fn parts(size: i64) -> Vec<i64> {
    let mut found = vec![];
    let mut pieces = 1;
    while pieces <= size {
        let part = divide_up(size, pieces);
        found.push(part);
        if part == 1 {
            break;
        }
        // The least number of pieces that gives a smaller part.
        pieces = divide_up(size, part - 1);
    }
    found
}

/// A coarse choice of sizes, with the largest and the smallest.
pub(super) fn thinned(cuts: &[Cut]) -> Vec<&Cut> {
    let mut chosen: Vec<&Cut> = vec![];
    for (index, cut) in cuts.iter().enumerate() {
        let smaller = chosen.last().is_none_or(|last| cut.size as f64 <= COARSE * last.size as f64);
        if smaller || index + 1 == cuts.len() {
            chosen.push(cut);
        }
    }
    chosen
}
