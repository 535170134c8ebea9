//! Choice of the items that live in a pool: as many of the hot ones as there is space for.

use crate::plan::Span;

/// Something that may live in a pool.
pub struct Candidate<'a> {
    /// Bytes, with what alignment adds.
    pub bytes: u64,
    /// Spans in which it is in use; none for a constant, which is in use all the time.
    pub spans: Option<&'a [Span]>,
    /// Number of reads and writes of each byte, in sixteenths.
    pub heat: u64,
    /// True if it has no other place.
    pub forced: bool,
}

/// The places of those that live in a pool of `limit` bytes, in which no more are in use at any of
/// `points` points. What has no other place is among them in any case.
pub fn choose(candidates: &[Candidate<'_>], points: usize, limit: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|index| {
        let one = &candidates[*index];
        (!one.forced, u64::MAX - one.heat, one.bytes, *index)
    });
    let mut in_use = vec![0_u64; points.max(1)];
    let mut chosen = vec![];
    for index in order {
        let one = &candidates[index];
        let whole = [(0, points.saturating_sub(1))];
        let spans = one.spans.unwrap_or(&whole);
        let fullest = spans.iter().flat_map(|span| in_use.get(span.0..=span.1)).flatten().max();
        let after = fullest.copied().unwrap_or(0).saturating_add(one.bytes);
        if !one.forced && after > limit {
            continue;
        }
        for span in spans {
            let points = in_use.get_mut(span.0..=span.1).into_iter().flatten();
            points.for_each(|bytes| *bytes = bytes.saturating_add(one.bytes));
        }
        chosen.push(index);
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(bytes: u64, spans: &[Span], heat: u64, forced: bool) -> Candidate<'_> {
        Candidate { bytes, spans: Some(spans), heat, forced }
    }

    #[test]
    fn hot_ones_go_first_and_share_bytes_over_time() {
        let (early, late) = ([(0, 1)], [(2, 3)]);
        let all = [
            value(100, &early, 1, false),
            value(60, &early, 9, false),
            value(60, &late, 2, false),
            value(60, &late, 1, false),
        ];
        assert_eq!(choose(&all, 4, 100), [1, 2]);
        assert_eq!(choose(&all, 4, 120), [1, 2, 3]);
        assert_eq!(choose(&all, 4, 10), Vec::<usize>::new());
    }

    #[test]
    fn what_has_no_other_place_is_there_and_constants_always() {
        let early = [(0, 1)];
        let constant = Candidate { bytes: 50, spans: None, heat: 5, forced: false };
        let all = [value(80, &early, 0, true), constant, value(20, &early, 1, false)];
        assert_eq!(choose(&all, 4, 100), [0, 2]);
        assert_eq!(choose(&all, 4, 130), [0, 1]);
        assert_eq!(choose(&all, 4, 10), [0]);
    }
}
