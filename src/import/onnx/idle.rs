//! Loops that never run. States keep their values; collected results have no slices, and the type
//! that a step would have given them.

use melior::ir::ValueLike;

use crate::import::constants::dtype_of;
use crate::ir::{self, Val};
use crate::tensor::DType;

use super::body::{LoopStart, Way};
use super::context::NodeContext;
use super::control::{Outcome, attempt, unsupported};
use super::emit::{OpError, OpResult};
use super::flatten::Node;
use super::importer::Importer;
use super::proto::{DimensionValue, GraphProto, TypeValue, ValueInfoProto};

/// Elements and dimensions of a slice.
type Slice = (DType, Vec<i64>);

impl<'c> Importer<'_, 'c> {
    /// The results of a loop of no steps, whose body has the values of `collected` as its last outputs.
    /// `start` and `arguments` are as for a step.
    pub(super) fn run_never(
        &mut self,
        node: &Node<'_>,
        graph: &GraphProto,
        start: LoopStart<'c>,
        arguments: impl FnOnce(&NodeContext<'_, 'c>, &[Val<'c>]) -> OpResult<Vec<Val<'c>>>,
        (states, collected): (&[Val<'c>], &[Way]),
    ) -> Outcome<'c> {
        let first = graph.output.len() - collected.len();
        let mut slices: Vec<Option<Slice>> = graph.output[first..].iter().map(declared).collect();
        if !collected.is_empty()
            && let Some((_, _, outputs)) = self.import_step(node, graph, start, arguments)?
        {
            slices = outputs[first..].iter().map(|value| slice_of(*value)).collect();
        }
        let mut empty = vec![];
        for (place, (slice, way)) in slices.into_iter().zip(collected).enumerate() {
            let Some((dtype, mut dims)) = slice else {
                let name = &graph.output[first + place].name;
                return Ok(Err(unsupported(format!(
                    "a loop that never runs collects `{name}`, whose type its body does not tell; \
                     declare its shape as an output of the body"
                ))));
            };
            if way.axis > dims.len() {
                return Ok(Err(format!("axis {} of a slice {dims:?}", way.axis).into()));
            }
            dims.insert(way.axis, 0);
            empty.push(Some(attempt!(self.with_context(node, |node| node.empty(dtype, &dims)))));
        }
        Ok(Ok(states.iter().copied().map(Some).chain(empty).collect()))
    }
}

impl<'c> NodeContext<'_, 'c> {
    /// A tensor of no elements.
    pub(super) fn empty(&self, dtype: DType, dims: &[i64]) -> OpResult<Val<'c>> {
        let dims: Vec<usize> = dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
        self.constant_of(dtype, &dims, &[])
    }
}

fn slice_of(value: Val<'_>) -> Option<Slice> {
    Some((dtype_of(value.r#type())?, ir::static_dims(value.r#type())?))
}

/// The type that a body declares for one of its outputs, if all of it is known.
fn declared(output: &ValueInfoProto) -> Option<Slice> {
    let TypeValue::Tensor(tensor) = output.r#type.as_ref()?.value.as_ref()? else { return None };
    let dims = tensor.shape.as_ref()?.dim.iter().map(|dim| match dim.value.as_ref()? {
        DimensionValue::Value(size) => Some(*size).filter(|size| *size >= 0),
        DimensionValue::Param(_) => None,
    });
    Some((DType::from_onnx_code(tensor.elem_type)?, dims.collect::<Option<_>>()?))
}
