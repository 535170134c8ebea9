//! Linear quantization.
//!
//! Real numbers are f32, or f64 where 32-bit integers take part. Rounding is to nearest, ties to
//! even; NaN quantizes to the lowest integer.

use crate::{
    Result,
    ir::{
        self, Builder, OpSpec, Val,
        graph::{
            DequantizeLinearAdaptor, DynamicQuantizeLinearAdaptor, LookupAdaptor,
            QuantizeLinearAdaptor,
        },
        types::with_element,
    },
    lower::{
        Aff, Iter, Lowering,
        generic::{Access, c, d, generic, identity, loop_index, parallel},
        operands::only_element,
        scalar::{
            Quantized, convert, dequantize,
            float::{add, div, greater, lesser, mul, sub},
            lookup as lookup_element,
            small_float::encode,
        },
        shape,
    },
};
use melior::ir::{Type, ValueLike};

/// Access to a scale or zero point in the loops over the tensor that it belongs to.
enum Parameter<'c> {
    /// One for all.
    Scalar(Val<'c>),
    /// One for each position along an axis.
    PerAxis(Access<'c>),
    /// One for so many positions along an axis.
    Blocked { tensor: Val<'c>, axis: usize, size: i64 },
}

impl<'c> Parameter<'c> {
    fn new(l: &Lowering<'c>, tensor: Val<'c>, rank: usize) -> Result<Self> {
        let dims = ir::dims(tensor.r#type());
        let size = l.int("block_size", 0);
        if size > 0 {
            return Ok(Self::Blocked { tensor, axis: l.axis("axis", 1, rank), size });
        }
        if dims.iter().product::<i64>() == 1 {
            return Ok(Self::Scalar(only_element(&l.b, tensor)?));
        }
        Ok(Self::PerAxis((tensor, vec![d(l.axis("axis", 1, rank))])))
    }

    /// The access that the loops themselves load; none for parameters that are read otherwise.
    fn access(&self) -> Option<Access<'c>> {
        match self {
            Self::PerAxis(access) => Some(access.clone()),
            _ => None,
        }
    }

    /// The element in the body of the loops; `loaded` are the elements of the accesses.
    fn element(
        &self,
        b: &Builder<'c>,
        loaded: &mut std::slice::Iter<'_, Val<'c>>,
    ) -> Result<Val<'c>> {
        match self {
            Self::Scalar(value) => Ok(*value),
            Self::PerAxis(_) => loaded
                .next()
                .copied()
                .ok_or_else(|| crate::Error::internal("a quantization parameter is not loaded")),
            Self::Blocked { tensor, axis, size } => {
                let rank = ir::dims(tensor.r#type()).len();
                let mut at = (0..rank).map(|dim| loop_index(b, dim)).collect::<Result<Vec<_>>>()?;
                at[*axis] = b.binary("arith.divui", at[*axis], b.index(*size)?)?;
                shape::extract(b, *tensor, &at)
            }
        }
    }
}

/// A tensor of type `ty` whose elements `body` computes from those of x, its scale, and its zero
/// point.
fn with_parameters<'c>(
    l: &Lowering<'c>,
    ty: Type<'c>,
    [x, scale]: [Val<'c>; 2],
    zero: Option<Val<'c>>,
    body: impl FnOnce(&Builder<'c>, Val<'c>, Val<'c>, Option<Val<'c>>) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let rank = ir::dims(ty).len();
    if ir::dims(ty).contains(&0) {
        return l.b.empty(ty);
    }
    let scale = Parameter::new(l, scale, rank)?;
    let zero = zero.map(|zero| Parameter::new(l, zero, rank)).transpose()?;
    let mut ins = vec![(x, identity(rank))];
    ins.extend(scale.access());
    ins.extend(zero.as_ref().and_then(Parameter::access));
    parallel(&l.b, ty, &ins, |b, loaded| {
        let mut rest = loaded[1..].iter();
        let scale = scale.element(b, &mut rest)?;
        let zero = zero.map(|zero| zero.element(b, &mut rest)).transpose()?;
        body(b, loaded[0], scale, zero)
    })
}

fn quantize_linear<'c>(
    l: &Lowering<'c>,
    op: QuantizeLinearAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    if ir::is_float(ty) {
        return quantize_to_float(l, ty, op);
    }
    let to = Quantized::of_result(l, 0)?;
    let x_is_float = ir::is_float(op.x().r#type());
    let real = if x_is_float { to.real(&l.b) } else { l.b.f64() };
    let (x_unsigned, scale_unsigned) = (l.is_unsigned(0), l.is_unsigned(1));
    let value =
        with_parameters(l, ty, [op.x(), op.scale()], op.zero_point(), |b, x, scale, zero| {
            let x = convert(b, x, x_unsigned, real, false)?;
            let scale = convert(b, scale, scale_unsigned, real, false)?;
            to.saturate(b, div(b, x, scale)?, zero)
        })?;
    Ok(vec![value])
}

fn dequantize_linear<'c>(
    l: &Lowering<'c>,
    op: DequantizeLinearAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    if ir::is_float(op.x().r#type()) {
        return dequantize_float(l, ty, op);
    }
    let from = Quantized::of_operand(l, 0)?;
    let value =
        with_parameters(l, ty, [op.x(), op.scale()], op.zero_point(), |b, x, scale, zero| {
            dequantize(b, from, x, scale, zero)
        })?;
    Ok(vec![value])
}

/// Quantization to floats of 8 or 4 bits, which round themselves; zero points are 0 by definition
/// but count.
fn quantize_to_float<'c>(
    l: &Lowering<'c>,
    ty: Type<'c>,
    op: QuantizeLinearAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let element = ir::element_type(ty);
    let (x_unsigned, scale_unsigned) = (l.is_unsigned(0), l.is_unsigned(1));
    let value =
        with_parameters(l, ty, [op.x(), op.scale()], op.zero_point(), |b, x, scale, zero| {
            let single = |x, unsigned| convert(b, x, unsigned, b.f32(), false);
            let mut value = div(b, single(x, x_unsigned)?, single(scale, scale_unsigned)?)?;
            if let Some(zero) = zero {
                value = add(b, value, single(zero, false)?)?;
            }
            encode(b, value, element, op.saturate())
        })?;
    Ok(vec![value])
}

