//! The attention of language models that share keys between heads, with a cache and rotated positions.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::super::context::NodeContext;
use super::super::super::emit::{OpError, OpResult};
use super::super::OpEntry;
use super::super::attention::{
    Bias, Scaled, as_bias, for_each_pair, join_heads, repeat_heads, split_heads,
};
use super::super::rotary;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("GroupQueryAttention", 1, 7..=14, grouped_query),
    OpEntry::with("RotaryEmbedding", 1, 4..=4, rotary_embedding),
];

/// Rotations whose positions are `[batch, length]`, or one that the first row has.
fn rotary_embedding<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    if node.attributes.bool_or("is_packed_batching", false)? {
        return Err(OpError::Unsupported("is_packed_batching = 1 is not supported".to_owned()));
    }
    if node.attributes.float_or("scale", 1.0)? != 1.0 {
        return Err(OpError::Unsupported("a scale other than 1 is not supported".to_owned()));
    }
    let (x, mut positions) = (node.input(0, "input")?, node.input(1, "position_ids")?);
    if node.rank(positions) < 2 {
        let dims = node.static_dims(x, "input")?;
        let length = if dims.len() == 3 { dims[1] } else { dims.get(2).copied().unwrap_or(1) };
        let rows: Vec<i64> = (0..length).collect();
        let shape = node.i64s(&[dims[0], length])?;
        let first = node.reshape(positions, &[1, 1])?;
        positions =
            node.op("expand", &[node.binary("add", first, node.i64s(&rows)?)?, shape], &[])?;
    }
    // Heads are as long as the tables say.
    let width = node.dims(x).get(2).copied().unwrap_or(0);
    let size = 2 * node.static_dim(node.input(2, "cos_cache")?, 1, "cos_cache")?;
    let heads = (size > 0).then(|| width / size);
    rotary::rotary_embedding(node, (2, 3), Some(positions), heads)
}

/// Sizes of a node.
struct Sizes {
    batch: i64,
    /// New elements of each text.
    length: i64,
    /// Elements that the cache has room for; 0 without one.
    room: i64,
    /// Elements of the new cache.
    columns: i64,
}

/// Position of the first new element of each text.
enum Start<'c> {
    Known(i64),
    /// 64-bit integers, `[batch]`.
    Given(Val<'c>),
}

fn grouped_query<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    for (index, name) in [(12, "k_scale"), (13, "v_scale")] {
        if node.optional(index).is_some() {
            return Err(OpError::Unsupported(format!(
                "the input {name}, of a quantized cache, is not supported"
            )));
        }
    }
    let heads = node.attributes.int("num_heads")?.ok_or("the attribute `num_heads` is missing")?;
    let shared =
        node.attributes.int("kv_num_heads")?.ok_or("the attribute `kv_num_heads` is missing")?;
    let (q, k, v) = parts(node, heads, shared)?;
    let dims = node.static_dims(q, "query")?;
    let (batch, length, size) = (dims[0], dims[2], dims[3]);
    let past = node.optional(3).zip(node.optional(4));
    let room = past.map_or(Ok(0), |(past, _)| node.static_dim(past, 2, "past_key"))?;
    let total = node
        .known_int(6, "total_sequence_length")?
        .ok_or("the input total_sequence_length is missing")?;
    if total < length || total > room.saturating_add(length) {
        return Err(format!("total_sequence_length {total} does not go with {length} new elements and {room} in the cache").into());
    }
    let sizes = Sizes { batch, length, room, columns: room.max(total) };
    let start = start(node, total, length)?;
    let (q, k) = if node.attributes.bool_or("do_rotary", false)? {
        let positions = positions(node, &sizes, &start)?;
        let interleaved = node.attributes.bool_or("rotary_interleaved", false)?;
        let tables = (node.input(7, "cos_cache")?, node.input(8, "sin_cache")?);
        let rotated = 2 * node.static_dim(tables.0, 1, "cos_cache")?;
        if rotated > size {
            return Err(format!("cos_cache rotates {rotated} elements of {size}").into());
        }
        let turn = |x| rotary::rotate(node, x, tables, Some(positions), (rotated, interleaved));
        (turn(q)?, turn(k)?)
    } else {
        (q, k)
    };
    let (k, v) = match past {
        Some((past_k, past_v)) if room > 0 => {
            (sizes.cache(node, past_k, k, &start)?, sizes.cache(node, past_v, v, &start)?)
        }
        _ => (k, v),
    };
    let scale = node.attributes.float("scale")?.filter(|scale| *scale != 0.0);
    let scaled = Scaled {
        scale: Some(scale.map_or(1.0 / (size as f64).sqrt(), f64::from)),
        softcap: f64::from(node.attributes.float_or("softcap", 0.0)?),
    };
    let wide = (q, repeat_heads(node, k, heads)?, repeat_heads(node, v, heads)?);
    let bias = Bias { value: sizes.bias(node, q, &start)?, may_hide_all: false };
    let y = scaled.weigh(node, wide, Some(&bias), softmax)?.y;
    Ok(vec![join_heads(node, y)?, k, v])
}

