//! Context of the import of one operator: the node's inputs, attributes and outputs.

use melior::ir::{Type, ValueLike};
use std::ops::RangeInclusive;

use crate::ir::{self, DYNAMIC, Val, func};
use crate::tensor::{DType, Tensor};

use super::Model;
use super::attributes::Attributes;
use super::emit::{Attrs, Emitter, OpError, OpResult};
use super::ops::MANY;
use super::types::element_name;
use crate::import::constants::{scalar_tensor, tensor_from_f64};

/// A size.
#[derive(Clone, Copy)]
pub(crate) enum Extent<'c> {
    Known(i64),
    /// A list of one element.
    Open(Val<'c>),
}

impl Extent<'_> {
    pub(crate) fn known(&self) -> Option<i64> {
        match self {
            Self::Known(size) => Some(*size),
            Self::Open(_) => None,
        }
    }
}

/// The node that is being imported.
pub(crate) struct NodeContext<'a, 'c> {
    pub(crate) attributes: Attributes<'a>,
    /// Version of the operator set of the node's domain.
    pub(crate) opset: i64,
    pub(crate) model: &'a Model,
    pub(crate) emitter: &'a Emitter<'c>,
    /// Values of the inputs; absent optional ones are `None`.
    pub(crate) inputs: Vec<Option<Val<'c>>>,
    /// For each output, true if something reads it.
    pub(crate) wanted: Vec<bool>,
    /// Name of the node, for constants that it makes.
    pub(crate) name: &'a str,
    /// Loops of up to this many steps are unrolled.
    pub(crate) unroll_loops: i64,
}

