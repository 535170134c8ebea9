//! The layers: convolutions and products of quantized tensors.

use super::{
    dynamic,
    parameters::{Bias, Quantized, dequantized, floats, products, scale},
};
use crate::{
    Result,
    host::kernel::{
        recognize::{IMAGE_RANKS, stored::Stored},
        weights,
    },
    ir::{self, Builder, Op, Val, constant::Elements, edit, graph, view::OpView},
};
use melior::ir::ValueLike;

/// Sums whose parts have 8 bits each stay below 2^31 up to this length.
const MAX_REDUCTION: i64 = 1 << 15;

/// Sums of integers and where their channels lie.
pub struct Sums<'c> {
    /// The 32-bit sums.
    pub value: Val<'c>,
    /// The dimension of channels.
    pub axis: i64,
    /// Dimensions after it.
    pub behind: usize,
    /// One for all, or one for each channel.
    pub scales: Vec<f32>,
}

impl<'c> Sums<'c> {
    /// The numbers that they stand for, with a bias.
    pub fn reals(mut self, b: &Builder<'c>, bias: Option<Bias>) -> Result<Val<'c>> {
        let shape = |count: usize| {
            let mut shape = vec![1; self.behind + 1];
            shape[0] = count as i64;
            shape
        };
        let mut reals = None;
        match bias {
            Some(Bias::Integers(list)) => {
                let list = weights::constant(b, &shape(list.len()), list, "quantized_bias")?;
                self.value = graph::Add::build(b, self.value, list)?.y();
            }
            Some(Bias::Reals(list)) => {
                reals = Some(weights::constant(b, &shape(list.len()), list, "quantized_bias")?);
            }
            None => {}
        }
        let scale = scale(b, self.scales)?;
        let attributes = graph::DequantizeLinearAttrs { axis: self.axis, ..Default::default() };
        let value = graph::DequantizeLinear::build(b, self.value, scale, None, attributes)?.y();
        match reals {
            Some(reals) => Ok(graph::Add::build(b, value, reals)?.y()),
            None => Ok(value),
        }
    }
}

pub(super) fn replace<'c>(op: Op<'c>, value: Val<'c>) {
    for result in ir::results(op) {
        edit::replace_uses(result, value);
    }
    edit::erase(op);
}

/// The sums of a convolution of images with constant filters.
fn conv_sums<'c>(
    b: &Builder<'c>,
    (x, w): (Quantized<'c>, Quantized<'c>),
    attributes: graph::ConvIntegerAttrs,
) -> Result<Option<Sums<'c>>> {
    let (image, filters) = (ir::dims(x.value.r#type()), ir::dims(w.value.r#type()));
    let reduction: i64 = filters.iter().skip(1).product();
    if !IMAGE_RANKS.contains(&image.len())
        || !x.is_per_tensor()
        || !w.is_constant()
        || reduction > MAX_REDUCTION
    {
        return Ok(None);
    }
    let scales = products(&x.scales, &w.scales);
    let sums = graph::ConvInteger::build(b, x.value, w.value, x.zero, w.zero, attributes)?;
    Ok(Some(Sums { value: sums.y(), axis: 1, behind: image.len() - 2, scales }))
}

/// A convolution of dequantized tensors.
pub fn conv(op: Op<'_>) -> Result<()> {
    let Some(conv) = graph::Conv::of(op) else { return Ok(()) };
    let (Some(x), Some(w)) = (Quantized::of(conv.x(), usize::MAX), Quantized::of(conv.w(), 0))
    else {
        return Ok(());
    };
    let bias = conv.b().map(|bias| Bias::of(bias, &products(&x.scales, &w.scales)));
    if matches!(bias, Some(None)) {
        return Ok(());
    }
    let b = Builder::before(op)?;
    let attributes = graph::ConvIntegerAttrs {
        strides: conv.strides(),
        pads: conv.pads(),
        dilations: conv.dilations(),
        group: conv.group(),
    };
    let Some(sums) = conv_sums(&b, (x, w), attributes)? else { return Ok(()) };
    replace(op, sums.reals(&b, bias.flatten())?);
    Ok(())
}

/// `graph.qlinear_conv`.
pub fn qlinear_conv(op: Op<'_>) -> Result<()> {
    let Some(conv) = graph::QLinearConv::of(op) else { return Ok(()) };
    let x = Quantized::new(conv.x(), conv.x_scale(), Some(conv.x_zero_point()));
    let w = Quantized::new(conv.w(), conv.w_scale(), Some(conv.w_zero_point()));
    let (Some(x), Some(w)) = (x, w) else { return Ok(()) };
    let bias = conv.b().map(|bias| {
        let list: Option<Vec<i32>> =
            Elements::of_value(bias)?.ints().into_iter().map(|v| i32::try_from(v).ok()).collect();
        list.map(Bias::Integers)
    });
    if matches!(bias, Some(None)) {
        return Ok(());
    }
    let attributes = graph::ConvIntegerAttrs {
        strides: conv.strides(),
        pads: conv.pads(),
        dilations: conv.dilations(),
        group: conv.group(),
    };
    let y = Requantized { scale: conv.y_scale(), zero: conv.y_zero_point() };
    let b = Builder::before(op)?;
    let Some(divisor) = y.divisor() else { return Ok(()) };
    let Some(sums) = conv_sums(&b, (x, w), attributes)? else { return Ok(()) };
    replace(op, y.quantize(&b, sums, bias.flatten(), divisor)?);
    Ok(())
}

/// The parameters of a result.
struct Requantized<'c> {
    scale: Val<'c>,
    zero: Val<'c>,
}

