//! Reductions, and other operators along axes.

use crate::ir::Val;
use crate::tensor::{DType, Tensor};

use super::super::context::NodeContext;
use super::super::emit::{Attr, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("ArgMax", 1, 1..=1, |node| arg(node, "argmax")),
    OpEntry::with("ArgMin", 1, 1..=1, |node| arg(node, "argmin")),
    OpEntry::with("CumProd", 26, 2..=2, cumprod),
    OpEntry::with("CumSum", 11, 2..=2, cumsum),
    OpEntry::with("Det", 11, 1..=1, |node| node.emitter.op("det", &[node.input(0, "X")?], &[])),
    OpEntry::with("ReduceL1", 1, 1..=2, |node| {
        reduce(node, "reduce_l1", 18, |node, x| node.unary("abs", x))
    }),
    OpEntry::with("ReduceL2", 1, 1..=2, |node| {
        reduce(node, "reduce_l2", 18, |node, x| node.unary("abs", x))
    }),
    OpEntry::with("ReduceLogSum", 1, 1..=2, |node| {
        reduce(node, "reduce_log_sum", 18, |node, x| node.unary("log", x))
    }),
    OpEntry::with("ReduceLogSumExp", 1, 1..=2, |node| {
        reduce(node, "reduce_log_sum_exp", 18, |_, x| Ok(x))
    }),
    OpEntry::with("ReduceMax", 1, 1..=2, |node| reduce(node, "reduce_max", 18, |_, x| Ok(x))),
    OpEntry::with("ReduceMean", 1, 1..=2, |node| reduce(node, "reduce_mean", 18, |_, x| Ok(x))),
    OpEntry::with("ReduceMin", 1, 1..=2, |node| reduce(node, "reduce_min", 18, |_, x| Ok(x))),
    OpEntry::with("ReduceProd", 1, 1..=2, |node| reduce(node, "reduce_prod", 18, |_, x| Ok(x))),
    OpEntry::with("ReduceSum", 1, 1..=2, |node| reduce(node, "reduce_sum", 13, |_, x| Ok(x))),
    OpEntry::with("ReduceSumSquare", 1, 1..=2, |node| {
        reduce(node, "reduce_sum_square", 18, |node, x| node.binary("mul", x, x))
    }),
    OpEntry::with("TopK", 1, 1..=2, top_k),
];

/// Effect of a reduction over no axes on each element.
type Single = for<'a, 'b, 'c> fn(&'a NodeContext<'b, 'c>, Val<'c>) -> OpResult<Val<'c>>;

/// A reduction, whose axes are an attribute before operator set `since`, and an input from it on.
fn reduce<'c>(
    node: &NodeContext<'_, 'c>,
    op: &str,
    since: i64,
    single: Single,
) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "data")?;
    let keepdims = node.attributes.bool_or("keepdims", true)?;
    let nothing_means_none = node.attributes.bool_or("noop_with_empty_axes", false)?;
    let axes = match node.attributes.ints("axes")? {
        Some(axes) => axes,
        None if node.opset >= since => node.known_ints(1, "axes")?.unwrap_or_default(),
        None => Vec::new(),
    };
    if axes.is_empty() && nothing_means_none {
        return Ok(vec![single(node, x)?]);
    }
    node.emitter.op(op, &[x], &[("axes", axes.into()), ("keepdims", keepdims.into())])
}

fn arg<'c>(node: &NodeContext<'_, 'c>, op: &str) -> OpResult<Vec<Val<'c>>> {
    let attributes = [
        ("axis", node.attributes.int_or("axis", 0)?.into()),
        ("keepdims", node.attributes.bool_or("keepdims", true)?.into()),
        ("select_last_index", node.attributes.bool_or("select_last_index", false)?.into()),
    ];
    node.emitter.op(op, &[node.input(0, "data")?], &attributes)
}

fn cumsum<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, axis) = (node.input(0, "x")?, node.input(1, "axis")?);
    let exclusive = node.attributes.bool_or("exclusive", false)?;
    let reverse = node.attributes.bool_or("reverse", false)?;
    let along = |axis: i64| {
        let attributes =
            [("axis", axis.into()), ("exclusive", exclusive.into()), ("reverse", reverse.into())];
        node.op("cumsum", &[x], &attributes)
    };
    if node.emitter.known(axis).is_some() {
        let axis = node.known_int(1, "axis")?.ok_or("the input axis is missing")?;
        return Ok(vec![along(axis)?]);
    }
    // A run chooses among the sums along all axes; one that there is not is the last.
    let rank = node.rank(x) as i64;
    let axis = node.cast(node.reshape(axis, &[])?, DType::I64)?;
    let below = node.binary_with("less", axis, 0.0)?;
    let counted = node.binary_with("add", axis, rank as f64)?;
    let axis = node.op("where", &[below, counted, axis], &[])?;
    let mut y = along(rank - 1)?;
    for other in (0..rank - 1).rev() {
        let is_this = node.binary_with("equal", axis, other as f64)?;
        y = node.op("where", &[is_this, along(other)?, y], &[])?;
    }
    Ok(vec![y])
}

/// Longest axis of a cumulative product, whose cost grows with the square of the length.
const MAX_CUMPROD: i64 = 1024;

/// For each position, the product of all elements that count for it, the others replaced by 1.
fn cumprod<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "x")?;
    let axis = node.known_int(1, "axis")?.ok_or("the input axis is missing")?;
    let rank = node.rank(x);
    let axis = node.axis(axis, rank)?;
    let exclusive = node.attributes.bool_or("exclusive", false)?;
    let reverse = node.attributes.bool_or("reverse", false)?;
    let length = node.static_dim(x, axis, "x")?;
    if length > MAX_CUMPROD {
        return Err(super::super::emit::OpError::Unsupported(format!(
            "a cumulative product over more than {MAX_CUMPROD} elements is not supported"
        )));
    }
    // mask[position][source], between dimensions of size 1.
    let mut mask = Vec::new();
    for position in 0..length {
        for source in 0..length {
            let before = if reverse { source > position } else { source < position };
            mask.push(before || (!exclusive && source == position));
        }
    }
    let mut shape = vec![1usize; rank + 1];
    (shape[axis], shape[axis + 1]) = (length as usize, length as usize);
    let mask = node.constant(&Tensor::from_slice(&shape, &mask)?)?;
    let spread = node.unsqueeze(x, &[axis as i64])?;
    let one = node.scalar_like(x, 1.0)?;
    let counted = node.op("where", &[mask, spread, one], &[])?;
    Ok(vec![node.reduce("reduce_prod", counted, &[axis as i64 + 1], false)?])
}

/// Before operator set 10, `k` is an attribute.
fn top_k<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let k = if node.opset < 10 {
        node.expect_inputs(&(1..=1))?;
        let k = node.attributes.int("k")?.ok_or("the attribute `k` is missing")?;
        node.i64s(&[k])?
    } else {
        node.expect_inputs(&(2..=2))?;
        node.cast(node.input(1, "K")?, DType::I64)?
    };
    let attributes: [(&'static str, Attr<'c>); 3] = [
        ("axis", node.attributes.int_or("axis", -1)?.into()),
        ("largest", node.attributes.bool_or("largest", true)?.into()),
        ("sorted", node.attributes.bool_or("sorted", true)?.into()),
    ];
    node.emitter.op("top_k", &[x, k], &attributes)
}
