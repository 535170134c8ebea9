//! Sequences and optional values. The length of a sequence is known at import, so that none is left
//! in the module: a node that takes an element is given the value itself.

use melior::ir::ValueLike;

use crate::import::ImportError;
use crate::ir::{self, Val};
use crate::tensor::DType;

use super::context::NodeContext;
use super::control::{attempt, graph_attribute, unsupported};
use super::emit::{OpError, OpResult};
use super::flatten::Node;
use super::importer::Importer;

/// The operators that make or take something other than tensors.
const OPERATORS: &[&str] = &[
    "ConcatFromSequence",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "SplitToSequence",
];

/// Value of a name.
#[derive(Clone, Debug)]
pub(super) enum Item<'c> {
    /// A tensor.
    Tensor(Val<'c>),
    /// A sequence of tensors.
    Sequence(Vec<Val<'c>>),
    /// An optional value that is not there.
    Absent,
}

impl<'c> Item<'c> {
    fn tensor(&self, what: &str) -> OpResult<Val<'c>> {
        match self {
            Self::Tensor(value) => Ok(*value),
            _ => Err(format!("the input {what} is no tensor").into()),
        }
    }

    fn sequence(&self) -> OpResult<&[Val<'c>]> {
        match self {
            Self::Sequence(elements) => Ok(elements),
            _ => Err("the first input is no sequence".to_string().into()),
        }
    }
}

/// The outputs of a node, as [`super::control::Outcome`].
type Items<'c> = Result<OpResult<Vec<Item<'c>>>, ImportError>;

/// True for a node of an operator on sequences or optionals.
pub(super) fn is_of_sequences(node: &Node<'_>) -> bool {
    node.domain().is_empty() && OPERATORS.contains(&node.proto.op_type.as_str())
}

impl<'c> Importer<'_, 'c> {
    /// Value of a name, as it can be used here; `None` if its provider was refused.
    fn item(&self, name: &str) -> Option<Item<'c>> {
        let scope = self
            .scopes
            .iter()
            .rev()
            .find(|scope| scope.values.contains_key(name) || scope.items.contains_key(name))?;
        match scope.items.get(name) {
            None => self.value(name).map(Item::Tensor),
            Some(Item::Sequence(elements)) => {
                let captured = elements.iter().map(|value| self.captured(scope, *value));
                Some(Item::Sequence(captured.collect()))
            }
            Some(item) => Some(item.clone()),
        }
    }

    /// The inputs of a node that has to do with other values than tensors; those whose providers
    /// were refused are left out.
    pub(super) fn items_of(&self, node: &Node<'_>) -> Option<Vec<Option<Item<'c>>>> {
        let items: Vec<_> = node.proto.input.iter().map(|name| self.item(name)).collect();
        let other = items.iter().flatten().any(|item| !matches!(item, Item::Tensor(_)));
        (other || is_of_sequences(node)).then_some(items)
    }

    /// Adds a node that has to do with other values than tensors.
    pub(super) fn add_sequences(
        &mut self,
        node: &Node<'_>,
        position: usize,
        items: Vec<Option<Item<'c>>>,
    ) -> Result<(), ImportError> {
        let mut inputs = node.proto.input.iter().zip(&items);
        if inputs.any(|(name, item)| item.is_none() && !name.is_empty()) {
            self.set_outputs(node, &[]);
            return Ok(());
        }
        self.emitter.set_location(self.location(&node.name, position));
        match self.import_sequences(node, items)? {
            Ok(made) => {
                self.set_outputs(node, &[]);
                for (name, item) in node.proto.output.iter().zip(made) {
                    match item {
                        Item::Tensor(value) => self.set(name, Some(value)),
                        item => {
                            let scope = self.scopes.last_mut();
                            scope.map(|scope| scope.items.insert(name.clone(), item));
                        }
                    }
                }
                Ok(())
            }
            Err(error) => self.note(node, error),
        }
    }

    /// Imports a node for which [`is_of_sequences`] holds, or that passes such a value on.
    fn import_sequences(&mut self, node: &Node<'_>, inputs: Vec<Option<Item<'c>>>) -> Items<'c> {
        if node.proto.op_type == "SequenceMap" {
            return self.import_sequence_map(node, &inputs);
        }
        let tensor = |item: &Option<Item<'c>>| match item {
            Some(Item::Tensor(value)) => Some(*value),
            _ => None,
        };
        let tensors = inputs.iter().map(tensor).collect();
        Ok(self.with_context(node, |context| {
            let context = NodeContext { inputs: tensors, ..context.inside(context.emitter) };
            let attributes = super::attributes::Attributes::of(&node.proto);
            let context = NodeContext { attributes, ..context };
            let item = made(node, &context, &inputs)?;
            context.attributes.all_were_asked_for()?;
            Ok(vec![item])
        }))
    }

    /// Runs the node's graph on each element of the first sequence, and of others beside it.
    fn import_sequence_map(&mut self, node: &Node<'_>, inputs: &[Option<Item<'c>>]) -> Items<'c> {
        let body = attempt!(graph_attribute(node, "body"));
        let first = inputs.first().and_then(Option::as_ref);
        let Some(Item::Sequence(elements)) = first else {
            return Ok(Err("the first input is no sequence".into()));
        };
        let mut outputs = vec![vec![]; body.output.len()];
        for index in 0..elements.len() {
            let argument = |item: &Option<Item<'c>>| match item {
                Some(Item::Sequence(elements)) => elements.get(index).copied(),
                Some(Item::Tensor(value)) => Some(*value),
                _ => None,
            };
            let arguments: Option<Vec<_>> = inputs.iter().map(argument).collect();
            let Some(arguments) = arguments else {
                return Ok(Err(format!("an input has no element {index}").into()));
            };
            let results = self.run_body(node, body, &format!("body{index}"), &arguments)?;
            if results.iter().any(Option::is_none) {
                // A node was refused, which is reported; there is no sequence without it.
                return Ok(Ok(vec![]));
            }
            for (output, result) in outputs.iter_mut().zip(results) {
                output.extend(result);
            }
        }
        Ok(Ok(outputs.into_iter().map(Item::Sequence).collect()))
    }
}

