//! Sizes that are known at run time: symbols with ranges, and expressions over them.
//!
//! A [`Size`] is a polynomial over atoms: symbols, and quotients and extremes of other sizes. Equal polynomials are equal
//! sizes, so that `2 * n + n` and `3 * n` are one. A symbol counts in its steps, which keeps what divides it: a height in steps of
//! 32, halved twice and doubled twice, is the height again.

mod dim;
mod variant;

pub use dim::{Bounds, Dim, Packing};
pub use variant::{MOST_VARIANTS, Variant, Variants, Work, buckets};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A size that a run gives, such as a batch or a number of tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name in the model.
    pub name: String,
    /// The least value.
    pub least: i64,
    /// The greatest value.
    pub most: i64,
    /// The distance of neighbouring values, from the least on.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub step: i64,
}

/// The greatest size that a symbol, and what follows from symbols along a dimension, may have.
pub const GREATEST: i64 = 1 << 24;

fn one() -> i64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(step: &i64) -> bool {
    *step == 1
}

/// The value that a symbol needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solution {
    /// A number.
    Value(usize, i64),
    /// Another symbol.
    Equal(usize, usize),
    /// A multiple of this number.
    Multiple(usize, i64),
}

/// A factor of a polynomial's terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Atom {
    /// A symbol in units of [`Symbol::unit`].
    Symbol(usize),
    /// The floor of a quotient.
    Quotient(Size, i64),
    /// The lesser of two.
    Least(Size, Size),
    /// The greater of two.
    Most(Size, Size),
}

/// An expression over symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Size(Vec<(Vec<Atom>, i64)>);

impl Symbol {
    /// A symbol in steps of one.
    pub fn new(name: &str, least: i64, most: i64) -> Self {
        Self { name: name.to_owned(), least, most, step: 1 }
    }

    /// Reads `4`, `1..32` or `32..1024 step 32`.
    ///
    /// # Errors
    /// The text is no range, or no number is in it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let fault = |why: &str| format!("`{name}={text}` is no range of sizes: {why}");
        let form = "expected a number, LEAST..MOST, or LEAST..MOST step STEP";
        let number = |text: &str| text.trim().parse::<i64>().map_err(|_| fault(form));
        let (range, step) = match text.split_once(" step ") {
            Some((range, step)) => (range, number(step)?),
            None => (text, 1),
        };
        let (least, most) = match range.split_once("..") {
            Some((least, most)) => (number(least)?, number(most)?),
            None => (number(range)?, number(range)?),
        };
        if least < 0 || most < least || step < 1 {
            return Err(fault("it needs 0 <= LEAST <= MOST and a STEP of at least 1"));
        }
        if most > GREATEST {
            return Err(fault(&format!("no size is beyond {GREATEST}")));
        }
        // The last value that steps reach.
        let most = least + (most - least) / step * step;
        Ok(Self { name: name.to_owned(), least, most, step })
    }

    /// Reads the values of an input whose elements are sizes: `1..8`, or `[3,1..8]`, each a number or a range. The symbols are
    /// called `INPUT`, or `INPUT[0]` and so on in a list.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse_elements(input: &str, text: &str) -> Result<Vec<Self>, String> {
        let text = text.trim();
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let element = |name: String, text: &str| match text.trim().parse::<i64>() {
            Ok(number) => Ok(Self { name, least: number, most: number, step: 1 }),
            Err(_) => Self::parse(&name, text),
        };
        match inner {
            None => Ok(vec![element(input.to_owned(), text)?]),
            Some(inner) => {
                let parts = inner.split(',').enumerate();
                parts.map(|(at, text)| element(format!("{input}[{at}]"), text)).collect()
            }
        }
    }

    /// True if the symbol has one value only.
    pub fn is_known(&self) -> bool {
        self.least == self.most
    }

    /// A divisor of each value, as far as steps tell.
    fn unit(&self) -> i64 {
        if self.least % self.step == 0 { self.step } else { 1 }
    }

    /// True if the value is one of the range.
    pub fn has(&self, value: i64) -> bool {
        (self.least..=self.most).contains(&value) && (value - self.least) % self.step == 0
    }

    /// The values of the range between two numbers, if there are any.
    pub fn between(&self, least: i64, most: i64) -> Option<Self> {
        let least = self.up(least.min(self.most).max(self.least)).max(least);
        let most = least + (most.min(self.most) - least).div_euclid(self.step) * self.step;
        (least <= most).then(|| Self { least, most, ..self.clone() })
    }

    /// The least value of the range that is no less than a number; the greatest one if there is none.
    pub fn up(&self, number: i64) -> i64 {
        let steps = (number - self.least + self.step - 1).div_euclid(self.step).max(0);
        (self.least + steps * self.step).min(self.most)
    }

    /// The multiples of a number in the range, if there are some.
    #[must_use]
    pub fn multiples_of(&self, number: i64) -> Option<Self> {
        let all = (self.least..=self.most).step_by(usize::try_from(self.step).ok()?);
        let multiples: Vec<_> = all.filter(|value| value % number == 0).collect();
        let (least, most) = (*multiples.first()?, *multiples.last()?);
        let step = multiples.get(1).map_or(1, |second| second - least);
        Some(Self { least, most, step, ..self.clone() })
    }

    /// `1..32`, or `32..1024 step 32`.
    pub fn range(&self) -> String {
        match self.step {
            _ if self.is_known() => self.least.to_string(),
            1 => format!("{}..{}", self.least, self.most),
            step => format!("{}..{} step {step}", self.least, self.most),
        }
    }
}

