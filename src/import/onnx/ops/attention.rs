//! Attention of transformers, in terms of matrix products and softmax.

use crate::ir::Val;
use crate::tensor::{DType, Element, Tensor};

use super::super::context::{Extent, NodeContext};
use super::super::emit::{OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[OpEntry::with("Attention", 23, 3..=7, attention)];

/// `[batch, length, heads * size]` as `[batch, heads, length, size]`; given so already if the rank
/// is 4.
pub(super) fn split_heads<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    heads: Option<i64>,
    what: &str,
) -> OpResult<Val<'c>> {
    let dims = node.dims(x);
    match dims[..] {
        [_, _, _, _] => Ok(x),
        [_, _, hidden] => {
            let heads = heads.ok_or("the number of heads is missing")?;
            if heads < 1 || (hidden >= 0 && hidden % heads != 0) {
                return Err(format!("{heads} heads do not divide {what} of size {hidden}").into());
            }
            let size = if hidden < 0 { -1 } else { hidden / heads };
            let (batch, length) = (node.extent(x, 0)?, node.extent(x, 1)?);
            let sizes = [batch, length, Extent::Known(heads), Extent::Known(size)];
            let parts = node.reshape_to(x, &sizes)?;
            node.transpose(parts, &[0, 2, 1, 3])
        }
        _ => Err(format!("{what} has rank {}, expected 3 or 4", dims.len()).into()),
    }
}

/// Each head repeated, so that there are `heads` of them.
pub(super) fn repeat_heads<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    heads: i64,
) -> OpResult<Val<'c>> {
    let [_, own, _, _] = node.dims(x)[..] else { return Err("expected rank 4".into()) };
    if own == heads && own >= 0 {
        return Ok(x);
    }
    if own < 0 {
        return Err(OpError::Unsupported(
            "the number of key heads must be known; give input shapes with --shape".to_string(),
        ));
    }
    if own < 1 || heads % own != 0 {
        return Err(format!("{own} key heads do not divide {heads} query heads").into());
    }
    let wide = node.unsqueeze(x, &[2])?;
    let (batch, rows, columns) = (node.extent(x, 0)?, node.extent(x, 2)?, node.extent(x, 3)?);
    let known = Extent::Known;
    let shape = node.extents(&[batch, known(own), known(heads / own), rows, columns])?;
    let wide = node.op("expand", &[wide, shape], &[])?;
    node.reshape_to(wide, &[batch, known(heads), rows, columns])
}

/// Each head repeated as often as there are queries for it, where their numbers may be open.
fn repeat_open_heads<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    heads: Extent<'c>,
) -> OpResult<Val<'c>> {
    let own = node.extent(x, 1)?;
    if let (Some(heads), Some(_)) = (heads.known(), own.known()) {
        return repeat_heads(node, x, heads);
    }
    // The head of query h of n is that at h * own / n.
    let places = node.binary("mul", node.count(heads)?, node.extent_scalar(own)?)?;
    let places = node.binary("div", places, node.extent_scalar(heads)?)?;
    node.op("gather", &[x, places], &[("axis", 1i64.into())])
}

fn attention<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (q_heads, kv_heads) =
        (node.attributes.int("q_num_heads")?, node.attributes.int("kv_num_heads")?);
    let packed = node.rank(node.input(0, "Q")?) == 3;
    let q = split_heads(node, node.input(0, "Q")?, q_heads, "Q")?;
    let mut k = split_heads(node, node.input(1, "K")?, kv_heads, "K")?;
    let mut v = split_heads(node, node.input(2, "V")?, kv_heads, "V")?;
    if let (Some(past_k), Some(past_v)) = (node.optional(4), node.optional(5)) {
        k = node.concat(&[past_k, k], 2)?;
        v = node.concat(&[past_v, v], 2)?;
    }
    let (present_k, present_v) = (k, v);
    let heads = node.extent(q, 1)?;
    let (k, v) = (repeat_open_heads(node, k, heads)?, repeat_open_heads(node, v, heads)?);
    let scale = match (node.attributes.float("scale")?, node.extent(q, 3)?) {
        (Some(scale), _) => Some(f64::from(scale)),
        (None, Extent::Known(size)) => Some(1.0 / (size as f64).sqrt()),
        (None, Extent::Open(_)) => None,
    };
    let scaled = Scaled { scale, softcap: f64::from(node.attributes.float_or("softcap", 0.0)?) };
    let bias = bias(node, q, k)?;
    let Weighed { raw, capped, biased, probabilities, mut y } =
        scaled.weigh(node, (q, k, v), bias.as_ref(), masked_softmax)?;
    if packed {
        y = join_heads(node, y)?;
    }
    let scores = match node.attributes.int_or("qk_matmul_output_mode", 0)? {
        0 => raw,
        1 => capped,
        2 => biased,
        3 => probabilities,
        other => return Err(format!("attribute `qk_matmul_output_mode` is {other}").into()),
    };
    Ok(vec![y, present_k, present_v, scores])
}

