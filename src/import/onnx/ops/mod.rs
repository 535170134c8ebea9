//! The operators of ONNX, by family: one function, or one table row, for each.
//!
//! A function makes operations of the graph dialect from a node. It tells the versions of the
//! operator apart: its result has the meaning of the newest one.

mod activation;
mod activations;
mod attention;
mod binary;
mod conv;
mod data;
mod deform;
mod layout;
mod linear_attention;
mod loss;
mod matmul;
mod microsoft;
mod norm;
mod pool;
mod quant;
mod recurrent;
mod reduce;
mod resize;
mod rotary;
mod select;
mod unary;
mod window;

use crate::ir::Val;
use std::ops::RangeInclusive;

use super::context::NodeContext;
use super::emit::{OpError, OpResult};

/// Makes the operations of a node, and returns its outputs; outputs that nothing reads may be left
/// out at the end.
type Import = for<'a, 'b, 'c> fn(&'a NodeContext<'b, 'c>) -> OpResult<Vec<Val<'c>>>;

/// The most inputs of an operator that takes any number.
pub(crate) const MANY: usize = i32::MAX as usize;

/// An operator of standard ONNX, or of an extension.
pub(crate) struct OpEntry {
    name: &'static str,
    /// The version of the operator set from which on there is such an operator. Those that
    /// onnxruntime knew before the standard had them begin with 1.
    since: i64,
    /// Number of inputs, over all versions; those in between may be absent.
    inputs: RangeInclusive<usize>,
    how: How,
}

enum How {
    /// One operation with the same operands and no attributes.
    Same(&'static str),
    /// A function that makes the operations.
    With(Import),
}

impl OpEntry {
    /// An operator that is one operation of the graph dialect, with that many operands.
    const fn same(name: &'static str, since: i64, op: &'static str, operands: usize) -> Self {
        Self { name, since, inputs: operands..=operands, how: How::Same(op) }
    }

    /// An operator with a function of its own.
    const fn with(
        name: &'static str,
        since: i64,
        inputs: RangeInclusive<usize>,
        import: Import,
    ) -> Self {
        Self { name, since, inputs, how: How::With(import) }
    }

    /// Imports a node of this operator.
    pub(crate) fn import<'c>(&self, node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
        if node.opset < self.since {
            return Err(OpError::Invalid(format!(
                "is an operator from operator set {} on, and the model declares {}: convert the \
                 model to a newer one",
                self.since, node.opset
            )));
        }
        node.expect_inputs(&self.inputs)?;
        match self.how {
            How::With(import) => import(node),
            How::Same(op) => {
                // Operator sets before 6 said here which buffers may be reused.
                node.attributes.ignore("consumed_inputs");
                node.emitter.op(op, &node.all_inputs()?, &[])
            }
        }
    }
}

const FAMILIES: &[&[OpEntry]] = &[
    activation::OPS,
    attention::OPS,
    binary::OPS,
    conv::OPS,
    data::OPS,
    deform::OPS,
    layout::OPS,
    linear_attention::OPS,
    loss::OPS,
    matmul::OPS,
    norm::OPS,
    pool::OPS,
    quant::OPS,
    recurrent::OPS,
    reduce::OPS,
    resize::OPS,
    rotary::OPS,
    select::OPS,
    unary::OPS,
    window::OPS,
];

/// The operator of that name, if it is supported.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static OpEntry> {
    match domain {
        "" => FAMILIES.iter().flat_map(|family| family.iter()).find(|entry| entry.name == name),
        "com.microsoft" => microsoft::find(name),
        _ => None,
    }
}

/// Names of all supported operators of standard ONNX, in alphabetical order.
pub fn supported_operators() -> Vec<&'static str> {
    let mut names: Vec<_> =
        FAMILIES.iter().flat_map(|family| family.iter()).map(|entry| entry.name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operator_has_one_entry() {
        let names = supported_operators();
        for pair in names.windows(2) {
            assert!(pair[0] < pair[1], "{} is there twice", pair[0]);
        }
        assert!(find("", "Conv").is_some());
        assert!(find("com.microsoft", "Conv").is_none());
        assert!(find("com.microsoft", "QGemm").is_some() && find("", "QGemm").is_none());
    }
}