impl From<i64> for Size {
    fn from(value: i64) -> Self {
        if value == 0 { Self(vec![]) } else { Self(vec![(vec![], value)]) }
    }
}

impl Size {
    /// The symbol at a place of a list.
    pub fn symbol(symbols: &[Symbol], place: usize) -> Self {
        let symbol = &symbols[place];
        if symbol.is_known() {
            return symbol.least.into();
        }
        Self(vec![(vec![Atom::Symbol(place)], symbol.unit())])
    }

    /// A divisor of each value of a symbol, as far as steps tell. Sizes count symbols in it.
    pub fn unit_of(symbols: &[Symbol], place: usize) -> i64 {
        symbols[place].unit()
    }

    fn of(terms: BTreeMap<Vec<Atom>, i64>) -> Self {
        Self(terms.into_iter().filter(|(_, factor)| *factor != 0).collect())
    }

    /// The number, if it is one.
    pub fn known(&self) -> Option<i64> {
        match &self.0[..] {
            [] => Some(0),
            [(atoms, factor)] if atoms.is_empty() => Some(*factor),
            _ => None,
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut terms: BTreeMap<_, i64> = self.0.iter().cloned().collect();
        for (atoms, factor) in &other.0 {
            let sum = terms.entry(atoms.clone()).or_default();
            *sum = sum.saturating_add(*factor);
        }
        Self::of(terms)
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(&(-1).into()))
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut terms: BTreeMap<Vec<Atom>, i64> = BTreeMap::new();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut atoms = [&left[..], &right[..]].concat();
                atoms.sort();
                let sum = terms.entry(atoms).or_default();
                *sum = sum.saturating_add(a.saturating_mul(*b));
            }
        }
        Self::of(terms)
    }

    /// The floor of the quotient by a number above zero.
    #[must_use]
    pub fn over(&self, divisor: i64) -> Self {
        let (whole, rest): (Vec<_>, Vec<_>) =
            self.0.iter().cloned().partition(|(_, factor)| factor % divisor == 0);
        let whole = whole.into_iter().map(|(atoms, factor)| (atoms, factor / divisor));
        let (whole, rest) = (Self::of(whole.collect()), Self(rest));
        match rest.known() {
            Some(rest) => whole.plus(&rest.div_euclid(divisor).into()),
            None => whole.plus(&Self(vec![(vec![Atom::Quotient(rest, divisor)], 1)])),
        }
    }

    /// The quotient, if the divisor is a single product that divides each term.
    pub fn divided(&self, divisor: &Self) -> Option<Self> {
        let [(atoms, factor)] = &divisor.0[..] else { return None };
        let mut terms = BTreeMap::new();
        for (own, number) in &self.0 {
            let mut rest = own.clone();
            for atom in atoms {
                let at = rest.iter().position(|other| other == atom)?;
                rest.remove(at);
            }
            if number % factor != 0 {
                return None;
            }
            terms.insert(rest, number / factor);
        }
        Some(Self::of(terms))
    }

    /// The lesser of two, as far as ranges decide.
    #[must_use]
    pub fn or_less(&self, other: &Self, symbols: &[Symbol]) -> Self {
        match self.minus(other) {
            difference if difference.bounds(symbols).1 <= 0 => self.clone(),
            difference if difference.bounds(symbols).0 >= 0 => other.clone(),
            _ => Self(vec![(vec![Atom::Least(self.clone(), other.clone())], 1)]),
        }
    }

    /// The greater of two, as far as ranges decide.
    #[must_use]
    pub fn or_more(&self, other: &Self, symbols: &[Symbol]) -> Self {
        match self.minus(other) {
            difference if difference.bounds(symbols).0 >= 0 => self.clone(),
            difference if difference.bounds(symbols).1 <= 0 => other.clone(),
            _ => Self(vec![(vec![Atom::Most(self.clone(), other.clone())], 1)]),
        }
    }

    /// Bounds over all values of the symbols. They hold, and need not be reached where an atom is in several terms.
    pub fn bounds(&self, symbols: &[Symbol]) -> (i64, i64) {
        let mut total = (0i64, 0i64);
        for (atoms, factor) in &self.0 {
            let mut range = (*factor, *factor);
            for atom in atoms {
                range = product(range, atom.bounds(symbols));
            }
            total = (total.0.saturating_add(range.0), total.1.saturating_add(range.1));
        }
        total
    }

    /// The greatest value, which a buffer needs room for.
    pub fn most(&self, symbols: &[Symbol]) -> i64 {
        self.bounds(symbols).1
    }

    /// The value for values of the symbols.
    pub fn at(&self, symbols: &[Symbol], values: &[i64]) -> i64 {
        let terms = self.0.iter().map(|(atoms, factor)| {
            let atoms = atoms.iter().map(|atom| atom.at(symbols, values));
            atoms.fold(*factor, i64::saturating_mul)
        });
        terms.fold(0, i64::saturating_add)
    }

    /// The value or the other symbol that a symbol has to have for a size to be zero, if there is one in its range.
    pub fn solved(&self, symbols: &[Symbol]) -> Option<Solution> {
        let (numbers, rest): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|(atoms, _)| atoms.is_empty());
        let number = numbers.first().map_or(0, |(_, number)| *number);
        let place = |atoms: &[Atom]| match atoms {
            [Atom::Symbol(place)] => Some(*place),
            _ => None,
        };
        match &rest[..] {
            [(atoms, factor)] if number % factor == 0 => {
                let place = place(atoms)?;
                let value = -number / factor * symbols[place].unit();
                symbols[place].has(value).then_some(Solution::Value(place, value))
            }
            [(first, a), (second, b)] if number == 0 && *a == -*b => {
                let (first, second) = (place(first)?, place(second)?);
                let (one, other) = (&symbols[first], &symbols[second]);
                let common = one.unit() == other.unit()
                    && one.most.min(other.most) >= one.least.max(other.least);
                common.then_some(Solution::Equal(first, second))
            }
            _ => None,
        }
    }

    /// The part that depends on symbols and its factor, of a single product.
    pub fn parts(&self) -> Option<(Self, i64)> {
        let [(atoms, factor)] = &self.0[..] else { return None };
        Some((Self(vec![(atoms.clone(), 1)]), *factor))
    }

    /// The multiples that a symbol has to have for a number to divide the size, if it hangs on one symbol.
    pub fn divisible(&self, divisor: i64, symbols: &[Symbol]) -> Option<Solution> {
        let [(atoms, factor)] = &self.0[..] else { return None };
        let [Atom::Symbol(place)] = atoms[..] else { return None };
        let (mut a, mut b) = (divisor, *factor);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let symbol = &symbols[place];
        let number = symbol.unit().checked_mul(divisor / a.abs().max(1))?;
        let narrower = symbol.multiples_of(number).is_some_and(|found| found != *symbol);
        narrower.then_some(Solution::Multiple(place, number))
    }

    /// The symbol that it is, if it is only that.
    pub fn as_symbol(&self, symbols: &[Symbol]) -> Option<usize> {
        let [(atoms, factor)] = &self.0[..] else { return None };
        let [Atom::Symbol(place)] = atoms[..] else { return None };
        (symbols[place].unit() == *factor).then_some(place)
    }

    /// True if it is never above another one, as far as ranges and minima tell.
    pub fn is_at_most(&self, other: &Self, symbols: &[Symbol]) -> bool {
        let least_of = |size: &Self| match &size.0[..] {
            [(atoms, 1)] => match &atoms[..] {
                [Atom::Least(a, b)] => Some((a.clone(), b.clone())),
                _ => None,
            },
            _ => None,
        };
        self == other
            || self.minus(other).most(symbols) <= 0
            || least_of(self)
                .is_some_and(|(a, b)| a.is_at_most(other, symbols) || b.is_at_most(other, symbols))
    }

    /// The last one of the symbols that it depends on, by its place.
    pub fn last_symbol(&self) -> Option<usize> {
        self.0.iter().flat_map(|(atoms, _)| atoms).filter_map(Atom::last_symbol).max()
    }

    /// Gives the terms to a builder of expressions.
    pub fn build<V: Clone, E>(&self, to: &mut impl Expressions<V, E>) -> Result<V, E> {
        let mut sum: Option<V> = None;
        for (atoms, factor) in &self.0 {
            let mut term: Option<V> = None;
            for atom in atoms {
                let value = atom.build(to)?;
                term = Some(match term {
                    Some(term) => to.times(term, value)?,
                    None => value,
                });
            }
            let term = match term {
                None => to.number(*factor)?,
                Some(term) if *factor == 1 => term,
                Some(term) => {
                    let factor = to.number(*factor)?;
                    to.times(term, factor)?
                }
            };
            sum = Some(match sum {
                Some(sum) => to.plus(sum, term)?,
                None => term,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => to.number(0),
        }
    }

    /// The expression as text, with the names of symbols.
    pub fn text(&self, symbols: &[Symbol]) -> String {
        let built: Result<String, _> = self.build(&mut Texts(symbols));
        built.unwrap_or_else(|never: std::convert::Infallible| match never {})
    }
}

/// Something that expressions are made of: text, or operations.
pub trait Expressions<V, E> {
    /// A number.
    fn number(&mut self, value: i64) -> Result<V, E>;
    /// A symbol divided by its unit, which divides it.
    fn units(&mut self, symbol: usize) -> Result<V, E>;
    /// A sum.
    fn plus(&mut self, a: V, b: V) -> Result<V, E>;
    /// A product.
    fn times(&mut self, a: V, b: V) -> Result<V, E>;
    /// The floor of a quotient.
    fn over(&mut self, a: V, divisor: i64) -> Result<V, E>;
    /// The lesser of two.
    fn least(&mut self, a: V, b: V) -> Result<V, E>;
    /// The greater of two.
    fn most(&mut self, a: V, b: V) -> Result<V, E>;
}

impl Atom {
    fn bounds(&self, symbols: &[Symbol]) -> (i64, i64) {
        match self {
            Self::Symbol(place) => {
                let symbol = &symbols[*place];
                (symbol.least / symbol.unit(), symbol.most / symbol.unit())
            }
            Self::Quotient(size, divisor) => {
                let (least, most) = size.bounds(symbols);
                (least.div_euclid(*divisor), most.div_euclid(*divisor))
            }
            Self::Least(a, b) => {
                let (a, b) = (a.bounds(symbols), b.bounds(symbols));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Self::Most(a, b) => {
                let (a, b) = (a.bounds(symbols), b.bounds(symbols));
                (a.0.max(b.0), a.1.max(b.1))
            }
        }
    }

    fn at(&self, symbols: &[Symbol], values: &[i64]) -> i64 {
        match self {
            Self::Symbol(place) => values[*place] / symbols[*place].unit(),
            Self::Quotient(size, divisor) => size.at(symbols, values).div_euclid(*divisor),
            Self::Least(a, b) => a.at(symbols, values).min(b.at(symbols, values)),
            Self::Most(a, b) => a.at(symbols, values).max(b.at(symbols, values)),
        }
    }

    fn last_symbol(&self) -> Option<usize> {
        match self {
            Self::Symbol(place) => Some(*place),
            Self::Quotient(size, _) => size.last_symbol(),
            Self::Least(a, b) | Self::Most(a, b) => a.last_symbol().max(b.last_symbol()),
        }
    }

    fn build<V: Clone, E>(&self, to: &mut impl Expressions<V, E>) -> Result<V, E> {
        match self {
            Self::Symbol(place) => to.units(*place),
            Self::Quotient(size, divisor) => {
                let value = size.build(to)?;
                to.over(value, *divisor)
            }
            Self::Least(a, b) => {
                let (a, b) = (a.build(to)?, b.build(to)?);
                to.least(a, b)
            }
            Self::Most(a, b) => {
                let (a, b) = (a.build(to)?, b.build(to)?);
                to.most(a, b)
            }
        }
    }
}

/// The range of a product.
fn product(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    let all = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)].map(|(a, b)| a.saturating_mul(b));
    let [first, rest @ ..] = all;
    rest.into_iter().fold((first, first), |(least, most), it| (least.min(it), most.max(it)))
}

