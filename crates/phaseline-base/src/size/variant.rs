//! Parts of the ranges of sizes that have code of their own.

use super::{Dim, Symbol};
use serde::{Deserialize, Serialize};

/// Ranges of some symbols, as text: `batch=1`, `tokens=1..64`. Symbols that are not named keep their range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant(pub Vec<(String, String)>);

/// Parts of the ranges that are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// The parts that are given one by one.
    pub given: Vec<Variant>,
    /// Number of parts in all, placed where they save the most work.
    pub buckets: Option<usize>,
    /// The part of the work that may be for padding, in percent, which decides on their number.
    pub waste: Option<u32>,
}

/// The most parts that one network has.
pub const MOST_VARIANTS: usize = 64;

impl Variants {
    /// True if nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Variant {
    /// Reads `batch=1,8 tokens=1..64`: each combination of the values and ranges of each symbol.
    ///
    /// # Errors
    /// The text is not of that form, or names a symbol twice.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let mut all = vec![Self::default()];
        for part in text.split_whitespace() {
            let (name, ranges) = part.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
                format!("`{part}` is no part of a range: expected NAME=SIZE,..., as in `batch=1,8 tokens=1..64`")
            })?;
            if all[0].0.iter().any(|(other, _)| other == name) {
                return Err(format!("`{text}` names `{name}` twice: give its sizes in one list"));
            }
            let mut longer = vec![];
            for variant in &all {
                for range in ranges.split(',') {
                    Symbol::parse(name, range)?;
                    let mut variant = variant.clone();
                    variant.0.push((name.to_owned(), range.trim().to_owned()));
                    longer.push(variant);
                }
            }
            all = longer;
        }
        if all[0].0.is_empty() {
            return Err("names no sizes: expected NAME=SIZE,..., as in batch=1,8".to_owned());
        }
        Ok(all)
    }

    /// Its text, which [`Variant::parse`] reads.
    pub fn text(&self) -> String {
        self.0.iter().map(|(name, range)| format!("{name}={range}")).collect::<Vec<_>>().join(" ")
    }

    /// All symbols, with narrower ranges for those that it names.
    ///
    /// # Errors
    /// There is no such symbol, or no value of its range is in the part.
    pub fn within(&self, symbols: &[Symbol]) -> Result<Vec<Symbol>, String> {
        let mut narrow = symbols.to_vec();
        for (name, range) in &self.0 {
            let Some(symbol) = narrow.iter_mut().find(|symbol| symbol.name == *name) else {
                let names: Vec<_> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
                return Err(format!(
                    "`{}` names `{name}`, but the sizes that have a range are {}",
                    self.text(),
                    names.join(", ")
                ));
            };
            let part = Symbol::parse(name, range)?;
            *symbol = symbol.between(part.least, part.most).ok_or_else(|| {
                format!("`{}` has no size of {name}, which is {}", self.text(), symbol.range())
            })?;
        }
        Ok(narrow)
    }

    /// The part that narrower ranges of symbols are.
    pub fn of(narrow: &[Symbol], symbols: &[Symbol]) -> Self {
        let pairs = narrow.iter().zip(symbols).filter(|(part, whole)| part != whole);
        Self(pairs.map(|(part, _)| (part.name.clone(), part.range())).collect())
    }
}

/// About how much there is to compute at given sizes: a sum of products of dimensions.
#[derive(Clone, Debug, Default)]
pub struct Work(pub Vec<(f64, Vec<Dim>)>);

impl Work {
    /// The work at these values of the symbols.
    pub fn at(&self, symbols: &[Symbol], values: &[i64]) -> f64 {
        let term = |(factor, dims): &(f64, Vec<Dim>)| {
            dims.iter().fold(*factor, |product, dim| {
                product * dim.size().at(symbols, values).max(0) as f64
            })
        };
        self.0.iter().map(term).sum()
    }

    /// The work of code for these ranges, which is that of the greatest sizes.
    pub fn most(&self, symbols: &[Symbol], narrow: &[Symbol]) -> f64 {
        self.at(symbols, &narrow.iter().map(|symbol| symbol.most).collect::<Vec<_>>())
    }
}

/// Divisions of ranges, each symbol on its own.
struct Ladder<'s> {
    symbols: &'s [Symbol],
    /// The number of parts of each symbol.
    steps: Vec<usize>,
}

impl Ladder<'_> {
    fn count(&self) -> usize {
        self.steps.iter().fold(1, |product, count| product.saturating_mul(*count))
    }

    /// The upper ends of the parts of a symbol, which are the same number of times greater each.
    fn ends(&self, place: usize) -> Vec<i64> {
        let symbol = &self.symbols[place];
        let count = self.steps[place] as f64;
        let (least, most) = (symbol.least.max(1) as f64, symbol.most as f64);
        let mut ends: Vec<i64> = (1..=self.steps[place])
            .map(|step| {
                let end = (least * (most / least).powf(step as f64 / count)).round() as i64;
                symbol.up(end)
            })
            .collect();
        ends.dedup();
        ends
    }

    /// The parts, each from the least sizes on: a run takes the first one that it fits into.
    fn parts(&self) -> Vec<Vec<Symbol>> {
        let mut parts = vec![self.symbols.to_vec()];
        for place in 0..self.symbols.len() {
            let ends = self.ends(place);
            parts = parts
                .into_iter()
                .flat_map(|part| {
                    ends.iter().map(move |end| {
                        let mut part = part.clone();
                        part[place].most = *end;
                        part
                    })
                })
                .collect();
        }
        parts
    }

    /// The part of the work that is for padding, as mean over a grid of sizes.
    fn waste(&self, work: &Work, grid: &[Vec<i64>]) -> f64 {
        let ends: Vec<_> = (0..self.symbols.len()).map(|place| self.ends(place)).collect();
        let wasted = grid.iter().map(|values| {
            let rooms: Vec<_> = values
                .iter()
                .zip(&ends)
                .map(|(value, ends)| {
                    ends.iter().copied().find(|end| end >= value).unwrap_or(*value)
                })
                .collect();
            let done = work.at(self.symbols, &rooms);
            if done > 0.0 { 1.0 - work.at(self.symbols, values) / done } else { 0.0 }
        });
        wasted.sum::<f64>() / grid.len().max(1) as f64
    }
}

