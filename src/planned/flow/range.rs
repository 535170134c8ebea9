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
    /// Loops that move it, each with the bytes for one step of its counter.
    pub terms: Vec<(usize, i64)>,
    /// Sizes of dimensions and strides in bytes of the elements that are meant, with that of one
    /// element last. Empty if these follow each other without gaps, or are not known.
    pub strides: Vec<(i64, i64)>,
    /// True if each of the elements is meant; with no strides each of the bytes.
    pub dense: bool,
}

/// The iteration of a loop that a range is meant in, seen from the present one.
#[derive(Clone, Copy)]
enum When {
    Same,
    Before,
    Any,
}

impl Range {
    /// Any byte of a buffer.
    pub fn whole() -> Self {
        Self { low: 0, high: i64::MAX, terms: vec![], strides: vec![], dense: false }
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
        self.dense &= factor == 0 || moved <= width && self.strides.is_empty();
        if factor != 0 {
            self.strides.clear();
        }
        self.low = self.low.saturating_add(a.min(b));
        self.high = self.high.saturating_add(a.max(b));
        counter.first < counter.last && moved < width
    }

    /// True if iterations of a loop may have bytes in common.
    pub fn repeats(&self, of: usize, counter: Counter) -> bool {
        self.clone().close(of, counter)
    }

    /// True if it may have a byte of another range. `earlier` are the nests of loops, outermost first, in an
    /// iteration of which before the present one it is meant, all others being at the same.
    pub fn meets(
        &self,
        other: &Self,
        earlier: &[Vec<usize>],
        open: &dyn Fn(usize) -> Option<Counter>,
    ) -> bool {
        self.meets_within(other, earlier, &|_| When::Same, open)
    }

    /// The same, with what is known of the loops of other nests.
    fn meets_within(
        &self,
        other: &Self,
        earlier: &[Vec<usize>],
        known: &dyn Fn(usize) -> When,
        open: &dyn Fn(usize) -> Option<Counter>,
    ) -> bool {
        let Some((nest, rest)) = earlier.split_first() else {
            return self.meets_where(other, known, open);
        };
        (0..nest.len()).any(|level| {
            let when = |key: usize| match nest.iter().position(|of| *of == key) {
                Some(place) if place == level => When::Before,
                Some(place) if place > level => When::Any,
                Some(_) => When::Same,
                None => known(key),
            };
            self.meets_within(other, rest, &when, open)
        })
    }

    /// The same, with the place of each loop's iteration known.
    fn meets_where(
        &self,
        other: &Self,
        when: &dyn Fn(usize) -> When,
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
            let Counter { first, last, step } = counter;
            // Ends of what both counters may be.
            let ends = match when(key) {
                When::Same => vec![(first, first), (last, last)],
                When::Before if first >= last => return false,
                When::Before => vec![
                    (first, first.saturating_add(step)),
                    (first, last),
                    (last.saturating_sub(step), last),
                ],
                When::Any => vec![(first, first), (first, last), (last, first), (last, last)],
            };
            let moved = ends.iter().map(|(a, b)| times(mine, *a).saturating_sub(times(theirs, *b)));
            least = least.saturating_add(moved.clone().min().unwrap_or(0));
            most = most.saturating_add(moved.max().unwrap_or(0));
        }
        let is_near = self.low.saturating_add(least) < other.high
            && other.low < self.high.saturating_add(most);
        is_near && !self.is_beside(other)
    }

    /// True if each iteration has all that another range has in it.
    pub fn covers(&self, other: &Self) -> bool {
        let has_all = match self.strides.is_empty() {
            true => self.low <= other.low && other.high <= self.high,
            false => sides(self, other).is_some_and(|sides| {
                sides
                    .iter()
                    .all(|(mine, theirs)| mine.start <= theirs.start && theirs.end <= mine.end)
            }),
        };
        self.dense && has_all && self.terms == other.terms
    }

    /// True if elements with gaps between them are where another range has its gaps.
    fn is_beside(&self, other: &Self) -> bool {
        let is_fixed = self.terms.is_empty() && other.terms.is_empty();
        let apart =
            |(mine, theirs): &(Side, Side)| mine.end <= theirs.start || theirs.end <= mine.start;
        is_fixed && sides(self, other).is_some_and(|sides| sides.iter().any(apart))
    }

    /// The elements as a box in an array that has rows of these strides; none if a row does not have them.
    fn sides(&self, strides: &[i64], element: i64) -> Option<Vec<Side>> {
        let (mut rest, mut row) = (self.low, i64::MAX);
        let mut sides = vec![];
        for stride in strides {
            let first = rest.div_euclid(*stride);
            rest = rest.rem_euclid(*stride);
            let own =
                self.strides.iter().filter(|(_, own)| own == stride).map(|(size, _)| *size).max();
            let count = match own {
                Some(size) => size,
                None if self.strides.is_empty() && *stride == element => {
                    self.high.checked_sub(self.low)?.div_euclid(element)
                }
                None => 1,
            };
            let end = first.checked_add(count)?;
            if end.checked_mul(*stride)? > row {
                return None;
            }
            row = *stride;
            sides.push(first..end);
        }
        (rest == 0).then_some(sides)
    }
}