fn made<'c>(
    node: &Node<'_>,
    context: &NodeContext<'_, 'c>,
    inputs: &[Option<Item<'c>>],
) -> OpResult<Item<'c>> {
    let input = |index: usize| inputs.get(index).cloned().flatten();
    let first = || input(0).ok_or_else(|| "the first input is missing".to_string());
    Ok(match node.proto.op_type.as_str() {
        "SequenceConstruct" => Item::Sequence(context.all_inputs()?),
        "SequenceEmpty" => {
            context.attributes.ignore("dtype");
            Item::Sequence(vec![])
        }
        "SequenceAt" => {
            let elements = first()?;
            Item::Tensor(element(context, elements.sequence()?)?)
        }
        "SequenceInsert" => {
            let elements = first()?;
            let elements = elements.sequence()?;
            let element = input(1).ok_or("the tensor is missing")?.tensor("tensor")?;
            Item::Sequence(with_one(context, elements, element)?)
        }
        "SequenceErase" => Item::Sequence(without_one(context, first()?.sequence()?)?),
        "SequenceLength" => {
            Item::Tensor(context.scalar(DType::I64, first()?.sequence()?.len() as f64)?)
        }
        "SplitToSequence" => Item::Sequence(split(context, first()?.tensor("input")?)?),
        "ConcatFromSequence" => Item::Tensor(joined(context, first()?.sequence()?)?),
        "Optional" => {
            context.attributes.ignore("type");
            input(0).unwrap_or(Item::Absent)
        }
        "OptionalGetElement" => match first()? {
            Item::Absent => return Err("the optional value is not there".to_string().into()),
            there => there,
        },
        "OptionalHasElement" => {
            let there = !matches!(input(0), None | Some(Item::Absent));
            Item::Tensor(context.scalar(DType::Bool, f64::from(u8::from(there)))?)
        }
        "Identity" => first()?,
        other => {
            let reason = "an input is a sequence or absent; such values only pass through operators \
                          of sequences, not through the states of loops or the branches of \
                          conditions that are not constant";
            return Err(unsupported(format!("{reason} (here {other})")));
        }
    })
}

/// The elements with one more at a position, which is the end if none is given.
fn with_one<'c>(
    context: &NodeContext<'_, 'c>,
    elements: &[Val<'c>],
    element: Val<'c>,
) -> OpResult<Vec<Val<'c>>> {
    let mut elements = elements.to_vec();
    let at = match context.optional(2) {
        Some(_) => place(context, 2, elements.len(), true)?,
        None => elements.len(),
    };
    elements.insert(at, element);
    Ok(elements)
}

