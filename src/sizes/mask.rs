//! Padding that is read as a value that changes nothing.

use super::{Bounding, Dim};
use crate::{
    Error, Result,
    ir::{self, Builder, Val, elements, graph},
};
use melior::ir::ValueLike;
use phaseline_base::size::{Expressions, Size};

/// The value that padding is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neutral {
    /// Changes no sum.
    Zero,
    /// Changes no product.
    One,
    /// Changes no maximum.
    Least,
    /// Changes no minimum.
    Greatest,
}

/// A tensor of integers with these elements.
pub(super) fn integers<'c>(b: &Builder<'c>, dims: &[i64], values: &[i64]) -> Result<Val<'c>> {
    let ty = b.tensor_type(dims, b.int(64))?;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    Ok(graph::Constant::build(b, elements::dense(ty, &bytes)?)?.y())
}

impl<'c> Bounding<'c> {
    /// The beginning of the function, for values that are made once.
    fn top(&self) -> Result<Builder<'c>> {
        Builder::before(self.top)
    }

    /// The place where values that depend on a size are made once: at the beginning, or behind what decides on it.
    fn place_of<'s>(&self, sizes: impl IntoIterator<Item = &'s Size>) -> Result<Builder<'c>> {
        let last = sizes.into_iter().filter_map(Size::last_symbol).max();
        let decided = last.and_then(|last| last.checked_sub(self.given));
        match decided.and_then(|place| self.decided.get(place)) {
            Some(decided) => Builder::before(decided.anchor),
            None => self.top(),
        }
    }

    /// The value of a size, a scalar i64.
    pub(super) fn value_of(&mut self, size: &Size) -> Result<Val<'c>> {
        if let Some(value) = self.computed.get(size) {
            return Ok(*value);
        }
        let b = self.place_of([size])?;
        let decided = self.decided.iter().map(|decided| decided.value).collect();
        let given = self.given;
        let mut maker = Operations { b, sizes: self.sizes, symbols: &self.symbols, given, decided };
        let value = size.build(&mut maker)?;
        self.computed.insert(size.clone(), value);
        Ok(value)
    }

    /// A value whose padding along some axes is neutral.
    pub(super) fn masked(
        &mut self,
        b: &Builder<'c>,
        value: Val<'c>,
        axes: &[usize],
        neutral: Neutral,
    ) -> Result<Val<'c>> {
        let info = self.info(value);
        let axes: Vec<_> =
            axes.iter().copied().filter(|axis| !info.dims[*axis].is_known()).collect();
        if axes.is_empty() {
            return Ok(value);
        }
        let element = ir::element_type(value.r#type());
        let filler = filler(&self.top()?, element, neutral)?;
        self.masked_with(b, value, &axes, filler)
    }

    /// A value whose padding along some axes is a scalar.
    pub(super) fn masked_with(
        &mut self,
        b: &Builder<'c>,
        value: Val<'c>,
        axes: &[usize],
        filler: Val<'c>,
    ) -> Result<Val<'c>> {
        let dims = self.dims(value);
        let axes: Vec<_> = axes.iter().copied().filter(|axis| !dims[*axis].is_known()).collect();
        if axes.is_empty() {
            return Ok(value);
        }
        let mask = self.mask(&dims, &axes)?;
        let masked = graph::Where::build(b, mask, value, filler)?.y();
        self.know(masked, dims);
        Ok(masked)
    }

    /// True for the elements that count along some axes, with ones for the other dimensions.
    fn mask(&mut self, dims: &[Dim], axes: &[usize]) -> Result<Val<'c>> {
        let key = (axes.iter().map(|axis| dims[*axis].clone()).collect(), {
            axes.iter().map(|axis| dims.len() - axis).collect()
        });
        if let Some(mask) = self.masks.get(&key) {
            return Ok(*mask);
        }
        let mut all: Option<Val<'c>> = None;
        for axis in axes {
            let rooms = dims[*axis].rooms(&self.symbols);
            let total: i64 = rooms.iter().product();
            let mut shape = vec![1; dims.len() - axis];
            shape[0] = total;
            let mut stride = total;
            for (size, room) in dims[*axis].sizes().to_vec().iter().zip(rooms) {
                stride /= room.max(1);
                if size.known().is_some() {
                    continue;
                }
                let places: Vec<_> =
                    (0..total).map(|at| at / stride.max(1) % room.max(1)).collect();
                let value = self.value_of(size)?;
                let b = self.place_of(axes.iter().flat_map(|axis| dims[*axis].sizes()))?;
                let places = integers(&b, &shape, &places)?;
                let inside = graph::Less::build(&b, places, value)?.y();
                all = Some(match all {
                    Some(all) => graph::And::build(&b, all, inside)?.y(),
                    None => inside,
                });
            }
        }
        let mask = all.ok_or_else(|| Error::internal("a mask of known dimensions"))?;
        self.masks.insert(key, mask);
        Ok(mask)
    }
}

