//! Products and convolutions of integers with constant weights.

use super::{Kernel, Recognized, Scope, Sums, WeightsOperand, ZeroPoint};
use crate::{
    host::kernel::{Element, Types, start::classes, window::Classes},
    ir::{Op, Val, constant::Elements, graph, view::OpView},
};

/// Elements of a table of starts, at most.
const MAX_STARTS: usize = 1 << 22;

impl<'c> Scope<'_, 'c> {
    pub(super) fn matmul_integer(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let product = graph::MatMulInteger::of(op)?;
        let (a, b) = (self.operand(product.a())?, self.operand(product.b())?);
        let (a_dims, b_dims) = (self.dims(a)?, self.dims(b)?);
        let found = self.product((a, &a_dims), (b, &b_dims), self.types(a)?)?;
        self.with_zeros(found, product.a_zero_point(), product.b_zero_point())
    }

    pub(super) fn conv_integer(&self, op: Op<'c>) -> Option<Recognized<'c>> {
        let conv = graph::ConvInteger::of(op)?;
        let (x, w) = (self.operand(conv.x())?, self.operand(conv.w())?);
        let found = self.windowed_sum(op, x, w, self.types(x)?)?;
        self.with_zeros(found, conv.x_zero_point(), conv.w_zero_point())
    }

    /// Types for an image of bytes.
    fn types(&self, x: usize) -> Option<Types> {
        let image = self.element(x)?;
        let (weights, sum) = (Element::I16, Element::I32);
        image.is_byte().then_some(Types { image, weights, sum })
    }

    /// Takes the weights' zero points out of them, and notes that of the image.
    fn with_zeros(
        &self,
        mut found: Recognized<'c>,
        x_zero: Option<Val<'c>>,
        w_zero: Option<Val<'c>>,
    ) -> Option<Recognized<'c>> {
        let weights = found.weights.take()?;
        let elements = Elements::of_value(self.outer(weights.operand)?)?;
        let zeros = match w_zero {
            Some(zero) => self.integers(self.operand(zero)?)?,
            None => vec![],
        };
        let integers = weights.source?.centered(&elements, &zeros)?;
        let zero = match x_zero {
            Some(zero) => self.zero_point(zero)?,
            None => ZeroPoint::Known(0),
        };
        let bytes = integers.iter().all(|value| i8::try_from(*value).is_ok());
        let starts = match &mut found.kernel {
            Kernel::Contraction(spec) => {
                spec.types.weights = if bytes { Element::I8 } else { Element::I16 };
                (spec.window, spec.grid(), spec.groups * spec.channels)
            }
            Kernel::Depthwise(spec) => (spec.window, spec.grid(), spec.channels),
            Kernel::Other { .. } => return None,
        };
        let (window, grid, channels) = starts;
        let classes: i64 = classes(&window, grid).iter().map(Classes::count).product();
        if usize::try_from(classes * channels).ok()? > MAX_STARTS {
            return None;
        }
        let weights = Some(WeightsOperand { integers: Some(integers), ..weights });
        Some(Recognized { weights, sums: Some(Sums { zero, bias: None }), ..found })
    }

    fn zero_point(&self, zero: Val<'c>) -> Option<ZeroPoint> {
        let operand = self.operand(zero)?;
        match self.integers(operand) {
            Some(values) if values.windows(2).all(|pair| pair[0] == pair[1]) => {
                values.first().copied().map(ZeroPoint::Known)
            }
            Some(_) => None,
            None => {
                let single = self.dims(operand)?.iter().all(|dim| *dim == 1);
                single.then_some(ZeroPoint::Operand(operand))
            }
        }
    }
}
