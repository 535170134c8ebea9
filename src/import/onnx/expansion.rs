//! Size of the expanded function calls of a model, counted before any expansion: a short file can
//! describe a graph that doubles with every level of functions.

use std::collections::HashMap;

use prost::Message;

use super::model::normal_domain;
use super::proto::{FunctionProto, NodeProto};

/// Domain, name and overload of a function.
pub(crate) type Key<'m> = (&'m str, &'m str, &'m str);

pub(crate) fn key<'m>(domain: &'m str, name: &'m str, overload: &'m str) -> Key<'m> {
    (normal_domain(domain), name, overload)
}

/// Functions may call functions, this deep.
pub(crate) const MAX_DEPTH: usize = 64;
/// Nodes, and calls, that the functions of a graph may become.
pub(crate) const MAX_NODES: u64 = 1 << 17;
/// Bytes of the names of these nodes and of their values.
const MAX_NAME_BYTES: u64 = 1 << 28;
/// Bytes of the copies of the functions' nodes.
const MAX_COPIED_BYTES: u64 = 1 << 30;

/// Size of an expanded call. Counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expansion {
    nodes: u64,
    calls: u64,
    /// Names that start with the name of the call.
    names: u64,
    /// Bytes of these names, without those of the call's name.
    name_bytes: u64,
    copied_bytes: u64,
    /// Levels of functions.
    depth: usize,
}

/// The functions of a model, with what is known of them so far.
pub(crate) struct Expansions<'m> {
    functions: HashMap<Key<'m>, &'m FunctionProto>,
    known: HashMap<Key<'m>, Expansion>,
    total: Expansion,
}

impl<'m> Expansions<'m> {
    pub(crate) fn new(functions: &'m [FunctionProto]) -> Self {
        let functions = functions.iter().map(|f| (key(&f.domain, &f.name, &f.overload), f));
        Self { functions: functions.collect(), known: HashMap::new(), total: Expansion::default() }
    }

    /// The function that a node calls.
    pub(crate) fn function(&self, node: &NodeProto) -> Option<&'m FunctionProto> {
        self.functions.get(&key(&node.domain, &node.op_type, &node.overload)).copied()
    }

    /// Counts a call by a node of the graph, whose name is given. The error says what is too much.
    pub(crate) fn admit(&mut self, function: &'m FunctionProto, name: &str) -> Result<(), String> {
        let call = self.of(function, 0)?;
        self.total.add(call, name.len());
        let Expansion { nodes, calls, name_bytes, copied_bytes, .. } = self.total;
        for (what, count, most) in [
            ("nodes", nodes, MAX_NODES),
            ("calls of functions", calls, MAX_NODES),
            ("bytes of names", name_bytes, MAX_NAME_BYTES),
            ("bytes of copied nodes", copied_bytes, MAX_COPIED_BYTES),
        ] {
            if count > most {
                let count =
                    if count == u64::MAX { "2^64 or more".into() } else { count.to_string() };
                return Err(format!(
                    "the model's functions become {count} {what} with it; at most {most} are \
                     supported"
                ));
            }
        }
        Ok(())
    }

    fn of(&mut self, function: &'m FunctionProto, depth: usize) -> Result<Expansion, String> {
        let name = key(&function.domain, &function.name, &function.overload);
        let deep = || format!("functions call each other more than {MAX_DEPTH} deep");
        if let Some(known) = self.known.get(&name) {
            return if depth + known.depth > MAX_DEPTH { Err(deep()) } else { Ok(*known) };
        }
        if depth == MAX_DEPTH {
            return Err(deep());
        }
        let mut body = Expansion { depth: 1, calls: 1, ..Default::default() };
        for node in &function.node {
            // A name that is missing is made of operator and position.
            let own = if node.name.is_empty() { node.op_type.len() + 8 } else { node.name.len() };
            body.copied_bytes = body.copied_bytes.saturating_add(copied_bytes(node));
            if let Some(inner) = self.function(node) {
                let call = self.of(inner, depth + 1)?;
                body.depth = body.depth.max(call.depth + 1);
                body.add(call, own + 1);
                continue;
            }
            let values = node.input.iter().chain(&node.output);
            let values = values.map(|value| value.len() + 8);
            let (mut count, mut bytes) = (1, own as u64 + 1);
            for value in values {
                (count, bytes) = (count + 1, bytes + value as u64);
            }
            body.nodes = body.nodes.saturating_add(1);
            body.names = body.names.saturating_add(count);
            body.name_bytes = body.name_bytes.saturating_add(bytes);
        }
        self.known.insert(name, body);
        Ok(body)
    }
}