/// The elements but for the one at a position, which is the last if none is given.
fn without_one<'c>(context: &NodeContext<'_, 'c>, elements: &[Val<'c>]) -> OpResult<Vec<Val<'c>>> {
    let mut elements = elements.to_vec();
    let at = match context.optional(1) {
        Some(_) => position(context, 1, elements.len())?,
        None => elements.len().checked_sub(1).ok_or("the sequence is empty")?,
    };
    elements.remove(at);
    Ok(elements)
}

/// The element at a position, which need not be known if all elements are of one type.
fn element<'c>(context: &NodeContext<'_, 'c>, elements: &[Val<'c>]) -> OpResult<Val<'c>> {
    let at = context.input(1, "position")?;
    let first = elements.first().ok_or("the sequence is empty")?.r#type();
    if context.emitter.known(at).is_some() || elements.iter().any(|x| x.r#type() != first) {
        return Ok(elements[position(context, 1, elements.len())?]);
    }
    let rows: Vec<_> =
        elements.iter().map(|x| context.unsqueeze(*x, &[0])).collect::<OpResult<_>>()?;
    let at = context.reshape(at, &[])?;
    context.op("gather", &[context.concat(&rows, 0)?, at], &[("axis", 0.into())])
}

/// The position of one of `count` elements that an input gives.
fn position(context: &NodeContext<'_, '_>, index: usize, count: usize) -> OpResult<usize> {
    place(context, index, count, false)
}

/// A position among `count` elements that an input gives, or (`behind`) the place behind the last;
/// negative ones count from the end, where -1 is the last element.
fn place(
    context: &NodeContext<'_, '_>,
    index: usize,
    count: usize,
    behind: bool,
) -> OpResult<usize> {
    let at = context.known_int(index, "position")?.ok_or("the position is missing")?;
    let from_start = if at < 0 { at.saturating_add(count as i64) } else { at };
    usize::try_from(from_start)
        .ok()
        .filter(|at| *at < count + usize::from(behind))
        .ok_or_else(|| format!("there is no position {at} among {count}").into())
}

/// Parts of a tensor along an axis: of one size and what is left over, of sizes that are given, or
/// single elements.
fn split<'c>(context: &NodeContext<'_, 'c>, x: Val<'c>) -> OpResult<Vec<Val<'c>>> {
    let axis = context.attributes.int_or("axis", 0)?;
    let keepdims = context.attributes.bool_or("keepdims", true)?;
    let axis = context.axis(axis, context.rank(x))?;
    let size = context.static_dim(x, axis, "the input")?;
    let given = context.known_ints(1, "split")?;
    let scalar = context.optional(1).is_some_and(|split| ir::dims(split.r#type()).is_empty());
    let sizes = match &given {
        Some(sizes) if !scalar => sizes.clone(),
        sizes => {
            let each = sizes.as_ref().map_or(1, |sizes| sizes[0]);
            if each < 1 {
                return Err(format!("parts of size {each}").into());
            }
            (0..size).step_by(each as usize).map(|start| each.min(size - start)).collect()
        }
    };
    if sizes.iter().any(|part| *part < 0) || sizes.iter().sum::<i64>() != size {
        return Err(format!("parts of sizes {sizes:?} do not add up to {size}").into());
    }
    let mut start = 0;
    let mut parts = vec![];
    for part in sizes {
        let piece = context.slice(x, axis, start, start + part)?;
        start += part;
        let alone = given.is_none() && !keepdims;
        parts.push(if alone { context.squeeze(piece, &[axis as i64])? } else { piece });
    }
    Ok(parts)
}

/// All elements one after the other along an axis, which may be a new one.
fn joined<'c>(context: &NodeContext<'_, 'c>, elements: &[Val<'c>]) -> OpResult<Val<'c>> {
    let axis = context.attributes.int("axis")?.ok_or("the attribute `axis` is missing")?;
    let first = *elements.first().ok_or("the sequence is empty")?;
    if !context.attributes.bool_or("new_axis", false)? {
        let axis = context.axis(axis, context.rank(first))?;
        return context.concat(elements, axis as i64);
    }
    let axis = context.axis(axis, context.rank(first) + 1)? as i64;
    let wide: Vec<_> =
        elements.iter().map(|x| context.unsqueeze(*x, &[axis])).collect::<OpResult<_>>()?;
    context.concat(&wide, axis)
}
