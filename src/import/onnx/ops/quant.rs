//! Linear quantization.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::{Attr, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("DynamicQuantizeLinear", 11, "dynamic_quantize_linear", 1),
    OpEntry::with("DequantizeLinear", 10, 2..=3, dequantize_linear),
    OpEntry::with("QuantizeLinear", 10, 2..=3, quantize_linear),
];

/// Scale and zero point. Some exporters write those of a whole tensor as lists of one element.
fn parameters<'c>(
    node: &NodeContext<'_, 'c>,
    block_size: i64,
) -> OpResult<(Val<'c>, Option<Val<'c>>)> {
    let (mut scale, mut zero_point) = (node.input(1, "scale")?, node.optional(2));
    if block_size != 0 || !matches!(node.dims(scale)[..], [] | [1]) {
        return Ok((scale, zero_point));
    }
    if node.rank(scale) == 1 {
        scale = node.reshape(scale, &[])?;
    }
    if let Some(list) = zero_point.filter(|value| node.dims(*value) == [1]) {
        zero_point = Some(node.reshape(list, &[])?);
    }
    Ok((scale, zero_point))
}

/// The element type that an attribute names; 0 says that there is none.
fn type_attribute<'c>(
    node: &NodeContext<'_, 'c>,
    name: &str,
) -> OpResult<Option<melior::ir::Type<'c>>> {
    let code = node.attributes.int_or(name, 0)?;
    if code == 0 { Ok(None) } else { node.element_type(code).map(Some) }
}

pub(super) fn quantize_linear<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let block_size = node.attributes.int_or("block_size", 0)?;
    let (mut scale, zero_point) = parameters(node, block_size)?;
    let mut x = node.input(0, "x")?;
    if let Some(precision) = type_attribute(node, "precision")? {
        x = node.op("cast", &[x], &[("to", precision.into())])?;
        scale = node.op("cast", &[scale], &[("to", precision.into())])?;
    }
    let mut attributes: Vec<(&'static str, Attr<'c>)> = vec![
        ("axis", node.attributes.int_or("axis", 1)?.into()),
        ("block_size", block_size.into()),
        ("saturate", node.attributes.bool_or("saturate", true)?.into()),
    ];
    if let Some(to) = type_attribute(node, "output_dtype")? {
        attributes.push(("to", to.into()));
    }
    let operands: Vec<_> = [Some(x), Some(scale), zero_point].into_iter().flatten().collect();
    node.emitter.op("quantize_linear", &operands, &attributes)
}

pub(super) fn dequantize_linear<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let block_size = node.attributes.int_or("block_size", 0)?;
    let (mut scale, zero_point) = parameters(node, block_size)?;
    // The type of the result is also that of the computation, which follows the scale.
    if let Some(to) = type_attribute(node, "output_dtype")? {
        scale = node.op("cast", &[scale], &[("to", to.into())])?;
    }
    let attributes: [(&'static str, Attr<'c>); 2] =
        [("axis", node.attributes.int_or("axis", 1)?.into()), ("block_size", block_size.into())];
    let operands = [Some(node.input(0, "x")?), Some(scale), zero_point];
    let operands: Vec<_> = operands.into_iter().flatten().collect();
    node.emitter.op("dequantize_linear", &operands, &attributes)
}
