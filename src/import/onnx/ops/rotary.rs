//! Positions of a sequence as rotations of pairs of elements.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::OpResult;
use super::OpEntry;
use super::attention::{join_heads, split_heads};

pub(super) const OPS: &[OpEntry] = &[OpEntry::with("RotaryEmbedding", 23, 3..=4, standard)];

fn standard<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    rotary_embedding(node, (1, 2), node.optional(3), None)
}

/// The node's first input with pairs rotated; where its tables of cosines and sines are, and rows of them by position.
/// It has `default_heads` unless an attribute says how many.
pub(super) fn rotary_embedding<'c>(
    node: &NodeContext<'_, 'c>,
    tables: (usize, usize),
    positions: Option<Val<'c>>,
    default_heads: Option<i64>,
) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let packed = node.rank(x) == 3;
    let heads = node.attributes.int("num_heads")?.filter(|heads| *heads > 0);
    let x = split_heads(node, x, heads.or(default_heads), "X")?;
    let size = node.static_dim(x, 3, "X")?;
    let rotated = match node.attributes.int_or("rotary_embedding_dim", 0)? {
        0 => size,
        some if (1..=size).contains(&some) => some,
        other => return Err(format!("attribute `rotary_embedding_dim` is {other}").into()),
    };
    let interleaved = node.attributes.bool_or("interleaved", false)?;
    let table = (node.input(tables.0, "cos_cache")?, node.input(tables.1, "sin_cache")?);
    let y = rotate(node, x, table, positions, (rotated, interleaved))?;
    Ok(vec![if packed { join_heads(node, y)? } else { y }])
}

/// Rotates the first `rotated` elements of each row of `[batch, heads, length, size]` in pairs: neighbours where
/// interleaved, else those of the two halves. Tables are `[position, pair]` where positions are given,
/// else `[batch, length, pair]`.
pub(super) fn rotate<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    (cos, sin): (Val<'c>, Val<'c>),
    positions: Option<Val<'c>>,
    (rotated, interleaved): (i64, bool),
) -> OpResult<Val<'c>> {
    let dims = node.static_dims(x, "X")?;
    let [batch, heads, length, size] = dims[..] else { return Err("expected rank 4".into()) };
    let half = rotated / 2;
    let table = |mut table: Val<'c>| -> OpResult<Val<'c>> {
        if let Some(positions) = positions {
            table = node.op("gather", &[table, positions], &[("axis", 0i64.into())])?;
        }
        let rows = if node.rank(table) == 3 { node.dims(table)[0] } else { batch };
        node.reshape(table, &[rows, 1, length, half])
    };
    let (cos, sin) = (table(cos)?, table(sin)?);
    let front = node.slice(x, 3, 0, rotated)?;
    let (a, b) = if interleaved {
        let pairs = node.reshape(front, &[batch, heads, length, half, 2])?;
        let part = |index: i64| node.squeeze(node.slice(pairs, 4, index, index + 1)?, &[4]);
        (part(0)?, part(1)?)
    } else {
        (node.slice(front, 3, 0, half)?, node.slice(front, 3, half, 2 * half)?)
    };
    let mul = |a: Val<'c>, b: Val<'c>| node.binary("mul", a, b);
    let real = node.binary("sub", mul(cos, a)?, mul(sin, b)?)?;
    let imaginary = node.binary("add", mul(sin, a)?, mul(cos, b)?)?;
    let y = if interleaved {
        let (real, imaginary) = (node.unsqueeze(real, &[4])?, node.unsqueeze(imaginary, &[4])?);
        let joined = node.concat(&[real, imaginary], 4)?;
        node.reshape(joined, &[batch, heads, length, rotated])?
    } else {
        node.concat(&[real, imaginary], 3)?
    };
    if rotated == size {
        return Ok(y);
    }
    let rest = node.slice(x, 3, rotated, size)?;
    node.concat(&[y, rest], 3)
}
