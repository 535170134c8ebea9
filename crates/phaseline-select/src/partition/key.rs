//! Identity of work: two sets of operations are the same work if their names, attributes, types
//! and connections are equal. Measured costs are kept under the key of their work.

use crate::graph::{GraphView, OpId, Payload, ValueId};
use std::fmt::Write;

/// Integer constants with more elements than this are data; those with fewer say what an operation
/// does, such as the axes of a transpose.
const MAX_DECISIVE: usize = 16;

/// A key that two sets of operations share if they do the same work: 32 hexadecimal digits. The
/// operations are in program order.
pub fn key(graph: &GraphView, ops: &[OpId]) -> String {
    digest(&canonical(graph, ops))
}

/// 32 hexadecimal digits for a text.
pub(super) fn digest(text: &str) -> String {
    // FNV-1a with 128 bits: the same on every machine and in every version.
    let hash = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul((1 << 88) | 0x13b);
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    format!("{:032x}", text.bytes().fold(start, hash))
}

/// The operations with their types, for people: `conv 1x3x8x8xf32, 4x3x3x3xf32 -> 1x4x8x8xf32`.
pub fn describe(graph: &GraphView, ops: &[OpId]) -> String {
    let types = |values: &mut dyn Iterator<Item = ValueId>| {
        values.map(|value| graph.value(value).ty.to_string()).collect::<Vec<_>>().join(", ")
    };
    let texts = ops.iter().map(|id| {
        let op = graph.op(*id);
        let operands = types(&mut op.operands.iter().copied().flatten());
        format!("{} {operands} -> {}", op.name, types(&mut op.results.iter().copied()))
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// The operations as text in which nothing depends on where in the network they are.
fn canonical(graph: &GraphView, ops: &[OpId]) -> String {
    let mut text = String::new();
    let mut outside: indexmap::IndexSet<ValueId> = indexmap::IndexSet::new();
    for id in ops {
        let op = graph.op(*id);
        text.push_str(&op.name);
        for operand in &op.operands {
            let Some(value) = *operand else {
                text.push_str(" _");
                continue;
            };
            let inside = graph.definer(value).and_then(|(maker, result)| {
                Some((ops.iter().position(|other| *other == maker)?, result))
            });
            // Writing to a string does not fail.
            let _ = match inside {
                Some((place, result)) => write!(text, " %{place}.{result}"),
                None if graph.is_constant(value) => write!(text, " {}", constant(graph, value)),
                None => {
                    let place = outside.insert_full(value).0;
                    write!(text, " in{place}:{}", graph.value(value).ty)
                }
            };
        }
        for (name, attr) in op.attrs.iter().filter(|(name, _)| !name.starts_with("phl.")) {
            let _ = write!(text, " {name}={attr:?}");
        }
        text.push_str(" ->");
        for result in &op.results {
            let value = graph.value(*result);
            let leaves = value.returned || value.uses.iter().any(|u| !ops.contains(&u.op));
            let _ = write!(text, " {}{}", value.ty, if leaves { "!" } else { "" });
        }
        text.push('\n');
    }
    text
}

/// A constant by its type, and by its elements where they decide on what is done.
fn constant(graph: &GraphView, value: ValueId) -> String {
    let value = graph.value(value);
    match &value.payload {
        Some(Payload::Ints(values)) if values.len() <= MAX_DECISIVE => {
            format!("const:{} {values:?}", value.ty)
        }
        _ => format!("const:{}", value.ty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::text::graph;

    fn keys(text: &str) -> Vec<String> {
        let (view, _) = graph(text);
        view.ops().map(|(id, _)| key(&view, &[id])).collect()
    }

    #[test]
    fn equal_work_has_equal_keys_wherever_it_is() {
        let found = keys(
            "x = arg 1x4x8x8xf32
             w = const 4x4x1x1xf32 [0.5]
             v = const 4x4x1x1xf32 [0.25]
             a = conv(x, w, _) {group = 1} : 1x4x8x8xf32
             b = conv(a, v, _) {group = 1} : 1x4x8x8xf32
             c = conv(b, w, _) {group = 2} : 1x4x8x8xf32
             d = conv(c, x, _) {group = 1} : 1x4x8x8xf32
             return d",
        );
        assert_eq!(found[0], found[1], "weights are data");
        assert_ne!(found[0], found[2], "attributes count");
        assert_ne!(found[0], found[3], "so does whether the weights are constant");
        assert!(found.iter().all(|key| key.len() == 32));
    }

    #[test]
    fn connections_and_outputs_count() {
        let (view, _) = graph(
            "x = arg 4xf32
             a = relu(x) : 4xf32
             b = add(a, x) : 4xf32
             c = relu(x) : 4xf32
             d = add(c, c) : 4xf32
             e = add(d, a) : 4xf32
             return e",
        );
        let id = OpId;
        assert_ne!(key(&view, &[id(0), id(1)]), key(&view, &[id(2), id(3)]));
        assert_ne!(key(&view, &[id(0), id(1)]), key(&view, &[id(2), id(1)]), "a is used outside");
        assert_eq!(
            describe(&view, &[id(0), id(1)]),
            "relu 4xf32 -> 4xf32; add 4xf32, 4xf32 -> 4xf32"
        );
    }
}
