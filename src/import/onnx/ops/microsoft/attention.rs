//! Attention with its products of inputs, or after them, with the masks that onnxruntime knows.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::super::context::NodeContext;
use super::super::super::emit::{OpError, OpResult};
use super::super::OpEntry;
use super::super::attention::{Bias, Scaled, as_bias, for_each_pair, join_heads, split_heads};
use super::fused::reals;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("Attention", 1, 2..=7, attention),
    OpEntry::with("MultiHeadAttention", 1, 1..=10, multi_head),
    OpEntry::with("QAttention", 1, 5..=9, quantized),
];

fn unsupported<T>(reason: impl Into<String>) -> OpResult<T> {
    Err(OpError::Unsupported(reason.into()))
}

fn attention<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let y = node.binary("matmul", node.input(0, "input")?, node.input(1, "weights")?)?;
    if node.optional(6).is_some() {
        return unsupported(
            "the input past_sequence_length, of a cache that is written in place, is not supported",
        );
    }
    let extras = Extras { mask: node.optional(3), bias: node.optional(5) };
    products(node, y, node.optional(2), extras, node.optional(4))
}

fn quantized<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = reals(node, node.input(0, "input")?, node.input(3, "input_scale")?, node.optional(6))?;
    let w =
        reals(node, node.input(1, "weight")?, node.input(4, "weight_scale")?, node.optional(7))?;
    let y = node.binary("matmul", x, w)?;
    let extras = Extras { mask: node.optional(5), bias: None };
    products(node, y, Some(node.input(2, "bias")?), extras, node.optional(8))
}

/// Attention on `[batch, length, queries, keys and values side by side]`; the cache is `[2, batch, heads, length, size]`.
fn products<'c>(
    node: &NodeContext<'_, 'c>,
    y: Val<'c>,
    bias: Option<Val<'c>>,
    extras: Extras<'c>,
    past: Option<Val<'c>>,
) -> OpResult<Vec<Val<'c>>> {
    for name in ["do_rotary", "past_present_share_buffer"] {
        if node.attributes.bool_or(name, false)? {
            return unsupported(format!("{name} = 1 is not supported"));
        }
    }
    node.attributes.ignore("rotary_embedding_dim"); // Of do_rotary.
    let y = match bias {
        Some(bias) => node.binary("add", y, bias)?,
        None => y,
    };
    let width = node.static_dim(y, 2, "the product of input and weights")?;
    let sizes = match node.attributes.ints("qkv_hidden_sizes")? {
        Some(sizes) if !sizes.is_empty() => sizes,
        _ => vec![width / 3; 3],
    };
    let [q, k, v] = sizes[..] else {
        return Err("attribute `qkv_hidden_sizes` needs three numbers".into());
    };
    if q.checked_add(k).and_then(|sum| sum.checked_add(v)) != Some(width)
        || sizes.iter().any(|size| *size < 1)
    {
        return Err(format!("queries, keys and values of {q}, {k} and {v} are not the {width} columns of the weights").into());
    }
    let part = |start: i64, size: i64, what: &str| {
        split_heads(node, node.slice(y, 2, start, start + size)?, heads(node)?, what)
    };
    let (q, mut k, mut v) =
        (part(0, q, "queries")?, part(q, k, "keys")?, part(q + k, v, "values")?);
    if let Some(past) = past {
        let half = |index: i64| node.squeeze(node.slice(past, 0, index, index + 1)?, &[0]);
        k = node.concat(&[half(0)?, k], 2)?;
        v = node.concat(&[half(1)?, v], 2)?;
    }
    let y = extras.attend(node, (q, k, v))?;
    if !node.wants(1) {
        return Ok(vec![y]);
    }
    let present = node.concat(&[node.unsqueeze(k, &[0])?, node.unsqueeze(v, &[0])?], 0)?;
    Ok(vec![y, present])
}

fn heads(node: &NodeContext<'_, '_>) -> OpResult<Option<i64>> {
    Ok(node.attributes.int("num_heads")?)
}

fn multi_head<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    if node.optional(8).is_some() || node.optional(9).is_some() {
        return unsupported(
            "past_sequence_length and cache_indirection, of a cache that is written in place, are not supported",
        );
    }
    if node.wants(3) {
        return unsupported("the output qk is not supported");
    }
    let (q, mut k, mut v) = parts(node)?;
    if let (Some(past_k), Some(past_v)) = (node.optional(6), node.optional(7)) {
        k = node.concat(&[past_k, k], 2)?;
        v = node.concat(&[past_v, v], 2)?;
    }
    let extras = Extras { mask: node.optional(4), bias: node.optional(5) };
    Ok(vec![extras.attend(node, (q, k, v))?, k, v])
}

