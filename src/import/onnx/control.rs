//! Control flow: branches are taken and loops unrolled where the model is imported.

use melior::ir::ValueLike;

use crate::import::ImportError;
use crate::ir::{self, Val};
use crate::tensor::Tensor;

use super::attributes::Attributes;
use super::context::NodeContext;
use super::emit::{OpError, OpResult};
use super::flatten::Node;
use super::importer::{Importer, Scope};
use super::proto::{AttributeProto, GraphProto};

/// Longest loop that is unrolled.
const MAX_ITERATIONS: i64 = 4096;

/// Outputs of a node, `None` where a node in its graphs was refused. Errors outside are those of
/// nodes in its graphs; errors inside concern the node itself.
type Outcome<'c> = Result<OpResult<Vec<Option<Val<'c>>>>, ImportError>;

/// Whether the node holds graphs that it runs.
pub(super) fn is_control_flow(node: &Node<'_>) -> bool {
    node.domain().is_empty() && matches!(node.proto.op_type.as_str(), "If" | "Loop" | "Scan")
}

/// Goes on with what is inside, or returns the error of the node.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(OpError::from(error))),
        }
    };
}

fn unsupported(reason: impl Into<String>) -> OpError {
    OpError::Unsupported(reason.into())
}

impl<'c> Importer<'_, 'c> {
    /// Imports a node for which [`is_control_flow`] holds.
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
    fn run_body(
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
    fn with_context<T>(
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
                if yes.r#type() != no.r#type() {
                    return Err(unsupported(format!(
                        "the condition is not constant and the branches give {} and {}",
                        yes.r#type(),
                        no.r#type()
                    )));
                }
                node.op("where", &[condition, yes, no], &[]).map(Some)
            };
            yes.into_iter().zip(no).map(select).collect()
        }))
    }

    /// Unrolls a loop whose trip count is known, and whose condition is at each iteration.
    fn import_loop(&mut self, node: &Node<'_>, inputs: &[Option<Val<'c>>]) -> Outcome<'c> {
        let body = attempt!(graph_attribute(node, "body"));
        let input = |index: usize| inputs.get(index).copied().flatten();
        let known = |value: Val<'c>, what: &str| {
            let tensor = self.emitter.known(value);
            let numbers = tensor.and_then(|tensor| tensor.to_i64());
            numbers.and_then(|list| list.first().copied()).ok_or_else(|| {
                unsupported(format!("the {what} of a loop must be constant when it is imported"))
            })
        };
        let limit = match input(0) {
            Some(count) => attempt!(known(count, "trip count")),
            None => i64::MAX,
        };
        let mut goes_on = match input(1) {
            Some(condition) => attempt!(known(condition, "condition")) != 0,
            None => true,
        };
        let watches = input(1).is_some() || input(0).is_none();
        let mut carried: Vec<_> = inputs.iter().skip(2).copied().flatten().collect();
        let Some(collected) = body.output.len().checked_sub(1 + carried.len()) else {
            return Ok(Err("the body has too few outputs".into()));
        };
        let mut columns = vec![Vec::new(); collected];
        let mut iteration = 0;
        while iteration < limit && goes_on {
            if iteration == MAX_ITERATIONS {
                let reason = format!("a loop of more than {MAX_ITERATIONS} iterations");
                return Ok(Err(unsupported(reason)));
            }
            let counters = attempt!(self.with_context(node, |node| Ok([
                node.constant(&Tensor::scalar(iteration)?)?,
                node.constant(&Tensor::scalar(true)?)?,
            ])));
            let arguments: Vec<_> = counters.into_iter().chain(carried.iter().copied()).collect();
            let outputs = self.run_body(node, body, &iteration.to_string(), &arguments)?;
            let Some(outputs) = outputs.into_iter().collect::<Option<Vec<_>>>() else {
                return Ok(Ok(vec![None; node.proto.output.len()]));
            };
            if watches {
                let condition = self.emitter.known(outputs[0]).and_then(|c| c.to_i64());
                goes_on = match condition.as_deref() {
                    Some([condition, ..]) => *condition != 0,
                    _ => {
                        let reason = "the condition of a loop must not depend on data";
                        return Ok(Err(unsupported(reason)));
                    }
                };
            }
            let split = 1 + carried.len();
            carried = outputs[1..split].to_vec();
            for (column, value) in columns.iter_mut().zip(&outputs[split..]) {
                column.push(*value);
            }
            iteration += 1;
        }
        Ok(self.with_context(node, |node| {
            let mut results: Vec<_> = carried.into_iter().map(Some).collect();
            for column in &columns {
                results.push(Some(stack(node, column, 0)?));
            }
            Ok(results)
        }))
    }

    /// Unrolls a scan over sequences of known length.
    fn import_scan(&mut self, node: &Node<'_>, inputs: &[Option<Val<'c>>]) -> Outcome<'c> {
        let body = attempt!(graph_attribute(node, "body"));
        if node.opset < 9 {
            return Ok(Err(unsupported("the form of operator set 8 is not supported")));
        }
        let Some(inputs) = inputs.iter().copied().collect::<Option<Vec<_>>>() else {
            return Ok(Err("an input is missing".into()));
        };
        let plan = attempt!(ScanPlan::read(node, body, &inputs));
        let mut carried = inputs[..plan.carried].to_vec();
        let mut columns = vec![Vec::new(); plan.collected.len()];
        for step in 0..plan.length {
            let pieces = attempt!(self.with_context(node, |node| {
                let piece = |(index, way): (usize, &Way)| {
                    let at = if way.reversed { plan.length - 1 - step } else { step };
                    let value = inputs[plan.carried + index];
                    let piece = node.slice(value, way.axis, at, at + 1)?;
                    node.squeeze(piece, &[way.axis as i64])
                };
                plan.scanned.iter().enumerate().map(piece).collect::<OpResult<Vec<_>>>()
            }));
            let arguments: Vec<_> = carried.iter().copied().chain(pieces).collect();
            let outputs = self.run_body(node, body, &step.to_string(), &arguments)?;
            let Some(outputs) = outputs.into_iter().collect::<Option<Vec<_>>>() else {
                return Ok(Ok(vec![None; node.proto.output.len()]));
            };
            carried = outputs[..plan.carried].to_vec();
            for (column, value) in columns.iter_mut().zip(&outputs[plan.carried..]) {
                column.push(*value);
            }
        }
        Ok(self.with_context(node, |node| {
            let mut results: Vec<_> = carried.into_iter().map(Some).collect();
            for (mut column, way) in columns.into_iter().zip(&plan.collected) {
                if way.reversed {
                    column.reverse();
                }
                let rank = column.first().map_or(0, |value| ir::dims(value.r#type()).len());
                let axis = node.axis(way.axis as i64, rank + 1)?;
                results.push(Some(stack(node, &column, axis as i64)?));
            }
            Ok(results)
        }))
    }
}

