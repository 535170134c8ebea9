//! Context of the import of one operator: its operands as real numbers in a layout, its options,
//! and the place for its results.

use super::{
    importer::Made,
    network::{Network, Operator, Scales, Value},
    ops::Entry,
    schema,
    value::{Layout, is_reshape, permuted},
};
use crate::{
    Session,
    import::constants::{elements_attribute, scalar_type},
    ir::{self, Builder, Val, graph, view::OpView},
    limits,
    tensor::{DType, Tensor},
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The import of an operator, or the reason why it cannot be.
pub(crate) type Outcome<T> = Result<T, String>;

/// An operator.
pub(crate) struct Node<'n, 'c> {
    pub(crate) session: &'c Session,
    pub(crate) network: &'n Network,
    pub(crate) operator: &'n Operator,
    pub(crate) table: schema::Operator<'n>,
    pub(crate) builder: Builder<'c>,
    pub(crate) made: &'n mut [Made<'c>],
}

impl<'n, 'c> Node<'n, 'c> {
    /// Fails unless there are as many operands and results as the operator has.
    pub(crate) fn check(&self, entry: &Entry) -> Outcome<()> {
        let count = self.operator.inputs.len();
        if !entry.operands.contains(&count) {
            let (least, most) = (entry.operands.start(), entry.operands.end());
            return Err(format!("it has {count} operands, but takes {least} to {most}"));
        }
        if self.operator.outputs.is_empty() {
            return Err("it has no result".to_owned());
        }
        Ok(())
    }

    /// The options, which there must be.
    pub(crate) fn options<T: schema::Options<'n> + 'n>(&self) -> Outcome<T> {
        self.table.options().ok_or_else(|| "its options are missing".to_owned())
    }

