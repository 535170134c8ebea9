//! Nodes of operators that targets declare, and the references of these.

use melior::ir::operation::OperationLike;
use melior::ir::{Region, Type, ValueLike};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::{
    Error, Result, Session,
    graph::{Arity, AttrKind, AttrValue},
    import::{
        ImportError, ImportOptions,
        operators::{Use, agreed},
    },
    ir::{Builder, Val, edit, graph, view::OpView},
    targets::{OperatorDecl, Reference},
};

use super::attributes::Attributes;
use super::control::{Outcome, attempt};
use super::emit::{Emitter, OpError, OpResult};
use super::flatten::{Node, flatten_call};
use super::importer::{Importer, Scope};
use super::model::Model;
use super::proto::{
    AttributeProto, FunctionProto, GraphProto, NodeProto, ValueInfoProto, attribute_type,
};
use super::text::parse_function;
use super::topology::Topology;

/// The region with an operator's computation, and the types of its results; none if the operator
/// has no reference.
type Body<'c> = Option<(Region<'c>, Vec<Type<'c>>)>;

impl<'c> Importer<'_, 'c> {
    /// The declaration of a node's operator, if the node is of one.
    pub(super) fn operator(&self, node: &Node<'_>) -> Option<Arc<OperatorDecl>> {
        self.operators.find(node.domain(), &node.proto.op_type).cloned()
    }

    /// Imports a node of an operator that a target declares.
    pub(super) fn import_operator(
        &mut self,
        node: &Node<'_>,
        decl: &Arc<OperatorDecl>,
        inputs: &[Option<Val<'c>>],
    ) -> Outcome<'c> {
        let found = attempt!(use_of(node, decl, inputs));
        let b = *self.emitter.builder();
        let declared = attempt!(found.types(&b));
        let function = attempt!(self.function_of(node, decl));
        let body = match function {
            Some(function) => match self.reference_body(&function, &found, &node.name)? {
                Ok(None) => return Ok(Ok(vec![])),
                Ok(body) => body,
                Err(error) => return Ok(Err(error)),
            },
            None => None,
        };
        let (region, types) = match body {
            Some((region, types)) => (Some(region), attempt!(agreed(decl, &declared, &types))),
            None => (None, declared),
        };
        let op = attempt!(found.create(&b, &types, region));
        if !op.verify() {
            return Ok(Err(self.emitter.diagnosis(graph::Custom::NAME)));
        }
        Ok(Ok(crate::ir::results(op).into_iter().map(Some).collect()))
    }

    /// The function that defines a node's computation: the model's own, or the declared one.
    fn function_of(&self, node: &Node<'_>, decl: &OperatorDecl) -> OpResult<Option<FunctionProto>> {
        let is = |function: &&FunctionProto| {
            super::model::normal_domain(&function.domain) == node.domain()
                && function.name == node.proto.op_type
                && function.overload == node.proto.overload
        };
        if let Some(own) = self.model.functions.iter().find(is) {
            return Ok(Some(own.clone()));
        }
        let read = |text: &Reference| declared_function(decl, text).map_err(OpError::Invalid);
        decl.reference.as_ref().map(read).transpose()
    }

    /// The operations of a function on an operator's operands; none if one of its nodes is refused.
    pub(super) fn reference_body(
        &mut self,
        function: &FunctionProto,
        found: &Use<'c>,
        name: &str,
    ) -> std::result::Result<OpResult<Body<'c>>, ImportError> {
        let b = *self.emitter.builder();
        let slots: Vec<_> =
            found.operands.iter().map(|value| (value.r#type(), b.location)).collect();
        let region = Region::new();
        let block = edit::append_block(&region, &slots);
        let inner = self.emitter.inside(Builder::at_end(b.context, block, b.location));
        let mut caller = caller(found, name);
        // A function of the model need not have all that a target declares.
        caller.input.truncate(function.input.len());
        let more = found.groups.iter().skip(function.input.len()).any(|count| *count > 0);
        if more {
            let has = function.input.len();
            return Ok(Err(format!("the model's function for it has {has} inputs only").into()));
        }
        let mut scope = Scope::default();
        let mut arguments = edit::arguments(block).into_iter().zip(&found.operands);
        for (input, count) in caller.input.iter_mut().zip(&found.groups) {
            let Some((argument, operand)) = arguments.next().filter(|_| *count > 0) else {
                input.clear();
                continue;
            };
            // Constants stay known inside.
            let constant = edit::defining_op(*operand).filter(|op| graph::Constant::is(*op));
            let value = match constant {
                Some(_) => inner.capture(&self.emitter, *operand),
                None => argument,
            };
            scope.values.insert(input.clone(), Some(value));
        }
        let named = |name: &String| ValueInfoProto { name: name.clone(), ..Default::default() };
        let graph = GraphProto {
            input: caller.input.iter().filter(|name| !name.is_empty()).map(named).collect(),
            output: caller.output.iter().map(named).collect(),
            ..Default::default()
        };
        let nodes = flatten_call(self.model, function, &caller, name, &self.operators)?;
        let topology = Topology::new(&self.model.path, &graph, &nodes, &|_| false)?;
        self.enter(inner);
        let outputs = self.import_nodes(&graph, &nodes, &topology, scope);
        let Some(inner) = self.leave() else {
            return Ok(Err(OpError::Invalid("internal error: no body to leave".into())));
        };
        let outputs: Option<Vec<_>> = outputs?.into_iter().collect();
        let Some(outputs) = outputs else { return Ok(Ok(None)) };
        if let Err(error) = graph::Yield::build(inner.builder(), &outputs, &[]) {
            return Ok(Err(error.into()));
        }
        let types = outputs.iter().map(|value| value.r#type()).collect();
        Ok(Ok(Some((region, types))))
    }
}

/// The region with an operator's computation, from the reference of its declaration.
///
/// # Errors
/// The reference cannot be read or imported, or gives other types.
pub(crate) fn reference<'c>(
    session: &'c Session,
    b: &Builder<'c>,
    found: &Use<'c>,
    types: &[Type<'c>],
) -> Result<Body<'c>> {
    let Some(text) = &found.decl.reference else { return Ok(None) };
    let function = declared_function(&found.decl, text).map_err(Error::invalid)?;
    let model = Model::of_function(Path::new(&text.place), function.clone());
    let emitter = Emitter::new(session, *b);
    let mut importer = Importer::new(&model, emitter, b.location, &ImportOptions::default());
    let body = importer.reference_body(&function, found, &found.decl.name)?;
    importer.finish()?;
    let body = body.map_err(|error| Error::invalid(error.to_string()))?;
    let Some((region, given)) = body else { return Ok(None) };
    if agreed(&found.decl, types, &given).map_err(Error::invalid)? != types {
        return Err(Error::invalid(format!(
            "its results have fewer known dimensions than its reference, {}, gives",
            text.place
        )));
    }
    Ok(Some((region, given)))
}

