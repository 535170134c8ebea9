//! From a decoded model to a module in the graph dialect.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use indexmap::IndexMap;
use melior::ir::{Location, Module};

use super::{
    attributes::Attributes,
    context::NodeContext,
    emit::{Emitter, OpError, OpResult},
    flatten::{Node, flatten_graph},
    model::{Model, load_model, sparse_name},
    ops,
    proto::GraphProto,
    sequences::{Item, is_of_sequences},
    topology::Topology,
    types::{check_constant, input_types},
};
use crate::{
    Session,
    import::{
        ImportError, ImportOptions, UnsupportedOp,
        frame::{Frame, file_name},
    },
    io::onnx_tensor::Constant,
    ir::{Builder, Val},
    targets::Operators,
    tensor::Tensor,
};

/// Loops that are unrolled can make any number of nodes.
pub(super) const MAX_NODES: usize = 1 << 18;
/// Loops of up to this many steps are unrolled, unless the user says otherwise: folds then see
/// through from one step to the next.
const UNROLLED: i64 = 2;
/// A function can call itself from within a graph.
pub(super) const MAX_NESTED_GRAPHS: usize = 64;

/// Reads an ONNX file into a module with one function `@main` in the graph dialect.
///
/// Inputs without initializer become arguments, in order; their names and those of the outputs are
/// the `phl.name` attributes of arguments and results. Weights are blobs that share the memory of
/// the file. An unsupported operator is an error that lists all of them.
pub fn import_onnx<'c>(
    session: &'c Session,
    path: &Path,
    options: &ImportOptions,
) -> Result<Module<'c>, ImportError> {
    import_model(session, &load_model(path)?, options)
}

/// [`import_onnx`] for a model that is decoded already.
pub fn import_model<'c>(
    session: &'c Session,
    model: &Model,
    options: &ImportOptions,
) -> Result<Module<'c>, ImportError> {
    let inputs = input_types(model, options)?;
    let arguments: Vec<_> =
        inputs.iter().filter(|input| !options.constants.contains_key(&input.name)).collect();
    let frame = Frame::new(session.context(), &model.path, &arguments, options)?;
    let builder = Builder::at_end(session.context(), frame.block, frame.file);
    let mut scope = Scope::default();
    let mut most = HashMap::new();
    for (index, argument) in arguments.iter().enumerate() {
        let value = frame.argument(index)?;
        if let Some([count]) = options.elements.get(&argument.name).map(Vec::as_slice) {
            most.insert(crate::ir::id(value), count.most);
        }
        scope.values.insert(argument.name.clone(), Some(value));
    }
    for (name, tensor) in &options.constants {
        check_constant(model, name, tensor.dtype())?;
        scope.constants.insert(name.clone(), tensor.clone());
    }
    let mut importer = Importer::new(model, Emitter::new(session, builder), frame.file, options);
    importer.most = most;
    let opsets = Rc::new(model.opsets.clone());
    let results = importer.import_graph(&model.graph, &opsets, "", scope)?;
    importer.finish()?;
    let unmade = results.iter().position(Option::is_none);
    if let Some(output) = unmade.and_then(|at| model.graph.output.get(at)) {
        let message = format!(
            "the output `{}` is a sequence or absent, but outputs must be tensors: take its \
             elements with SequenceAt, or join them with ConcatFromSequence",
            output.name
        );
        return Err(ImportError::graph(&model.path, message));
    }
    let results: Vec<_> = results.into_iter().flatten().collect();
    let outputs: Vec<_> = model.graph.output.iter().map(|output| output.name.as_str()).collect();
    frame.finish(&model.path, &outputs, &results)
}

type Refused = IndexMap<(String, String, i64), UnsupportedOp>;

/// The values of one graph; those of the graphs around it are in the scopes before.
#[derive(Default)]
pub(super) struct Scope<'c> {
    /// Values by name; `None` for those that a refused node would have provided.
    pub(super) values: HashMap<String, Option<Val<'c>>>,
    /// Sequences, and optional values that are not there, by name.
    pub(super) items: HashMap<String, Item<'c>>,
    /// Inputs that have a value already, which becomes a constant if something reads it.
    constants: IndexMap<String, Tensor>,
    /// Number of loops around the operations that the values are of.
    depth: usize,
}

/// The state of an import.
pub(super) struct Importer<'m, 'c> {
    pub(super) model: &'m Model,
    /// Emitter at the current position of the import.
    pub(super) emitter: Emitter<'c>,
    /// Emitters around the loops whose bodies are being imported, the outermost first.
    outer: Vec<Emitter<'c>>,
    file: Location<'c>,
    pub(super) scopes: Vec<Scope<'c>>,
    pub(super) refused: Refused,
    nodes: usize,
    /// Loops of up to this many steps are unrolled.
    pub(super) unroll_loops: i64,
    /// The greatest values of inputs of one element that have a range.
    pub(super) most: HashMap<crate::ir::Id, i64>,
    /// Operators that targets declare.
    pub(super) operators: Operators,
}