/// Expressions as text.
struct Texts<'s>(&'s [Symbol]);

impl<E> Expressions<String, E> for Texts<'_> {
    fn number(&mut self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn units(&mut self, symbol: usize) -> Result<String, E> {
        let symbol = &self.0[symbol];
        Ok(match symbol.unit() {
            1 => symbol.name.clone(),
            unit => format!("({} / {unit})", symbol.name),
        })
    }

    fn plus(&mut self, a: String, b: String) -> Result<String, E> {
        Ok(match b.strip_prefix('-') {
            Some(b) => format!("{a} - {b}"),
            None => format!("{a} + {b}"),
        })
    }

    fn times(&mut self, a: String, b: String) -> Result<String, E> {
        Ok(format!("{a} * {b}"))
    }

    fn over(&mut self, a: String, divisor: i64) -> Result<String, E> {
        Ok(format!("(({a}) / {divisor})"))
    }

    fn least(&mut self, a: String, b: String) -> Result<String, E> {
        Ok(format!("min({a}, {b})"))
    }

    fn most(&mut self, a: String, b: String) -> Result<String, E> {
        Ok(format!("max({a}, {b})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Vec<Symbol> {
        vec![
            Symbol::new("batch", 1, 32),
            Symbol::new("tokens", 1, 512),
            Symbol { step: 32, ..Symbol::new("height", 32, 1024) },
        ]
    }

    #[test]
    fn equal_sizes_are_equal() {
        let all = symbols();
        let [batch, tokens, height] = [0, 1, 2].map(|place| Size::symbol(&all, place));
        let both = batch.times(&tokens);
        assert_eq!(both, tokens.times(&batch));
        assert_eq!(tokens.plus(&tokens).plus(&tokens), tokens.times(&3.into()));
        assert_eq!(both.divided(&batch), Some(tokens.clone()));
        assert_eq!(both.plus(&1.into()).divided(&batch), None);
        assert_eq!(height.over(2).over(2).times(&4.into()), height);
        assert_eq!(tokens.minus(&tokens).known(), Some(0));
        assert_ne!(tokens.over(2).times(&2.into()), tokens);
        assert_eq!(height.minus(&1.into()).over(2).plus(&1.into()).at(&all, &[1, 1, 64]), 32);
    }

    #[test]
    fn bounds_and_values() {
        let all = symbols();
        let [batch, tokens] = [0, 1].map(|place| Size::symbol(&all, place));
        let both = batch.times(&tokens).plus(&(-3).into());
        assert_eq!(both.bounds(&all), (-2, 16_381));
        assert_eq!(both.at(&all, &[2, 7, 32]), 11);
        assert_eq!(tokens.or_less(&600.into(), &all), tokens);
        assert_eq!(tokens.or_less(&0.into(), &all), 0.into());
        let less = tokens.or_less(&100.into(), &all);
        assert_eq!((less.bounds(&all), less.at(&all, &[1, 300, 32])), ((1, 100), 100));
        assert_eq!(tokens.or_more(&100.into(), &all).at(&all, &[1, 300, 32]), 300);
    }

    #[test]
    fn what_divides_a_size_narrows_its_symbol() {
        let all = symbols();
        let [tokens, height] = [1, 2].map(|place| Size::symbol(&all, place));
        assert_eq!(tokens.divisible(6, &all), Some(Solution::Multiple(1, 6)));
        assert_eq!(tokens.times(&2.into()).divisible(6, &all), Some(Solution::Multiple(1, 3)));
        assert_eq!(height.divisible(64, &all), Some(Solution::Multiple(2, 64)));
        assert_eq!(height.divisible(8, &all), None);
        assert_eq!(tokens.plus(&1.into()).divisible(2, &all), None);
        let sixes = all[1].multiples_of(6).expect("has some");
        assert_eq!(sixes.range(), "6..510 step 6");
        assert_eq!(Symbol::new("n", 4, 7).multiples_of(6).expect("has one").range(), "6");
        assert_eq!(Symbol::new("n", 4, 5).multiples_of(6), None);
    }

    #[test]
    fn texts_have_names() {
        let all = symbols();
        let [batch, tokens, height] = [0, 1, 2].map(|place| Size::symbol(&all, place));
        assert_eq!(batch.times(&tokens).plus(&1.into()).text(&all), "1 + batch * tokens");
        assert_eq!(tokens.minus(&1.into()).over(2).text(&all), "((-1 + tokens) / 2)");
        assert_eq!(height.text(&all), "(height / 32) * 32");
    }

    #[test]
    fn ranges_are_read() {
        let parse = |text| Symbol::parse("n", text);
        assert_eq!(parse("4").map(|it| it.range()), Ok("4".to_owned()));
        assert_eq!(parse("1..32"), Ok(Symbol::new("n", 1, 32)));
        let steps = parse("32..1000 step 32").expect("is a range");
        assert_eq!(steps.range(), "32..992 step 32");
        assert!(steps.has(64) && !steps.has(65) && !steps.has(1024));
        for bad in ["", "a", "3..1", "-1..4", "1..", "1..4 step 0", "1..9999999999"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
