//! Layers with what stands around them: convolutions and products with an activation, norms with a sum, embeddings.

use crate::ir::Val;
use crate::tensor::{DType, Tensor};

use super::super::super::context::NodeContext;
use super::super::super::emit::{OpError, OpResult};
use super::super::activations::Activation;
use super::super::{OpEntry, conv, matmul, quant};
use super::fused::{gelu, unpacked};

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("BiasAdd", 1, 3..=3, bias_add),
    OpEntry::with("BiasSplitGelu", 1, 2..=2, bias_split_gelu),
    OpEntry::with("DequantizeLinear", 1, 2..=3, quant::dequantize_linear),
    OpEntry::with("EmbedLayerNormalization", 1, 7..=9, embed_layer_norm),
    OpEntry::with("FusedConv", 1, 2..=4, fused_conv),
    OpEntry::with("FusedGemm", 1, 2..=3, fused_gemm),
    OpEntry::with("GatherBlockQuantized", 1, 3..=4, gather_block_quantized),
    OpEntry::with("GroupNorm", 1, 3..=3, group_norm),
    OpEntry::with("QuantizeLinear", 1, 2..=3, quant::quantize_linear),
    OpEntry::with("SkipGroupNorm", 1, 4..=5, skip_group_norm),
];

fn bias_add<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.binary("add", node.input(0, "X")?, node.input(1, "bias")?)?;
    Ok(vec![node.binary("add", x, node.input(2, "skip")?)?])
}

/// The first half of each row times the gelu of the second.
fn bias_split_gelu<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.binary("add", node.input(0, "X")?, node.input(1, "bias")?)?;
    let axis = node.rank(x).max(1) - 1;
    let width = node.static_dim(x, axis, "X")?;
    let gate = gelu(node, node.slice(x, axis, width / 2, width)?, "none")?;
    let gate = *gate.first().ok_or("a gelu without a result")?;
    Ok(vec![node.binary("mul", node.slice(x, axis, 0, width / 2)?, gate)?])
}

/// Words, positions and segments summed and normalised; lengths from a mask; the sum.
fn embed_layer_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    node.attributes.ignore("mask_index_type"); // Whether there is a second output.
    let rows = |table, at| node.op("gather", &[table, at], &[("axis", 0i64.into())]);
    let words = node.input(0, "input_ids")?;
    let (batch, length) =
        (node.static_dim(words, 0, "input_ids")?, node.static_dim(words, 1, "input_ids")?);
    let positions = node.input(3, "position_embedding")?;
    let positions = match node.optional(8) {
        Some(at) => rows(positions, at)?,
        None => node.slice(positions, 0, 0, length)?,
    };
    let mut sum = node.binary("add", rows(node.input(2, "word_embedding")?, words)?, positions)?;
    if let (Some(at), Some(table)) = (node.optional(1), node.optional(4)) {
        sum = node.binary("add", sum, rows(table, at)?)?;
    }
    let epsilon = node.attributes.float_or("epsilon", 1e-12)?;
    let operands = [sum, node.input(5, "gamma")?, node.input(6, "beta")?];
    let y =
        node.op("layer_norm", &operands, &[("axis", (-1i64).into()), ("epsilon", epsilon.into())])?;
    let lengths = match node.optional(7) {
        Some(mask) => {
            let ones = node.cast(node.binary_with("equal", mask, 1.0)?, DType::I32)?;
            node.reduce("reduce_sum", ones, &[1], false)?
        }
        None => {
            node.constant(&Tensor::from_slice(&[batch as usize], &vec![0i32; batch as usize])?)?
        }
    };
    Ok(vec![y, lengths, sum])
}

/// The function that an attribute names, on a value.
fn activated<'c>(node: &NodeContext<'_, 'c>, x: Val<'c>, parameters: &[f32]) -> OpResult<Val<'c>> {
    let name = node.attributes.string_or("activation", "")?;
    match (name, parameters) {
        ("", _) => Ok(x),
        ("Clip", [low, high, ..]) => {
            let (low, high) =
                (node.scalar_like(x, f64::from(*low))?, node.scalar_like(x, f64::from(*high))?);
            node.op_with_optionals("clip", &[Some(x), Some(low), Some(high)], &[])
        }
        ("Clip", _) => Err("the activation Clip needs two numbers, its bounds".into()),
        _ => Activation::named(name, parameters)?.apply(node, x),
    }
}

fn fused_conv<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mut y = *conv::conv(node)?.first().ok_or("a convolution without a result")?;
    if let Some(other) = node.optional(3) {
        y = node.binary("add", y, other)?;
    }
    let parameters = node.attributes.floats("activation_params")?.unwrap_or_default();
    Ok(vec![activated(node, y, &parameters)?])
}