impl Expansion {
    /// Adds a call whose name has so many bytes.
    fn add(&mut self, call: Expansion, name: usize) {
        let named = call.names.saturating_mul(name as u64);
        self.nodes = self.nodes.saturating_add(call.nodes);
        self.calls = self.calls.saturating_add(call.calls);
        self.names = self.names.saturating_add(call.names);
        self.name_bytes = self.name_bytes.saturating_add(call.name_bytes).saturating_add(named);
        self.copied_bytes = self.copied_bytes.saturating_add(call.copied_bytes);
    }
}

/// Bytes that a copy of a node takes: raw elements are shared.
fn copied_bytes(node: &NodeProto) -> u64 {
    let tensors =
        node.attribute.iter().flat_map(|attribute| attribute.t.iter().chain(&attribute.tensors));
    let raw: usize =
        tensors.filter_map(|tensor| tensor.raw_data.as_ref()).map(|raw| raw.len()).sum();
    node.encoded_len().saturating_sub(raw) as u64
}

#[cfg(test)]
mod tests {
    use super::super::proto::AttributeProto;
    use super::*;

    /// `F0` is a node; each further function calls the one before it `calls` times.
    fn nested(levels: usize, calls: usize, name: &str) -> Vec<FunctionProto> {
        let node = |op: &str, domain: &str| NodeProto {
            op_type: op.to_string(),
            domain: domain.to_string(),
            name: name.to_string(),
            ..Default::default()
        };
        let function = |level: usize| FunctionProto {
            name: format!("F{level}"),
            domain: "f".to_string(),
            node: match level {
                0 => vec![node("Relu", "")],
                _ => vec![node(&format!("F{}", level - 1), "f"); calls],
            },
            ..Default::default()
        };
        (0..levels).map(function).collect()
    }

    fn admit(functions: &[FunctionProto]) -> Result<(), String> {
        let last = functions.last().ok_or("there is none")?;
        Expansions::new(functions).admit(last, "call")
    }

    #[test]
    fn what_multiplies_is_counted_first() {
        admit(&nested(17, 2, "n")).unwrap();
        admit(&nested(64, 1, "n")).unwrap();
        assert!(admit(&nested(65, 1, "n")).unwrap_err().contains("more than 64 deep"));
        let message = admit(&nested(20, 2, "n")).unwrap_err();
        assert!(message.contains("become 524288 nodes"), "{message}");
        assert!(admit(&nested(64, 100, "n")).unwrap_err().contains("2^64 or more nodes"));
        let message = admit(&nested(14, 2, &"n".repeat(10_000))).unwrap_err();
        assert!(message.contains("bytes of names"), "{message}");
        let mut cycle = nested(2, 1, "n");
        cycle[0].node[0] = cycle[1].node[0].clone();
        cycle[0].node[0].op_type = "F1".to_string();
        assert!(admit(&cycle).unwrap_err().contains("more than 64 deep"));
        let mut wide = nested(12, 2, "n");
        let floats = vec![0.0; 1 << 18];
        wide[0].node[0].attribute = vec![AttributeProto { floats, ..Default::default() }];
        assert!(admit(&wide).unwrap_err().contains("bytes of copied nodes"));
    }
}
