//! Weights that are stored as integers and multiplied as floats.
//!
//! Products of few rows wait for the memory that weights come from. They read integers of 8 or 4 bits and make floats of
//! them in registers; products of many rows read floats.

use crate::{
    host::kernel::Element,
    ir::{self, Val, constant::Elements, edit, graph, view::OpView},
    lower::normalize_axis,
};
use melior::ir::ValueLike;

/// Rows from which on weights are floats in memory.
const MANY_ROWS: i64 = 16;

/// Weights below this many elements are in a cache, whatever they are.
const FEW_WEIGHTS: usize = 1 << 14;

/// Weights above this many elements are not rewritten when a model is compiled.
const MANY_WEIGHTS: usize = 1 << 28;

/// A matrix `[reduction][channels]` of integers with factors.
pub struct Stored {
    /// The integers less their zero points.
    pub integers: Vec<i16>,
    /// The factors, `[block][channel]`.
    pub scales: Vec<f32>,
    /// Rows of the matrix that share factors.
    pub block: i64,
}

impl Stored {
    /// What a dequantized matrix is made of, if a product of `rows` rows is to read it so.
    pub fn of(value: Val<'_>, rows: i64) -> Option<Self> {
        let op = graph::DequantizeLinear::of(edit::defining_op(value)?)?;
        let &[depth, channels] = &ir::static_dims(value.r#type())?[..] else { return None };
        let count = usize::try_from(depth.checked_mul(channels)?).ok()?;
        let bits = ir::integer_width(ir::element_type(op.x().r#type()))?;
        let f32s = [op.scale(), value].map(|value| Element::of(value.r#type()));
        if rows >= MANY_ROWS
            || !(FEW_WEIGHTS..MANY_WEIGHTS).contains(&count)
            || bits > 8
            || f32s != [Some(Element::F32); 2]
        {
            return None;
        }
        let by_rows = normalize_axis(op.axis(), 2) == 0;
        let (scales, zeros) = (Elements::of_value(op.scale())?, op.zero_point());
        let zeros = match zeros {
            Some(zeros) => Some(Elements::of_value(zeros)?),
            None => None,
        };
        // Factors for single rows would be more memory than they save.
        let block = match op.block_size() {
            0 if scales.len() == 1 || !by_rows => depth,
            block if block > 1 && by_rows => block,
            _ => return None,
        };
        let (depth, channels) = (depth as usize, channels as usize);
        let parameter = |row: usize, channel: usize, count: usize| match count {
            1 => 0,
            _ => row / block as usize * channels + channel,
        };
        let zeros = zeros.map_or(vec![0], |zeros| zeros.ints());
        let mut integers = Vec::with_capacity(count);
        for (at, value) in Elements::of_value(op.x())?.ints().into_iter().enumerate() {
            let zero = zeros[parameter(at / channels, at % channels, zeros.len())];
            integers.push(i16::from(i8::try_from(value - zero).ok()?));
        }
        let factors = scales.floats();
        let factor = |row, channel| factors[parameter(row, channel, factors.len())] as f32;
        let rows = (0..depth).step_by(block as usize);
        let places = rows.flat_map(|row| (0..channels).map(move |channel| (row, channel)));
        let scales = places.map(|(row, channel)| factor(row, channel)).collect();
        Some(Self { integers, scales, block })
    }

    /// The type that they are stored as. Two rows share a byte, and factors.
    pub fn element(&self) -> Element {
        let fits = self.integers.iter().all(|value| (-8..8).contains(value));
        if fits && self.block % 2 == 0 { Element::I4 } else { Element::I8 }
    }
}
