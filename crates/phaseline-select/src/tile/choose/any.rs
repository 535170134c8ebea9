//! Tiles other than the cheapest, for checks.

use super::{Choice, Chooser, Cut, orders};
use crate::tensor::SplitMix64;

/// Tiles beyond which [`Chooser::any`] takes larger ones.
const MAX_PIECES: i64 = 4096;

impl Chooser<'_> {
    /// One of the tiles that fit, by a number: pieces of any sizes in any order of loops, so that a
    /// check sees more than the cheapest. None if not even the smallest fits.
    pub fn any(&self, number: u64) -> Option<Choice> {
        let mut rng = SplitMix64::new(number);
        let mut cuts: Vec<&Cut> =
            self.cuts.iter().map(|cuts| cuts.last()).collect::<Option<_>>()?;
        if !self.fits(&cuts) {
            // Requirements may want more than the smallest.
            let sizes = self.choose()?.sizes;
            let found = self.cuts.iter().zip(sizes);
            let found = found.map(|(cuts, size)| cuts.iter().find(|cut| cut.size == size));
            cuts = found.collect::<Option<_>>()?;
        }
        let mut below = |bound: usize| (rng.next_u64() % bound.max(1) as u64) as usize;
        let mut places: Vec<usize> = (0..cuts.len()).collect();
        while !places.is_empty() {
            let place = places.swap_remove(below(places.len()));
            let smallest = cuts[place];
            let mut fitting = vec![];
            for cut in &self.cuts[place] {
                cuts[place] = cut;
                if self.fits(&cuts) && self.pieces(&cuts) <= MAX_PIECES {
                    fitting.push(cut);
                }
            }
            cuts[place] = match (below(3), fitting.len()) {
                (_, 0) => smallest,
                (0, count) => fitting[count - 1],
                (_, count) => fitting[below(count)],
            };
        }
        let all = orders(self.plan, &self.free(&cuts));
        let order = all[below(all.len())].clone();
        Some(Choice { sizes: cuts.iter().map(|cut| cut.size).collect(), order })
    }

    fn pieces(&self, cuts: &[&Cut]) -> i64 {
        cuts.iter().fold(1, |all: i64, cut| all.saturating_mul(cut.count))
    }
}
