//! Layers of integers as the layer of real numbers between dequantizations and a quantization, which is their definition
//! and the form that patterns describe.
//!
//! The layer itself keeps the number of its form ([`names::FORM`]), so that a partition tells who takes it.

use crate::{
    Error, Result,
    host::kernel::Element,
    ir::{
        self, Builder, Op, Val, attribute,
        constant::Elements,
        edit, graph,
        names::FORM,
        rewrite::{Rewriter, Rule},
        types::with_element,
        view::OpView,
    },
    lower::normalize_axis,
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Convolutions.
pub const CONV: Rule =
    Rule { name: "expand-qlinear-conv", root: graph::QLinearConv::NAME, benefit: 1, apply: conv };

/// Products.
pub const MATMUL: Rule = Rule {
    name: "expand-qlinear-matmul",
    root: graph::QLinearMatMul::NAME,
    benefit: 1,
    apply: matmul,
};

/// Sums of convolutions.
pub const CONV_SUMS: Rule = Rule {
    name: "expand-conv-integer",
    root: graph::ConvInteger::NAME,
    benefit: 1,
    apply: conv_sums,
};

/// Sums of products.
pub const MATMUL_SUMS: Rule = Rule {
    name: "expand-matmul-integer",
    root: graph::MatMulInteger::NAME,
    benefit: 1,
    apply: matmul_sums,
};

/// An integer tensor with what it stands for: a scalar each, or lists along `axis`.
struct Quantized<'c> {
    value: Val<'c>,
    scale: Parameter<'c>,
    zero: Option<Parameter<'c>>,
    /// The shape of both.
    dims: Vec<i64>,
    axis: i64,
}

/// A constant with one element, or a list.
struct Parameter<'c> {
    value: Val<'c>,
    elements: Elements<'c>,
}

