//! Matrix products.

use crate::ir::Val;

use super::super::context::NodeContext;
use super::super::emit::OpResult;
use super::{MANY, OpEntry};

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::same("MatMul", 1, "matmul", 2),
    OpEntry::same("QLinearMatMul", 10, "qlinear_matmul", 8),
    OpEntry::with("Einsum", 12, 1..=MANY, einsum),
    OpEntry::with("Gemm", 1, 2..=3, gemm),
    OpEntry::with("MatMulInteger", 10, 2..=4, matmul_integer),
];

pub(super) fn gemm<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    // Before operator set 7 the third operand broadcast only on demand.
    node.attributes.ignore("broadcast");
    let attributes = [
        ("alpha", node.attributes.float_or("alpha", 1.0)?.into()),
        ("beta", node.attributes.float_or("beta", 1.0)?.into()),
        ("trans_a", (node.attributes.int_or("transA", 0)? != 0).into()),
        ("trans_b", (node.attributes.int_or("transB", 0)? != 0).into()),
    ];
    let operands = [Some(node.input(0, "A")?), Some(node.input(1, "B")?), node.optional(2)];
    let operands: Vec<_> = operands.into_iter().flatten().collect();
    node.emitter.op("gemm", &operands, &attributes)
}

fn einsum<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let equation =
        node.attributes.string("equation")?.ok_or("the attribute `equation` is missing")?;
    node.emitter.op("einsum", &node.all_inputs()?, &[("equation", equation.into())])
}

fn matmul_integer<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let operands =
        [Some(node.input(0, "A")?), Some(node.input(1, "B")?), node.optional(2), node.optional(3)];
    node.emitter.op_with_optionals("matmul_integer", &operands, &[])
}
