//! Products of matrices.

use super::{Entry, arithmetic::activated, op};
use crate::{
    import::tflite::{
        node::{Node, Outcome},
        schema::{BatchMatMulOptions, FullyConnectedOptions},
        value::Layout,
    },
    ir::{self, Val, graph},
};
use melior::ir::ValueLike;

pub(super) const OPS: &[Entry] = &[
    op(9, "FULLY_CONNECTED", 2..=3, fully_connected),
    op(126, "BATCH_MATMUL", 2..=2, batch_matmul),
];

/// `x w^T + b`, on x with its leading dimensions as one.
fn fully_connected(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: FullyConnectedOptions<'_> = node.options()?;
    if options.weights_format() != 0 {
        return Err("weights that are shuffled are not supported".into());
    }
    let x = node.real(0, Layout::Last)?;
    let w = node.real(1, Layout::Last)?;
    let (image, filter) = (ir::dims(x.r#type()), ir::dims(w.r#type()));
    let &[units, depth] = filter.as_slice() else {
        return Err(format!("its weights have {} dimensions, not 2", filter.len()));
    };
    let w = cast_like(node, w, x)?;
    let rows = node.reshaped(x, &[-1, depth])?;
    let b = match node.operand_if_present(2) {
        None => None,
        Some(_) => Some(node.real(2, Layout::Last)?),
    };
    let attributes = graph::GemmAttrs { trans_b: true, ..Default::default() };
    let y = node.done(graph::Gemm::build(&node.builder, rows, w, b, attributes))?.y();
    let y = activated(node, y, options.activation())?;
    let y = match image.split_last() {
        Some((_, leading)) if options.keep_num_dims() => {
            let to: Vec<i64> = leading.iter().copied().chain([units]).collect();
            node.reshaped(y, &to)?
        }
        _ => y,
    };
    node.set(0, y, Layout::Last)
}

fn batch_matmul(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options = node.table.options::<BatchMatMulOptions<'_>>();
    let (adj_x, adj_y) = options.map_or((false, false), |o| (o.adj_x(), o.adj_y()));
    let mut sides = vec![];
    for (index, turned) in [(0, adj_x), (1, adj_y)] {
        let value = node.real(index, Layout::Last)?;
        let rank = ir::dims(value.r#type()).len() as i64;
        let turned = turned && rank >= 2;
        let perm: Vec<i64> = match turned {
            true => (0..rank - 2).chain([rank - 1, rank - 2]).collect(),
            false => (0..rank).collect(),
        };
        sides.push(node.transposed(value, &perm)?);
    }
    let y = cast_like(node, sides[1], sides[0])?;
    let product = node.done(graph::MatMul::build(&node.builder, sides[0], y))?.y();
    node.set(0, product, Layout::Last)
}

/// A value in the element type of another, where weights are stored as halves.
fn cast_like<'c>(node: &Node<'_, 'c>, value: Val<'c>, like: Val<'c>) -> Outcome<Val<'c>> {
    let element = ir::element_type(like.r#type());
    if ir::element_type(value.r#type()) == element {
        return Ok(value);
    }
    let cast = graph::Cast::build(&node.builder, value, element, graph::CastAttrs::default());
    node.done(cast).map(|op| op.y())
}
