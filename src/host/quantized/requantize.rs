//! Quantizations behind layers.

use super::parameters::{floats, is_only_user, is_same_number, scale};
use crate::{
    Result,
    host::kernel::Element,
    ir::{Builder, Op, constant::Elements, edit, graph, view::OpView},
};
use melior::ir::ValueLike;

/// A maximum of dequantized numbers that are quantized again as they were is one of the integers.
pub fn take_pool(op: Op<'_>) -> Result<()> {
    let Some(quantize) = graph::QuantizeLinear::of(op) else { return Ok(()) };
    let pool = edit::defining_op(quantize.x()).and_then(graph::MaxPool::of);
    let Some(pool) = pool.filter(|pool| is_only_user(pool.op(), op)) else { return Ok(()) };
    let source = edit::defining_op(pool.x()).and_then(graph::DequantizeLinear::of);
    let Some(source) = source else { return Ok(()) };
    let zeros = match (source.zero_point(), quantize.zero_point()) {
        (None, None) => true,
        (Some(a), Some(b)) => is_same_number(a, b),
        _ => false,
    };
    let types = [source.x(), quantize.y()].map(|value| Element::of(value.r#type()));
    let bytes = types[0].is_some_and(Element::is_byte) && types[0] == types[1];
    if !bytes || !zeros || !is_same_number(source.scale(), quantize.scale()) {
        return Ok(());
    }
    edit::set_operand(pool.op(), 0, source.x())?;
    let pooled = pool.y();
    edit::set_type(pooled, quantize.y().r#type());
    edit::replace_uses(quantize.y(), pooled);
    edit::erase(op);
    Ok(())
}

/// Dequantized sums that are quantized, maybe without their negative part, have one factor.
pub fn merge_scales(op: Op<'_>) -> Result<()> {
    let Some(quantize) = graph::QuantizeLinear::of(op) else { return Ok(()) };
    let Some(Ok(divisor)) = floats(quantize.scale()).map(<[f32; 1]>::try_from) else {
        return Ok(());
    };
    let Some(mut above) = edit::defining_op(quantize.x()) else { return Ok(()) };
    let mut user = op;
    let relu = graph::Relu::of(above).filter(|_| is_only_user(above, op));
    if let Some(relu) = relu {
        user = above;
        let Some(next) = edit::defining_op(relu.x()) else { return Ok(()) };
        above = next;
    }
    let Some(sums) = graph::DequantizeLinear::of(above) else { return Ok(()) };
    let is_sum = Element::of(sums.x().r#type()) == Some(Element::I32);
    let (Some(mut scales), None, true) = (floats(sums.scale()), sums.zero_point(), is_sum) else {
        return Ok(());
    };
    if !is_only_user(above, user) {
        return Ok(());
    }
    scales.iter_mut().for_each(|scale| *scale /= divisor[0]);
    let b = Builder::before(above)?;
    edit::set_operand(above, 1, scale(&b, scales)?)?;
    edit::set_operand(op, 1, scale(&b, vec![1.0])?)?;
    if let Some(relu) = relu
        && is_least(quantize)
    {
        edit::set_operand(op, 0, relu.x())?;
        edit::erase(user);
    }
    Ok(())
}

/// True if the zero point is the least integer of the result's type.
fn is_least(quantize: graph::QuantizeLinear<'_>) -> bool {
    let zero = quantize.zero_point().and_then(Elements::of_value).map(|zero| zero.ints());
    match Element::of(quantize.y().r#type()) {
        Some(Element::U8) => zero.is_none_or(|zero| zero == [0]),
        Some(Element::I8) => zero.is_some_and(|zero| zero == [i64::from(i8::MIN)]),
        _ => false,
    }
}
