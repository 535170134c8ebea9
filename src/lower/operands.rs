//! Operands whose values matter at compile time, and small constant tensors.

use super::{
    Lowering,
    scalar::{narrow, widen},
};
use crate::{
    Error, Result,
    ir::{self, Builder, Val, constant::Elements, func},
};
use melior::ir::{Attribute, ValueLike, attribute::DenseElementsAttribute};

impl<'c> Lowering<'c> {
    /// The elements of the converted operand `value`, called `name` in the op's declaration. An
    /// operand that is not constant is an error.
    pub fn known(&self, value: Val<'c>, name: &str) -> Result<Elements<'c>> {
        Elements::of_value(value).ok_or_else(|| {
            Error::unsupported(format!(
                "needs its operand '{name}' at compile time, but it is not a constant; store it \
                 in the model as a constant or initializer, or {}",
                func::value_remedy(&[value])
            ))
        })
    }

    /// The integers of the converted operand `value`; see [`Lowering::known`].
    pub fn known_ints(&self, value: Val<'c>, name: &str) -> Result<Vec<i64>> {
        Ok(self.known(value, name)?.ints())
    }
}

/// A constant tensor.
pub fn constant_tensor<'c>(b: &Builder<'c>, value: DenseElementsAttribute<'c>) -> Result<Val<'c>> {
    use melior::ir::attribute::AttributeLike;
    let attribute: Attribute<'c> = value.into();
    b.op1_with("arith.constant", &[], attribute.r#type(), vec![("value", attribute)])
}

/// A constant tensor of 64-bit integers.
pub fn i64_tensor<'c>(b: &Builder<'c>, dims: &[i64], values: &[i64]) -> Result<Val<'c>> {
    let ty = b.tensor(dims, b.int(64));
    constant_tensor(b, DenseElementsAttribute::i64_values(ty, values))
}

/// A constant tensor of 32-bit floats, or of 64-bit ones when `double`.
pub fn float_tensor<'c>(
    b: &Builder<'c>,
    dims: &[i64],
    values: &[f64],
    double: bool,
) -> Result<Val<'c>> {
    if double {
        let ty = b.tensor(dims, b.f64());
        return constant_tensor(b, DenseElementsAttribute::f64_values(ty, values));
    }
    let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let ty = b.tensor(dims, b.f32());
    constant_tensor(b, DenseElementsAttribute::f32_values(ty, &values))
}

/// The element of a tensor that has only one.
pub fn only_element<'c>(b: &Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>> {
    let ty = ir::element_type(tensor.r#type());
    if let Some(value) = Elements::of_value(tensor).and_then(|elements| elements.uniform(b)) {
        return b.op1_with("arith.constant", &[], ty, vec![("value", value)]);
    }
    let zero = b.index(0)?;
    super::shape::extract(b, tensor, &vec![zero; ir::dims(tensor.r#type()).len()])
}

/// `arith.select` of elements of any type. 16-bit floats are chosen as f32: without hardware
/// support, LLVM would convert bf16 forth and back with a library function that need not exist.
pub fn choose<'c>(
    b: &Builder<'c>,
    condition: Val<'c>,
    yes: Val<'c>,
    no: Val<'c>,
) -> Result<Val<'c>> {
    let element = yes.r#type();
    let chosen = b.select(condition, widen(b, yes)?, widen(b, no)?)?;
    narrow(b, chosen, element)
}
