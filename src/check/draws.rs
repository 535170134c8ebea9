//! Choices by key. A key says what a choice is for: the node of the pattern, the operand or attribute, and which of its
//! choices it is. One that is changed leaves the others as they are, so graphs can be searched for.

use crate::tensor::SplitMix64;
use std::collections::{BTreeMap, HashMap};

/// Sizes that a search tries are at most this.
const LARGEST: i64 = 1 << 13;

/// A choice that a graph was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Key of the choice: node, operand or attribute, and number.
    pub key: u64,
    /// The number of things to choose from; none of a size, which may be any.
    pub bound: Option<usize>,
    /// The chosen value.
    pub value: i64,
}

/// Seed and changed choices from which a graph is made.
#[derive(Clone, Debug, Default)]
pub struct Genes {
    /// Decides all choices that are not changed.
    seed: u64,
    changed: BTreeMap<u64, i64>,
    /// True if constants are at one end of their types, so that sums fill their accumulators.
    pub is_full: bool,
}

impl Genes {
    /// The same with another value for a choice.
    #[must_use]
    pub fn with(mut self, key: u64, value: i64) -> Self {
        self.changed.insert(key, value);
        self
    }
}

/// The choices of the graph in work.
pub struct Draws {
    rng: SplitMix64,
    genes: Genes,
    /// The key of the place in work.
    place: u64,
    /// Number of choices at each place.
    counts: HashMap<u64, u64>,
    made: Vec<Draw>,
    /// Generator for bulk data, whose single numbers do not count as choices.
    bulk: Option<SplitMix64>,
}

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: SplitMix64::new(seed),
            genes: Genes::default(),
            place: 0,
            counts: HashMap::new(),
            made: vec![],
            bulk: None,
        }
    }

    /// A number that is none of a graph's choices.
    pub fn random(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Starts another graph: a new one, or one of these choices.
    pub fn begin(&mut self, genes: Option<Genes>) {
        self.genes =
            genes.unwrap_or_else(|| Genes { seed: self.rng.next_u64(), ..Genes::default() });
        self.place = 0;
        self.counts.clear();
        self.made.clear();
        self.bulk = None;
    }

    /// Genes of the graph under construction, and its choices so far.
    pub fn made(&self) -> (Genes, Vec<Draw>) {
        (self.genes.clone(), self.made.clone())
    }

    pub fn is_full(&self) -> bool {
        self.genes.is_full
    }

    /// Goes to a place within the one in work, and gives that for [`Draws::leave`].
    pub fn enter(&mut self, part: u64) -> u64 {
        let outer = self.place;
        self.place = mixed(outer, part.wrapping_add(1));
        outer
    }

    pub fn leave(&mut self, outer: u64) {
        self.place = outer;
    }

    /// Draws numbers from one choice until [`Draws::end_bulk`].
    pub fn begin_bulk(&mut self) {
        let (_, mut rng) = self.next();
        self.bulk = Some(SplitMix64::new(rng.next_u64()));
    }

    pub fn end_bulk(&mut self) {
        self.bulk = None;
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1);
        if let Some(bulk) = &mut self.bulk {
            return (bulk.next_u64() % bound as u64) as usize;
        }
        let (key, mut rng) = self.next();
        let value = match self.genes.changed.get(&key) {
            Some(value) => value.unsigned_abs() % bound as u64,
            None => rng.next_u64() % bound as u64,
        };
        // Seeds are not worth a search.
        if (2..1 << 20).contains(&bound) {
            self.made.push(Draw { key, bound: Some(bound), value: value as i64 });
        }
        value as usize
    }

    /// True in `percent` of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A size: as `usual` gives it from random numbers, or what a search chose.
    pub fn size(&mut self, usual: impl Fn(&mut SplitMix64) -> i64) -> i64 {
        if let Some(bulk) = &mut self.bulk {
            return usual(bulk);
        }
        let (key, mut rng) = self.next();
        let value = match self.genes.changed.get(&key) {
            Some(value) => (*value).clamp(1, LARGEST),
            None => usual(&mut rng),
        };
        self.made.push(Draw { key, bound: None, value });
        value
    }

    /// The key of the next choice, and its random numbers.
    fn next(&mut self) -> (u64, SplitMix64) {
        let count = self.counts.entry(self.place).or_default();
        let key = mixed(self.place, 0x5851_f42d ^ *count);
        *count += 1;
        (key, SplitMix64::new(self.genes.seed ^ key))
    }
}

fn mixed(one: u64, other: u64) -> u64 {
    SplitMix64::new(one ^ other.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(draws: &mut Draws, genes: Option<Genes>) -> Vec<i64> {
        draws.begin(genes);
        let outer = draws.enter(1);
        let first = draws.below(10) as i64;
        draws.leave(outer);
        draws.enter(2);
        vec![first, draws.size(|rng| (rng.next_u64() % 50) as i64), draws.below(1000) as i64]
    }

    #[test]
    fn a_changed_choice_leaves_the_others() {
        let mut draws = Draws::new(1);
        let before = three(&mut draws, None);
        let (genes, made) = draws.made();
        assert_eq!(three(&mut draws, Some(genes.clone())), before);
        let after = three(&mut draws, Some(genes.with(made[1].key, 777)));
        assert_eq!(after, [before[0], 777, before[2]]);
    }
}
