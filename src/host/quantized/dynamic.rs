//! Products of integers neither of which are known: floats are exact for short ones.

use super::{layers::replace, parameters::scale};
use crate::{
    Result,
    host::kernel::Element,
    ir::{self, Builder, Op, Val, constant::Elements, graph, view::OpView},
};
use melior::ir::ValueLike;

/// Sums of so many products of integers of nine bits with a sign are below 2^24, up to which f32
/// has all integers.
const MAX_REDUCTION: i64 = (1 << 24) / (255 * 255);

/// A matrix of bytes and its zero point.
type Matrix<'c> = (Val<'c>, Option<Val<'c>>);

/// The product of two matrices less their zero points as exact f32 sums; none if it is too long,
/// or a zero point is no scalar.
pub fn exact_product<'c>(
    b: &Builder<'c>,
    left: Matrix<'c>,
    right: Matrix<'c>,
) -> Result<Option<Val<'c>>> {
    for (value, zero) in [left, right] {
        let bytes = Element::of(value.r#type()).is_some_and(Element::is_byte);
        let scalar = zero.is_none_or(|zero| ir::dims(zero.r#type()).is_empty());
        let matrix = ir::static_dims(value.r#type()).is_some_and(|dims| dims.len() >= 2);
        if !bytes || !scalar || !matrix {
            return Ok(None);
        }
    }
    if ir::dims(left.0.r#type()).last().is_none_or(|size| *size > MAX_REDUCTION) {
        return Ok(None);
    }
    let real = |(value, zero): Matrix<'c>| {
        let attributes = graph::DequantizeLinearAttrs::default();
        let one = scale(b, vec![1.0])?;
        Ok::<_, crate::Error>(graph::DequantizeLinear::build(b, value, one, zero, attributes)?.y())
    };
    let (left, right) = (real(left)?, real(right)?);
    Ok(Some(graph::MatMul::build(b, left, right)?.y()))
}

/// `graph.matmul_integer` of two matrices that are not known.
pub fn matmul_integer(op: Op<'_>) -> Result<()> {
    let Some(product) = graph::MatMulInteger::of(op) else { return Ok(()) };
    if Elements::of_value(product.b()).is_some() {
        return Ok(());
    }
    let b = Builder::before(op)?;
    let (left, right) =
        ((product.a(), product.a_zero_point()), (product.b(), product.b_zero_point()));
    if let Some(sums) = exact_product(&b, left, right)? {
        let attributes = graph::CastAttrs::default();
        replace(op, graph::Cast::build(&b, sums, b.int(32), attributes)?.y());
    }
    Ok(())
}