impl<'m, 'c> Importer<'m, 'c> {
    /// An importer that emits there.
    pub(super) fn new(
        model: &'m Model,
        emitter: Emitter<'c>,
        file: Location<'c>,
        options: &ImportOptions,
    ) -> Self {
        Self {
            model,
            emitter,
            outer: Vec::new(),
            most: HashMap::new(),
            file,
            scopes: Vec::new(),
            refused: IndexMap::new(),
            nodes: 0,
            unroll_loops: options.unroll_loops.unwrap_or(UNROLLED),
            operators: options.operators.clone(),
        }
    }

    /// Adds the operations of a graph, and returns its outputs; `None` for one that is missing
    /// because a node was refused. `scope` holds the values of its inputs.
    pub(super) fn import_graph(
        &mut self,
        graph: &GraphProto,
        opsets: &super::flatten::Opsets,
        prefix: &str,
        scope: Scope<'c>,
    ) -> Result<Vec<Option<Val<'c>>>, ImportError> {
        let nodes = flatten_graph(self.model, graph, opsets, prefix, &self.operators)?;
        let outer = |name: &str| self.find(name).is_some();
        let topology = Topology::new(&self.model.path, graph, &nodes, &outer)?;
        self.import_nodes(graph, &nodes, &topology, scope)
    }

    /// The same for a graph whose nodes are these.
    pub(super) fn import_nodes(
        &mut self,
        graph: &GraphProto,
        nodes: &[Node<'_>],
        topology: &Topology<'_>,
        mut scope: Scope<'c>,
    ) -> Result<Vec<Option<Val<'c>>>, ImportError> {
        if self.scopes.len() > MAX_NESTED_GRAPHS {
            let message = format!("graphs are nested more than {MAX_NESTED_GRAPHS} deep");
            return Err(ImportError::graph(&self.model.path, message));
        }
        let around = self.scopes.len();
        scope.depth = self.outer.len();
        self.scopes.push(scope);
        let outputs = self.add_nodes(graph, nodes, topology);
        self.scopes.truncate(around);
        outputs
    }

    /// The operations of a graph whose scope is the last one, and its outputs.
    fn add_nodes(
        &mut self,
        graph: &GraphProto,
        nodes: &[Node<'_>],
        topology: &Topology<'_>,
    ) -> Result<Vec<Option<Val<'c>>>, ImportError> {
        self.add_constants(graph, &topology.used)?;
        for &number in &topology.order {
            self.add_node(&nodes[number], number + 1, &topology.used)?;
        }
        Ok(graph.output.iter().map(|output| self.value(&output.name)).collect())
    }

    /// Goes on in the body of a loop.
    pub(super) fn enter(&mut self, body: Emitter<'c>) {
        self.outer.push(std::mem::replace(&mut self.emitter, body));
    }

    /// Goes on behind the loop, and returns the emitter of its body.
    pub(super) fn leave(&mut self) -> Option<Emitter<'c>> {
        self.outer.pop().map(|outer| std::mem::replace(&mut self.emitter, outer))
    }

    /// Fails if there were nodes that are not supported.
    pub(super) fn finish(&mut self) -> Result<(), ImportError> {
        if self.refused.is_empty() {
            return Ok(());
        }
        let ops = std::mem::take(&mut self.refused).into_values().collect();
        Err(ImportError::Unsupported { path: self.model.path.clone(), ops })
    }

    /// The value of that name in this graph or one around it; `None` if there is no such name, and
    /// nothing inside if its provider was refused.
    pub(super) fn find(&self, name: &str) -> Option<Option<Val<'c>>> {
        self.scopes.iter().rev().find_map(|scope| {
            let item = scope.items.contains_key(name).then_some(None);
            scope.values.get(name).copied().or(item)
        })
    }

    /// A value of a scope as it can be used here: one from outside of a loop is captured.
    pub(super) fn captured(&self, scope: &Scope<'c>, mut value: Val<'c>) -> Val<'c> {
        for depth in scope.depth..self.outer.len() {
            let inside = self.outer.get(depth + 1).unwrap_or(&self.emitter);
            value = inside.capture(&self.outer[depth], value);
        }
        value
    }

    /// The tensor of that name as it can be used here.
    pub(super) fn value(&self, name: &str) -> Option<Val<'c>> {
        let scope = self.scopes.iter().rev().find(|scope| scope.values.contains_key(name))?;
        let value = scope.values.get(name).copied().flatten()?;
        Some(self.captured(scope, value))
    }

    pub(super) fn set(&mut self, name: &str, value: Option<Val<'c>>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.values.insert(name.to_string(), value);
        }
    }

    /// Adds the initializers and known inputs that something reads.
    fn add_constants(
        &mut self,
        graph: &GraphProto,
        used: &HashSet<&str>,
    ) -> Result<(), ImportError> {
        let mut tensors = Vec::new();
        for proto in graph.initializer.iter().filter(|proto| used.contains(proto.name.as_str())) {
            tensors.push((proto.name.clone(), self.model.constant(proto)?));
        }
        for proto in &graph.sparse_initializer {
            if used.contains(sparse_name(proto)) {
                let tensor = self.model.sparse_tensor(proto)?;
                tensors.push((sparse_name(proto).to_string(), tensor.into()));
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            let known = std::mem::take(&mut scope.constants).into_iter();
            let known = known.filter(|(name, _)| used.contains(name.as_str()));
            tensors.extend(known.map(|(name, tensor)| (name, Constant::from(tensor))));
        }
        for (name, tensor) in tensors {
            self.emitter.set_location(self.location(&name, 0));
            let value = self
                .emitter
                .constant(&tensor, &name)
                .map_err(|error| ImportError::tensor(&self.model.path, &name, error.to_string()))?;
            self.set(&name, Some(value));
        }
        Ok(())
    }

    /// The location of a node, or of an initializer (at position 0): its name, and its position in
    /// the file in place of a line.
    pub(super) fn location(&self, name: &str, position: usize) -> Location<'c> {
        let context = self.emitter.builder().context;
        let file = Location::new(context, &file_name(&self.model.path), position, 0);
        if name.is_empty() { self.file } else { Location::name(context, name, file) }
    }

    fn add_node(
        &mut self,
        node: &Node<'_>,
        position: usize,
        used: &HashSet<&str>,
    ) -> Result<(), ImportError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("there are more than {MAX_NODES} nodes after unrolling loops");
            return Err(ImportError::graph(&self.model.path, message));
        }
        if let Some(items) = self.items_of(node) {
            return self.add_sequences(node, position, items);
        }
        let mut inputs = Vec::new();
        for name in &node.proto.input {
            let value = self.value(name);
            if value.is_none() && !name.is_empty() {
                // The provider was refused; all that can be said is whether this operator is known.
                if !self.is_known(node) {
                    self.refuse(node, None);
                }
                self.set_outputs(node, &[]);
                return Ok(());
            }
            inputs.push(value);
        }
        self.emitter.set_location(self.location(&node.name, position));
        let results = if super::topology::is_control_flow(node) {
            self.import_control_flow(node, &inputs)?
        } else if let Some(decl) = self.operator(node) {
            self.import_operator(node, &decl, &inputs)?
        } else {
            self.import_node(node, inputs, used)
                .map(|values| values.into_iter().map(Some).collect())
        };
        match results {
            Ok(results) => {
                self.set_outputs(node, &results);
                Ok(())
            }
            Err(error) => self.note(node, error),
        }
    }

    /// Refuses a node that is not supported, and fails for one that is wrong.
    pub(super) fn note(&mut self, node: &Node<'_>, error: OpError) -> Result<(), ImportError> {
        match error {
            OpError::Unsupported(reason) => self.refuse(node, Some(reason)),
            OpError::UnknownOperator => self.refuse(node, None),
            OpError::Invalid(message) => {
                let path = self.model.path.clone();
                return Err(ImportError::Node { path, node: node.label(), message });
            }
        }
        self.set_outputs(node, &[]);
        Ok(())
    }

    fn is_known(&self, node: &Node<'_>) -> bool {
        super::topology::is_control_flow(node)
            || is_of_sequences(node)
            || self.operator(node).is_some()
            || ops::find(node.domain(), &node.proto.op_type).is_some()
    }

    /// Notes that a node is not supported, to tell of all such nodes together.
    fn refuse(&mut self, node: &Node<'_>, reason: Option<String>) {
        let (op, domain) = (node.proto.op_type.clone(), node.domain().to_string());
        let what = format!("{op} {}", reason.as_deref().unwrap_or(""));
        let opset = node.opset;
        let hint = || self.operators.hint(&domain, &op);
        let remedy = || super::remedies::of(&domain, &op);
        let reason = reason.or_else(hint).or_else(remedy);
        self.refused
            .entry((domain.clone(), what, opset))
            .or_insert_with(|| UnsupportedOp { op, domain, opset, reason, nodes: vec![] })
            .nodes
            .push(node.name.clone());
    }

    fn import_node(
        &self,
        node: &Node<'_>,
        inputs: Vec<Option<Val<'c>>>,
        used: &HashSet<&str>,
    ) -> OpResult<Vec<Val<'c>>> {
        let entry =
            ops::find(node.domain(), &node.proto.op_type).ok_or(OpError::UnknownOperator)?;
        let context = NodeContext {
            attributes: Attributes::of(&node.proto),
            opset: node.opset,
            model: self.model,
            emitter: &self.emitter,
            inputs,
            wanted: node.proto.output.iter().map(|name| used.contains(name.as_str())).collect(),
            name: &node.name,
            unroll_loops: self.unroll_loops,
        };
        let results = entry.import(&context)?;
        context.attributes.all_were_asked_for()?;
        let unmade = |index: &usize| context.wants(*index);
        if let Some(index) = (results.len()..node.proto.output.len()).find(unmade) {
            return Err(OpError::Unsupported(format!("the output {index} is not supported")));
        }
        Ok(results)
    }

    pub(super) fn set_outputs(&mut self, node: &Node<'_>, results: &[Option<Val<'c>>]) {
        for (index, name) in node.proto.output.iter().enumerate() {
            self.set(name, results.get(index).copied().flatten());
        }
    }
}
