//! Positions of a sequence as rotations of pairs of elements.

use crate::ir::Val;

use super::super::context::{Extent, NodeContext};
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
    let interleaved = node.attributes.bool_or("interleaved", false)?;
    if let open @ Extent::Open(_) = node.extent(x, 3)? {
        let rotated = match node.attributes.int_or("rotary_embedding_dim", 0)? {
            0 => open,
            some => Extent::Known(some),
        };
        let table = (node.input(tables.0, "cos_cache")?, node.input(tables.1, "sin_cache")?);
        let y = rotate_open(node, x, table, positions, (rotated, interleaved))?;
        return Ok(vec![if packed { join_heads(node, y)? } else { y }]);
    }
    let size = node.static_dim(x, 3, "X")?;
    let rotated = match node.attributes.int_or("rotary_embedding_dim", 0)? {
        0 => size,
        some if (1..=size).contains(&some) => some,
        other => return Err(format!("attribute `rotary_embedding_dim` is {other}").into()),
    };
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
    let [_, _, _, size] = node.dims(x)[..] else { return Err("expected rank 4".into()) };
    let [batch, heads, length] = [0, 1, 2].map(|axis| node.extent(x, axis));
    let (batch, heads, length) = (batch?, heads?, length?);
    let known = Extent::Known;
    let half = rotated / 2;
    let table = |mut table: Val<'c>| -> OpResult<Val<'c>> {
        if let Some(positions) = positions {
            table = node.op("gather", &[table, positions], &[("axis", 0i64.into())])?;
        }
        let rows = if node.rank(table) == 3 { node.extent(table, 0)? } else { batch };
        node.reshape_to(table, &[rows, known(1), length, known(half)])
    };
    let (cos, sin) = (table(cos)?, table(sin)?);
    let front = node.slice(x, 3, 0, rotated)?;
    let (a, b) = if interleaved {
        let pairs = node.reshape_to(front, &[batch, heads, length, known(half), known(2)])?;
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
        node.reshape_to(joined, &[batch, heads, length, known(rotated)])?
    } else {
        node.concat(&[real, imaginary], 3)?
    };
    if rotated == size {
        return Ok(y);
    }
    let rest = node.slice(x, 3, rotated, size)?;
    node.concat(&[y, rest], 3)
}

/// The same where the size of a head is open.
fn rotate_open<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    (cos, sin): (Val<'c>, Val<'c>),
    positions: Option<Val<'c>>,
    (rotated, interleaved): (Extent<'c>, bool),
) -> OpResult<Val<'c>> {
    let known = Extent::Known;
    let [batch, heads, length, size] = [0, 1, 2, 3].map(|axis| node.extent(x, axis));
    let (batch, heads, length, size) = (batch?, heads?, length?, size?);
    let table = |mut table: Val<'c>| -> OpResult<Val<'c>> {
        if let Some(positions) = positions {
            table = node.op("gather", &[table, positions], &[("axis", 0i64.into())])?;
        }
        match node.rank(table) {
            3 => node.unsqueeze(table, &[1]),
            _ => node.reshape_to(table, &[batch, known(1), length, known(-1)]),
        }
    };
    let (cos, sin) = (table(cos)?, table(sin)?);
    let front = node.slice_between(x, 3, (known(0), rotated))?;
    // Pairs are neighbours, or the elements of two rows.
    let (pairs, axis) = match interleaved {
        true => (node.reshape_to(front, &[batch, heads, length, known(-1), known(2)])?, 4),
        false => (node.reshape_to(front, &[batch, heads, length, known(2), known(-1)])?, 3),
    };
    let part =
        |index: i64| node.squeeze(node.slice(pairs, axis, index, index + 1)?, &[axis as i64]);
    let (a, b) = (part(0)?, part(1)?);
    let mul = |a: Val<'c>, b: Val<'c>| node.binary("mul", a, b);
    let real = node.binary("sub", mul(cos, a)?, mul(sin, b)?)?;
    let imaginary = node.binary("add", mul(sin, a)?, mul(cos, b)?)?;
    let axis = axis as i64;
    let (real, imaginary) = (node.unsqueeze(real, &[axis])?, node.unsqueeze(imaginary, &[axis])?);
    let joined = node.concat(&[real, imaginary], axis)?;
    let y = node.reshape_to(joined, &[batch, heads, length, rotated])?;
    if let Extent::Known(_) = rotated {
        let rest = node.slice_between(x, 3, (rotated, size))?;
        return node.concat(&[y, rest], 3);
    }
    Ok(y)
}
