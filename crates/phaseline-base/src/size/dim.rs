//! Dimensions as products of sizes, and the sizes of a network's inputs and outputs.

use super::{Size, Symbol, Variant};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A dimension as the product of sizes, the outermost first. In its buffer each size has room for its greatest value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dim(Vec<Size>);

impl Dim {
    /// A dimension of one size.
    pub fn of(size: Size) -> Self {
        Self(vec![size])
    }

    /// A dimension of this many elements.
    pub fn known(size: i64) -> Self {
        Self::of(size.into())
    }

    /// The dimension of these sizes. A number behind a symbolic size is one size with it: the elements that count are the
    /// first ones either way.
    pub fn product(sizes: impl IntoIterator<Item = Size>) -> Self {
        let mut all: Vec<Size> = vec![];
        for size in sizes {
            match (size.known(), all.last_mut()) {
                (Some(1), _) => {}
                (Some(_), Some(last)) => *last = last.times(&size),
                _ => all.push(size),
            }
        }
        if all.is_empty() {
            all.push(1.into());
        }
        Self(all)
    }

    /// Its sizes.
    pub fn sizes(&self) -> &[Size] {
        &self.0
    }

    /// The number of elements, if it is known.
    pub fn as_known(&self) -> Option<i64> {
        self.size().known()
    }

    /// True if the number of elements is known.
    pub fn is_known(&self) -> bool {
        self.as_known().is_some()
    }

    /// The number of elements that count.
    pub fn size(&self) -> Size {
        self.0.iter().fold(1.into(), |product, size| product.times(size))
    }

    /// The size, if it is a single one: the elements that count are the first ones.
    pub fn single(&self) -> Option<&Size> {
        match &self.0[..] {
            [size] => Some(size),
            _ => None,
        }
    }

    /// Elements in a buffer.
    pub fn room(&self, symbols: &[Symbol]) -> i64 {
        self.rooms(symbols).into_iter().fold(1, i64::saturating_mul)
    }

    /// Elements in a buffer along each of its sizes.
    pub fn rooms(&self, symbols: &[Symbol]) -> Vec<i64> {
        self.0.iter().map(|size| size.most(symbols).max(0)).collect()
    }

    /// The dimension as text: `batch x tokens`.
    pub fn text(&self, symbols: &[Symbol]) -> String {
        self.0.iter().map(|size| size.text(symbols)).collect::<Vec<_>>().join(" x ")
    }
}

/// The sizes of a network's inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The symbols, in the order of the input that holds their values.
    pub symbols: Vec<Symbol>,
    /// Sizes that data decide, which come behind the symbols in expressions, in the order of the output that holds their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<Symbol>,
    /// For each input but that of the symbols, its dimensions.
    pub inputs: Vec<Vec<Dim>>,
    /// For each output but that of the sizes that data decide, its dimensions.
    pub outputs: Vec<Vec<Dim>>,
    /// For each input but that of the symbols, its elements where they are sizes; empty where they are not. No list is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<Vec<Size>>,
    /// The parts of the ranges that have code of their own. A run takes the first one that it fits into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
}

impl Bounds {
    /// The symbols and the sizes that data decide.
    pub fn all(&self) -> Vec<Symbol> {
        [&self.symbols[..], &self.decided].concat()
    }

    /// The values of the symbols for inputs of these names and shapes. `elements` gives the integers of an input.
    ///
    /// # Errors
    /// A shape or an element does not fit the model's. A size is not of its range. Two inputs give one symbol two values. The
    /// message names the input, the symbol and its range.
    pub fn values<'s>(
        &'s self,
        inputs: &[(&'s str, &[usize])],
        elements: impl Fn(usize) -> Option<Vec<i64>>,
    ) -> Result<Vec<i64>> {
        let mut found = Found { symbols: &self.symbols, values: vec![None; self.symbols.len()] };
        for (index, ((name, shape), dims)) in inputs.iter().zip(&self.inputs).enumerate() {
            let expected = || {
                let dims: Vec<_> = dims.iter().map(|dim| dim.text(&self.symbols)).collect();
                format!("input '{name}' has shape {shape:?}, expected [{}]", dims.join(", "))
            };
            if shape.len() != dims.len() {
                return Err(Error::invalid(expected()));
            }
            for (size, dim) in shape.iter().zip(dims) {
                let size = i64::try_from(*size).unwrap_or(i64::MAX);
                match dim.single().and_then(|single| single.as_symbol(&self.symbols)) {
                    None if dim.as_known() == Some(size) => {}
                    None => return Err(Error::invalid(expected())),
                    Some(place) => found.give(place, size, name, expected)?,
                }
            }
            let sizes = self.elements.get(index).map_or(&[][..], Vec::as_slice);
            if sizes.is_empty() {
                continue;
            }
            let given = elements(index).unwrap_or_default();
            let expected = || {
                let sizes: Vec<_> = sizes.iter().map(|size| size.text(&self.symbols)).collect();
                format!("input '{name}' is {given:?}, expected [{}]", sizes.join(", "))
            };
            if given.len() != sizes.len() {
                return Err(Error::invalid(expected()));
            }
            for (value, size) in given.iter().zip(sizes) {
                match size.as_symbol(&self.symbols) {
                    None if size.known() == Some(*value) => {}
                    None => return Err(Error::invalid(expected())),
                    Some(place) => found.give(place, *value, name, expected)?,
                }
            }
        }
        let known = found.values.into_iter().zip(&self.symbols);
        Ok(known.map(|(value, symbol)| value.map_or(symbol.least, |(value, _)| value)).collect())
    }

    /// The greatest elements of an input whose elements are sizes.
    pub fn greatest(&self, input: usize) -> Option<Vec<i64>> {
        let sizes = self.elements.get(input).filter(|sizes| !sizes.is_empty())?;
        Some(sizes.iter().map(|size| size.most(&self.symbols)).collect())
    }
}

/// Values of symbols as inputs give them, each with the input that gave it first.
struct Found<'s> {
    symbols: &'s [Symbol],
    values: Vec<Option<(i64, &'s str)>>,
}

impl<'s> Found<'s> {
    fn give(
        &mut self,
        place: usize,
        value: i64,
        input: &'s str,
        expected: impl Fn() -> String,
    ) -> Result<()> {
        let symbol = &self.symbols[place];
        if !symbol.has(value) {
            return Err(Error::invalid(format!(
                "{}: {} is {value}, but the model was compiled for {}",
                expected(),
                symbol.name,
                symbol.range()
            )));
        }
        match self.values[place] {
            Some((other, first)) if other != value => Err(Error::invalid(format!(
                "{} is {other} in input '{first}' and {value} in input '{input}'",
                symbol.name
            ))),
            _ => {
                self.values[place] = Some((value, input));
                Ok(())
            }
        }
    }
}

/// Copies the elements that count between a buffer with room for the greatest sizes and one that holds nothing else.
///
/// `element` is the size of an element in bytes. Both buffers have the sizes that `dims` say.
#[derive(Clone, Copy, Debug)]
pub struct Packing<'b> {
    /// The dimensions.
    pub dims: &'b [Dim],
    /// The symbols.
    pub symbols: &'b [Symbol],
    /// Their values.
    pub values: &'b [i64],
    /// Bytes of an element.
    pub element: usize,
}

