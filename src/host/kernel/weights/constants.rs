//! The numbers that constants of weights are made of: reading them, and constants with others.

use crate::{
    Error, Result,
    host::kernel::Element,
    ir::{
        Builder, Val, attribute,
        blob::{self, Plain},
        constant::Elements,
        elements, graph,
    },
};
use melior::ir::{Attribute, Type};
use std::{
    borrow::Cow,
    ops::{Add, Mul, Sub},
};

/// Elements up to which a constant with one value everywhere is read.
const MAX_REPEATED: usize = 1 << 28;
/// Constants of up to this many elements are stored in the attribute itself.
const DENSE_LIMIT: usize = 64;

/// A number that constants of weights are made of.
pub trait Number: Plain {
    /// Its type in the graph.
    const ELEMENT: Element;
}

impl Number for f32 {
    const ELEMENT: Element = Element::F32;
}

impl Number for f64 {
    const ELEMENT: Element = Element::F64;
}

impl Number for half::bf16 {
    const ELEMENT: Element = Element::BF16;
}

impl Number for half::f16 {
    const ELEMENT: Element = Element::F16;
}

impl Number for i8 {
    const ELEMENT: Element = Element::I8;
}

impl Number for i16 {
    const ELEMENT: Element = Element::I16;
}

impl Number for i32 {
    const ELEMENT: Element = Element::I32;
}

/// A float that kernels compute with.
pub trait Float:
    Number + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Into<f64>
{
    /// The nearest one.
    fn of_f64(value: f64) -> Self;

    /// The number that its bytes stand for.
    fn of_bytes(bytes: &[u8]) -> Self;
}

impl Float for f32 {
    fn of_f64(value: f64) -> Self {
        value as Self
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0.0, Self::from_ne_bytes)
    }
}

impl Float for f64 {
    fn of_f64(value: f64) -> Self {
        value
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0.0, Self::from_ne_bytes)
    }
}

/// The elements of a constant of floats `T`; `None` if it is of another type, or one value very often.
pub fn floats<T: Float>(value: Val<'_>) -> Option<Vec<T>> {
    floats_of(&Elements::of_value(value)?).map(Cow::into_owned)
}

/// As [`floats`], without a copy where the constant has them as they are.
pub fn floats_of<'a, T: Float>(elements: &'a Elements<'_>) -> Option<Cow<'a, [T]>> {
    if Element::of(elements.r#type()) != Some(T::ELEMENT) {
        return None;
    }
    if elements.is_splat() {
        let value = T::of_f64(elements.float(0));
        return (elements.len() <= MAX_REPEATED).then(|| vec![value; elements.len()].into());
    }
    Some(elements.numbers().map_or_else(
        || {
            let bytes = elements.bytes().chunks_exact(size_of::<T>());
            bytes.take(elements.len()).map(T::of_bytes).collect::<Vec<_>>().into()
        },
        Cow::from,
    ))
}

/// The bytes of a constant as numbers; `None` if it is of another type.
pub(super) fn byte_values(elements: &Elements<'_>) -> Option<Vec<i16>> {
    let element = Element::of(elements.r#type())?;
    let count = elements.len();
    if elements.is_splat() {
        return (element.is_byte() && count <= MAX_REPEATED)
            .then(|| vec![elements.int(0) as i16; count]);
    }
    let bytes = elements.bytes().iter().take(count);
    match element {
        Element::U8 => Some(bytes.map(|byte| i16::from(*byte)).collect()),
        Element::I8 => Some(bytes.map(|byte| i16::from(*byte as i8)).collect()),
        _ => None,
    }
}

/// A `graph.constant` of numbers of the given shape; `name` is that of its blob, if it is large
/// enough to be one.
pub fn constant<'c, T: Number>(
    b: &Builder<'c>,
    shape: &[i64],
    values: Vec<T>,
    name: &str,
) -> Result<Val<'c>> {
    let ty = b.tensor(shape, T::ELEMENT.r#type(b));
    let count: i64 = shape.iter().product();
    if count != values.len() as i64 {
        return Err(Error::internal("a constant whose shape does not fit its values"));
    }
    Ok(graph::Constant::build(b, attribute_of(ty, values, &elements::name_in(b, name))?)?.y())
}

/// The elements of a static type as an attribute.
fn attribute_of<'c, T: Plain>(ty: Type<'c>, values: Vec<T>, name: &str) -> Result<Attribute<'c>> {
    if values.len() <= DENSE_LIMIT {
        return attribute::dense(ty, blob::bytes_of(&values));
    }
    elements::resource(ty, name, blob::shared(values), align_of::<T>())
}

/// A `graph.constant` of 8-bit integers of a type that has signs or not.
pub fn bytes<'c>(b: &Builder<'c>, ty: Type<'c>, values: &[i64], name: &str) -> Result<Val<'c>> {
    let values: Vec<u8> = values.iter().map(|value| *value as u8).collect();
    Ok(graph::Constant::build(b, attribute_of(ty, values, &elements::name_in(b, name))?)?.y())
}

/// A `graph.constant` of floats that are all equal.
pub fn splat<'c, T: Float>(b: &Builder<'c>, shape: &[i64], value: T) -> Result<Val<'c>> {
    let attribute =
        attribute::dense(b.tensor(shape, T::ELEMENT.r#type(b)), blob::bytes_of(&[value]))?;
    Ok(graph::Constant::build(b, attribute)?.y())
}