fn dequantize_float<'c>(
    l: &Lowering<'c>,
    ty: Type<'c>,
    op: DequantizeLinearAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let element = ir::element_type(ty);
    let value =
        with_parameters(l, ty, [op.x(), op.scale()], op.zero_point(), |b, x, scale, zero| {
            let single = |x| convert(b, x, false, b.f32(), false);
            let mut value = single(x)?;
            if let Some(zero) = zero {
                value = sub(b, value, single(zero)?)?;
            }
            convert(b, mul(b, value, single(scale)?)?, false, element, false)
        })?;
    Ok(vec![value])
}

/// The lowest and highest element of an f32 tensor, or 0 if that is lower or higher.
fn range_with_zero<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<(Val<'c>, Val<'c>)> {
    let rank = ir::dims(x.r#type()).len();
    let scalar = b.tensor(&[], b.f32());
    let zero = b.constant(b.f32(), 0.0)?;
    let zero = crate::lower::generic::fill(b, scalar, zero)?;
    let nothing: Vec<Aff> = vec![];
    let found = generic(
        b,
        &vec![Iter::Reduction; rank],
        &[(x, identity(rank))],
        &[(zero, nothing.clone()), (zero, nothing)],
        |b, x| Ok(vec![lesser(b, x[1], x[0])?, greater(b, x[2], x[0])?]),
    )?;
    Ok((shape::extract(b, found[0], &[])?, shape::extract(b, found[1], &[])?))
}

fn scalar_tensor<'c>(b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
    let ty = b.tensor(&[], value.r#type());
    let spec = OpSpec { operands: &[value], results: &[ty], ..Default::default() };
    ir::result0(b.create("tensor.from_elements", spec)?)
}

fn dynamic_quantize_linear<'c>(
    l: &Lowering<'c>,
    op: DynamicQuantizeLinearAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &l.b;
    let x = op.x();
    let to = Quantized { element: b.int(8), unsigned: true, bits: 8 };
    let (low, high) = range_with_zero(b, x)?;
    let steps = b.constant(b.f32(), 255.0)?;
    let scale = div(b, sub(b, high, low)?, steps)?;
    // All elements are 0: any scale does, but 0.
    let flat = b.cmpf("oeq", high, low)?;
    let scale = b.select(flat, b.constant(b.f32(), 1.0)?, scale)?;
    let zero = sub(b, b.constant(b.f32(), 0.0)?, div(b, low, scale)?)?;
    let zero = to.saturate(b, zero, None)?;
    let rank = ir::dims(x.r#type()).len();
    let ty = with_element(x.r#type(), to.element);
    let y = parallel(b, ty, &[(x, identity(rank))], |b, x| {
        to.saturate(b, div(b, x[0], scale)?, Some(zero))
    })?;
    Ok(vec![y, scalar_tensor(b, scale)?, scalar_tensor(b, zero)?])
}

fn lookup<'c>(l: &Lowering<'c>, op: LookupAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (x, table, ty) = (op.x(), op.table(), l.result_type(0)?);
    let map = identity(ir::dims(ty).len());
    let value = parallel(&l.b, ty, &[(x, map)], |b, loaded| lookup_element(b, loaded[0], table))?;
    Ok(vec![value])
}

super::lowerings! {
    Lookup => lookup,
    DequantizeLinear => dequantize_linear,
    DynamicQuantizeLinear => dynamic_quantize_linear,
    QuantizeLinear => quantize_linear,
}

/// The map that reads a parameter of matrices, which is one for all, one per row or column, or of
/// the matrices' rank. `loops` are those over the dimensions of the product, rows and columns
/// last.
pub(super) fn matrix_parameter(dims: &[i64], loops: &[Aff], per_column: bool) -> Vec<Aff> {
    let rank = loops.len();
    if let [size] = dims {
        let axis = if per_column { rank - 1 } else { rank - 2 };
        return vec![if *size == 1 { c(0) } else { loops[axis].clone() }];
    }
    let offset = rank - dims.len().min(rank);
    dims.iter()
        .enumerate()
        .map(|(axis, size)| if *size == 1 { c(0) } else { loops[offset + axis].clone() })
        .collect()
}