/// Parts of ranges, and the part of the work that is for padding then, as mean over sizes. There are at most `count`, and no more
/// than it takes for that mean to be at most `waste`. The last part is the whole of the ranges.
///
/// # Errors
/// It takes more than [`MOST_VARIANTS`].
pub fn buckets(
    symbols: &[Symbol],
    work: &Work,
    count: usize,
    waste: Option<f64>,
) -> Result<(Vec<Vec<Symbol>>, f64), String> {
    let grid = grid(symbols);
    let mut ladder = Ladder { symbols, steps: vec![1; symbols.len()] };
    let mut wasted = ladder.waste(work, &grid);
    let most = count.min(MOST_VARIANTS);
    while waste.is_none_or(|waste| wasted > waste) {
        let longer = (0..symbols.len()).filter_map(|place| {
            let mut steps = ladder.steps.clone();
            steps[place] += 1;
            let next = Ladder { symbols, steps };
            let grows = next.ends(place).len() > ladder.ends(place).len();
            let rest = next.waste(work, &grid);
            // Savings by the number of parts that they take.
            let gain = (wasted - rest) / (next.count() - ladder.count()) as f64;
            (grows && next.count() <= most).then_some((gain, next, rest))
        });
        let best = longer.max_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let Some((gain, next, rest)) = best else { break };
        if gain <= 0.0 && waste.is_none() {
            break;
        }
        (ladder, wasted) = (next, rest);
    }
    if let Some(waste) = waste.filter(|waste| wasted > *waste) {
        return Err(format!(
            "{most} parts of the ranges leave {:.0}% of the work for padding, more than {:.0}%: allow more waste, or \
             give smaller ranges",
            100.0 * wasted,
            100.0 * waste
        ));
    }
    Ok((ladder.parts(), wasted))
}

/// Sizes all over the ranges.
fn grid(symbols: &[Symbol]) -> Vec<Vec<i64>> {
    const POINTS: i64 = 17;
    let mut grid = vec![vec![]];
    for symbol in symbols {
        let span = symbol.most - symbol.least;
        let mut values: Vec<_> = (0..POINTS)
            .map(|point| symbol.up(symbol.least + span * point / (POINTS - 1)))
            .collect();
        values.dedup();
        if grid.len() * values.len() > 1 << 14 {
            values = vec![symbol.most];
        }
        grid = grid
            .iter()
            .flat_map(|point: &Vec<i64>| {
                values.iter().map(|value| [&point[..], &[*value]].concat())
            })
            .collect();
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    fn symbols() -> Vec<Symbol> {
        vec![Symbol::new("batch", 1, 16), Symbol::new("tokens", 1, 512)]
    }

    #[test]
    fn lists_are_combinations() {
        let texts = |text: &str| -> Vec<String> {
            Variant::parse(text).expect("a variant").iter().map(Variant::text).collect()
        };
        assert_eq!(texts("batch=1,8"), ["batch=1", "batch=8"]);
        assert_eq!(texts("batch=1 tokens=32,1..64"), ["batch=1 tokens=32", "batch=1 tokens=1..64"]);
        for (text, part) in [
            ("", "names no sizes"),
            ("batch", "`batch` is no part of a range"),
            ("batch=x", "`batch=x` is no range of sizes"),
            ("a=1 a=2", "names `a` twice"),
        ] {
            let message = Variant::parse(text).expect_err("is refused");
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn parts_are_within_ranges() {
        let within = |text: &str| Variant::parse(text).expect("a variant")[0].within(&symbols());
        let part = within("tokens=500..600").expect("fits");
        assert_eq!((part[0].range(), part[1].range()), ("1..16".to_owned(), "500..512".to_owned()));
        assert_eq!(Variant::of(&part, &symbols()).text(), "tokens=500..512");
        for (text, message) in [
            ("batch=17", "`batch=17` has no size of batch, which is 1..16"),
            ("width=1", "names `width`, but the sizes that have a range are batch, tokens"),
        ] {
            assert!(within(text).expect_err("is refused").contains(message));
        }
    }

    #[test]
    fn buckets_save_the_most_work() {
        let symbols = symbols();
        let dims = [0, 1].map(|place| Dim::of(Size::symbol(&symbols, place)));
        let work = Work(vec![(1.0, dims.to_vec())]);
        let (parts, one) = buckets(&symbols, &work, 1, None).expect("one part");
        assert_eq!(parts, std::slice::from_ref(&symbols));
        let (parts, six) = buckets(&symbols, &work, 6, None).expect("six parts");
        assert!(
            parts.len() <= 6 && parts.last() == Some(&symbols) && six < one - 0.1,
            "{one} {six}"
        );
        let (parts, rest) = buckets(&symbols, &work, usize::MAX, Some(0.4)).expect("parts");
        assert!(rest <= 0.4 && parts.len() <= MOST_VARIANTS, "{rest} {}", parts.len());
        let error = buckets(&symbols, &work, usize::MAX, Some(0.01)).expect_err("too many");
        assert!(error.contains("more than 1%"), "{error}");
    }
}