/// Bounds of a box in one dimension.
type Side = std::ops::Range<i64>;

/// Two ranges as boxes in one array; none where they are not.
fn sides(a: &Range, b: &Range) -> Option<Vec<(Side, Side)>> {
    let mut strides: Vec<i64> =
        a.strides.iter().chain(&b.strides).map(|(_, stride)| *stride).collect();
    strides.sort_unstable_by(|a, b| b.cmp(a));
    strides.dedup();
    let element = *strides.last().filter(|least| **least > 0)?;
    let (a, b) = (a.sides(&strides, element)?, b.sides(&strides, element)?);
    Some(a.into_iter().zip(b).collect())
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
                let range = |low, high, factor| Range {
                    low,
                    high,
                    terms: vec![(1, factor)],
                    strides: vec![],
                    dense: true,
                };
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
                assert!(!before || a.meets(&b, &[vec![1]], &open), "{a:?} {b:?}");
                assert!(!same || a.meets(&b, &[], &open), "{a:?} {b:?}");
                met += usize::from(a.meets(&b, &[vec![1]], &open));
                apart += usize::from(!a.meets(&b, &[vec![1]], &open));
            }
        }
        assert!(met > 50 && apart > 50, "{met} {apart}");
    }

    #[test]
    fn an_earlier_iteration_of_a_nest_may_be_of_the_same_row() {
        let counter = Counter { first: 0, last: 3, step: 1 };
        let open = |_| Some(counter);
        let at = |terms: Vec<(usize, i64)>| Range {
            low: 0,
            high: 4,
            terms,
            strides: vec![],
            dense: true,
        };
        let (cell, row) = (at(vec![(1, 16), (2, 4)]), at(vec![(1, 16)]));
        let nest = [vec![1, 2]];
        // Each cell is another one; a row's sum is met again by the next cell of the row.
        assert!(!cell.meets(&cell, &nest, &open));
        assert!(row.meets(&row, &nest, &open));
        // Columns are met again in each row.
        let column = at(vec![(2, 4)]);
        assert!(column.meets(&column, &nest, &open));
        // As two nests, both loops are in an earlier iteration.
        assert!(!row.meets(&row, &[vec![1], vec![2]], &open));
    }

    #[test]
    fn columns_beside_each_other_do_not_meet() {
        let columns = |first: i64, count: i64| Range {
            low: first,
            high: first + 3 * 16 + count,
            terms: vec![],
            strides: vec![(4, 16), (count, 1), (1, 1)],
            dense: true,
        };
        let open = |_| None;
        let (left, right, wide) = (columns(0, 6), columns(6, 10), columns(5, 4));
        assert!(!left.meets(&right, &[], &open) && !right.meets(&left, &[], &open));
        assert!(left.meets(&wide, &[], &open) && wide.meets(&right, &[], &open));
        let all = Range { low: 0, high: 64, strides: vec![], ..left.clone() };
        assert!(all.meets(&left, &[], &open) && all.covers(&right) && !left.covers(&all));
        assert!(left.covers(&columns(0, 5)) && !left.covers(&columns(0, 7)));
    }

    #[test]
    fn rows_that_follow_each_other_are_dense() {
        let counter = Counter { first: 0, last: 3, step: 1 };
        let mut row =
            Range { low: 0, high: 4, terms: vec![(1, 4), (2, 16)], strides: vec![], dense: true };
        row.close(1, counter);
        assert_eq!((row.low, row.high, row.dense), (0, 16, true));
        row.close(2, counter);
        assert_eq!((row.low, row.high, row.dense), (0, 64, true));
        let mut gaps = Range { low: 0, high: 4, terms: vec![(1, 8)], strides: vec![], dense: true };
        gaps.close(1, counter);
        assert_eq!((gaps.low, gaps.high, gaps.dense), (0, 28, false));
    }
}