/// Queries, keys and values as `[batch, heads, length, size]`; given side by side where there are no keys.
fn parts<'c>(
    node: &NodeContext<'_, 'c>,
    heads: i64,
    shared: i64,
) -> OpResult<(Val<'c>, Val<'c>, Val<'c>)> {
    let query = node.input(0, "query")?;
    let split = |x, heads, what| split_heads(node, x, Some(heads), what);
    if let (Some(k), Some(v)) = (node.optional(1), node.optional(2)) {
        return Ok((
            split(query, heads, "query")?,
            split(k, shared, "key")?,
            split(v, shared, "value")?,
        ));
    }
    let all = heads
        .checked_add(shared.saturating_mul(2))
        .filter(|all| *all > 0 && heads > 0 && shared > 0);
    let width = node.static_dim(query, 2, "query")?;
    let size = match all {
        Some(all) if width % all == 0 => width / all,
        _ => {
            return Err(format!(
                "{heads} and twice {shared} heads do not divide a query of size {width}"
            )
            .into());
        }
    };
    let part = |start: i64, count: i64, what| {
        split(node.slice(query, 2, start * size, (start + count) * size)?, count, what)
    };
    Ok((
        part(0, heads, "query")?,
        part(heads, shared, "key")?,
        part(heads + shared, shared, "value")?,
    ))
}

/// A prompt begins at 0; else `seqlens_k` has the length of each text less one, new elements included.
fn start<'c>(node: &NodeContext<'_, 'c>, total: i64, length: i64) -> OpResult<Start<'c>> {
    let lengths = node.input(5, "seqlens_k")?;
    if total == length {
        return Ok(Start::Known(0));
    }
    if let Some(known) = node.emitter.known(lengths).and_then(|known| known.to_i64()) {
        let first = known.first().copied().unwrap_or(0);
        if known.iter().all(|other| *other == first) {
            let start = first.saturating_add(1 - length);
            if start < 0 || start + length > total {
                return Err(format!(
                    "seqlens_k {first} does not go with {length} new elements of {total}"
                )
                .into());
            }
            return Ok(Start::Known(start));
        }
    }
    let lengths = node.reshape(node.cast(lengths, DType::I64)?, &[-1])?;
    Ok(Start::Given(node.binary_with("add", lengths, (1 - length) as f64)?))
}

/// Positions of the new elements, `[batch, length]`.
fn positions<'c>(
    node: &NodeContext<'_, 'c>,
    sizes: &Sizes,
    start: &Start<'c>,
) -> OpResult<Val<'c>> {
    if let Some(given) = node.optional(9) {
        return Ok(given);
    }
    let rows: Vec<i64> = (0..sizes.length).collect();
    let rows = node.i64s(&rows)?;
    let first = match start {
        Start::Known(start) => node.i64s(&vec![*start; sizes.batch as usize])?,
        Start::Given(start) => *start,
    };
    node.binary("add", node.reshape(first, &[sizes.batch, 1])?, rows)
}