/// `[batch, heads, length, size]` as `[batch, length, heads * size]`.
pub(super) fn join_heads<'c>(node: &NodeContext<'_, 'c>, y: Val<'c>) -> OpResult<Val<'c>> {
    let [_, heads, _, size] = node.dims(y)[..] else { return Err("expected rank 4".into()) };
    let hidden = if heads < 0 || size < 0 { -1 } else { heads * size };
    let (batch, length) = (node.extent(y, 0)?, node.extent(y, 2)?);
    let turned = node.transpose(y, &[0, 2, 1, 3])?;
    node.reshape_to(turned, &[batch, length, Extent::Known(hidden)])
}

/// Numbers that scores go through.
pub(super) struct Scaled {
    /// One over the root of the size of a head if none is given.
    pub scale: Option<f64>,
    /// No limit if 0.
    pub softcap: f64,
}

/// Scores in all their stages, and the result of the attention.
pub(super) struct Weighed<'c> {
    pub raw: Val<'c>,
    pub capped: Val<'c>,
    pub biased: Val<'c>,
    pub probabilities: Val<'c>,
    pub y: Val<'c>,
}

impl Scaled {
    /// Values weighed by how queries go with keys; all are `[batch, heads, length, size]`.
    pub(super) fn weigh<'c, 'n>(
        &self,
        node: &NodeContext<'n, 'c>,
        (q, k, v): (Val<'c>, Val<'c>, Val<'c>),
        bias: Option<&Bias<'c>>,
        softmax: impl FnOnce(&NodeContext<'n, 'c>, Val<'c>, Option<&Bias<'c>>) -> OpResult<Val<'c>>,
    ) -> OpResult<Weighed<'c>> {
        // Half of the scale goes to each side, which keeps products small.
        let scale = match self.scale {
            Some(scale) => node.scalar_like(q, scale.sqrt())?,
            None => {
                let size = node.cast(node.extent_scalar(node.extent(q, 3)?)?, DType::F32)?;
                let fourth = node.unary("sqrt", node.unary("sqrt", size)?)?;
                let one = node.scalar_like(fourth, 1.0)?;
                node.cast_like(node.binary("div", one, fourth)?, q)?
            }
        };
        let q_scaled = node.binary("mul", q, scale)?;
        let scale = match self.scale {
            Some(scale) => node.scalar_like(k, scale.sqrt())?,
            None => scale,
        };
        let k_scaled = node.binary("mul", k, scale)?;
        let k_turned = node.transpose(k_scaled, &[0, 1, 3, 2])?;
        let raw = node.binary("matmul", q_scaled, k_turned)?;
        let capped = if self.softcap > 0.0 {
            let inner = node.binary_with("div", raw, self.softcap)?;
            let inner = node.unary("tanh", inner)?;
            node.binary_with("mul", inner, self.softcap)?
        } else {
            raw
        };
        let biased = match &bias {
            Some(bias) => node.binary("add", capped, bias.value)?,
            None => capped,
        };
        let probabilities = softmax(node, biased, bias)?;
        let probabilities = node.cast_like(probabilities, q)?;
        let y = node.binary("matmul", probabilities, v)?;
        Ok(Weighed { raw, capped, biased, probabilities, y })
    }
}

/// Addend of the scores: minus infinity where a key must not be seen.
pub(super) struct Bias<'c> {
    pub value: Val<'c>,
    /// True if some queries may see no key at all.
    pub may_hide_all: bool,
}