/// The values next to each other along a new dimension.
fn stack<'c>(node: &NodeContext<'_, 'c>, values: &[Val<'c>], axis: i64) -> OpResult<Val<'c>> {
    if values.is_empty() {
        return Err(unsupported("collecting the results of a loop that never runs"));
    }
    let slices = values.iter().map(|value| node.unsqueeze(*value, &[axis]));
    node.concat(&slices.collect::<OpResult<Vec<_>>>()?, axis)
}

/// Along which dimension a sequence is read or written, and from which end.
struct Way {
    axis: usize,
    reversed: bool,
}

/// What a scan reads, carries and collects.
struct ScanPlan {
    carried: usize,
    length: i64,
    scanned: Vec<Way>,
    collected: Vec<Way>,
}

impl ScanPlan {
    fn read(node: &Node<'_>, body: &GraphProto, inputs: &[Val<'_>]) -> OpResult<Self> {
        let attributes = Attributes::of(&node.proto);
        let count = attributes.int("num_scan_inputs")?.and_then(|n| usize::try_from(n).ok());
        let count = count.filter(|count| (1..=inputs.len()).contains(count));
        let count = count.ok_or("attribute `num_scan_inputs` is missing or out of range")?;
        let carried = inputs.len() - count;
        let collected = body.output.len().checked_sub(carried);
        let collected = collected.ok_or("the body has too few outputs")?;
        let list = |name: &str, length: usize| -> OpResult<Vec<i64>> {
            let list = attributes.ints(name)?.unwrap_or(vec![0; length]);
            if list.len() != length {
                return Err(format!("attribute `{name}` must have {length} elements").into());
            }
            Ok(list)
        };
        let (axes, ways) = (list("scan_input_axes", count)?, list("scan_input_directions", count)?);
        let mut length = None;
        let mut scanned = Vec::new();
        for (index, (axis, way)) in axes.iter().zip(ways).enumerate() {
            let dims = ir::dims(inputs[carried + index].r#type());
            let axis = counted(*axis, dims.len())?;
            match (length, dims[axis]) {
                (_, ir::DYNAMIC) => {
                    return Err(unsupported("the length of a scanned sequence must be known"));
                }
                (Some(length), own) if length != own => {
                    return Err(format!("sequences of length {length} and {own}").into());
                }
                (_, own) => length = Some(own),
            }
            scanned.push(Way { axis, reversed: way == 1 });
        }
        let length = length.unwrap_or(0);
        if !(1..=MAX_ITERATIONS).contains(&length) {
            return Err(unsupported(format!("a scan over {length} elements")));
        }
        let (axes, ways) =
            (list("scan_output_axes", collected)?, list("scan_output_directions", collected)?);
        let outputs = body.output.iter().skip(carried).zip(axes.iter().zip(ways));
        let collected = outputs.map(|(output, (axis, way))| {
            // Counted from the end in the stacked result, whose rank the body declares.
            let rank = declared_rank(output).map_or(i64::MAX, |rank| rank as i64 + 1);
            let axis = if *axis < 0 { axis.saturating_add(rank) } else { *axis };
            let axis = usize::try_from(axis).map_err(|_| "an output axis is out of range")?;
            Ok(Way { axis, reversed: way == 1 })
        });
        let collected = collected.collect::<OpResult<_>>()?;
        Ok(Self { carried, length, scanned, collected })
    }
}

fn counted(axis: i64, rank: usize) -> OpResult<usize> {
    let counted = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    let counted = usize::try_from(counted).ok().filter(|axis| *axis < rank);
    counted.ok_or_else(|| format!("axis {axis} is out of range for rank {rank}").into())
}

fn declared_rank(value: &super::proto::ValueInfoProto) -> Option<usize> {
    match value.r#type.as_ref()?.value.as_ref()? {
        super::proto::TypeValue::Tensor(tensor) => Some(tensor.shape.as_ref()?.dim.len()),
        _ => None,
    }
}

fn graph_attribute<'n>(node: &'n Node<'_>, name: &str) -> OpResult<&'n GraphProto> {
    let attribute: Option<&AttributeProto> =
        node.proto.attribute.iter().find(|attribute| attribute.name == name);
    let graph = attribute.and_then(|attribute| attribute.g.as_ref());
    graph.ok_or_else(|| format!("the attribute `{name}` is missing or no graph").into())
}
