//! The nodes of a model as one list: calls of the model's own functions replaced by their bodies.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::import::ImportError;
use crate::targets::Operators;

use super::Model;
use super::expansion::Expansions;
use super::model::{initializer_names, normal_domain, opset_versions};
use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};

/// Versions of operator sets by domain.
pub(crate) type Opsets = Rc<IndexMap<String, i64>>;

/// A node, with what its surroundings say about it.
#[derive(Clone, Debug)]
pub(crate) struct Node<'m> {
    pub(crate) proto: Cow<'m, NodeProto>,
    /// Version of the operator set of its domain, where it stands.
    pub(crate) opset: i64,
    /// All operator sets, for graphs in its attributes.
    pub(crate) opsets: Opsets,
    /// Values of the surroundings that graphs in its attributes read.
    pub(crate) captures: Vec<String>,
    /// Name of the node, or operator and position for a node without one; unique in practice, not
    /// by force.
    pub(crate) name: String,
}

impl Node<'_> {
    /// Domain; empty for standard ONNX.
    pub(crate) fn domain(&self) -> &str {
        normal_domain(&self.proto.domain)
    }

    /// The operator, with its domain unless that is standard ONNX.
    pub(crate) fn op(&self) -> String {
        match self.domain() {
            "" => self.proto.op_type.clone(),
            domain => format!("{domain}.{}", self.proto.op_type),
        }
    }

    /// Names of all values that it reads; empty ones are absent inputs.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &str> {
        self.proto.input.iter().chain(&self.captures).map(String::as_str)
    }

    /// Name and operator, for messages.
    pub(crate) fn label(&self) -> String {
        format!("`{}` ({})", self.name, self.op())
    }
}

/// The nodes of the model's graph, in the order of the file.
pub(crate) fn flatten(model: &Model) -> Result<Vec<Node<'_>>, ImportError> {
    let operators = Operators::default();
    flatten_graph(model, &model.graph, &Rc::new(model.opsets.clone()), "", &operators)
}

/// The nodes of a graph of the model; names of nodes get a prefix.
pub(crate) fn flatten_graph<'m>(
    model: &'m Model,
    graph: &'m GraphProto,
    opsets: &Opsets,
    prefix: &str,
    operators: &Operators,
) -> Result<Vec<Node<'m>>, ImportError> {
    let expansions = Expansions::new(&model.functions);
    let mut flattener = Flattener { model, operators, expansions, nodes: Vec::new(), calls: 0 };
    for (position, proto) in graph.node.iter().enumerate() {
        let name = node_name(prefix, proto, position);
        flattener.add(Cow::Borrowed(proto), name, opsets, 0)?;
    }
    Ok(flattener.nodes)
}

/// The nodes of a function that may be in no model, in place of a node that calls it.
pub(crate) fn flatten_call<'m>(
    model: &'m Model,
    function: &'m FunctionProto,
    caller: &NodeProto,
    name: &str,
    operators: &Operators,
) -> Result<Vec<Node<'m>>, ImportError> {
    let expansions = Expansions::new(&model.functions);
    let mut flattener = Flattener { model, operators, expansions, nodes: Vec::new(), calls: 0 };
    flattener.call(function, caller, name, 0)?;
    Ok(flattener.nodes)
}

fn node_name(prefix: &str, proto: &NodeProto, position: usize) -> String {
    if proto.name.is_empty() {
        format!("{prefix}{}_{position}", proto.op_type)
    } else {
        format!("{prefix}{}", proto.name)
    }
}

struct Flattener<'m, 'o> {
    model: &'m Model,
    /// Operators of targets, which stay nodes where the model has functions for them.
    operators: &'o Operators,
    expansions: Expansions<'m>,
    nodes: Vec<Node<'m>>,
    /// Calls replaced so far; numbers the values of each body.
    calls: usize,
}

