//! Constant operands of kernels: weights in reading order, and what sums start from.

use super::kernel::{
    Arithmetic, Element, Isa, Scheduled, Start,
    recognize::{Kernel, Recognized, Sums, WeightsOperand, ZeroPoint},
    start, weights,
};
use crate::{
    Result,
    ir::{self, Builder, Op, Val, constant::Elements, graph},
};
use half::{bf16, f16};
use melior::ir::{ValueLike, operation::OperationLike};
use std::borrow::Cow;

/// Makes constants for the kernels of a machine.
pub struct Packer {
    isa: Isa,
    /// Number of constants so far.
    packed: usize,
}

impl Packer {
    /// A packer that has made nothing yet.
    pub fn new(isa: Isa) -> Self {
        Self { isa, packed: 0 }
    }

    /// The weights as the kernel reads them.
    pub fn weights<'c>(
        &mut self,
        b: &Builder<'c>,
        op: Op<'c>,
        kernel: &Scheduled<'_>,
        weights: &WeightsOperand,
    ) -> Result<Val<'c>> {
        let given = op.operand(weights.operand).map_err(ir::unexpected)?;
        let Some(source) = weights.source else { return Ok(given) };
        if let Some(integers) = &weights.integers {
            if let Scheduled::Contraction(spec, blocking) = kernel
                && let Some(amx) = &spec.amx
            {
                let packed = amx.pack(spec, &blocking.channels, (&source, integers));
                return self.constant(b, packed);
            }
            if let Scheduled::Winograd(spec) = kernel {
                let packed = spec.pack(&source, integers, (self.isa, |sum| sum as i16))?;
                return self.constant(b, packed);
            }
            let packed = kernel.pack(&source, integers, self.isa);
            return match kernel.packed_element(self.isa) {
                Element::I4 => self.constant(b, kernel.pairs_of_rows(&packed, self.isa)),
                Element::I8 => {
                    self.constant(b, packed.into_iter().map(|value| value as i8).collect())
                }
                _ => self.constant(b, packed),
            };
        }
        if let Some(floats) = &weights.floats {
            return self.halves(b, (kernel, source), floats, bf16::from_f32);
        }
        if let Some(elements) = Elements::of_value(given) {
            if let Some(values) = weights::floats_of::<f32>(&elements) {
                match kernel.packed_element(self.isa) {
                    Element::BF16 => {
                        return self.halves(b, (kernel, source), &values, bf16::from_f32);
                    }
                    Element::F16 => {
                        return self.halves(b, (kernel, source), &values, f16::from_f32);
                    }
                    _ => {}
                }
                return self.floats(b, (kernel, source), values, weights.scale);
            }
            if let Some(values) = weights::floats_of::<f64>(&elements) {
                return self.floats(b, (kernel, source), values, weights.scale);
            }
        }
        match source {
            // Rows of filters, tap by tap and channel by channel.
            weights::Source::Filters { .. } => {
                let rank = ir::dims(given.r#type()).len() as i64;
                let order: Vec<i64> = (2..rank).chain([1, 0]).collect();
                Ok(graph::Transpose::build(b, given, &order)?.y())
            }
            weights::Source::Matrix { .. } => Ok(given),
        }
    }

    /// Floats in the order in which the kernel reads them, times a factor.
    fn floats<'c, T: weights::Float>(
        &mut self,
        b: &Builder<'c>,
        (kernel, source): (&Scheduled<'_>, weights::Source),
        mut values: Cow<'_, [T]>,
        scale: f64,
    ) -> Result<Val<'c>> {
        if scale != 1.0 {
            values.to_mut().iter_mut().for_each(|value| *value = *value * T::of_f64(scale));
        }
        let packed = match kernel {
            Scheduled::Winograd(spec) => spec.pack(&source, &values, (self.isa, T::of_f64))?,
            _ => kernel.pack(&source, &values, self.isa),
        };
        self.constant(b, packed)
    }

    /// Numbers that 16-bit floats have in the order in which the kernel reads them.
    fn halves<'c, T: weights::Number + Default>(
        &mut self,
        b: &Builder<'c>,
        (kernel, source): (&Scheduled<'_>, weights::Source),
        values: &[f32],
        narrow: fn(f32) -> T,
    ) -> Result<Val<'c>> {
        let values: Vec<_> = values.iter().copied().map(narrow).collect();
        self.constant(b, kernel.pack(&source, &values, self.isa))
    }

    /// A constant made for a kernel.
    pub fn constant<'c, T: weights::Number>(
        &mut self,
        b: &Builder<'c>,
        values: Vec<T>,
    ) -> Result<Val<'c>> {
        self.packed += 1;
        let name = format!("kernel_weights_{}", self.packed);
        weights::constant(b, &[values.len() as i64], values, &name)
    }

    /// Decides what sums of integers start from, and gives the kernel's arguments for that.
    pub fn starts<'c>(
        &mut self,
        b: &Builder<'c>,
        op: Op<'c>,
        found: &mut Recognized<'c>,
    ) -> Result<Vec<Val<'c>>> {
        let (Some(Sums { zero, bias }), Some(weights)) = (found.sums, &found.weights) else {
            return Ok(vec![]);
        };
        let (Some(source), Some(integers)) = (weights.source, &weights.integers) else {
            return Ok(vec![]);
        };
        let (window, points, (types, arithmetic), start) = match &mut found.kernel {
            Kernel::Other { .. } => return Ok(vec![]),
            Kernel::Contraction(spec) => {
                let arithmetic = spec.arithmetic(self.isa);
                (spec.window, spec.grid(), (spec.types, arithmetic), &mut spec.start)
            }
            Kernel::Depthwise(spec) => {
                let arithmetic = Arithmetic::of(self.isa, spec.types);
                (spec.window, spec.grid(), (spec.types, arithmetic), &mut spec.start)
            }
        };
        let offset = arithmetic.image_offset(types.image);
        let bias = match bias {
            Some(bias) => Elements::of_value(op.operand(bias).map_err(ir::unexpected)?)
                .map_or(vec![], |b| b.ints()),
            None => vec![],
        };
        let table = |zero| start::table(&window, points, &source, integers, (zero, &bias));
        match zero {
            ZeroPoint::Known(zero) if zero + offset == 0 && bias.is_empty() => Ok(vec![]),
            ZeroPoint::Known(zero) => {
                *start = Some(Start::Table);
                let table = table(zero + offset);
                Ok(vec![self.constant(b, table)?])
            }
            ZeroPoint::Operand(operand) => {
                *start = Some(Start::Scaled(types.image, offset));
                let table = table(1);
                Ok(vec![self.constant(b, table)?, op.operand(operand).map_err(ir::unexpected)?])
            }
        }
    }
}