impl Sizes {
    /// The cache with the new elements in it.
    fn cache<'c>(
        &self,
        node: &NodeContext<'_, 'c>,
        past: Val<'c>,
        new: Val<'c>,
        start: &Start<'c>,
    ) -> OpResult<Val<'c>> {
        let columns = self.columns;
        let start = match start {
            Start::Given(start) => *start,
            Start::Known(start) => {
                let mut parts = vec![];
                if *start > 0 {
                    parts.push(node.slice(past, 2, 0, *start)?);
                }
                parts.push(new);
                if start + self.length < columns {
                    parts.push(node.slice(past, 2, start + self.length, columns)?);
                }
                return if let [only] = parts[..] { Ok(only) } else { node.concat(&parts, 2) };
            }
        };
        // One element more is written over what is there, which a device can do in place.
        if (self.length, columns) == (1, self.room) {
            let full = node.i64s(&node.static_dims(new, "key")?)?;
            let place = node.reshape(start, &[self.batch, 1, 1, 1])?;
            let place = node.op("expand", &[place, full], &[])?;
            let attributes = [("axis", 2i64.into()), ("reduction", "none".into())];
            return node.op("scatter_elements", &[past, place, new], &attributes);
        }
        // Elements of the cache and the new ones stand in one list, of which each text takes its own.
        let both = node.concat(&[past, new], 2)?;
        let at: Vec<i64> = (0..columns).collect();
        let at = node.i64s(&at)?;
        let begin = node.reshape(start, &[self.batch, 1])?;
        let ahead = node.binary("sub", at, begin)?;
        let fresh = node.binary_with("add", ahead, self.room as f64)?;
        let is_new = node.binary(
            "and",
            node.binary_with("greater_or_equal", ahead, 0.0)?,
            node.binary_with("less", ahead, self.length as f64)?,
        )?;
        let old = node.binary_with("min", at, (self.room - 1) as f64)?;
        let index = node.op("where", &[is_new, fresh, old], &[])?;
        if self.batch == 1 {
            let index = node.reshape(index, &[columns])?;
            return node.op("gather", &[both, index], &[("axis", 2i64.into())]);
        }
        let rows = node.transpose(both, &[0, 2, 1, 3])?;
        let index = node.unsqueeze(index, &[2])?;
        let taken = node.op("gather_nd", &[rows, index], &[("batch_dims", 1i64.into())])?;
        node.transpose(taken, &[0, 2, 1, 3])
    }

    /// Minus infinity where a key is after its query, or too far before it; and the bias that is given.
    fn bias<'c>(
        &self,
        node: &NodeContext<'_, 'c>,
        q: Val<'c>,
        start: &Start<'c>,
    ) -> OpResult<Val<'c>> {
        let window = node.attributes.int_or("local_window_size", -1)?;
        let (rows, columns) = (self.length, self.columns);
        let first = if let Start::Known(start) = start { *start } else { 0 };
        let before = |row: i64, column: i64| first + row - column;
        let seen = match start {
            Start::Known(_) => for_each_pair(node, (rows, columns), |row, column| {
                let before = before(row, column);
                before >= 0 && (window < 0 || before < window)
            })?,
            Start::Given(start) => {
                let before = for_each_pair(node, (rows, columns), before)?;
                let before =
                    node.binary("add", before, node.reshape(*start, &[self.batch, 1, 1, 1])?)?;
                let seen = node.binary_with("greater_or_equal", before, 0.0)?;
                match window < 0 {
                    true => seen,
                    false => {
                        node.binary("and", seen, node.binary_with("less", before, window as f64)?)?
                    }
                }
            }
        };
        let mut bias = as_bias(node, q, seen)?;
        if let Some(given) = node.optional(10) {
            let given = node.slice(given, 3, 0, columns)?;
            bias = node.binary("add", bias, node.cast_like(given, q)?)?;
        }
        Ok(bias)
    }
}

/// Softmax with one more score, of nothing: given for each head, or 0 where the attribute asks for it.
fn softmax<'c>(
    node: &NodeContext<'_, 'c>,
    scores: Val<'c>,
    _: Option<&Bias<'c>>,
) -> OpResult<Val<'c>> {
    let plain = |scores| node.op("softmax", &[scores], &[("axis", (-1i64).into())]);
    let smooth = node.attributes.bool_or("smooth_softmax", false)?;
    let dims = node.static_dims(scores, "the scores")?;
    let [batch, heads, rows, columns] = dims[..] else { return Err("expected rank 4".into()) };
    let sink = match node.optional(11) {
        Some(sink) => node.reshape(node.cast_like(sink, scores)?, &[1, heads, 1, 1])?,
        None if smooth => node.reshape(node.scalar_like(scores, 0.0)?, &[1, 1, 1, 1])?,
        None => return plain(scores),
    };
    let shape = node.i64s(&[batch, heads, rows, 1])?;
    let sink = node.op("expand", &[sink, shape], &[])?;
    let y = plain(node.concat(&[scores, sink], 3)?)?;
    node.slice(y, 3, 0, columns)
}