    /// An operand of the network, if it is there.
    pub(crate) fn operand_if_present(&self, index: usize) -> Option<&'n Value> {
        let number = self.operator.inputs.get(index).copied().flatten()?;
        self.network.tensors.get(number)
    }

    fn number(&self, index: usize) -> Outcome<usize> {
        let number = self.operator.inputs.get(index).copied().flatten();
        number.ok_or_else(|| format!("operand {index} is missing"))
    }

    /// An operand of the network.
    pub(crate) fn tensor(&self, index: usize) -> Outcome<&'n Value> {
        Ok(&self.network.tensors[self.number(index)?])
    }

    /// A result of the network.
    pub(crate) fn output(&self, index: usize) -> Outcome<&'n Value> {
        let number = self.operator.outputs.get(index);
        number
            .map(|number| &self.network.tensors[*number])
            .ok_or_else(|| format!("result {index} is missing"))
    }

    /// The integers of an operand that is a constant, such as axes.
    pub(crate) fn integers(&self, index: usize) -> Outcome<Vec<i64>> {
        let operand = self.tensor(index)?;
        let values = operand.constant.as_ref().and_then(Tensor::to_i64);
        values.ok_or_else(|| {
            format!(
                "operand {index}, `{}`, is not a constant of integers, which is not supported",
                operand.name
            )
        })
    }

    /// Axes of operand `of` that operand `index` lists, from 0.
    pub(crate) fn axes(&self, index: usize, rank: usize) -> Outcome<Vec<usize>> {
        self.integers(index)?.into_iter().map(|axis| positive(axis, rank)).collect()
    }

    /// An operand as it is stored, in a layout.
    pub(crate) fn stored(&mut self, index: usize, layout: Layout) -> Outcome<Val<'c>> {
        let number = self.number(index)?;
        Self::stored_of(self.session, self.network, &self.builder, self.made, number, layout)
    }

    /// A tensor as it is stored, in a layout.
    pub(crate) fn stored_of(
        session: &'c Session,
        network: &Network,
        builder: &Builder<'c>,
        made: &mut [Made<'c>],
        number: usize,
        layout: Layout,
    ) -> Outcome<Val<'c>> {
        let tensor = &network.tensors[number];
        let layout = if tensor.dims.len() < 3 { Layout::Last } else { layout };
        if let Some(value) = *made[number].slot(layout) {
            return Ok(value);
        }
        let other = if layout == Layout::Last { Layout::First } else { Layout::Last };
        let perm = layout.order(tensor.dims.len());
        let value = match (*made[number].slot(other), &tensor.constant) {
            (Some(value), _) => transposed(builder, value, &perm)
                .map_err(|error| session.failure(&error).to_string())?,
            (None, _) if tensor.is_sparse => {
                return Err(format!(
                    "`{}` is sparse, which is not supported: densify it",
                    tensor.name
                ));
            }
            (None, Some(given)) if layout == Layout::Last => {
                constant(builder, given, &tensor.name)?
            }
            (None, Some(given)) => constant(builder, &permuted(given, &perm)?, &tensor.name)?,
            (None, None) => {
                return Err(format!(
                    "`{}` ({}) is neither a constant nor computed before it is used{}",
                    tensor.name,
                    tensor.type_name,
                    if tensor.is_variable { "; variables are not supported" } else { "" }
                ));
            }
        };
        *made[number].slot(layout) = Some(value);
        Ok(value)
    }

    /// An operand as real numbers, or its integers if they are not quantized.
    pub(crate) fn real(&mut self, index: usize, layout: Layout) -> Outcome<Val<'c>> {
        let operand = self.tensor(index)?;
        let Some(scales) = operand.scales.as_ref() else { return self.stored(index, layout) };
        if let Some(tensor) = operand.constant.as_ref().filter(|t| t.dtype() == DType::I64) {
            let values: Vec<f32> = real_values(tensor, scales, operand);
            let tensor = Tensor::from_slice(tensor.shape(), &values).map_err(|e| e.to_string())?;
            let tensor = match layout {
                Layout::First => permuted(&tensor, &layout.order(operand.dims.len()))?,
                Layout::Last => tensor,
            };
            return constant(&self.builder, &tensor, &operand.name);
        }
        let stored = self.stored(index, layout)?;
        self.dequantized(
            stored,
            scales,
            operand,
            layout.position(scales.dimension, operand.dims.len()),
        )
    }

    /// The real numbers of a stored value, whose scales lie along `axis`.
    pub(crate) fn dequantized(
        &self,
        stored: Val<'c>,
        scales: &Scales,
        of: &Value,
        axis: usize,
    ) -> Outcome<Val<'c>> {
        let (scale, zero) = self.parameters(scales, of)?;
        // Sums have no zero point.
        let zero = if of.dtype == Some(DType::I32) { None } else { Some(zero) };
        let attributes = graph::DequantizeLinearAttrs { axis: axis as i64, ..Default::default() };
        self.done(graph::DequantizeLinear::build(&self.builder, stored, scale, zero, attributes))
            .map(|op| op.y())
    }

    fn parameters(&self, scales: &Scales, of: &Value) -> Outcome<(Val<'c>, Val<'c>)> {
        let shape: Vec<usize> =
            if scales.scales.len() == 1 { vec![] } else { vec![scales.scales.len()] };
        let scale = Tensor::from_slice(&shape, &scales.scales).map_err(|e| e.to_string())?;
        let zeros: Vec<f64> = scales.zeros.iter().map(|zero| *zero as f64).collect();
        let dtype = of.dtype.unwrap_or(DType::I8);
        let zero = crate::import::constants::tensor_from_f64(dtype, &shape, &zeros)
            .map_err(|e| e.to_string())?;
        Ok((self.constant(&scale, "scale")?, self.constant(&zero, "zero_point")?))
    }

    /// Gives a result its value: real numbers, which are quantized if the tensor is.
    pub(crate) fn set(&mut self, index: usize, value: Val<'c>, layout: Layout) -> Outcome<()> {
        let output = self.output(index)?;
        let Some(scales) = &output.scales else { return self.set_stored(index, value, layout) };
        if scales.scales.len() > 1 {
            return Err("a result with a scale for each channel is not supported".to_owned());
        }
        if !crate::import::constants::dtype_of(value.r#type()).is_some_and(DType::is_float) {
            return self.set_stored(index, value, layout);
        }
        let (scale, zero) = self.parameters(scales, output)?;
        let attributes = graph::QuantizeLinearAttrs::default();
        let op = graph::QuantizeLinear::build(&self.builder, value, scale, Some(zero), attributes);
        let value = self.done(op)?.y();
        self.set_stored(index, value, layout)
    }

    /// Gives a result its value as it is stored.
    pub(crate) fn set_stored(
        &mut self,
        index: usize,
        value: Val<'c>,
        layout: Layout,
    ) -> Outcome<()> {
        limits::check_type(value.r#type()).map_err(|reason| format!("the result {reason}"))?;
        let rank = ir::dims(value.r#type()).len();
        let output = self.output(index)?;
        if rank != output.dims.len() && !output.dims.is_empty() {
            return Err(format!(
                "its result has {rank} dimensions, but the file says {:?}",
                output.dims
            ));
        }
        let layout = if rank < 3 { Layout::Last } else { layout };
        let number = self.operator.outputs[index];
        *self.made[number].slot(layout) = Some(value);
        Ok(())
    }

    /// True for an operand that exists with its channels first only, not in the file's layout.
    pub(crate) fn has_first(&self, index: usize) -> bool {
        let number = self.operator.inputs.get(index).copied().flatten();
        number.is_some_and(|number| {
            let made = &self.made[number];
            made.first.is_some() && made.last.is_none()
        })
    }

    /// The layout that costs no transposition for these operands of one rank: channels first where one
    /// of them has only that, and the others are constants or as it.
    pub(crate) fn layout(&self, operands: &[usize]) -> Layout {
        if operands.iter().any(|index| self.has_first(*index)) {
            Layout::First
        } else {
            Layout::Last
        }
    }

    /// True if two tensors have the same type and quantization.
    pub(crate) fn same_scales(a: &Value, b: &Value) -> bool {
        a.dtype == b.dtype && a.scales == b.scales
    }

    /// The built operation, once its verifier has seen it; else what MLIR says.
    pub(crate) fn done<T: OpView<'c>>(&self, built: crate::Result<T>) -> Outcome<T> {
        let op = built.map_err(|error| self.said(&error.to_string()))?;
        if !op.op().verify() {
            return Err(self.said("the operation is not valid"));
        }
        Ok(op)
    }

    /// MLIR's last message, without the place, which the caller names.
    pub(crate) fn said(&self, otherwise: &str) -> String {
        let text = self.session.failure(otherwise).to_string();
        let start = text.find("'graph.").unwrap_or(0);
        text[start..].to_owned()
    }

    /// A constant.
    pub(crate) fn constant(&self, tensor: &Tensor, name: &str) -> Outcome<Val<'c>> {
        constant(&self.builder, tensor, name)
    }

    /// A constant list of integers.
    pub(crate) fn list(&self, values: &[i64]) -> Outcome<Val<'c>> {
        let tensor = Tensor::from_slice(&[values.len()], values).map_err(|e| e.to_string())?;
        self.constant(&tensor, "list")
    }

    /// A constant of one real number.
    pub(crate) fn number_constant(&self, value: f32) -> Outcome<Val<'c>> {
        self.constant(&Tensor::scalar(value).map_err(|e| e.to_string())?, "number")
    }

    /// A value in another shape.
    pub(crate) fn reshaped(&self, value: Val<'c>, dims: &[i64]) -> Outcome<Val<'c>> {
        if ir::dims(value.r#type()) == dims {
            return Ok(value);
        }
        reshape(&self.builder, value, dims).map_err(|error| self.said(&error.to_string()))
    }

    /// A value with its dimensions in another order.
    pub(crate) fn transposed(&self, value: Val<'c>, perm: &[i64]) -> Outcome<Val<'c>> {
        transposed(&self.builder, value, perm).map_err(|error| self.said(&error))
    }

    /// The MLIR type of an element type.
    pub(crate) fn scalar(&self, dtype: DType) -> Outcome<Type<'c>> {
        scalar_type(self.builder.context, dtype.mlir_name())
            .ok_or_else(|| format!("there is no type {}", dtype.mlir_name()))
    }
}