/// Reads and checks the reference of a declaration against the operator's form.
///
/// # Errors
/// The text is no function, or one of another form; the message names the place.
pub fn declared_function(
    decl: &OperatorDecl,
    reference: &Reference,
) -> std::result::Result<FunctionProto, String> {
    let fault =
        |reason: String| format!("{}: reference of {}: {reason}", reference.place, decl.key());
    let mut function = parse_function(&reference.text).map_err(fault)?;
    if function.name != decl.name {
        return Err(fault(format!("it is a function {}, not {}", function.name, decl.name)));
    }
    let operands = decl.decl.operands.iter().map(|operand| operand.name.as_str());
    let attributes = decl.decl.attrs.iter().map(|attr| attr.name.as_str());
    let parts: [(&str, Vec<&str>, Vec<&str>); 2] = [
        ("inputs", function.input.iter().map(String::as_str).collect(), operands.collect()),
        (
            "outputs",
            function.output.iter().map(String::as_str).collect(),
            decl.decl.results.iter().map(String::as_str).collect(),
        ),
    ];
    for (what, has, declared) in parts {
        if has != declared {
            return Err(fault(format!(
                "its {what} are ({}), but the operator's are ({})",
                has.join(", "),
                declared.join(", ")
            )));
        }
    }
    let known: Vec<&str> = attributes.collect();
    let named = function.attribute.iter();
    let mut named = named.chain(function.attribute_proto.iter().map(|attr| &attr.name));
    if let Some(name) = named.find(|name| !known.contains(&name.as_str())) {
        let hint = crate::error::suggestion(name, known);
        return Err(fault(format!("the operator has no attribute `{name}`{hint}")));
    }
    if function.opset_import.is_empty() {
        let remedy = "write <opset_import: [\"\" : 18]> in front of it";
        return Err(fault(format!("it names no operator set: {remedy}")));
    }
    function.domain = decl.domain.clone();
    Ok(function)
}

