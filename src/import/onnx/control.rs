//! Control flow: branches are taken where the model is imported; loops are in [`super::loops`].

use melior::ir::ValueLike;

use crate::import::ImportError;
use crate::ir::{self, Val};

use super::attributes::Attributes;
use super::context::{Extent, NodeContext};
use super::emit::{OpError, OpResult};
use super::flatten::Node;
use super::importer::{Importer, Scope};
use super::proto::{AttributeProto, GraphProto};

/// Outputs of a node, `None` where a node in its graphs was refused. Errors outside are those of
/// nodes in its graphs; errors inside concern the node itself.
pub(super) type Outcome<'c> = Result<OpResult<Vec<Option<Val<'c>>>>, ImportError>;

/// Goes on with what is inside, or returns the error of the node.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(OpError::from(error))),
        }
    };
}
pub(super) use attempt;

pub(super) fn unsupported(reason: impl Into<String>) -> OpError {
    OpError::Unsupported(reason.into())
}

impl<'c> Importer<'_, 'c> {
    /// Imports a node for which [`super::topology::is_control_flow`] holds.
    pub(super) fn import_control_flow(
        &mut self,
        node: &Node<'_>,
        inputs: &[Option<Val<'c>>],
    ) -> Outcome<'c> {
        match node.proto.op_type.as_str() {
            "If" => self.import_if(node, inputs),
            "Loop" => self.import_loop(node, inputs),
            _ => self.import_scan(node, inputs),
        }
    }

    /// Runs one of the node's graphs on `arguments`.
    pub(super) fn run_body(
        &mut self,
        node: &Node<'_>,
        body: &GraphProto,
        what: &str,
        arguments: &[Val<'c>],
    ) -> Result<Vec<Option<Val<'c>>>, ImportError> {
        let mut scope = Scope::default();
        for (input, value) in body.input.iter().zip(arguments) {
            scope.values.insert(input.name.clone(), Some(*value));
        }
        let prefix = format!("{}/{what}/", node.name);
        self.import_graph(body, &node.opsets, &prefix, scope)
    }

    /// Operations for the node itself, between those of its graphs.
    pub(super) fn with_context<T>(
        &self,
        node: &Node<'_>,
        build: impl FnOnce(&NodeContext<'_, 'c>) -> OpResult<T>,
    ) -> OpResult<T> {
        build(&NodeContext {
            attributes: Attributes::of(&node.proto),
            opset: node.opset,
            model: self.model,
            emitter: &self.emitter,
            inputs: Vec::new(),
            wanted: Vec::new(),
            name: &node.name,
            unroll_loops: self.unroll_loops,
        })
    }

    /// Takes the branch that a known condition selects. With an unknown one both are computed, and
    /// the results selected: the operations have no effects.
    fn import_if(&mut self, node: &Node<'_>, inputs: &[Option<Val<'c>>]) -> Outcome<'c> {
        let then_branch = attempt!(graph_attribute(node, "then_branch"));
        let else_branch = attempt!(graph_attribute(node, "else_branch"));
        let Some(condition) = inputs.first().copied().flatten() else {
            return Ok(Err("the condition is missing".into()));
        };
        if let Some(known) = self.emitter.known(condition) {
            let taken = known.to_f64().first().is_some_and(|value| *value != 0.0);
            let (branch, what) = if taken { (then_branch, "then") } else { (else_branch, "else") };
            return self.run_body(node, branch, what, &[]).map(Ok);
        }
        let yes = self.run_body(node, then_branch, "then", &[])?;
        let no = self.run_body(node, else_branch, "else", &[])?;
        if yes.len() != no.len() {
            return Ok(Err("the branches have different numbers of outputs".into()));
        }
        Ok(self.with_context(node, |node| {
            let condition = node.reshape(condition, &[])?;
            let select = |pair: (Option<Val<'c>>, Option<Val<'c>>)| -> OpResult<Option<Val<'c>>> {
                let (Some(yes), Some(no)) = pair else { return Ok(None) };
                if yes.r#type() == no.r#type() {
                    return node.op("where", &[condition, yes, no], &[]).map(Some);
                }
                let is_same_kind = node.rank(yes) == node.rank(no)
                    && ir::element_type(yes.r#type()) == ir::element_type(no.r#type());
                if !is_same_kind {
                    return Err(unsupported(format!(
                        "the condition is not constant and the branches give {} and {}: a result has one rank and one \
                         element type",
                        yes.r#type(),
                        no.r#type()
                    )));
                }
                chosen_size(node, condition, yes, no).map(Some)
            };
            yes.into_iter().zip(no).map(select).collect()
        }))
    }
}

/// One of two values whose sizes differ, as the condition says.
fn chosen_size<'c>(
    node: &NodeContext<'_, 'c>,
    condition: Val<'c>,
    yes: Val<'c>,
    no: Val<'c>,
) -> OpResult<Val<'c>> {
    let rank = node.rank(yes);
    let (mut most, mut axes, mut ends) = (vec![], vec![], vec![]);
    for axis in 0..rank {
        let (a, b) = (node.extent(yes, axis)?, node.extent(no, axis)?);
        match (a.known(), b.known()) {
            (Some(one), Some(other)) => most.push(Extent::Known(one.max(other))),
            _ => most.push(node.extent_op("max", a, b)?),
        }
        if a.known().is_none() || a.known() != b.known() {
            axes.push(axis as i64);
            let (a, b) = (node.extent_list(a)?, node.extent_list(b)?);
            ends.push(Extent::Open(node.op("where", &[condition, a, b], &[])?));
        }
    }
    let padded = |value: Val<'c>| -> OpResult<Val<'c>> {
        let mut amounts = vec![Extent::Known(0); rank];
        for (axis, most) in most.iter().enumerate() {
            let own = node.extent(value, axis)?;
            amounts.push(match (most.known(), own.known()) {
                (Some(most), Some(own)) => Extent::Known(most - own),
                _ => node.extent_op("sub", *most, own)?,
            });
        }
        let amounts = node.extents(&amounts)?;
        let operands = [Some(value), Some(amounts), None, None];
        node.op_with_optionals("pad", &operands, &[("mode", "undefined".into())])
    };
    let both = node.op("where", &[condition, padded(yes)?, padded(no)?], &[])?;
    let starts = node.i64s(&vec![0; axes.len()])?;
    let ends = node.extents(&ends)?;
    let operands = [Some(both), Some(starts), Some(ends), Some(node.i64s(&axes)?), None];
    node.op_with_optionals("slice", &operands, &[])
}

pub(super) fn graph_attribute<'n>(node: &'n Node<'_>, name: &str) -> OpResult<&'n GraphProto> {
    let attribute: Option<&AttributeProto> =
        node.proto.attribute.iter().find(|attribute| attribute.name == name);
    let graph = attribute.and_then(|attribute| attribute.g.as_ref());
    graph.ok_or_else(|| format!("the attribute `{name}` is missing or no graph").into())
}