impl<'c> NodeContext<'_, 'c> {
    /// For operations in the body of a loop that the node makes. It has no inputs and attributes.
    pub(crate) fn inside<'i>(&self, emitter: &'i Emitter<'c>) -> NodeContext<'i, 'c>
    where
        Self: 'i,
    {
        NodeContext {
            attributes: Attributes::none(),
            emitter,
            inputs: vec![],
            wanted: vec![],
            ..*self
        }
    }

    // --- inputs and outputs ---

    /// Fails unless the node has a number of inputs in this range.
    pub(crate) fn expect_inputs(&self, expected: &RangeInclusive<usize>) -> OpResult<()> {
        let count = self.inputs.len();
        if expected.contains(&count) {
            return Ok(());
        }
        let (least, most) = (expected.start(), expected.end());
        let range = match most {
            _ if least == most => least.to_string(),
            &MANY => format!("at least {least}"),
            _ => format!("{least} to {most}"),
        };
        Err(OpError::Invalid(format!("has {count} inputs, expected {range}")))
    }

    /// An input that must be there; `what` is its name in ONNX.
    pub(crate) fn input(&self, index: usize, what: &str) -> OpResult<Val<'c>> {
        self.optional(index).ok_or_else(|| format!("the input {what} is missing").into())
    }

    /// An input that may be absent.
    pub(crate) fn optional(&self, index: usize) -> Option<Val<'c>> {
        self.inputs.get(index).copied().flatten()
    }

    /// All inputs, none of which may be absent.
    pub(crate) fn all_inputs(&self) -> OpResult<Vec<Val<'c>>> {
        let inputs: Option<Vec<_>> = self.inputs.iter().copied().collect();
        inputs.filter(|list| !list.is_empty()).ok_or_else(|| "an input is missing".into())
    }

    /// The value of an optional input that must be known now, if it is there.
    pub(crate) fn known(&self, index: usize, what: &str) -> OpResult<Option<Tensor>> {
        let Some(value) = self.optional(index) else { return Ok(None) };
        self.emitter.known(value).map(Some).ok_or_else(|| {
            OpError::Unsupported(format!(
                "the input {what} must be a constant; {}",
                func::value_remedy(&[value])
            ))
        })
    }

    /// The same for integers.
    pub(crate) fn known_ints(&self, index: usize, what: &str) -> OpResult<Option<Vec<i64>>> {
        let Some(tensor) = self.known(index, what)? else { return Ok(None) };
        tensor
            .to_i64()
            .map(Some)
            .ok_or_else(|| format!("the input {what} is {}, not integers", tensor.dtype()).into())
    }

    /// The same for an input of one element.
    pub(crate) fn known_int(&self, index: usize, what: &str) -> OpResult<Option<i64>> {
        match self.known_ints(index, what)?.as_deref() {
            None => Ok(None),
            Some([value]) => Ok(Some(*value)),
            Some(other) => {
                Err(format!("the input {what} has {} elements, expected 1", other.len()).into())
            }
        }
    }

    /// True for an output that something reads.
    pub(crate) fn wants(&self, output: usize) -> bool {
        self.wanted.get(output).copied().unwrap_or(false)
    }

    // --- types ---

    pub(crate) fn dtype(&self, value: Val<'c>) -> OpResult<DType> {
        self.emitter.dtype(value)
    }

    /// Dimensions of a value; unknown ones are [`DYNAMIC`].
    pub(crate) fn dims(&self, value: Val<'c>) -> Vec<i64> {
        ir::dims(value.r#type())
    }

    pub(crate) fn rank(&self, value: Val<'c>) -> usize {
        self.dims(value).len()
    }

    /// Dimensions of a value, all of which must be known.
    pub(crate) fn static_dims(&self, value: Val<'c>, what: &str) -> OpResult<Vec<i64>> {
        ir::static_dims(value.r#type()).ok_or_else(|| {
            OpError::Unsupported(format!(
                "the shape of {what} must be known, but is {}; give input shapes with --shape",
                value.r#type()
            ))
        })
    }

    /// One dimension of a value, which must be known.
    pub(crate) fn static_dim(&self, value: Val<'c>, axis: usize, what: &str) -> OpResult<i64> {
        match self.dims(value).get(axis) {
            None => Err(format!("{what} has no dimension {axis}").into()),
            Some(&DYNAMIC) => Err(OpError::Unsupported(format!(
                "dimension {axis} of {what} must be known, but the type is {}; give input shapes \
                 with --shape",
                value.r#type()
            ))),
            Some(&dim) => Ok(dim),
        }
    }

    /// An axis counted from the front; negative ones count from the end.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> OpResult<usize> {
        let rank = rank as i64;
        let counted = if axis < 0 { axis.saturating_add(rank) } else { axis };
        if (0..rank).contains(&counted) {
            return Ok(counted as usize);
        }
        Err(format!("axis {axis} is out of range for a tensor of rank {rank}").into())
    }

    /// The element type with an ONNX code.
    pub(crate) fn element_type(&self, code: i64) -> OpResult<Type<'c>> {
        self.emitter.scalar(element_name(code).map_err(OpError::Unsupported)?)
    }

    // --- operations ---

    /// An operation with one result.
    pub(crate) fn op(
        &self,
        name: &str,
        operands: &[Val<'c>],
        attributes: Attrs<'c, '_>,
    ) -> OpResult<Val<'c>> {
        first(self.emitter.op(name, operands, attributes)?)
    }

    /// An operation with one result whose optional operands may be absent.
    pub(crate) fn op_with_optionals(
        &self,
        name: &str,
        operands: &[Option<Val<'c>>],
        attributes: Attrs<'c, '_>,
    ) -> OpResult<Val<'c>> {
        first(self.emitter.op_with_optionals(name, operands, attributes)?)
    }

    /// A one-operand operation without attributes.
    pub(crate) fn unary(&self, name: &str, x: Val<'c>) -> OpResult<Val<'c>> {
        self.op(name, &[x], &[])
    }

    /// A two-operand operation without attributes; operands broadcast.
    pub(crate) fn binary(&self, name: &str, a: Val<'c>, b: Val<'c>) -> OpResult<Val<'c>> {
        self.op(name, &[a, b], &[])
    }

    /// A binary operation with a number of the type of `a`.
    pub(crate) fn binary_with(&self, name: &str, a: Val<'c>, b: f64) -> OpResult<Val<'c>> {
        let b = self.scalar_like(a, b)?;
        self.binary(name, a, b)
    }

    pub(crate) fn constant(&self, tensor: &Tensor) -> OpResult<Val<'c>> {
        self.emitter.constant(&tensor.clone().into(), self.name)
    }

    /// A constant list of 64-bit integers.
    pub(crate) fn i64s(&self, values: &[i64]) -> OpResult<Val<'c>> {
        self.constant(&Tensor::from_slice(&[values.len()], values)?)
    }

    /// A constant of rank 0.
    pub(crate) fn scalar(&self, dtype: DType, value: f64) -> OpResult<Val<'c>> {
        self.constant(&scalar_tensor(dtype, value)?)
    }

    /// A constant of rank 0 with the element type of `x`.
    pub(crate) fn scalar_like(&self, x: Val<'c>, value: f64) -> OpResult<Val<'c>> {
        self.scalar(self.dtype(x)?, value)
    }

    /// A constant from numbers that are converted to `dtype`.
    pub(crate) fn constant_of(
        &self,
        dtype: DType,
        shape: &[usize],
        values: &[f64],
    ) -> OpResult<Val<'c>> {
        self.constant(&tensor_from_f64(dtype, shape, values)?)
    }

    /// `x` with the element type `dtype`.
    pub(crate) fn cast(&self, x: Val<'c>, dtype: DType) -> OpResult<Val<'c>> {
        if crate::import::constants::dtype_of(x.r#type()) == Some(dtype) {
            return Ok(x);
        }
        self.op("cast", &[x], &[("to", self.emitter.scalar(dtype.mlir_name())?.into())])
    }

    /// `x` with the element type of `like`.
    pub(crate) fn cast_like(&self, x: Val<'c>, like: Val<'c>) -> OpResult<Val<'c>> {
        let to = ir::element_type(like.r#type());
        if ir::element_type(x.r#type()) == to {
            return Ok(x);
        }
        self.op("cast", &[x], &[("to", to.into())])
    }

    /// `x` with fixed dimensions; one may be -1.
    pub(crate) fn reshape(&self, x: Val<'c>, shape: &[i64]) -> OpResult<Val<'c>> {
        let shape = self.i64s(shape)?;
        // Zeros here are sizes, not references to dimensions of x.
        self.op("reshape", &[x, shape], &[("allowzero", true.into())])
    }

    pub(crate) fn transpose(&self, x: Val<'c>, perm: &[i64]) -> OpResult<Val<'c>> {
        self.op("transpose", &[x], &[("perm", perm.into())])
    }

    pub(crate) fn unsqueeze(&self, x: Val<'c>, axes: &[i64]) -> OpResult<Val<'c>> {
        self.op("unsqueeze", &[x], &[("axes", axes.into())])
    }

    pub(crate) fn squeeze(&self, x: Val<'c>, axes: &[i64]) -> OpResult<Val<'c>> {
        self.op("squeeze", &[x], &[("axes", axes.into())])
    }

    /// A reduction such as `reduce_sum` that removes or keeps `axes`.
    pub(crate) fn reduce(
        &self,
        name: &str,
        x: Val<'c>,
        axes: &[i64],
        keepdims: bool,
    ) -> OpResult<Val<'c>> {
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(name, &[x], &[("axes", axes.into()), ("keepdims", keepdims.into())])
    }

    /// The elements of `x` from `start` up to `end` along `axis`.
    pub(crate) fn slice(&self, x: Val<'c>, axis: usize, start: i64, end: i64) -> OpResult<Val<'c>> {
        let (start, end) = (self.i64s(&[start])?, self.i64s(&[end])?);
        let axis = self.i64s(&[axis as i64])?;
        self.op_with_optionals("slice", &[Some(x), Some(start), Some(end), Some(axis), None], &[])
    }

    pub(crate) fn concat(&self, parts: &[Val<'c>], axis: i64) -> OpResult<Val<'c>> {
        match parts {
            [only] => Ok(*only),
            _ => self.op("concat", parts, &[("axis", axis.into())]),
        }
    }

    /// A dimension of a value: its number, or a list of one element that a run computes.
    pub(crate) fn extent(&self, x: Val<'c>, axis: usize) -> OpResult<Extent<'c>> {
        match self.dims(x).get(axis) {
            None => Err(format!("there is no dimension {axis} of {}", x.r#type()).into()),
            Some(&DYNAMIC) => {
                let (start, end) = (axis as i64, axis as i64 + 1);
                let attributes = [("start", start.into()), ("end", end.into())];
                Ok(Extent::Open(self.op("shape", &[x], &attributes)?))
            }
            Some(&dim) => Ok(Extent::Known(dim)),
        }
    }

    /// A list of sizes as a value; a constant when they are known.
    pub(crate) fn extents(&self, extents: &[Extent<'c>]) -> OpResult<Val<'c>> {
        let known = extents.iter().map(|extent| extent.known()).collect::<Option<Vec<_>>>();
        if let Some(known) = known {
            return self.i64s(&known);
        }
        let parts = extents.iter().map(|extent| self.extent_list(*extent));
        self.concat(&parts.collect::<OpResult<Vec<_>>>()?, 0)
    }

    /// A size as a list of one element.
    pub(crate) fn extent_list(&self, extent: Extent<'c>) -> OpResult<Val<'c>> {
        match extent {
            Extent::Known(size) => self.i64s(&[size]),
            Extent::Open(value) => Ok(value),
        }
    }

    /// A size as a scalar.
    pub(crate) fn extent_scalar(&self, extent: Extent<'c>) -> OpResult<Val<'c>> {
        match extent {
            Extent::Known(size) => self.scalar(DType::I64, size as f64),
            Extent::Open(value) => self.squeeze(value, &[0]),
        }
    }

    /// Arithmetic on sizes.
    pub(crate) fn extent_op(
        &self,
        name: &str,
        a: Extent<'c>,
        b: Extent<'c>,
    ) -> OpResult<Extent<'c>> {
        Ok(Extent::Open(self.binary(name, self.extent_list(a)?, self.extent_list(b)?)?))
    }

    /// `x` with dimensions of these sizes.
    pub(crate) fn reshape_to(&self, x: Val<'c>, extents: &[Extent<'c>]) -> OpResult<Val<'c>> {
        let shape = self.extents(extents)?;
        self.op("reshape", &[x, shape], &[("allowzero", true.into())])
    }

    /// The numbers from 0 on: `extent` of them.
    pub(crate) fn count(&self, extent: Extent<'c>) -> OpResult<Val<'c>> {
        let end = self.extent_scalar(extent)?;
        self.op("range", &[self.scalar(DType::I64, 0.0)?, end, self.scalar(DType::I64, 1.0)?], &[])
    }

    /// The elements of `x` between two positions along `axis`.
    pub(crate) fn slice_between(
        &self,
        x: Val<'c>,
        axis: usize,
        (start, end): (Extent<'c>, Extent<'c>),
    ) -> OpResult<Val<'c>> {
        let (start, end) = (self.extent_list(start)?, self.extent_list(end)?);
        let axis = self.i64s(&[axis as i64])?;
        self.op_with_optionals("slice", &[Some(x), Some(start), Some(end), Some(axis), None], &[])
    }

    /// The sizes of `x` as a value; a constant when they are known.
    pub(crate) fn shape_of(&self, x: Val<'c>) -> OpResult<Val<'c>> {
        match ir::static_dims(x.r#type()) {
            Some(dims) => self.i64s(&dims),
            None => self.op("shape", &[x], &[]),
        }
    }
}

/// The only result that the caller expects.
fn first<'c>(results: Vec<Val<'c>>) -> OpResult<Val<'c>> {
    results.first().copied().ok_or_else(|| "the operation has no result".into())
}