/// Softmax over keys; queries that see no key give 0, where the plain formula gives NaN.
fn masked_softmax<'c>(
    node: &NodeContext<'_, 'c>,
    scores: Val<'c>,
    bias: Option<&Bias<'c>>,
) -> OpResult<Val<'c>> {
    let scores = match node.attributes.int("softmax_precision")? {
        None => scores,
        Some(code) => node.op("cast", &[scores], &[("to", node.element_type(code)?.into())])?,
    };
    let y = node.op("softmax", &[scores], &[("axis", (-1i64).into())])?;
    let Some(bias) = bias.filter(|bias| bias.may_hide_all) else { return Ok(y) };
    let best = node.reduce("reduce_max", bias.value, &[-1], true)?;
    let hidden = node.binary_with("equal", best, f64::NEG_INFINITY)?;
    let zero = node.scalar_like(y, 0.0)?;
    node.op("where", &[hidden, zero, y], &[])
}

/// The sum of all masks: the given one, the causal one, the sliding window, and padding.
fn bias<'c>(node: &NodeContext<'_, 'c>, q: Val<'c>, k: Val<'c>) -> OpResult<Option<Bias<'c>>> {
    let (rows, columns) = (node.extent(q, 2)?, node.extent(k, 2)?);
    let mut parts = Vec::new();
    let mut may_hide_all = false;
    if let Some(mask) = node.optional(3) {
        parts.push(given_mask(node, q, mask, columns)?);
        may_hide_all = true;
    }
    let lengths = node.optional(6).map(|lengths| node.cast(lengths, DType::I64)).transpose()?;
    if let Some((mask, hides_all)) = positional_mask(node, rows, columns, lengths)? {
        parts.push(as_bias(node, q, mask)?);
        may_hide_all |= hides_all;
    }
    if let Some(lengths) = lengths {
        let positions = match columns {
            Extent::Known(columns) => node.i64s(&(0..columns).collect::<Vec<_>>())?,
            open => node.count(open)?,
        };
        let lengths = node.reshape(lengths, &[-1, 1, 1, 1])?;
        let real = node.binary("less", positions, lengths)?;
        parts.push(as_bias(node, q, real)?);
        may_hide_all = true;
    }
    let mut sum: Option<Val<'c>> = None;
    for part in parts {
        sum = Some(match sum {
            None => part,
            Some(sum) => node.binary("add", sum, part)?,
        });
    }
    Ok(sum.map(|value| Bias { value, may_hide_all }))
}

/// 0 where `mask` is true, else minus infinity, in the type of `like`.
pub(super) fn as_bias<'c>(
    node: &NodeContext<'_, 'c>,
    like: Val<'c>,
    mask: Val<'c>,
) -> OpResult<Val<'c>> {
    let (zero, hidden) = (node.scalar_like(like, 0.0)?, node.scalar_like(like, f64::NEG_INFINITY)?);
    node.op("where", &[mask, zero, hidden], &[])
}

/// The mask that the node is given, as a bias. It may be shorter than the keys, of which the rest
/// is then hidden.
fn given_mask<'c>(
    node: &NodeContext<'_, 'c>,
    q: Val<'c>,
    mask: Val<'c>,
    columns: Extent<'c>,
) -> OpResult<Val<'c>> {
    let mask = match node.dtype(mask)? {
        DType::Bool => as_bias(node, q, mask)?,
        _ => node.cast_like(mask, q)?,
    };
    let rank = node.rank(mask);
    if rank == 0 {
        return Ok(mask);
    }
    let missing = match (columns, node.extent(mask, rank - 1)?) {
        (Extent::Known(columns), Extent::Known(given)) => Extent::Known(columns - given),
        // One column is for all keys.
        (_, Extent::Known(1)) => return Ok(mask),
        (columns, given) => node.extent_op("sub", columns, given)?,
    };
    if missing.known().is_some_and(|missing| missing <= 0) {
        return Ok(mask);
    }
    let mut pads = vec![Extent::Known(0); 2 * rank];
    pads[2 * rank - 1] = missing;
    let pads = node.extents(&pads)?;
    let hidden = node.scalar_like(mask, f64::NEG_INFINITY)?;
    node.op_with_optionals("pad", &[Some(mask), Some(pads), Some(hidden), None], &[])
}

/// Largest mask that is a constant.
const MAX_MASK: i64 = 1 << 24;

fn check_mask(rows: i64, columns: i64) -> OpResult<()> {
    if rows.checked_mul(columns).is_some_and(|count| count <= MAX_MASK) {
        return Ok(());
    }
    let reason = format!("a mask of {rows} queries by {columns} keys is too large");
    Err(OpError::Unsupported(reason))
}

