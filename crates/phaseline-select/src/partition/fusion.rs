//! Host fusion, for costs: an elementwise operation takes the value of the operation before it
//! from registers, and nothing is stored between them.
//!
//! This is a first approximation; `graph-fuse-host` decides on the fusion of the code.

use crate::graph::{GraphView, OpId, OpTable};

/// Operations in a row, at most, as in `graph-fuse-host`.
const MAX_OPS: usize = 24;

/// Operations besides elementwise ones whose results the next operation can take as they come.
const ROOTS: [&str; 5] = ["conv", "matmul", "gemm", "max_pool", "average_pool"];

/// For each operation, the one whose value it takes from registers if both are on the host.
pub fn producers(graph: &GraphView, table: &OpTable) -> Vec<Option<OpId>> {
    let is_elementwise = |name: &str| table.traits(name).elementwise;
    let mut producers = vec![None; graph.op_count()];
    let mut lengths = vec![1_usize; graph.op_count()];
    let mut taken = vec![false; graph.op_count()];
    for (id, op) in graph.ops() {
        let [result] = op.results[..] else { continue };
        if !is_elementwise(&op.name) {
            continue;
        }
        let makers = op.operands.iter().flatten().filter_map(|value| {
            let (maker, _) = graph.definer(*value)?;
            let made = graph.value(*value);
            let alone = !made.returned && made.uses.iter().all(|user| user.op == id);
            let name = graph.op(maker).name.as_str();
            let streams = ROOTS.contains(&name) || is_elementwise(name);
            let same = made.ty == graph.value(result).ty && graph.op(maker).results.len() == 1;
            (alone && streams && same && lengths[maker.index()] < MAX_OPS).then_some(maker)
        });
        // Of the two branches of a sum the later one takes the addition.
        let maker = makers.filter(|maker| !taken[maker.index()]).max();
        if let Some(maker) = maker {
            taken[maker.index()] = true;
            lengths[id.index()] = lengths[maker.index()] + 1;
            producers[id.index()] = Some(maker);
        }
    }
    producers
}

/// An operation and those before it that the host computes together with it, in program order.
pub fn chain(producers: &[Option<OpId>], op: OpId) -> Vec<OpId> {
    let mut chain: Vec<OpId> =
        std::iter::successors(Some(op), |op| producers[op.index()]).collect();
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::text::{graph, test_table};

    #[test]
    fn sums_go_with_the_later_branch_and_shared_values_are_stored() {
        let (view, _) = graph(
            "x = arg 1x4x8x8xf32
             w = const 4x4x1x1xf32
             a = conv(x, w, _) {group = 1} : 1x4x8x8xf32
             b = conv(x, w, _) {group = 1} : 1x4x8x8xf32
             s = add(a, b) : 1x4x8x8xf32
             r = relu(s) : 1x4x8x8xf32
             t = tanh(r) : 1x4x8x8xf32
             u = sub(r, t) : 1x4x8x8xf32
             m = softmax(u) {axis = 1} : 1x4x8x8xf32
             v = relu(m) : 1x4x8x8xf32
             return v",
        );
        let found = producers(&view, &test_table());
        let index = |op: Option<OpId>| op.map(OpId::index);
        let found_indices: Vec<_> = found.iter().copied().map(index).collect();
        assert_eq!(
            found_indices,
            [None, None, Some(1), Some(2), None, Some(4), None, None],
            "r is used twice, and a softmax does not stream"
        );
        assert_eq!(chain(&found, OpId(3)), [OpId(1), OpId(2), OpId(3)]);
    }
}