impl<'c> Parameter<'c> {
    fn of(value: Val<'c>) -> Option<Self> {
        let elements = Elements::of_value(value)?;
        let list = ir::dims(value.r#type()).len() <= 1 && !elements.bytes().is_empty();
        list.then_some(Self { value, elements })
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    /// The same numbers in another shape, where one may stand for all.
    fn shaped(&self, b: &Builder<'c>, dims: &[i64]) -> Result<Val<'c>> {
        if ir::dims(self.value.r#type()) == dims {
            return Ok(self.value);
        }
        let ty = with_element(b.tensor(dims, b.f32()), ir::element_type(self.value.r#type()));
        Ok(graph::Constant::build(b, attribute::dense(ty, self.elements.bytes())?)?.y())
    }
}

impl<'c> Quantized<'c> {
    /// None if a parameter is computed, or has a shape that no dequantization takes. Lists lie along `axis`.
    fn of(
        value: Val<'c>,
        scale: Val<'c>,
        zero: Option<Val<'c>>,
        axis: Option<i64>,
    ) -> Option<Self> {
        let scale = Parameter::of(scale)?;
        let zero = match zero {
            Some(zero) => Some(Parameter::of(zero)?),
            None => None,
        };
        let zeros = zero.as_ref().map_or(1, Parameter::len);
        let count = scale.len().max(zeros);
        let fits = |len: usize| len == 1 || len == count;
        let single = Element::of(scale.value.r#type()) == Some(Element::F32);
        if !single || !fits(scale.len()) || !fits(zeros) {
            return None;
        }
        let (dims, axis) = match (count, axis) {
            (1, _) => (vec![], 1),
            (_, axis) => (vec![count as i64], axis?),
        };
        Some(Self { value, scale, zero, dims, axis })
    }

    fn parameters(&self, b: &Builder<'c>) -> Result<(Val<'c>, Option<Val<'c>>)> {
        let zero = self.zero.as_ref().map(|zero| zero.shaped(b, &self.dims)).transpose()?;
        Ok((self.scale.shaped(b, &self.dims)?, zero))
    }

    /// The real numbers.
    fn reals(&self, b: &Builder<'c>) -> Result<Val<'c>> {
        let (scale, zero) = self.parameters(b)?;
        dequantize(b, self.value, scale, zero, self.axis)
    }

    /// Real numbers as such integers.
    fn integers(&self, b: &Builder<'c>, reals: Val<'c>) -> Result<Val<'c>> {
        let (scale, zero) = self.parameters(b)?;
        let attributes = graph::QuantizeLinearAttrs { axis: self.axis, ..Default::default() };
        Ok(graph::QuantizeLinear::build(b, reals, scale, zero, attributes)?.y())
    }
}

fn dequantize<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    scale: Val<'c>,
    zero: Option<Val<'c>>,
    axis: i64,
) -> Result<Val<'c>> {
    let attributes = graph::DequantizeLinearAttrs { axis, ..Default::default() };
    Ok(graph::DequantizeLinear::build(b, value, scale, zero, attributes)?.y())
}

/// The real numbers of a bias in integers, whose scales are those of the sums that it is added to.
fn bias<'c>(
    b: &Builder<'c>,
    bias: Val<'c>,
    x: &Quantized<'c>,
    w: &Quantized<'c>,
) -> Result<Val<'c>> {
    let x = x.scale.elements.float(0) as f32;
    let list = w.scale.elements.floats().into_iter().map(|w| x * w as f32);
    let bytes: Vec<u8> = list.flat_map(f32::to_ne_bytes).collect();
    let ty = b.tensor(&ir::dims(w.scale.value.r#type()), b.f32());
    let scale = Parameter::of(graph::Constant::build(b, attribute::dense(ty, &bytes)?)?.y());
    let scale = scale.ok_or_else(|| Error::internal("a constant without elements"))?;
    let dims: Vec<i64> = if scale.len() == 1 { vec![] } else { vec![scale.len() as i64] };
    let scale = scale.shaped(b, &dims)?;
    dequantize(b, bias, scale, None, 0)
}

fn conv<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(layer) = graph::QLinearConv::of(op) else { return Ok(false) };
    let x = Quantized::of(layer.x(), layer.x_scale(), Some(layer.x_zero_point()), None);
    let w = Quantized::of(layer.w(), layer.w_scale(), Some(layer.w_zero_point()), Some(0));
    let y = Quantized::of(layer.y(), layer.y_scale(), Some(layer.y_zero_point()), None);
    let (Some(x), Some(w), Some(y)) = (x, w, y) else { return Ok(false) };
    let b = r.before(op)?;
    let attributes = graph::ConvAttrs {
        strides: layer.strides(),
        pads: layer.pads(),
        dilations: layer.dilations(),
        group: layer.group(),
    };
    let bias = layer.b().map(|list| bias(&b, list, &x, &w)).transpose()?;
    let sums = graph::Conv::build(&b, x.reals(&b)?, w.reals(&b)?, bias, attributes)?;
    let integers = y.integers(&b, sums.y())?;
    put(r, op, sums.op(), (op, integers))
}

fn matmul<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(layer) = graph::QLinearMatMul::of(op) else { return Ok(false) };
    let rank = ir::dims(layer.b().r#type()).len() as i64;
    let columns = (rank > 1).then_some(rank - 1);
    let rows = |value: Val<'c>| {
        (ir::dims(value.r#type()).len() as i64).checked_sub(2).filter(|axis| *axis >= 0)
    };
    let (a_rows, y_rows) = (rows(layer.a()), rows(layer.y()));
    let left = Quantized::of(layer.a(), layer.a_scale(), Some(layer.a_zero_point()), a_rows);
    let right = Quantized::of(layer.b(), layer.b_scale(), Some(layer.b_zero_point()), columns);
    let y = Quantized::of(layer.y(), layer.y_scale(), Some(layer.y_zero_point()), y_rows);
    let (Some(left), Some(right), Some(y)) = (left, right, y) else { return Ok(false) };
    let b = r.before(op)?;
    let sums = graph::MatMul::build(&b, left.reals(&b)?, right.reals(&b)?)?;
    let integers = y.integers(&b, sums.y())?;
    put(r, op, sums.op(), (op, integers))
}

/// The result of sums of integers: the numbers that they stand for, by scales that are known.
struct Scaled<'c> {
    /// 32-bit integers that are added to the sums of each channel.
    bias: Option<Parameter<'c>>,
    /// One scale for all channels, or one for each.
    scale: Parameter<'c>,
    /// The operation with the real numbers as its result.
    last: Op<'c>,
}

impl<'c> Scaled<'c> {
    /// Follows the only use of each value from the sums, whose channels lie along `axis`.
    fn of(sums: Val<'c>, axis: usize) -> Option<Self> {
        let rank = ir::dims(sums.r#type()).len();
        let channels = *ir::dims(sums.r#type()).get(axis).filter(|size| **size > 0)?;
        // A constant with one number, or one for each channel when it is broadcast to the sums.
        let along = |value: Val<'c>| {
            let (dims, elements) = (ir::dims(value.r#type()), Elements::of_value(value)?);
            let place = rank.checked_sub(dims.len())?;
            let long = |(at, size): (usize, &i64)| *size != 1 && at + place != axis;
            let fits = dims.len() <= rank && !dims.iter().enumerate().any(long);
            (fits && !elements.bytes().is_empty()).then_some(Parameter { value, elements })
        };
        let (mut value, mut user) = only_use(sums)?;
        let mut bias = None;
        if let Some(add) = graph::Add::of(user) {
            let list = along(if add.a() == value { add.b() } else { add.a() })?;
            let is_list = i64::try_from(list.len()) == Ok(channels);
            if !is_list || ir::dims(add.y().r#type()) != ir::dims(sums.r#type()) {
                return None;
            }
            bias = Some(list);
            (value, user) = only_use(add.y())?;
        }
        let scale = if let Some(cast) = graph::Cast::of(user) {
            (value, user) = only_use(cast.y())?;
            let product = graph::Mul::of(user)?;
            along(if product.a() == value { product.b() } else { product.a() })?
        } else {
            let product = graph::DequantizeLinear::of(user).filter(|op| op.x() == value)?;
            let is_zero =
                |zero| Elements::of_value(zero).is_some_and(|e| e.ints().iter().all(|z| *z == 0));
            let scale = Parameter::of(product.scale())?;
            let is_along = scale.len() == 1 || normalize_axis(product.axis(), rank) == axis;
            if product.block_size() != 0 || !product.zero_point().is_none_or(is_zero) || !is_along {
                return None;
            }
            scale
        };
        let real = ir::result0(user).ok()?;
        let known = scale.len() == 1 || i64::try_from(scale.len()) == Ok(channels);
        let single = |value: Val<'c>| Element::of(value.r#type()) == Some(Element::F32);
        let same = ir::dims(real.r#type()) == ir::dims(sums.r#type());
        (known && same && single(real) && single(scale.value)).then_some(Self {
            bias,
            scale,
            last: user,
        })
    }

    /// The layer's operands: the image as it is, the weights with all of the scale, and the bias as a list.
    fn operands(
        &self,
        b: &Builder<'c>,
        (x, x_zero): (Val<'c>, &Option<Parameter<'c>>),
        (w, w_zero): (Val<'c>, &Option<Parameter<'c>>),
        axis: i64,
    ) -> Result<(Val<'c>, Val<'c>, Option<Val<'c>>)> {
        let one = b.tensor(&[], b.f32());
        let one = graph::Constant::build(b, attribute::dense(one, &1_f32.to_ne_bytes())?)?.y();
        let zero = x_zero.as_ref().map(|zero| zero.shaped(b, &[])).transpose()?;
        let image = dequantize(b, x, one, zero, 1)?;
        let zeros = w_zero.as_ref().map_or(1, Parameter::len);
        let list = |count: usize| if count == 1 { vec![] } else { vec![count as i64] };
        let dims = list(self.scale.len().max(zeros));
        let zero = w_zero.as_ref().map(|zero| zero.shaped(b, &dims)).transpose()?;
        let weights = dequantize(b, w, self.scale.shaped(b, &dims)?, zero, axis)?;
        let bias = match &self.bias {
            Some(bias) => {
                let integers = bias.shaped(b, &[bias.len() as i64])?;
                let scale = self.scale.shaped(b, &list(self.scale.len()))?;
                Some(dequantize(b, integers, scale, None, 0)?)
            }
            None => None,
        };
        Ok((image, weights, bias))
    }
}

/// The result of sums of integers, one of which was quantized in the network: the numbers that they stand for.
struct Dynamic<'c> {
    /// The computed scale.
    image: Val<'c>,
    /// One scale for all channels, or one for each.
    weights: Parameter<'c>,
    /// The operation with the real numbers as its result.
    last: Op<'c>,
}

impl<'c> Dynamic<'c> {
    /// Follows the only use of each value from the sums, whose channels lie along the last dimension, `axis`: a cast, and
    /// a product with that of both scales.
    fn of(sums: Val<'c>, axis: usize) -> Option<Self> {
        let channels = *ir::dims(sums.r#type()).get(axis)?;
        let (value, user) = only_use(sums)?;
        let cast = graph::Cast::of(user).filter(|cast| cast.x() == value)?;
        let (value, last) = only_use(cast.y())?;
        let product = graph::Mul::of(last)?;
        let scales = if product.a() == value { product.b() } else { product.a() };
        let scales = edit::defining_op(scales).and_then(graph::Mul::of)?;
        let single = |value: Val<'c>| Element::of(value.r#type()) == Some(Element::F32);
        let (image, weights) = match Elements::of_value(scales.a()) {
            Some(_) => (scales.b(), scales.a()),
            None => (scales.a(), scales.b()),
        };
        let weights = Parameter::of(weights)?;
        let fits = weights.len() == 1 || i64::try_from(weights.len()) == Ok(channels);
        let is_scalar = ir::dims(image.r#type()).is_empty() && Elements::of_value(image).is_none();
        let same = ir::dims(product.y().r#type()) == ir::dims(sums.r#type());
        let singles = [product.y(), image, weights.value].into_iter().all(single);
        (fits && is_scalar && same && singles).then_some(Self { image, weights, last })
    }

    fn matmul(
        &self,
        r: &mut Rewriter<'_, 'c>,
        op: Op<'c>,
        layer: &graph::MatMulInteger<'c>,
    ) -> Result<bool> {
        let is_scalar = |zero: Val<'c>| ir::dims(zero.r#type()).is_empty();
        let Some(zero) = known_zero(layer.b_zero_point(), true) else { return Ok(false) };
        if !layer.a_zero_point().is_none_or(is_scalar) {
            return Ok(false);
        }
        let b = r.before(self.last)?.with_location(op.location());
        let image = dequantize(&b, layer.a(), self.image, layer.a_zero_point(), 1)?;
        let count = self.weights.len().max(zero.as_ref().map_or(1, Parameter::len));
        let dims = if count == 1 { vec![] } else { vec![count as i64] };
        let zero = zero.as_ref().map(|zero| zero.shaped(&b, &dims)).transpose()?;
        let axis = ir::dims(layer.b().r#type()).len() as i64 - 1;
        let weights = dequantize(&b, layer.b(), self.weights.shaped(&b, &dims)?, zero, axis)?;
        let reals = graph::MatMul::build(&b, image, weights)?;
        put(r, op, reals.op(), (self.last, reals.y()))
    }
}

/// A value with the operation that uses it, if it is only one, once.
fn only_use<'c>(value: Val<'c>) -> Option<(Val<'c>, Op<'c>)> {
    let users = ir::users(value);
    let [user] = users[..] else { return None };
    let times = ir::operands(user).iter().filter(|used| **used == value).count();
    (times == 1).then_some((value, user))
}

/// A zero point that is not there, or known: one, or a list if there may be one. None if it is another.
fn known_zero<'c>(zero: Option<Val<'c>>, list: bool) -> Option<Option<Parameter<'c>>> {
    let Some(zero) = zero else { return Some(None) };
    let zero = Parameter::of(zero).filter(|zero| list || zero.len() == 1)?;
    Some(Some(zero))
}

fn conv_sums<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(layer) = graph::ConvInteger::of(op) else { return Ok(false) };
    let zeros = (known_zero(layer.x_zero_point(), false), known_zero(layer.w_zero_point(), true));
    let (Some(scaled), (Some(x_zero), Some(w_zero))) = (Scaled::of(layer.y(), 1), zeros) else {
        return Ok(false);
    };
    let b = r.before(scaled.last)?.with_location(op.location());
    let (x, w, bias) = scaled.operands(&b, (layer.x(), &x_zero), (layer.w(), &w_zero), 0)?;
    let attributes = graph::ConvAttrs {
        strides: layer.strides(),
        pads: layer.pads(),
        dilations: layer.dilations(),
        group: layer.group(),
    };
    let reals = graph::Conv::build(&b, x, w, bias, attributes)?;
    put(r, op, reals.op(), (scaled.last, reals.y()))
}

fn matmul_sums<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(layer) = graph::MatMulInteger::of(op) else { return Ok(false) };
    let rank = ir::dims(layer.b().r#type()).len();
    let columns = ir::dims(layer.y().r#type()).len().wrapping_sub(1);
    if let Some(dynamic) = Dynamic::of(layer.y(), columns).filter(|_| rank >= 2) {
        return dynamic.matmul(r, op, &layer);
    }
    let zeros = (known_zero(layer.a_zero_point(), false), known_zero(layer.b_zero_point(), true));
    let (Some(scaled), (Some(a_zero), Some(b_zero))) = (Scaled::of(layer.y(), columns), zeros)
    else {
        return Ok(false);
    };
    // A product has no bias, but that of two plain matrices.
    let is_plain = columns == 1 && rank == 2 && ir::dims(layer.a().r#type()).len() == 2;
    if rank < 2 || scaled.bias.is_some() && !is_plain {
        return Ok(false);
    }
    let b = r.before(scaled.last)?.with_location(op.location());
    let axis = rank as i64 - 1;
    let (x, w, bias) = scaled.operands(&b, (layer.a(), &a_zero), (layer.b(), &b_zero), axis)?;
    let reals = match bias {
        Some(bias) => graph::Gemm::build(&b, x, w, Some(bias), graph::GemmAttrs::default())?.y(),
        None => graph::MatMul::build(&b, x, w)?.y(),
    };
    let made = edit::defining_op(reals).ok_or_else(|| Error::internal("a product of nothing"))?;
    put(r, op, made, (scaled.last, reals))
}

/// Passes the number of the form on to the layer, and puts a value in the place of what the last operation gives.
fn put<'c>(
    r: &mut Rewriter<'_, 'c>,
    op: Op<'c>,
    layer: Op<'c>,
    (last, value): (Op<'c>, Val<'c>),
) -> Result<bool> {
    if let Some(form) = ir::attr(op, FORM) {
        r.set_attr(layer, FORM, form)?;
    }
    r.replace(last, &[value])?;
    Ok(true)
}