fn fused_gemm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let y = *matmul::gemm(node)?.first().ok_or("a product without a result")?;
    let mut parameters = vec![];
    for name in ["activation_alpha", "activation_beta", "activation_gamma"] {
        parameters.extend(node.attributes.float(name)?);
    }
    Ok(vec![activated(node, y, &parameters)?])
}

/// Rows of a table of few bits, with a scale for each block of a row.
fn gather_block_quantized<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (mut data, at, scales) =
        (node.input(0, "data")?, node.input(1, "indices")?, node.input(2, "scales")?);
    let rank = node.rank(data);
    let gathered = node.axis(node.attributes.int_or("gather_axis", 0)?, rank)?;
    let quantized = node.axis(node.attributes.int_or("quantize_axis", 1)?, rank)?;
    let (block, bits) =
        (node.attributes.int_or("block_size", 128)?, node.attributes.int_or("bits", 4)?);
    if gathered == quantized {
        return Err("gather_axis and quantize_axis are the same".into());
    }
    let mut zero = node.optional(3);
    // Bytes hold several numbers each, and have their zero in the middle.
    if node.dtype(data)? == DType::U8 {
        data = bytes(node, (0, "data"), data, bits)?;
        zero = Some(match zero {
            Some(zero) => {
                let zero = bytes(node, (3, "zero_points"), zero, bits)?;
                // The last byte of a row may be half full.
                let blocks = node.static_dim(scales, rank - 1, "scales")?;
                node.slice(zero, rank - 1, 0, blocks)?
            }
            None => {
                let shape: Vec<usize> =
                    node.static_dims(scales, "scales")?.iter().map(|dim| *dim as usize).collect();
                let middle = vec![1u8 << (bits - 1); shape.iter().product()];
                node.constant(&Tensor::from_slice(&shape, &middle)?)?
            }
        });
    }
    let rows = |table| node.op("gather", &[table, at], &[("axis", (gathered as i64).into())]);
    let mut operands = vec![rows(data)?, rows(scales)?];
    operands.extend(zero.map(rows).transpose()?);
    let axis = if quantized > gathered { quantized + node.rank(at) - 1 } else { quantized };
    let attributes = [("axis", (axis as i64).into()), ("block_size", block.into())];
    node.emitter.op("dequantize_linear", &operands, &attributes)
}

/// A constant of bytes with each number in a byte of its own.
fn bytes<'c>(
    node: &NodeContext<'_, 'c>,
    input: (usize, &str),
    value: Val<'c>,
    bits: i64,
) -> OpResult<Val<'c>> {
    if ![2, 4, 8].contains(&bits) {
        return Err(OpError::Unsupported(format!("tables of {bits} bits are not supported")));
    }
    let mut dims = node.static_dims(value, input.1)?;
    let Some(last) = dims.last_mut() else {
        return Err(format!("the input {} is a scalar", input.1).into());
    };
    *last *= 8 / bits;
    let columns = *last;
    let rows = dims.iter().rev().skip(1).product();
    let values = unpacked(node, input, bits, rows, columns)?;
    let shape: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
    node.constant(&Tensor::from_slice(&shape, &values)?)
}

fn group_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    Ok(vec![groups(node, node.input(0, "X")?)?])
}

/// The sum of an image, another or its channels' means, and a bias; and its norm.
fn skip_group_norm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, mut skip) = (node.input(0, "X")?, node.input(3, "skip")?);
    if node.rank(skip) == 2 {
        skip = node.unsqueeze(skip, &[1, 2])?;
    }
    let mut sum = node.binary("add", x, skip)?;
    if let Some(bias) = node.optional(4) {
        sum = node.binary("add", sum, bias)?;
    }
    Ok(vec![groups(node, sum)?, sum])
}

/// Channels are last unless an attribute says that they come first.
fn groups<'c>(node: &NodeContext<'_, 'c>, x: Val<'c>) -> OpResult<Val<'c>> {
    let count = node.attributes.int("groups")?.ok_or("the attribute `groups` is missing")?;
    let rank = node.rank(x) as i64;
    let last = node.attributes.bool_or("channels_last", true)?;
    let turned = match last {
        true => {
            node.transpose(x, &[&[0, rank - 1], &(1..rank - 1).collect::<Vec<_>>()[..]].concat())?
        }
        false => x,
    };
    let operands = [turned, node.input(1, "gamma")?, node.input(2, "beta")?];
    let epsilon = node.attributes.float_or("epsilon", 1e-5)?;
    let mut y = node.op(
        "group_norm",
        &operands,
        &[("num_groups", count.into()), ("epsilon", epsilon.into())],
    )?;
    if last {
        y = node.transpose(y, &[&[0], &(2..rank).collect::<Vec<_>>()[..], &[1]].concat())?;
    }
    match node.attributes.int_or("activation", 0)? {
        0 => Ok(y),
        1 => node.op("swish", &[y], &[("alpha", 1.0f32.into())]),
        other => Err(format!("attribute `activation` is {other}, expected 0 or 1").into()),
    }
}