impl Packing<'_> {
    /// The number of elements that count along each dimension.
    pub fn shape(&self) -> Vec<usize> {
        let sizes = self.dims.iter().map(|dim| dim.size().at(self.symbols, self.values));
        sizes.map(|size| usize::try_from(size).unwrap_or(0)).collect()
    }

    /// From a packed buffer to one with room.
    pub fn spread(&self, packed: &[u8], roomy: &mut [u8]) {
        let mut from = 0;
        self.runs(&mut |to, bytes| {
            if let (Some(target), Some(source)) =
                (roomy.get_mut(to..to + bytes), packed.get(from..from + bytes))
            {
                target.copy_from_slice(source);
            }
            from += bytes;
        });
    }

    /// From a buffer with room to a packed one.
    pub fn pack(&self, roomy: &[u8], packed: &mut [u8]) {
        let mut to = 0;
        self.runs(&mut |from, bytes| {
            if let (Some(target), Some(source)) =
                (packed.get_mut(to..to + bytes), roomy.get(from..from + bytes))
            {
                target.copy_from_slice(source);
            }
            to += bytes;
        });
    }

    /// Tells offset and length in bytes of each run of elements that follow each other in the buffer with room.
    fn runs(&self, tell: &mut impl FnMut(usize, usize)) {
        let usable = |number: i64| usize::try_from(number).unwrap_or(0);
        let factors: Vec<(usize, usize)> = self
            .dims
            .iter()
            .flat_map(|dim| dim.sizes().iter().zip(dim.rooms(self.symbols)))
            .map(|(size, room)| (usable(size.at(self.symbols, self.values)), usable(room)))
            .collect();
        walk(&factors, 0, self.element, tell);
    }
}

fn walk(
    factors: &[(usize, usize)],
    offset: usize,
    element: usize,
    tell: &mut impl FnMut(usize, usize),
) {
    let Some(((count, _), rest)) = factors.split_first() else { return tell(offset, element) };
    let inner: usize = rest.iter().map(|(_, room)| *room).product::<usize>() * element;
    if rest.iter().all(|(count, room)| count == room) {
        return tell(offset, count * inner);
    }
    for place in 0..*count {
        walk(rest, offset + place * inner, element, tell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> Bounds {
        let symbols = vec![Symbol::new("batch", 1, 2), Symbol::new("tokens", 1, 4)];
        let [batch, tokens] = [0, 1].map(|place| Dim::of(Size::symbol(&symbols, place)));
        let inputs = vec![vec![batch.clone(), tokens.clone()], vec![batch.clone(), Dim::known(3)]];
        Bounds { symbols, inputs, outputs: vec![vec![batch, tokens]], ..Default::default() }
    }

    #[test]
    fn shapes_give_values() {
        let bounds = bounds();
        let values = |a: &[usize], b: &[usize]| bounds.values(&[("a", a), ("b", b)], |_| None);
        assert_eq!(values(&[2, 3], &[2, 3]).expect("fits"), [2, 3]);
        for (a, b, part) in [
            (&[2, 5][..], &[2, 3][..], "tokens is 5, but the model was compiled for 1..4"),
            (&[2, 3], &[1, 3], "batch is 2 in input 'a' and 1 in input 'b'"),
            (&[2, 3], &[2, 4], "input 'b' has shape [2, 4], expected [batch, 3]"),
            (&[2], &[2, 3], "input 'a' has shape [2], expected [batch, tokens]"),
        ] {
            let message = values(a, b).expect_err("does not fit").to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn what_counts_is_copied() {
        let Bounds { symbols, inputs, .. } = bounds();
        let packing = |dims, values| Packing { dims, symbols: &symbols, values, element: 1 };
        let packing = packing(&inputs[0][..], &[2, 3]);
        let mut roomy = [0; 8];
        packing.spread(&[1, 2, 3, 4, 5, 6], &mut roomy);
        assert_eq!(roomy, [1, 2, 3, 0, 4, 5, 6, 0]);
        let mut packed = [0; 6];
        packing.pack(&roomy, &mut packed);
        assert_eq!((packed, packing.shape()), ([1, 2, 3, 4, 5, 6], vec![2, 3]));
    }
}