/// Queries, keys and values as `[batch, heads, length, size]`: given apart, keys with values as `[batch, length, heads, 2,
/// size]`, or all three so. Keys of rank 4 are those of a cache, which no bias is added to.
fn parts<'c>(node: &NodeContext<'_, 'c>) -> OpResult<(Val<'c>, Val<'c>, Val<'c>)> {
    let bias = node.optional(3);
    let query = node.input(0, "query")?;
    let stacked = |x: Val<'c>, what: &str, count: i64, index: i64| -> OpResult<Val<'c>> {
        let dims = node.static_dims(x, what)?;
        match dims[..] {
            [batch, length, heads, stack, size] if stack == count => {
                let part = node.slice(x, 3, index, index + 1)?;
                node.reshape(part, &[batch, length, heads * size])
            }
            _ => Err(format!(
                "{what} without what would come after it needs the shape [batch, length, heads, {count}, size], and has {dims:?}"
            )
            .into()),
        }
    };
    let (q, k, v) = match (node.optional(1), node.optional(2)) {
        (Some(k), Some(v)) => (query, k, v),
        (Some(k), None) => (query, stacked(k, "key", 2, 0)?, stacked(k, "key", 2, 1)?),
        (None, _) => {
            let part = |index| stacked(query, "query", 3, index);
            (part(0)?, part(1)?, part(2)?)
        }
    };
    let mut start = 0;
    let mut part = |x: Val<'c>, what: &str| -> OpResult<Val<'c>> {
        if node.rank(x) == 4 {
            return Ok(x);
        }
        let width = node.static_dim(x, 2, what)?;
        let x = match bias {
            Some(bias) => node.binary("add", x, node.slice(bias, 0, start, start + width)?)?,
            None => x,
        };
        start += width;
        split_heads(node, x, heads(node)?, what)
    };
    Ok((part(q, "query")?, part(k, "key")?, part(v, "value")?))
}

/// Addends of the scores beside their causal mask.
struct Extras<'c> {
    /// Mask of the valid keys: lengths, or one number per key, above 0 for a valid one.
    mask: Option<Val<'c>>,
    bias: Option<Val<'c>>,
}

impl<'c> Extras<'c> {
    fn attend(
        &self,
        node: &NodeContext<'_, 'c>,
        (q, k, v): (Val<'c>, Val<'c>, Val<'c>),
    ) -> OpResult<Val<'c>> {
        let size = node.static_dim(q, 3, "queries")?;
        let scale = node.attributes.float("scale")?.filter(|scale| *scale != 0.0);
        let scaled = Scaled {
            scale: Some(scale.map_or(1.0 / (size as f64).sqrt(), f64::from)),
            softcap: 0.0,
        };
        let value = self.sum(node, q, k)?;
        let bias = value.map(|value| Bias { value, may_hide_all: false });
        let softmax = |node: &NodeContext<'_, 'c>, scores, _: Option<&Bias<'c>>| {
            node.op("softmax", &[scores], &[("axis", (-1i64).into())])
        };
        join_heads(node, scaled.weigh(node, (q, k, v), bias.as_ref(), softmax)?.y)
    }

    fn sum(&self, node: &NodeContext<'_, 'c>, q: Val<'c>, k: Val<'c>) -> OpResult<Option<Val<'c>>> {
        let (rows, columns) = (node.static_dim(q, 2, "queries")?, node.static_dim(k, 2, "keys")?);
        let filter = node.attributes.float_or("mask_filter_value", -10_000.0)?;
        let mut parts = vec![];
        if let Some(seen) = self.mask.map(|mask| seen(node, mask, columns)).transpose()?.flatten() {
            let (zero, hidden) =
                (node.scalar_like(q, 0.0)?, node.scalar_like(q, f64::from(filter))?);
            parts.push(node.op("where", &[seen, zero, hidden], &[])?);
        }
        if node.attributes.bool_or("unidirectional", false)? {
            let sees = |row: i64, column: i64| column <= row + columns - rows;
            let mask = for_each_pair(node, (rows, columns), sees)?;
            parts.push(as_bias(node, q, mask)?);
        }
        parts.extend(self.bias);
        let mut parts = parts.into_iter();
        let first = parts.next();
        first
            .map(|first| parts.try_fold(first, |sum, part| node.binary("add", sum, part)))
            .transpose()
    }
}

/// The keys that a mask shows, to go with scores `[batch, heads, queries, keys]`; none where it
/// hides nothing.
fn seen<'c>(node: &NodeContext<'_, 'c>, mask: Val<'c>, columns: i64) -> OpResult<Option<Val<'c>>> {
    let dims = node.static_dims(mask, "mask_index")?;
    let shown = |shape: &[i64]| {
        let mask = node.reshape(mask, shape)?;
        node.binary_with("greater", mask, 0.0).map(Some)
    };
    match dims[..] {
        [count] => lengths(node, mask, count, columns).map(Some),
        // One number for each text says nothing.
        [_, 1] if columns > 1 => Ok(None),
        [batch, keys] if keys == columns => shown(&[batch, 1, 1, keys]),
        [batch, queries, keys] if keys == columns => shown(&[batch, 1, queries, keys]),
        [_, _, _, _] => unsupported("a mask of rank 4 is not supported"),
        _ => Err(format!("a mask of {dims:?} does not go with {columns} keys").into()),
    }
}

/// Mask of the keys before the end of each text. A list of twice the number of texts has ends, then
/// starts. One of three times the number and two has lengths, then sums of lengths.
fn lengths<'c>(
    node: &NodeContext<'_, 'c>,
    mask: Val<'c>,
    count: i64,
    columns: i64,
) -> OpResult<Val<'c>> {
    let batch = node.static_dim(node.input(0, "input")?, 0, "the input")?;
    let positions: Vec<i64> = (0..columns).collect();
    let positions = node.i64s(&positions)?;
    let mask = node.cast(mask, DType::I64)?;
    let part = |index: i64| {
        node.reshape(node.slice(mask, 0, index * batch, (index + 1) * batch)?, &[batch, 1, 1, 1])
    };
    let before = node.binary("less", positions, part(0)?)?;
    if count == batch || count == 3 * batch + 2 {
        return Ok(before);
    }
    if count != 2 * batch {
        return Err(format!("a mask of {count} numbers does not go with {batch} texts").into());
    }
    let after = node.binary("greater_or_equal", positions, part(1)?)?;
    node.binary("and", before, after)
}
