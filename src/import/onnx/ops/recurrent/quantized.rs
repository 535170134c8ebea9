//! `DynamicQuantizeLSTM` of onnxruntime: an LSTM whose weights are stored as 8-bit integers.
//!
//! The weights become floats here, so that products see the numbers that they stand for;
//! onnxruntime rounds the inputs and states of each step to 8 bits besides, which is an
//! approximation of the same layer.

use crate::ir::Val;
use crate::tensor::Tensor;

use super::super::super::context::NodeContext;
use super::super::super::emit::OpResult;
use super::{LSTM, layer};

/// Position of the scale and zero point of `W`; those of `R` follow.
const PARAMETERS: usize = 8;

pub(in super::super) fn dynamic_lstm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mut inputs = node.inputs.clone();
    inputs.truncate(PARAMETERS);
    for (place, name) in [(1, "W"), (2, "R")] {
        let first = PARAMETERS + 2 * (place - 1);
        let weights = dequantized(node, name, [place, first, first + 1])?;
        inputs[place] = Some(node.constant(&weights)?);
    }
    layer(&node.with_inputs(inputs), &LSTM)
}

/// Weights `[directions, inputs, 4 * hidden]` as floats, in the order of `LSTM`:
/// `[directions, 4 * hidden, inputs]`. Scales and zero points are `[directions]`, or
/// `[directions, 4 * hidden]`.
fn dequantized(
    node: &NodeContext<'_, '_>,
    name: &str,
    [weights, scale, zero_point]: [usize; 3],
) -> OpResult<Tensor> {
    let known = |index: usize, what: &str| -> OpResult<Tensor> {
        let tensor = node.known(index, what)?;
        tensor.ok_or_else(|| format!("the input {what} is missing").into())
    };
    let weights = known(weights, name)?;
    let [directions, inputs, columns] = weights.shape()[..] else {
        return Err(format!("{name} must have rank 3").into());
    };
    let parameters = |index: usize, what: &str| -> OpResult<Vec<f64>> {
        let values = known(index, &format!("{name}_{what}"))?.to_f64();
        match values.len() {
            count if count == directions * columns => Ok(values),
            count if count == directions => {
                Ok(values.into_iter().flat_map(|value| vec![value; columns]).collect())
            }
            count => Err(format!(
                "{name}_{what} has {count} elements, expected {directions} or {}",
                directions * columns
            )
            .into()),
        }
    };
    let (scales, zeros) = (parameters(scale, "scale")?, parameters(zero_point, "zero_point")?);
    let stored = weights.to_f64();
    let mut values = vec![0.0f32; stored.len()];
    for (index, value) in stored.into_iter().enumerate() {
        let (direction, row) = (index / (inputs * columns), index / columns % inputs);
        let column = index % columns;
        let channel = direction * columns + column;
        // The difference of two bytes is exact; the product is rounded once.
        let real = ((value - zeros[channel]) as f32) * (scales[channel] as f32);
        values[(direction * columns + column) * inputs + row] = real;
    }
    Ok(Tensor::from_slice(&[directions, columns, inputs], &values)?)
}