impl<'c> Requantized<'c> {
    /// The scale, if it is one that is known, and the zero point is a scalar.
    fn divisor(&self) -> Option<f32> {
        match floats(self.scale)?[..] {
            [scale] if ir::dims(self.zero.r#type()).is_empty() => Some(scale),
            _ => None,
        }
    }

    /// The integers for sums: one factor takes the place of three scales.
    fn quantize(
        &self,
        b: &Builder<'c>,
        mut sums: Sums<'c>,
        bias: Option<Bias>,
        divisor: f32,
    ) -> Result<Val<'c>> {
        sums.scales.iter_mut().for_each(|scale| *scale /= divisor);
        self.integers(b, sums.reals(b, bias)?)
    }

    /// Numbers that are divided by the scale already, as integers.
    fn integers(&self, b: &Builder<'c>, reals: Val<'c>) -> Result<Val<'c>> {
        let one = scale(b, vec![1.0])?;
        let attributes = graph::QuantizeLinearAttrs::default();
        Ok(graph::QuantizeLinear::build(b, reals, one, Some(self.zero), attributes)?.y())
    }
}

/// The sums of a product with a constant matrix.
fn product_sums<'c>(
    b: &Builder<'c>,
    (x, w): (Quantized<'c>, Quantized<'c>),
) -> Result<Option<Sums<'c>>> {
    let (left, right) = (ir::dims(x.value.r#type()), ir::dims(w.value.r#type()));
    let &[reduction, _] = &right[..] else { return Ok(None) };
    if left.len() < 2 || !x.is_per_tensor() || !w.is_constant() || reduction > MAX_REDUCTION {
        return Ok(None);
    }
    let scales = products(&x.scales, &w.scales);
    let sums = graph::MatMulInteger::build(b, x.value, w.value, x.zero, w.zero)?;
    Ok(Some(Sums { value: sums.y(), axis: left.len() as i64 - 1, behind: 0, scales }))
}

/// A product of dequantized matrices.
pub fn matmul(op: Op<'_>) -> Result<()> {
    let Some(product) = graph::MatMul::of(op) else { return Ok(()) };
    let (Some(x), Some(w)) =
        (Quantized::of(product.a(), usize::MAX), Quantized::of(product.b(), 1))
    else {
        return Ok(());
    };
    let b = Builder::before(op)?;
    if let Some(sums) = product_sums(&b, (x, w))? {
        replace(op, sums.reals(&b, None)?);
    }
    Ok(())
}

/// `graph.qlinear_matmul`.
pub fn qlinear_matmul(op: Op<'_>) -> Result<()> {
    let Some(product) = graph::QLinearMatMul::of(op) else { return Ok(()) };
    let x = Quantized::new(product.a(), product.a_scale(), Some(product.a_zero_point()));
    let w = Quantized::new(product.b(), product.b_scale(), Some(product.b_zero_point()));
    let (Some(x), Some(w)) = (x, w) else { return Ok(()) };
    let lists = [product.b_scale(), product.b_zero_point()];
    let y = Requantized { scale: product.y_scale(), zero: product.y_zero_point() };
    let Some(divisor) = y.divisor() else { return Ok(()) };
    if lists.iter().any(|list| ir::dims(list.r#type()).len() > 1) {
        return Ok(());
    }
    let b = Builder::before(op)?;
    let scales = products(&x.scales, &w.scales);
    if !w.is_constant()
        && let ([scale], true, true) = (&scales[..], x.is_per_tensor(), w.is_per_tensor())
        && let Some(sums) = dynamic::exact_product(&b, (x.value, x.zero), (w.value, w.zero))?
    {
        let factor = weights::constant(&b, &[], vec![scale / divisor], "quantized_scales")?;
        let reals = graph::Mul::build(&b, sums, factor)?.y();
        replace(op, y.integers(&b, reals)?);
        return Ok(());
    }
    if let Some(sums) = product_sums(&b, (x, w))? {
        replace(op, y.quantize(&b, sums, None, divisor)?);
    }
    Ok(())
}

/// A product of dequantized matrices with a bias for each column.
pub fn gemm(op: Op<'_>) -> Result<()> {
    let Some(gemm) = graph::Gemm::of(op) else { return Ok(()) };
    let columns = usize::from(!gemm.trans_b());
    let (Some(x), Some(w)) =
        (Quantized::of(gemm.a(), usize::MAX), Quantized::of(gemm.b(), columns))
    else {
        return Ok(());
    };
    let bias = gemm.c().map(|bias| Bias::of(bias, &products(&x.scales, &w.scales)));
    let plain = !gemm.trans_a() && gemm.alpha() == 1.0 && (bias.is_none() || gemm.beta() == 1.0);
    let row = gemm.c().is_none_or(|c| ir::dims(c.r#type()).iter().rev().skip(1).all(|d| *d == 1));
    if matches!(bias, Some(None)) || !plain || !row || !w.is_constant() {
        return Ok(());
    }
    let b = Builder::before(op)?;
    let w = if gemm.trans_b() { transposed(&b, w)? } else { Some(w) };
    let Some(w) = w else { return Ok(()) };
    if let Some(sums) = product_sums(&b, (x, w))? {
        replace(op, sums.reals(&b, bias.flatten())?);
    }
    Ok(())
}

/// Weights that are dequantized, of a layer whose image is not, are numbers that are known: kernels
/// read those packed.
pub fn fold_weights(op: Op<'_>) -> Result<()> {
    let operands = ir::operands(op);
    // Products of few rows read integers.
    let rows = ir::static_dims(ir::result0(op)?.r#type())
        .map_or(1, |dims| dims.iter().rev().skip(1).product::<i64>());
    let transposed = match graph::Gemm::of(op) {
        Some(gemm) => Some(gemm.trans_b()).filter(|_| gemm.alpha() == 1.0),
        None => graph::MatMul::is(op).then_some(false),
    };
    let stored =
        |w: &Val<'_>| transposed.is_some_and(|turned| Stored::of(*w, rows, turned).is_some());
    if operands.get(1).is_some_and(stored) {
        return Ok(());
    }
    let Some(values) = operands.get(1).and_then(|weights| dequantized(*weights)) else {
        return Ok(());
    };
    let b = Builder::before(op)?;
    let dims = ir::dims(operands[1].r#type());
    let weights = weights::constant(&b, &dims, values, "dequantized_weights")?;
    edit::set_operand(op, 1, weights)
}

/// A constant matrix with its dimensions swapped, as numbers with a sign.
fn transposed<'c>(b: &Builder<'c>, w: Quantized<'c>) -> Result<Option<Quantized<'c>>> {
    let &[rows, columns] = &ir::dims(w.value.r#type())[..] else { return Ok(None) };
    let Some(elements) = Elements::of_value(w.value) else { return Ok(None) };
    let offset = if ir::types::is_unsigned(w.value.r#type()) { 128 } else { 0 };
    let at =
        |row: i64, column: i64| (elements.int((row * columns + column) as usize) - offset) as i8;
    let values = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
    let values: Vec<i8> = values.map(|(row, column)| at(row, column)).collect();
    let value = weights::constant(b, &[columns, rows], values, "quantized_weights")?;
    let zero = match w.zero.and_then(Elements::of_value) {
        None => weights::constant(b, &[], vec![(-offset) as i8], "quantized_zero")?,
        Some(zeros) => {
            let list: Vec<i8> = zeros.ints().iter().map(|zero| (zero - offset) as i8).collect();
            let shape: Vec<i64> = if list.len() == 1 { vec![] } else { vec![list.len() as i64] };
            weights::constant(b, &shape, list, "quantized_zero")?
        }
    };
    Ok(Some(Quantized { value, zero: Some(zero), ..w }))
}
