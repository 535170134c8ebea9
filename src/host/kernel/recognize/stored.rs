//! Weights that are stored as integers, or floats of 8 bits, and multiplied as floats.
//!
//! Products of few rows wait for the memory that weights come from. They read integers of 8 or 4
//! bits, or bf16, which has all floats of 8 bits, and make floats of them in registers. Products of
//! many rows read floats.

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

/// The numbers of a matrix before they are multiplied with factors.
pub enum Numbers {
    /// Integers less their zero points.
    Integers(Vec<i16>),
    /// Floats of 8 bits, which bf16 has all of.
    Floats(Vec<f32>),
}

/// A matrix `[reduction][channels]` of numbers with factors.
pub struct Stored {
    /// The numbers.
    pub numbers: Numbers,
    /// The factors, `[block][channel]`.
    pub scales: Vec<f32>,
    /// Rows of the matrix that share factors.
    pub block: i64,
}

impl Stored {
    /// Stored form of a dequantized matrix, if a product of `rows` rows is to read it so. It may be
    /// `transposed`: `[channels][reduction]`.
    pub fn of(value: Val<'_>, rows: i64, transposed: bool) -> Option<Self> {
        let op = graph::DequantizeLinear::of(edit::defining_op(value)?)?;
        let &[first, second] = &ir::static_dims(value.r#type())?[..] else { return None };
        let (depth, channels) = if transposed { (second, first) } else { (first, second) };
        let count = usize::try_from(depth.checked_mul(channels)?).ok()?;
        let f32s = [op.scale(), value].map(|value| Element::of(value.r#type()));
        if rows >= MANY_ROWS
            || !(FEW_WEIGHTS..MANY_WEIGHTS).contains(&count)
            || f32s != [Some(Element::F32); 2]
        {
            return None;
        }
        let by_rows = normalize_axis(op.axis(), 2) == usize::from(transposed);
        let scales = Elements::of_value(op.scale())?;
        // Factors for single rows would be more memory than they save.
        let block = match op.block_size() {
            0 if scales.len() == 1 || !by_rows => depth,
            block if block > 1 && by_rows => block,
            _ => return None,
        };
        let (depth, channels) = (depth as usize, channels as usize);
        let blocks = depth.div_ceil(block as usize);
        let parameter = |row: usize, channel: usize, count: usize| match (count, transposed) {
            (1, _) => 0,
            (_, false) => row / block as usize * channels + channel,
            (_, true) => channel * blocks + row / block as usize,
        };
        let places = || (0..depth).flat_map(|row| (0..channels).map(move |channel| (row, channel)));
        let element = |row: usize, channel: usize| match transposed {
            true => channel * depth + row,
            false => row * channels + channel,
        };
        let element = &element;
        let located =
            || places().map(move |(row, channel)| (element(row, channel), (row, channel)));
        let numbers = numbers(op, located, parameter)?;
        let factors = scales.floats();
        let factor = |row, channel| factors[parameter(row, channel, factors.len())] as f32;
        let rows = (0..depth).step_by(block as usize);
        let places = rows.flat_map(|row| (0..channels).map(move |channel| (row, channel)));
        let scales = places.map(|(row, channel)| factor(row, channel)).collect();
        Some(Self { numbers, scales, block })
    }

    /// The type that they are stored as. Two rows of integers share a byte, and factors.
    pub fn element(&self) -> Element {
        let Numbers::Integers(integers) = &self.numbers else { return Element::BF16 };
        let fits = integers.iter().all(|value| (-8..8).contains(value));
        if fits && self.block % 2 == 0 { Element::I4 } else { Element::I8 }
    }
}

/// Numbers that are multiplied with factors, in the order of `places`: positions in the constant,
/// with rows and channels.
fn numbers<P: Iterator<Item = (usize, (usize, usize))>>(
    op: graph::DequantizeLinear<'_>,
    places: impl Fn() -> P,
    parameter: impl Fn(usize, usize, usize) -> usize,
) -> Option<Numbers> {
    let elements = Elements::of_value(op.x())?;
    let zeros = match op.zero_point() {
        Some(zeros) => Some(Elements::of_value(zeros)?),
        None => None,
    };
    let bits = ir::types::bits(ir::element_type(op.x().r#type())).filter(|bits| *bits <= 8)?;
    if ir::is_float(op.x().r#type()) {
        if bits != 8 || zeros.is_some_and(|zeros| zeros.floats().iter().any(|zero| *zero != 0.0)) {
            return None;
        }
        let value = |(at, _)| elements.float(at) as f32;
        return Some(Numbers::Floats(places().map(value).collect()));
    }
    let zeros = zeros.map_or(vec![0], |zeros| zeros.ints());
    let integer = |(at, (row, channel))| {
        let zero = zeros[parameter(row, channel, zeros.len())];
        Some(i16::from(i8::try_from(elements.int(at) - zero).ok()?))
    };
    places().map(integer).collect::<Option<Vec<_>>>().map(Numbers::Integers)
}