impl<'m> Flattener<'m, '_> {
    fn add(
        &mut self,
        proto: Cow<'m, NodeProto>,
        name: String,
        opsets: &Opsets,
        depth: usize,
    ) -> Result<(), ImportError> {
        let domain = normal_domain(&proto.domain);
        let stays = self.operators.own(domain, &proto.op_type).is_some();
        if let Some(function) = self.expansions.function(&proto).filter(|_| !stays) {
            return self.call(function, &proto, &name, depth);
        }
        let opset = opsets.get(domain).copied().ok_or_else(|| {
            let domain = if domain.is_empty() { "ai.onnx" } else { domain };
            self.error(format!(
                "node `{name}` ({}) is of the domain `{domain}`, which opset_import does not list",
                proto.op_type
            ))
        })?;
        let captures = captures(&proto);
        self.nodes.push(Node { proto, opset, opsets: opsets.clone(), captures, name });
        Ok(())
    }

    /// Adds the body of `function` in place of `caller`.
    fn call(
        &mut self,
        function: &'m FunctionProto,
        caller: &NodeProto,
        name: &str,
        depth: usize,
    ) -> Result<(), ImportError> {
        let refuse = |this: &Self, what: String| {
            Err(this.error(format!("node `{name}` ({}): {what}", function.name)))
        };
        if depth == 0
            && let Err(reason) = self.expansions.admit(function, name)
        {
            return refuse(self, reason);
        }
        for (what, given, declared) in [
            ("inputs", caller.input.len(), function.input.len()),
            ("outputs", caller.output.len(), function.output.len()),
        ] {
            if given > declared {
                return refuse(self, format!("{given} {what}, but the function has {declared}"));
            }
        }
        let names = self.value_names(function, caller, name);
        let opsets = Rc::new(opset_versions(&function.opset_import));
        let attributes = attribute_values(function, caller);
        for (position, inner) in function.node.iter().enumerate() {
            let mut inner = inner.clone();
            names.rename_node(&mut inner);
            bind_attributes(&mut inner, &attributes);
            let inner_name = node_name(&format!("{name}/"), &inner, position);
            self.add(Cow::Owned(inner), inner_name, &opsets, depth + 1)?;
        }
        Ok(())
    }

    fn value_names<'f>(
        &mut self,
        function: &'f FunctionProto,
        caller: &NodeProto,
        name: &str,
    ) -> Names<'f> {
        self.calls += 1;
        let mut known = HashMap::new();
        // Inputs that the caller leaves out are absent in the body, too.
        let given = caller.input.iter().map(String::as_str).chain(std::iter::repeat(""));
        for (inner, outer) in function.input.iter().zip(given) {
            known.insert(inner.as_str(), outer.to_string());
        }
        for (inner, outer) in function.output.iter().zip(&caller.output) {
            if !outer.is_empty() {
                known.insert(inner.as_str(), outer.clone());
            }
        }
        // The number keeps values of two calls apart that share a node name.
        Names { known, prefix: format!("{name}/{}/", self.calls) }
    }

    fn error(&self, message: String) -> ImportError {
        ImportError::graph(&self.model.path, message)
    }
}

/// The outer names of the values in a function's body.
struct Names<'f> {
    known: HashMap<&'f str, String>,
    prefix: String,
}

impl Names<'_> {
    fn rename(&self, value: &mut String) {
        if !value.is_empty() {
            let known = self.known.get(value.as_str()).cloned();
            *value = known.unwrap_or_else(|| format!("{}{value}", self.prefix));
        }
    }

    fn rename_node(&self, node: &mut NodeProto) {
        node.input.iter_mut().chain(&mut node.output).for_each(|value| self.rename(value));
        for attribute in &mut node.attribute {
            attribute.g.iter_mut().chain(&mut attribute.graphs).for_each(|g| self.rename_graph(g));
        }
    }

    /// Names are unique in a function with all its graphs, so that one table serves for all.
    fn rename_graph(&self, graph: &mut GraphProto) {
        let ends = graph.input.iter_mut().chain(&mut graph.output).map(|value| &mut value.name);
        let tensors = graph.initializer.iter_mut().map(|tensor| &mut tensor.name);
        let sparse = graph.sparse_initializer.iter_mut().filter_map(|s| s.values.as_mut());
        let sparse = sparse.map(|values| &mut values.name);
        ends.chain(tensors).chain(sparse).for_each(|name| self.rename(name));
        graph.node.iter_mut().for_each(|node| self.rename_node(node));
    }
}

/// The values that the graphs in a node's attributes read, but do not provide.
fn captures(node: &NodeProto) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in &node.attribute {
        for graph in attribute.g.iter().chain(&attribute.graphs) {
            captures_of_graph(graph, &mut found);
        }
    }
    found
}

fn captures_of_graph(graph: &GraphProto, found: &mut Vec<String>) {
    let inputs = graph.input.iter().map(|input| input.name.as_str());
    let outputs = graph.node.iter().flat_map(|node| &node.output).map(String::as_str);
    let own: HashSet<&str> = inputs.chain(outputs).chain(initializer_names(graph)).collect();
    let mut reads: Vec<String> = graph.output.iter().map(|output| output.name.clone()).collect();
    for node in &graph.node {
        reads.extend(node.input.iter().filter(|name| !name.is_empty()).cloned());
        reads.extend(captures(node));
    }
    found.extend(reads.into_iter().filter(|name| !own.contains(name.as_str())));
}

/// The attributes of a call: those given, and the function's defaults for the others.
fn attribute_values<'a>(
    function: &'a FunctionProto,
    caller: &'a NodeProto,
) -> HashMap<&'a str, &'a AttributeProto> {
    let defaults = function.attribute_proto.iter();
    defaults.chain(&caller.attribute).map(|value| (value.name.as_str(), value)).collect()
}

/// Replaces references to the function's attributes by their values; those that have none are as
/// if they were not written.
fn bind_attributes(node: &mut NodeProto, values: &HashMap<&str, &AttributeProto>) {
    node.attribute.retain_mut(|attribute| {
        // Graphs in attributes belong to the same function.
        for graph in attribute.g.iter_mut().chain(&mut attribute.graphs) {
            graph.node.iter_mut().for_each(|node| bind_attributes(node, values));
        }
        if attribute.ref_attr_name.is_empty() {
            return true;
        }
        match values.get(attribute.ref_attr_name.as_str()) {
            None => false,
            Some(value) => {
                let name = std::mem::take(&mut attribute.name);
                *attribute = AttributeProto { name, ..(*value).clone() };
                true
            }
        }
    });
}
