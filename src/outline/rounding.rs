//! Error bound of a value if one quantization before it was rounded the other way.

use super::definer;
use crate::ir::{self, Op, Val, constant::Elements, edit};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// Operations whose results are as far off as the operand that is farthest, and no farther: they move,
/// select and clip elements, or average them.
const KEEP: [&str; 35] = [
    "abs",
    "average_pool",
    "clip",
    "concat",
    "depth_to_space",
    "expand",
    "flatten",
    "gather",
    "gather_elements",
    "gather_nd",
    "global_average_pool",
    "global_max_pool",
    "identity",
    "leaky_relu",
    "max",
    "max_pool",
    "min",
    "neg",
    "pad",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "relu",
    "reshape",
    "resize",
    "sigmoid",
    "slice",
    "space_to_depth",
    "split",
    "squeeze",
    "tanh",
    "tile",
    "transpose",
    "unsqueeze",
    "where",
];

/// Operations whose results are as far off as their operands together.
const ADD: [&str; 2] = ["add", "sub"];

/// The size of one quantization step at `value`: the scale of the dequantization that it comes
/// from, also through operations that keep differences as they are. Without one it is 0. Operations
/// that are not `inside` are right.
pub fn quantization_step(value: Val<'_>, inside: &dyn Fn(Op<'_>) -> bool) -> f64 {
    let mut known = HashMap::new();
    step(value, inside, &mut known, 0)
}

/// Chains that are longer are of no network.
const DEPTH: usize = 200;

fn step<'c>(
    value: Val<'c>,
    inside: &dyn Fn(Op<'_>) -> bool,
    known: &mut HashMap<ir::Id, f64>,
    depth: usize,
) -> f64 {
    let key = ir::id(value);
    if let Some(found) = known.get(&key) {
        return *found;
    }
    let op = definer(value).filter(|op| depth < DEPTH && inside(*op));
    let name = op.map(ir::op_name).unwrap_or_default();
    let name = name.strip_prefix("graph.").unwrap_or_default();
    let operands = op.map(ir::operands).unwrap_or_default();
    let mut of_operands = || {
        operands.iter().map(|operand| step(*operand, inside, known, depth + 1)).collect::<Vec<_>>()
    };
    let found = match name {
        "dequantize_linear" => operands.get(1).copied().map_or(0.0, largest),
        // Its decomposition gives the step.
        "composite" => op.map_or(0.0, |op| of_decomposition(op, value, inside, known, depth)),
        name if KEEP.contains(&name) => of_operands().into_iter().fold(0.0, f64::max),
        name if ADD.contains(&name) => of_operands().into_iter().sum(),
        _ => 0.0,
    };
    known.insert(key, found);
    found
}

/// The step of a result of a composite, whose operands are right.
fn of_decomposition<'c>(
    composite: Op<'c>,
    value: Val<'c>,
    inside: &dyn Fn(Op<'_>) -> bool,
    known: &mut HashMap<ir::Id, f64>,
    depth: usize,
) -> f64 {
    let place = ir::results(composite)
        .into_iter()
        .position(|result| result.to_raw().ptr == value.to_raw().ptr);
    let last = edit::entry_block(composite).and_then(|block| ir::ops(block).last().copied());
    let yielded = last.and_then(|last| ir::operands(last).get(place?).copied());
    yielded.map_or(0.0, |yielded| step(yielded, inside, known, depth + 1))
}

/// The largest of the scales; 0 if they are not known.
fn largest(scales: Val<'_>) -> f64 {
    let scales = Elements::of_value(scales).map(|scales| scales.floats()).unwrap_or_default();
    scales.into_iter().map(f64::abs).filter(|scale| scale.is_finite()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, ir::func};

    /// The step of each result of a network with two scales.
    #[test]
    fn a_step_follows_what_keeps_differences() {
        let session = Session::new();
        let text = "func.func @main(%q: tensor<2x4xi8>, %x: tensor<2x4xf32>) -> (tensor<2x4xf32>,
            tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
          %s = graph.constant dense<0.5> : tensor<f32>
          %t = graph.constant dense<[0.25, 2.0]> : tensor<2xf32>
          %shape = graph.constant dense<[8]> : tensor<1xi64>
          %a = graph.dequantize_linear %q, %s : (tensor<2x4xi8>, tensor<f32>) -> tensor<2x4xf32>
          %b = graph.dequantize_linear %q, %t axis = 0 : (tensor<2x4xi8>, tensor<2xf32>) -> tensor<2x4xf32>
          %r = graph.relu %a : tensor<2x4xf32>
          %f = graph.reshape %r, %shape : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<8xf32>
          %sum = graph.add %a, %b : tensor<2x4xf32>
          %e = graph.exp %a : tensor<2x4xf32>
          %plain = graph.relu %x : tensor<2x4xf32>
          %c = graph.concat %r, %plain axis = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
          return %a, %f, %sum, %e, %plain, %c : tensor<2x4xf32>, tensor<8xf32>, tensor<2x4xf32>,
            tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>
        }";
        let module = session.parse(text.as_bytes(), "net.mlir").unwrap_or_else(|e| panic!("{e}"));
        let main = func::main(ir::root(&module)).expect("has one");
        let last = edit::entry_block(main).and_then(|block| ir::ops(block).last().copied());
        let results = ir::operands(last.expect("has a body"));
        let steps = |inside: &dyn Fn(Op<'_>) -> bool| -> Vec<f64> {
            results.iter().map(|value| quantization_step(*value, inside)).collect()
        };
        assert_eq!(steps(&|_| true), [0.5, 0.5, 2.5, 0.0, 0.0, 0.5]);
        // A match of relu alone rounds nothing.
        assert_eq!(steps(&|op| ir::op_name(op) != "graph.dequantize_linear"), [0.0; 6]);
    }
}