/// A constant for each query and key.
pub(super) fn for_each_pair<'c, T: Element>(
    node: &NodeContext<'_, 'c>,
    (rows, columns): (i64, i64),
    value: impl Fn(i64, i64) -> T,
) -> OpResult<Val<'c>> {
    check_mask(rows, columns)?;
    let values: Vec<T> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .map(|(row, column)| value(row, column))
        .collect();
    node.constant(&Tensor::from_slice(&[rows as usize, columns as usize], &values)?)
}

/// Mask of the keys that a query may see by their positions, with true if some queries may see
/// none. The position of the first query follows from the keys before it: those of the cache, or
/// for a cache of fixed size its `lengths` less the new ones.
fn positional_mask<'c>(
    node: &NodeContext<'_, 'c>,
    rows: Extent<'c>,
    columns: Extent<'c>,
    lengths: Option<Val<'c>>,
) -> OpResult<Option<(Val<'c>, bool)>> {
    let causal = node.attributes.bool_or("is_causal", false)?;
    let left = node.attributes.int_or("left_window_size", -1)?;
    let right = node.attributes.int_or("right_window_size", -1)?;
    let right = if causal { 0 } else { right };
    if left < 0 && right < 0 {
        return Ok(None);
    }
    let past = match node.optional(4) {
        Some(past) => node.extent(past, 2)?,
        None => Extent::Known(0),
    };
    let (Extent::Known(rows), Extent::Known(columns), Extent::Known(past)) = (rows, columns, past)
    else {
        return open_positions(node, (rows, columns, past), lengths, (left, right)).map(Some);
    };
    check_mask(rows, columns)?;
    let shape = [rows as usize, columns as usize];
    // Distance of a key before the query, but for the offset of the queries.
    let ahead: Vec<i64> =
        (0..rows).flat_map(|row| (0..columns).map(move |column| row - column)).collect();
    let Some(lengths) = lengths.filter(|_| node.optional(4).is_none()) else {
        let sees = |before: &i64| {
            let before = before + past;
            (left < 0 || before <= left) && (right < 0 || -before <= right)
        };
        let mask: Vec<bool> = ahead.iter().map(sees).collect();
        let hides =
            columns > 0 && mask.chunks(columns as usize).any(|row| row.iter().all(|seen| !seen));
        return Ok(Some((node.constant(&Tensor::from_slice(&shape, &mask)?)?, hides)));
    };
    let offset = node.binary_with("sub", lengths, rows as f64)?;
    let offset = node.reshape(offset, &[-1, 1, 1, 1])?;
    let ahead = node.constant(&Tensor::from_slice(&shape, &ahead)?)?;
    let before = node.binary("add", ahead, offset)?;
    Ok(window(node, before, (left, right))?.map(|mask| (mask, true)))
}

/// The same where the numbers of queries and keys are open.
fn open_positions<'c>(
    node: &NodeContext<'_, 'c>,
    (rows, columns, past): (Extent<'c>, Extent<'c>, Extent<'c>),
    lengths: Option<Val<'c>>,
    window_sizes: (i64, i64),
) -> OpResult<(Val<'c>, bool)> {
    let queries = node.unsqueeze(node.count(rows)?, &[1])?;
    let ahead = node.binary("sub", queries, node.count(columns)?)?;
    let offset = match lengths.filter(|_| node.optional(4).is_none()) {
        Some(lengths) => {
            let offset = node.binary("sub", lengths, node.extent_scalar(rows)?)?;
            node.reshape(offset, &[-1, 1, 1, 1])?
        }
        None => node.extent_scalar(past)?,
    };
    let before = node.binary("add", ahead, offset)?;
    let mask = window(node, before, window_sizes)?.ok_or("a mask that hides nothing")?;
    Ok((mask, true))
}

/// True for keys that are not too far before or behind a query.
fn window<'c>(
    node: &NodeContext<'_, 'c>,
    before: Val<'c>,
    (left, right): (i64, i64),
) -> OpResult<Option<Val<'c>>> {
    let mut mask = None;
    if left >= 0 {
        mask = Some(node.binary_with("less_or_equal", before, left as f64)?);
    }
    if right >= 0 {
        let near = node.binary_with("greater_or_equal", before, -right as f64)?;
        mask = Some(match mask {
            None => near,
            Some(other) => node.binary("and", other, near)?,
        });
    }
    Ok(mask)
}
