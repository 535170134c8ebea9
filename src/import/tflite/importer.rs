//! From a decoded model to a module in the graph dialect.

use super::{
    network::{Network, Operator},
    node::Node,
    ops,
    value::Layout,
};
use crate::{
    Session,
    import::{
        ImportError, ImportOptions, UnsupportedOp,
        frame::{Frame, InputType, file_name},
    },
    ir::{Builder, DYNAMIC, Val},
};
use indexmap::IndexMap;
use melior::ir::{Location, Module};

/// The values of a network's tensor in the module, one per layout; each is made on demand.
#[derive(Clone, Copy, Default)]
pub(crate) struct Made<'c> {
    pub(crate) last: Option<Val<'c>>,
    pub(crate) first: Option<Val<'c>>,
}

impl<'c> Made<'c> {
    /// The place of a layout.
    pub(crate) fn slot(&mut self, layout: Layout) -> &mut Option<Val<'c>> {
        match layout {
            Layout::Last => &mut self.last,
            Layout::First => &mut self.first,
        }
    }
}

/// Makes the module of a network.
pub(crate) fn import<'c>(
    session: &'c Session,
    network: &Network,
    options: &ImportOptions,
) -> Result<Module<'c>, ImportError> {
    let inputs = network.inputs.iter().map(|input| input_type(network, *input, options));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let known = |name: &String| inputs.iter().any(|input| input.name == *name);
    if let Some(name) = options.shapes.keys().find(|name| !known(name)) {
        let names: Vec<_> = inputs.iter().map(|input| format!("`{}`", input.name)).collect();
        let message = format!("there is no input `{name}`; the inputs are {}", names.join(", "));
        return Err(ImportError::Option { path: network.path.clone(), message });
    }
    let frame =
        Frame::new(session.context(), &network.path, &inputs.iter().collect::<Vec<_>>(), options)?;
    let builder = Builder::at_end(session.context(), frame.block, frame.file);
    let mut made = vec![Made::default(); network.tensors.len()];
    for (position, input) in network.inputs.iter().enumerate() {
        made[*input].last = Some(frame.argument(position)?);
    }
    let schema = super::schema::model(&network.bytes)
        .map_err(|message| super::damaged(&network.path, message))?;
    let graph = schema.subgraphs().filter(|list| !list.is_empty()).map(|list| list.get(0));
    let tables = graph.and_then(|graph| graph.operators()).into_iter().flatten();
    let mut refused: IndexMap<String, UnsupportedOp> = IndexMap::new();
    for (operator, table) in network.operators.iter().zip(tables) {
        let name = node_name(network, operator);
        let Some(entry) = ops::find(operator.code) else {
            refuse(&mut refused, operator, name);
            continue;
        };
        if !refused.is_empty() {
            continue;
        }
        let file = Location::new(session.context(), &file_name(&network.path), 0, 0);
        let location = Location::name(session.context(), &name, file);
        let builder = builder.with_location(location);
        let mut node = Node { session, network, operator, table, builder, made: &mut made };
        let imported = node.check(entry).and_then(|()| (entry.import)(&mut node));
        imported.map_err(|message| ImportError::Node {
            path: network.path.clone(),
            node: format!("`{name}` ({})", entry.name),
            message,
        })?;
    }
    if !refused.is_empty() {
        let ops = refused.into_values().collect();
        return Err(ImportError::Unsupported { path: network.path.clone(), ops });
    }
    finish(session, network, frame, &mut made, builder)
}

/// Ends the function with the outputs.
fn finish<'c>(
    session: &'c Session,
    network: &Network,
    frame: Frame<'c>,
    made: &mut [Made<'c>],
    builder: Builder<'c>,
) -> Result<Module<'c>, ImportError> {
    let mut results = vec![];
    for output in &network.outputs {
        let builder = builder.with_location(frame.file);
        let value = Node::stored_of(session, network, &builder, made, *output, Layout::Last);
        let name = &network.tensors[*output].name;
        results.push(value.map_err(|message| {
            ImportError::graph(&network.path, format!("output `{name}`: {message}"))
        })?);
    }
    let names: Vec<_> =
        network.outputs.iter().map(|output| network.tensors[*output].name.as_str()).collect();
    frame.finish(&network.path, &names, &results)
}

/// The type of an input, with the shape that the options give it.
fn input_type(
    network: &Network,
    input: usize,
    options: &ImportOptions,
) -> Result<InputType, ImportError> {
    let tensor = &network.tensors[input];
    let fail = |message: String| ImportError::graph(&network.path, message);
    let Some(dtype) = tensor.dtype else {
        let (name, ty) = (&tensor.name, tensor.type_name);
        return Err(fail(format!("input `{name}` is of type {ty}, which is not supported")));
    };
    if tensor.is_variable {
        let message = format!("input `{}` is a variable, which is not supported", tensor.name);
        return Err(fail(message));
    }
    let dims = match options.shapes.get(&tensor.name) {
        None => tensor.dims.clone(),
        Some(given) if given.len() != tensor.dims.len() => {
            return Err(ImportError::Option {
                path: network.path.clone(),
                message: format!(
                    "input `{}` has {} dimensions, but {} are given",
                    tensor.name,
                    tensor.dims.len(),
                    given.len()
                ),
            });
        }
        Some(given) => given.iter().map(|dim| dim.unwrap_or(DYNAMIC)).collect(),
    };
    let ty =
        InputType { name: tensor.name.clone(), element: dtype.mlir_name(), dims, sizes: vec![] };
    Ok(ty.with_sizes(&[], options))
}

/// Operators have no names; they are called after what they compute.
fn node_name(network: &Network, operator: &Operator) -> String {
    let output = operator.outputs.first().map(|output| network.tensors[*output].name.clone());
    output.unwrap_or_else(|| "without output".to_owned())
}

fn refuse(refused: &mut IndexMap<String, UnsupportedOp>, operator: &Operator, node: String) {
    let op = match &operator.custom {
        Some(custom) => custom.clone(),
        None => ops::name(operator.code),
    };
    let entry = refused.entry(op.clone()).or_insert_with(|| UnsupportedOp {
        op,
        domain: "TensorFlow Lite".to_owned(),
        opset: i64::from(operator.version),
        reason: None,
        nodes: vec![],
    });
    entry.nodes.push(node);
}