/// A scalar of a type that changes nothing.
fn filler<'c>(b: &Builder<'c>, element: melior::ir::Type<'c>, neutral: Neutral) -> Result<Val<'c>> {
    let text = element.to_string();
    let number = match (neutral, ir::is_float(element)) {
        (Neutral::Zero, true) => "0.0".to_owned(),
        (Neutral::One, true) => "1.0".to_owned(),
        (Neutral::Least | Neutral::Greatest, true) => {
            let bits = match text.as_str() {
                "f16" => ["0xFC00", "0x7C00"],
                "bf16" => ["0xFF80", "0x7F80"],
                "f64" => ["0xFFF0000000000000", "0x7FF0000000000000"],
                "f32" => ["0xFF800000", "0x7F800000"],
                _ => return Err(Error::invalid(format!("has no neutral value of type {text}"))),
            };
            bits[usize::from(neutral == Neutral::Greatest)].to_owned()
        }
        (Neutral::Zero, false) if text == "i1" => "false".to_owned(),
        (Neutral::One, false) if text == "i1" => "true".to_owned(),
        (Neutral::Zero, false) => "0".to_owned(),
        (Neutral::One, false) => "1".to_owned(),
        (Neutral::Least | Neutral::Greatest, false) => {
            let width = ir::integer_width(element).unwrap_or(64).min(64);
            let most = neutral == Neutral::Greatest;
            match (text.starts_with("ui"), most) {
                _ if width == 1 => if most { "true" } else { "false" }.to_owned(),
                (true, false) => "0".to_owned(),
                (true, true) => (u64::MAX >> (64 - width)).to_string(),
                (false, false) => (i64::MIN >> (64 - width)).to_string(),
                (false, true) => (i64::MAX >> (64 - width)).to_string(),
            }
        }
    };
    let value = b.parse_attr(&format!("dense<{number}> : tensor<{text}>"))?;
    Ok(graph::Constant::build(b, value)?.y())
}

/// Sizes as operations on scalars.
struct Operations<'s, 'c> {
    b: Builder<'c>,
    sizes: Option<Val<'c>>,
    symbols: &'s [phaseline_base::size::Symbol],
    /// The number of symbols that a run gives; values of the others are these.
    given: usize,
    decided: Vec<Val<'c>>,
}

impl<'c> Expressions<Val<'c>, Error> for Operations<'_, 'c> {
    fn number(&mut self, value: i64) -> Result<Val<'c>> {
        integers(&self.b, &[], &[value])
    }

    fn units(&mut self, symbol: usize) -> Result<Val<'c>> {
        if let Some(value) = symbol.checked_sub(self.given).and_then(|at| self.decided.get(at)) {
            return Ok(*value);
        }
        let sizes = self.sizes.ok_or_else(|| Error::internal("a size that nothing gives"))?;
        let place = integers(&self.b, &[], &[symbol as i64])?;
        let value = graph::Gather::build(&self.b, sizes, place, graph::GatherAttrs::default())?;
        match Size::unit_of(self.symbols, symbol) {
            1 => Ok(value.y()),
            unit => self.over(value.y(), unit),
        }
    }

    fn plus(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Add::build(&self.b, a, b)?.y())
    }

    fn times(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Mul::build(&self.b, a, b)?.y())
    }

    fn over(&mut self, a: Val<'c>, divisor: i64) -> Result<Val<'c>> {
        // Division truncates; what is below zero goes down before.
        let b = &self.b;
        let divisor = integers(b, &[], &[divisor])?;
        let attributes = graph::ModAttrs::default();
        let rest = graph::Mod::build(b, a, divisor, attributes)?.y();
        let whole = graph::Sub::build(b, a, rest)?.y();
        Ok(graph::Div::build(b, whole, divisor)?.y())
    }

    fn least(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Min::build(&self.b, a, b)?.y())
    }

    fn most(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Max::build(&self.b, a, b)?.y())
    }
}
