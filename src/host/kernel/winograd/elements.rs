//! The elements that a convolution by tiles has, and how they lie in its working memory.

use crate::host::kernel::{
    Contraction, Element, Isa, Types, isa::Dot, tiling::ceil_div, window::AXES,
};

/// Bytes of a line of the cache.
const LINE: i64 = 64;

/// True for a convolution of floats of one type, with sums that start from 0.
pub fn has_floats(spec: &Contraction) -> bool {
    spec.types == Types::uniform(spec.types.sum)
        && spec.types.sum.is_float()
        && spec.start.is_none()
}

/// True for a convolution of bytes on a machine that multiplies pairs of 16-bit numbers. Results,
/// multiplied by the factor of the filters, must fit in 32 bits.
pub fn has_pairs(spec: &Contraction, isa: Isa) -> bool {
    let most: i64 = if spec.types.weights == Element::I16 { 255 } else { 128 };
    let taps = spec.window.taps();
    isa.dot == Dot::Words
        && spec.types.image.is_byte()
        && matches!(spec.types.weights, Element::I8 | Element::I16)
        && spec.types.sum == Element::I32
        && most * taps <= i64::from(i16::MAX)
        && (255 * most * taps * spec.depth) << AXES <= i64::from(i32::MAX)
}

/// Elements of a line of the cache, or of two.
fn line_of(element: Element) -> i64 {
    LINE / element.bytes().min(4)
}

/// Elements from one row to the next of `count` elements, so that neighbouring rows are in different sets of the cache.
pub fn row_step(count: i64, element: Element) -> i64 {
    let line = line_of(element);
    let lines = ceil_div(count, line);
    (lines + i64::from(lines % 16 == 0)) * line
}

/// Elements from one matrix to the next of `count` elements: an odd number of lines.
pub fn matrix_step(count: i64, element: Element) -> i64 {
    let line = line_of(element);
    let lines = ceil_div(count, line);
    (lines + (lines + 1) % 2) * line
}

/// The types of the products.
pub fn product_types(spec: &Contraction) -> Types {
    match spec.types.sum.is_float() {
        true => spec.types,
        false => Types { image: Element::I16, weights: Element::I16, sum: Element::I32 },
    }
}

/// Elements of the transformed input in the bytes of a sum.
pub fn packing(types: Types) -> i64 {
    types.sum.bytes() / types.image.bytes()
}