/// A node that calls an operator's function.
fn caller(found: &Use<'_>, name: &str) -> NodeProto {
    let decl = &found.decl.decl;
    let value = |part: &str| format!("{name}/{part}");
    NodeProto {
        input: decl.operands.iter().map(|operand| value(&operand.name)).collect(),
        output: decl.results.iter().map(|result| value(result)).collect(),
        name: name.to_owned(),
        op_type: found.decl.name.clone(),
        domain: found.decl.domain.clone(),
        attribute: found.attributes.iter().map(|(name, value)| proto(name, value)).collect(),
        ..Default::default()
    }
}

fn proto(name: &str, value: &AttrValue) -> AttributeProto {
    let mut proto = AttributeProto { name: name.to_owned(), ..Default::default() };
    proto.r#type = match value {
        AttrValue::Int(value) => {
            proto.i = Some(*value);
            attribute_type::INT
        }
        AttrValue::Bool(value) => {
            proto.i = Some(i64::from(*value));
            attribute_type::INT
        }
        AttrValue::Float(value) => {
            proto.f = Some(*value as f32);
            attribute_type::FLOAT
        }
        AttrValue::Str(text) => {
            proto.s = Some(bytes::Bytes::from(text.clone()));
            attribute_type::STRING
        }
        AttrValue::Ints(values) => {
            proto.ints.clone_from(values);
            attribute_type::INTS
        }
        AttrValue::Floats(values) => {
            proto.floats = values.iter().map(|value| *value as f32).collect();
            attribute_type::FLOATS
        }
        AttrValue::Type(_) => attribute_type::UNDEFINED,
    };
    proto
}

/// The use of an operator by a node: its operands and attributes.
fn use_of<'c>(
    node: &Node<'_>,
    decl: &Arc<OperatorDecl>,
    inputs: &[Option<Val<'c>>],
) -> OpResult<Use<'c>> {
    let declared = &decl.decl.operands;
    let variadic = declared.last().is_some_and(|operand| operand.arity == Arity::Variadic);
    if inputs.len() > declared.len() && !variadic {
        let (has, most) = (inputs.len(), declared.len());
        return Err(format!("has {has} inputs, `{}` has at most {most}", decl.decl).into());
    }
    let mut groups = vec![];
    let mut operands = vec![];
    for (index, operand) in declared.iter().enumerate() {
        let end = if operand.arity == Arity::Variadic { inputs.len() } else { index + 1 };
        let given = inputs.get(index..end.max(index)).unwrap_or_default();
        let present: Vec<_> = given.iter().copied().flatten().collect();
        if operand.arity == Arity::Variadic && present.len() != given.len() {
            return Err(format!("one of the inputs {} is missing", operand.name).into());
        }
        groups.push(present.len());
        operands.extend(present);
    }
    let outputs = node.proto.output.len();
    if outputs > decl.decl.results.len() {
        let has = decl.decl.results.len();
        return Err(format!("has {outputs} outputs, `{}` has {has}", decl.decl).into());
    }
    let attributes = Attributes::of(&node.proto);
    let given = given_attributes(&attributes, decl)?;
    attributes.all_were_asked_for()?;
    Ok(Use::new(decl, (operands, groups), &given)?)
}

/// The attributes that a node has, as they are declared.
fn given_attributes(
    attributes: &Attributes<'_>,
    decl: &OperatorDecl,
) -> OpResult<BTreeMap<String, AttrValue>> {
    let mut given = BTreeMap::new();
    for attr in &decl.decl.attrs {
        let name = attr.name.as_str();
        let value = match attr.kind {
            AttrKind::Int => attributes.int(name)?.map(AttrValue::Int),
            AttrKind::Float => attributes.float(name)?.map(|v| AttrValue::Float(f64::from(v))),
            AttrKind::Str => attributes.string(name)?.map(|text| AttrValue::Str(text.to_owned())),
            AttrKind::Bool if attributes.has(name) => {
                Some(AttrValue::Bool(attributes.bool_or(name, false)?))
            }
            AttrKind::Ints => attributes.ints(name)?.map(AttrValue::Ints),
            AttrKind::Floats => {
                let values = attributes.floats(name)?;
                values.map(|list| AttrValue::Floats(list.into_iter().map(f64::from).collect()))
            }
            AttrKind::Bool | AttrKind::Type | AttrKind::Other => None,
        };
        given.extend(value.map(|value| (attr.name.clone(), value)));
    }
    Ok(given)
}
