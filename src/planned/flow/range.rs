//! Bytes that an access uses, as a function of the iterations of the loops around it.

/// A loop that runs a known number of times, at least once: the least and the greatest value of what counts,
/// and the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub first: i64,
    pub last: i64,
    pub step: i64,
}

/// Bytes from `low` to `high`, moved by the counters of loops that are around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub low: i64,
    /// One behind the last byte.
    pub high: i64,
    /// For each loop that moves it, which one, and by how many bytes for one of its counter.
    pub terms: Vec<(usize, i64)>,
    /// Whether each of the bytes is meant.
    pub dense: bool,
}

impl Range {
    /// Any byte of a buffer.
    pub fn whole() -> Self {
        Self { low: 0, high: i64::MAX, terms: vec![], dense: false }
    }

    fn factor(&self, of: usize) -> i64 {
        self.terms.iter().find(|(key, _)| *key == of).map_or(0, |(_, factor)| *factor)
    }

    /// The bytes of all iterations of a loop; whether iterations may have bytes in common.
    pub fn close(&mut self, of: usize, counter: Counter) -> bool {
        let factor = self.factor(of);
        self.terms.retain(|(key, _)| *key != of);
        let (a, b) = (times(factor, counter.first), times(factor, counter.last));
        let width = self.high.saturating_sub(self.low);
        let moved = times(factor, counter.step).abs();
        self.dense &= factor == 0 || moved <= width;
        self.low = self.low.saturating_add(a.min(b));
        self.high = self.high.saturating_add(a.max(b));
        counter.first < counter.last && moved < width
    }

    /// Whether it may have a byte of another range. `earlier` are the loops in an iteration of which before the
    /// present one it is meant, all others being at the same.
    pub fn meets(
        &self,
        other: &Self,
        earlier: &[usize],
        open: &dyn Fn(usize) -> Option<Counter>,
    ) -> bool {
        let (mut least, mut most) = (0_i64, 0_i64);
        let keys = self.terms.iter().chain(&other.terms).map(|(key, _)| *key);
        let mut keys: Vec<usize> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let Some(counter) = open(key) else { return true };
            let (mine, theirs) = (self.factor(key), other.factor(key));
            // Ends of what both counters may be.
            let ends = match earlier.contains(&key) {
                false => vec![(counter.first, counter.first), (counter.last, counter.last)],
                true if counter.first >= counter.last => return false,
                true => vec![
                    (counter.first, counter.first.saturating_add(counter.step)),
                    (counter.first, counter.last),
                    (counter.last.saturating_sub(counter.step), counter.last),
                ],
            };
            let moved = ends.iter().map(|(a, b)| times(mine, *a).saturating_sub(times(theirs, *b)));
            least = least.saturating_add(moved.clone().min().unwrap_or(0));
            most = most.saturating_add(moved.max().unwrap_or(0));
        }
        self.low.saturating_add(least) < other.high && other.low < self.high.saturating_add(most)
    }

    /// Whether each iteration has all that another range has in it.
    pub fn covers(&self, other: &Self) -> bool {
        self.dense && self.low <= other.low && other.high <= self.high && self.terms == other.terms
    }
}

fn times(a: i64, b: i64) -> i64 {
    a.saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::{Counter, Range};

    /// All that `range` is, of one iteration.
    fn bytes(range: &Range, at: i64) -> std::ops::Range<i64> {
        let shift = range.factor(1) * at;
        range.low + shift..range.high + shift
    }

    #[test]
    fn what_meets_is_found_and_mostly_no_more() {
        let (mut met, mut apart) = (0, 0);
        let step = |from: i64, to: i64| (from..to).step_by(3);
        for (mine, theirs) in step(-6, 9).flat_map(|a| step(-6, 9).map(move |b| (a, b))) {
            for (low, width) in (0..12).step_by(2).flat_map(|a| [1, 3, 6].map(|b| (a, b))) {
                let range =
                    |low, high, factor| Range { low, high, terms: vec![(1, factor)], dense: true };
                let (a, b) = (range(low, low + width, mine), range(4, 7, theirs));
                let counter = Counter { first: 0, last: 4, step: 1 };
                let open = |_| Some(counter);
                let clash = |i, j| {
                    let (a, b) = (bytes(&a, i), bytes(&b, j));
                    a.start < b.end && b.start < a.end
                };
                let before = (0..5).any(|j| (0..j).any(|i| clash(i, j)));
                let same = (0..5).any(|i| clash(i, i));
                // What meets is always told.
                assert!(!before || a.meets(&b, &[1], &open), "{a:?} {b:?}");
                assert!(!same || a.meets(&b, &[], &open), "{a:?} {b:?}");
                met += usize::from(a.meets(&b, &[1], &open));
                apart += usize::from(!a.meets(&b, &[1], &open));
            }
        }
        assert!(met > 50 && apart > 50, "{met} {apart}");
    }

    #[test]
    fn rows_that_follow_each_other_are_dense() {
        let counter = Counter { first: 0, last: 3, step: 1 };
        let mut row = Range { low: 0, high: 4, terms: vec![(1, 4), (2, 16)], dense: true };
        row.close(1, counter);
        assert_eq!((row.low, row.high, row.dense), (0, 16, true));
        row.close(2, counter);
        assert_eq!((row.low, row.high, row.dense), (0, 64, true));
        let mut gaps = Range { low: 0, high: 4, terms: vec![(1, 8)], dense: true };
        gaps.close(1, counter);
        assert_eq!((gaps.low, gaps.high, gaps.dense), (0, 28, false));
    }
}
