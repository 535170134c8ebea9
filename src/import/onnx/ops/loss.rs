//! Loss functions, in terms of simpler operations.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::OpResult;
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("NegativeLogLikelihoodLoss", 12, 2..=3, nll_loss),
    OpEntry::with("SoftmaxCrossEntropyLoss", 12, 2..=3, softmax_cross_entropy),
];

fn nll_loss<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    Ok(vec![negative_log_likelihood(node, node.input(0, "input")?)?])
}

fn softmax_cross_entropy<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let scores = node.input(0, "scores")?;
    let log_prob = node.op("log_softmax", &[scores], &[("axis", 1i64.into())])?;
    Ok(vec![negative_log_likelihood(node, log_prob)?, log_prob])
}

/// Minus the element of `log_prob` (classes in dimension 1) that each label of input 1 names,
/// weighted by class with input 2, and reduced.
fn negative_log_likelihood<'c>(node: &NodeContext<'_, 'c>, log_prob: Val<'c>) -> OpResult<Val<'c>> {
    let mut labels = node.input(1, "target")?;
    let weight = node.optional(2);
    let reduction = node.attributes.choice("reduction", &["mean", "sum", "none"])?;
    let ignored = match node.attributes.int("ignore_index")? {
        None => None,
        Some(ignored) => {
            let ignored = node.binary_with("equal", labels, ignored as f64)?;
            // Any valid label will do: what it picks does not count.
            let zero = node.scalar_like(labels, 0.0)?;
            labels = node.op("where", &[ignored, zero, labels], &[])?;
            Some(ignored)
        }
    };
    let column = node.unsqueeze(labels, &[1])?;
    let picked = node.op("gather_elements", &[log_prob, column], &[("axis", 1i64.into())])?;
    let picked = node.squeeze(picked, &[1])?;
    let mut loss = node.unary("neg", picked)?;
    let zero = node.scalar_like(log_prob, 0.0)?;
    let mut weights = match weight {
        Some(weight) => Some(node.op("gather", &[weight, labels], &[("axis", 0i64.into())])?),
        None if ignored.is_some() => {
            let (one, shape) = (node.scalar_like(log_prob, 1.0)?, node.shape_of(labels)?);
            Some(node.op("expand", &[one, shape], &[])?)
        }
        None => None,
    };
    if let (Some(ignored), Some(counted)) = (ignored, weights) {
        weights = Some(node.op("where", &[ignored, zero, counted], &[])?);
    }
    if let Some(weights) = weights {
        // Not only multiplied: what is ignored may be infinite.
        let weighted = node.binary("mul", loss, weights)?;
        loss = match ignored {
            Some(ignored) => node.op("where", &[ignored, zero, weighted], &[])?,
            None => weighted,
        };
    }
    let total = |values: Val<'c>, op: &str| node.op(op, &[values], &[("keepdims", false.into())]);
    match (reduction, weights) {
        ("none", _) => Ok(loss),
        ("sum", _) => total(loss, "reduce_sum"),
        (_, None) => total(loss, "reduce_mean"),
        (_, Some(weights)) => {
            let (loss, weights) = (total(loss, "reduce_sum")?, total(weights, "reduce_sum")?);
            node.binary("div", loss, weights)
        }
    }
}