/// A position from the start of `rank` ones.
pub(crate) fn positive(axis: i64, rank: usize) -> Outcome<usize> {
    let from_start = if axis < 0 { axis + rank as i64 } else { axis };
    let found = usize::try_from(from_start).ok().filter(|axis| *axis < rank);
    found.ok_or_else(|| format!("there is no axis {axis} among {rank}"))
}

fn real_values(tensor: &Tensor, scales: &Scales, of: &Value) -> Vec<f32> {
    let inner = of.dims.iter().skip(scales.dimension + 1);
    let inner = inner.fold(1_i64, |product, dim| product.saturating_mul(*dim));
    let inner = usize::try_from(inner).unwrap_or(1).max(1);
    let count = scales.scales.len();
    let values = tensor.to_f64().into_iter().enumerate();
    let value = |(at, value): (usize, f64)| {
        let channel = if count == 1 { 0 } else { at / inner % count };
        ((value - scales.zeros[channel] as f64) * f64::from(scales.scales[channel])) as f32
    };
    values.map(value).collect()
}

fn constant<'c>(builder: &Builder<'c>, tensor: &Tensor, name: &str) -> Outcome<Val<'c>> {
    let value = elements_attribute(builder.context, tensor, name)
        .ok_or_else(|| format!("{tensor:?} has no constant in the IR"))?;
    let op = graph::Constant::build(builder, value).map_err(|error| error.to_string())?;
    limits::check_type(op.y().r#type())?;
    Ok(op.y())
}

fn reshape<'c>(builder: &Builder<'c>, value: Val<'c>, dims: &[i64]) -> crate::Result<Val<'c>> {
    let shape = Tensor::from_slice(&[dims.len()], dims)
        .map_err(|error| crate::Error::internal(error.to_string()))?;
    let shape = constant(builder, &shape, "shape").map_err(crate::Error::invalid)?;
    Ok(graph::Reshape::build(builder, value, shape, graph::ReshapeAttrs { allowzero: true })?.y())
}

fn transposed<'c>(builder: &Builder<'c>, value: Val<'c>, perm: &[i64]) -> Outcome<Val<'c>> {
    if perm.is_sorted() {
        return Ok(value);
    }
    let dims = ir::dims(value.r#type());
    let made = if is_reshape(&dims, perm) && !dims.contains(&ir::DYNAMIC) {
        let to: Vec<i64> =
            perm.iter().map(|dim| dims[usize::try_from(*dim).unwrap_or(0)]).collect();
        reshape(builder, value, &to)
    } else {
        graph::Transpose::build(builder, value, perm).map(|op| op.y())
    };
    made.map_err(|error| error.to_string())
}
