//! Attention with a recurrent state in place of softmax, unrolled over time.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;
use super::attention::repeat_heads;

pub(super) const OPS: &[OpEntry] = &[OpEntry::with("LinearAttention", 27, 3..=6, linear_attention)];

/// Longest sequence that is unrolled.
const MAX_STEPS: i64 = 1024;

/// The inputs, each `[batch, heads, steps, size]` in `f32`, and the settings of their use.
struct Inputs<'c> {
    query: Val<'c>,
    key: Val<'c>,
    value: Val<'c>,
    decay: Option<Val<'c>>,
    beta: Option<Val<'c>>,
    scale: f64,
    query_heads: i64,
}

fn linear_attention<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    // A hint to implementations that work in pieces.
    node.attributes.ignore("chunk_size");
    let query = node.input(0, "query")?;
    let [batch, steps, hidden] = node.static_dims(query, "query")?[..] else {
        return Err("query must have rank 3".into());
    };
    if !(1..=MAX_STEPS).contains(&steps) {
        let reason = format!("a sequence of {steps} steps, only 1 to {MAX_STEPS} are supported");
        return Err(OpError::Unsupported(reason));
    }
    let inputs = read_inputs(node, hidden)?;
    let key_size = node.static_dim(inputs.key, 3, "key")?;
    let (heads, value_size) =
        (node.static_dim(inputs.value, 1, "value")?, node.static_dim(inputs.value, 3, "value")?);
    let mut state = match node.optional(3) {
        Some(past) => node.cast(past, DType::F32)?,
        None => {
            let zero = node.scalar(DType::F32, 0.0)?;
            let shape = node.i64s(&[batch, heads, key_size, value_size])?;
            node.op("expand", &[zero, shape], &[])?
        }
    };
    let mut outputs = Vec::new();
    for step in 0..steps {
        state = advance(node, &inputs, state, step)?;
        let read = repeat_heads(node, state, inputs.query_heads)?;
        // One row per head, times its state.
        let row = node.slice(inputs.query, 2, step, step + 1)?;
        let output = node.binary("matmul", row, read)?;
        outputs.push(node.binary_with("mul", output, inputs.scale)?);
    }
    let output = node.concat(&outputs, 2)?;
    let output = node.transpose(output, &[0, 2, 1, 3])?;
    let output = node.reshape(output, &[batch, steps, inputs.query_heads * value_size])?;
    let present = node.cast_like(state, node.optional(3).unwrap_or(query))?;
    Ok(vec![node.cast_like(output, query)?, present])
}

fn read_inputs<'c>(node: &NodeContext<'_, 'c>, hidden: i64) -> OpResult<Inputs<'c>> {
    let heads = |name: &str| -> OpResult<i64> {
        let heads = node.attributes.int(name)?.filter(|heads| *heads > 0);
        Ok(heads.ok_or_else(|| format!("the attribute `{name}` is missing or not positive"))?)
    };
    let (query_heads, heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    let rules = ["gated_delta", "linear", "gated", "delta"];
    let rule = node.attributes.choice("update_rule", &rules)?;
    let split = |index: usize, what: &str, heads: i64| -> OpResult<Val<'c>> {
        let value = node.cast(node.input(index, what)?, DType::F32)?;
        let [batch, steps, size] = node.static_dims(value, what)?[..] else {
            return Err(format!("{what} must have rank 3").into());
        };
        if size % heads != 0 {
            return Err(format!("{heads} heads do not divide {what} of size {size}").into());
        }
        let parts = node.reshape(value, &[batch, steps, heads, size / heads])?;
        node.transpose(parts, &[0, 2, 1, 3])
    };
    let decay = match rule {
        "gated" | "gated_delta" => Some(split(4, "decay", heads)?),
        _ => None,
    };
    let beta = match rule {
        "delta" | "gated_delta" => {
            let size = node.static_dim(node.input(5, "beta")?, 2, "beta")?;
            Some(split(5, "beta", size.max(1))?)
        }
        _ => None,
    };
    let scale = match node.attributes.float_or("scale", 0.0)? {
        0.0 => 1.0 / ((hidden / query_heads) as f64).sqrt(),
        scale => f64::from(scale),
    };
    let (query, key, value) =
        (split(0, "query", query_heads)?, split(1, "key", heads)?, split(2, "value", heads)?);
    Ok(Inputs { query, key, value, decay, beta, scale, query_heads })
}

/// The state after a step: faded, then with the product of key and value added.
fn advance<'c>(
    node: &NodeContext<'_, 'c>,
    inputs: &Inputs<'c>,
    mut state: Val<'c>,
    step: i64,
) -> OpResult<Val<'c>> {
    let at = |value: Val<'c>| node.slice(value, 2, step, step + 1);
    let (key, mut value) = (at(inputs.key)?, at(inputs.value)?);
    let column = node.transpose(key, &[0, 1, 3, 2])?;
    if let Some(decay) = inputs.decay {
        let fade = node.unary("exp", node.transpose(at(decay)?, &[0, 1, 3, 2])?)?;
        state = node.binary("mul", state, fade)?;
    }
    if let Some(beta) = inputs.beta {
        // Only what the state does not give for this key already is written.
        let known = node.binary("matmul", key, state)?;
        let missing = node.binary("sub", value, known)?;
        value = node.binary("mul", at(beta)?, missing)?;
    }
    let written = node.binary("mul", column, value)?;
    node.binary("add", state, written)
}
