//! Products and convolutions of quantized tensors: exact sums in i32, requantized with one f32
//! multiplication by `x_scale * w_scale / y_scale` and rounding to even.

use super::quant::matrix_parameter;
use crate::{
    Result,
    ir::{
        self, Builder, Val,
        graph::{
            ConvIntegerAdaptor, MatMulIntegerAdaptor, QLinearConvAdaptor, QLinearMatMulAdaptor,
        },
    },
    lower::{
        Aff, Iter, Lowering,
        generic::{Access, broadcast, c, d, fill, generic, identity, parallel},
        operands::only_element,
        scalar::{
            Quantized, convert,
            float::{div, mul},
        },
        shape,
    },
};
use melior::ir::ValueLike;

/// A quantized tensor and its zero point.
struct Tensor<'c> {
    value: Val<'c>,
    zero: Option<Val<'c>>,
    elements: Quantized<'c>,
}

impl<'c> Tensor<'c> {
    /// The tensor `value` in place of `operand`, the one of the graph; its zero point is the value
    /// `zero`.
    fn new(
        l: &Lowering<'c>,
        value: Val<'c>,
        operand: Val<'c>,
        zero: Option<Val<'c>>,
    ) -> Result<Self> {
        let elements = Quantized::of_type(l, operand.r#type())?;
        Ok(Self { value, zero, elements })
    }

    /// The tensor with a dimension of size 1 added if it is a vector.
    fn into_matrix(mut self, b: &Builder<'c>, column: bool) -> Result<Self> {
        if let [size] = ir::dims(self.value.r#type())[..] {
            let to = if column { [size, 1] } else { [1, size] };
            self.value = shape::reshape(b, self.value, &to)?;
        }
        Ok(self)
    }
}

/// A zero point in the loops of a sum: known outside of them, or loaded by them.
enum Zero<'c> {
    None,
    Scalar(Val<'c>),
    Loaded(Access<'c>),
}

impl<'c> Zero<'c> {
    fn new(b: &Builder<'c>, zero: Option<Access<'c>>) -> Result<Self> {
        Ok(match zero {
            None => Self::None,
            Some((zero, _)) if ir::dims(zero.r#type()).iter().all(|size| *size == 1) => {
                Self::Scalar(only_element(b, zero)?)
            }
            Some(access) => Self::Loaded(access),
        })
    }
}

/// The sums of products of `x` and `w` less their zero points. `to` is the shape of the sums. The
/// `reduced` loops that sum are in front of the one over the last dimension of that. The innermost
/// loop thus runs over neighbouring elements and can use vectors.
fn sum_of_products<'c>(
    b: &Builder<'c>,
    to: &[i64],
    reduced: usize,
    (x, x_map, x_zero): (&Tensor<'c>, Vec<Aff>, Zero<'c>),
    (w, w_map, w_zero): (&Tensor<'c>, Vec<Aff>, Zero<'c>),
) -> Result<Val<'c>> {
    let wide = b.int(32);
    let start = fill(b, b.tensor(to, wide), b.constant_int(wide, 0)?)?;
    let mut loops = vec![Iter::Parallel; to.len() - 1];
    loops.extend(vec![Iter::Reduction; reduced]);
    loops.push(Iter::Parallel);
    let mut ins = vec![(x.value, x_map), (w.value, w_map)];
    for zero in [&x_zero, &w_zero] {
        if let Zero::Loaded(access) = zero {
            ins.push(access.clone());
        }
    }
    let out = (start, result_loops(to.len(), reduced));
    let sums = generic(b, &loops, &ins, &[out], |b, loaded| {
        let mut rest = loaded[2..].iter().copied();
        let mut zero = |zero| match zero {
            Zero::None => None,
            Zero::Scalar(value) => Some(value),
            Zero::Loaded(_) => rest.next(),
        };
        let (x_zero, w_zero) = (zero(x_zero), zero(w_zero));
        let left = x.elements.centered(b, loaded[0], x_zero, wide)?;
        let right = w.elements.centered(b, loaded[1], w_zero, wide)?;
        let product = b.binary("arith.muli", left, right)?;
        Ok(vec![b.binary("arith.addi", loaded[loaded.len() - 1], product)?])
    })?;
    sums.first().copied().ok_or_else(|| crate::Error::internal("a sum without a result"))
}

/// The loops over the dimensions of a result in [`sum_of_products`].
fn result_loops(rank: usize, reduced: usize) -> Vec<Aff> {
    (0..rank - 1).chain([rank - 1 + reduced]).map(d).collect()
}

/// The product of matrices as of numpy.matmul, with its rows and columns even where an operand is
/// a vector.
fn matmul<'c>(l: &Lowering<'c>, x: Tensor<'c>, w: Tensor<'c>) -> Result<Val<'c>> {
    let (x, w) = (x.into_matrix(&l.b, false)?, w.into_matrix(&l.b, true)?);
    let (left, right) = (ir::dims(x.value.r#type()), ir::dims(w.value.r#type()));
    let rank = left.len().max(right.len());
    let size = |dims: &[i64], axis: usize| {
        let offset = rank - dims.len();
        if axis < offset { 1 } else { dims[axis - offset] }
    };
    let mut to: Vec<_> = (0..rank - 2)
        .map(|axis| match (size(&left, axis), size(&right, axis)) {
            (1, other) | (other, 1) => other,
            (same, _) => same,
        })
        .collect();
    let mut x_map = broadcast(&left[..left.len() - 2], &to);
    let mut w_map = broadcast(&right[..right.len() - 2], &to);
    to.extend([left[left.len() - 2], right[right.len() - 1]]);
    let loops = result_loops(rank, 1);
    x_map.extend([d(rank - 2), d(rank - 1)]);
    w_map.extend([d(rank - 1), d(rank)]);
    let zero = |zero: Option<Val<'c>>, per_column| {
        let access =
            zero.map(|zero| (zero, matrix_parameter(&ir::dims(zero.r#type()), &loops, per_column)));
        Zero::new(&l.b, access)
    };
    let (x_zero, w_zero) = (zero(x.zero, false)?, zero(w.zero, true)?);
    sum_of_products(&l.b, &to, 1, (&x, x_map, x_zero), (&w, w_map, w_zero))
}

fn matmul_integer<'c>(l: &Lowering<'c>, op: MatMulIntegerAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let a = Tensor::new(l, op.a(), op.view().a(), op.a_zero_point())?;
    let b = Tensor::new(l, op.b(), op.view().b(), op.b_zero_point())?;
    let sums = matmul(l, a, b)?;
    Ok(vec![shape::reshape(&l.b, sums, &l.result_dims(0)?)?])
}

/// The convolution with its result `[N, M, ...]`.
fn conv<'c>(l: &Lowering<'c>, x: Tensor<'c>, w: Tensor<'c>) -> Result<Val<'c>> {
    let b = &l.b;
    let (from, kernel) = (ir::dims(x.value.r#type()), ir::dims(w.value.r#type()));
    let to = l.result_dims(0)?;
    let spatial = from.len() - 2;
    let group = l.int("group", 1).max(1);
    let (strides, dilations) = (l.ints("strides", spatial, 1), l.ints("dilations", spatial, 1));
    let x = Tensor { value: pad(l, &x, spatial)?, ..x };
    let padded = ir::dims(x.value.r#type());
    let split = |dims: &[i64], axis: usize| {
        let mut split = dims.to_vec();
        split.splice(axis..=axis, [group, dims[axis] / group]);
        split
    };
    let x = Tensor { value: shape::reshape(b, x.value, &split(&padded, 1))?, ..x };
    let w = Tensor { value: shape::reshape(b, w.value, &split(&kernel, 0))?, ..w };
    // Loops: n, group, filter, position, but for its last coordinate; channel, tap; the latter.
    let result = result_loops(3 + spatial, 1 + spatial);
    let channel = 2 + spatial;
    let mut x_map = vec![d(0), d(1), d(channel)];
    let mut w_map = vec![d(1), d(2), d(channel)];
    for i in 0..spatial {
        x_map.push(result[3 + i].clone() * strides[i] + d(channel + 1 + i) * dilations[i]);
        w_map.push(d(channel + 1 + i));
    }
    let x_zero = Zero::new(b, x.zero.map(|zero| (zero, vec![])))?;
    let per_filter = |zero: Val<'c>| -> Result<Access<'c>> {
        if ir::dims(zero.r#type()).iter().product::<i64>() == 1 {
            return Ok((zero, vec![]));
        }
        Ok((shape::reshape(b, zero, &[group, kernel[0] / group])?, vec![d(1), d(2)]))
    };
    let w_zero = Zero::new(b, w.zero.map(per_filter).transpose()?)?;
    let sums =
        sum_of_products(b, &split(&to, 1), 1 + spatial, (&x, x_map, x_zero), (&w, w_map, w_zero))?;
    shape::reshape(b, sums, &to)
}

/// x with its zero point, which stands for 0, around it.
fn pad<'c>(l: &Lowering<'c>, x: &Tensor<'c>, spatial: usize) -> Result<Val<'c>> {
    let pads = l.ints("pads", 2 * spatial, 0);
    if pads.iter().all(|pad| *pad == 0) {
        return Ok(x.value);
    }
    let zero = match x.zero {
        Some(zero) => only_element(&l.b, zero)?,
        None => l.b.constant_int(x.elements.element, 0)?,
    };
    let around = |pads: &[i64]| [&[0, 0], pads].concat();
    shape::pad(&l.b, x.value, &around(&pads[..spatial]), &around(&pads[spatial..]), zero)
}

fn conv_integer<'c>(l: &Lowering<'c>, op: ConvIntegerAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = Tensor::new(l, op.x(), op.view().x(), op.x_zero_point())?;
    let w = Tensor::new(l, op.w(), op.view().w(), op.w_zero_point())?;
    Ok(vec![conv(l, x, w)?])
}

/// Parameters that turn sums into elements of y, each with the map that reads it in loops over the
/// sums.
struct Requantize<'c> {
    x_scale: Access<'c>,
    w_scale: Access<'c>,
    y_scale: Access<'c>,
    y_zero: Access<'c>,
    bias: Option<Access<'c>>,
}

fn requantize<'c>(l: &Lowering<'c>, sums: Val<'c>, parameters: Requantize<'c>) -> Result<Val<'c>> {
    let dims = ir::dims(sums.r#type());
    let to = Quantized::of_result(l, 0)?;
    let Requantize { x_scale, w_scale, y_scale, y_zero, bias } = parameters;
    let mut ins = vec![(sums, identity(dims.len())), x_scale, w_scale, y_scale, y_zero];
    ins.extend(bias);
    parallel(&l.b, l.b.tensor(&dims, to.element), &ins, |b, args| {
        let single = |x| convert(b, x, false, b.f32(), false);
        let scale = mul(b, single(args[1])?, single(args[2])?)?;
        let scale = div(b, scale, single(args[3])?)?;
        let sum = match args.get(5) {
            Some(bias) => b.binary("arith.addi", args[0], *bias)?,
            None => args[0],
        };
        to.saturate(b, mul(b, single(sum)?, scale)?, Some(args[4]))
    })
}

fn qlinear_matmul<'c>(l: &Lowering<'c>, op: QLinearMatMulAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let a = Tensor::new(l, op.a(), op.view().a(), Some(op.a_zero_point()))?;
    let b = Tensor::new(l, op.b(), op.view().b(), Some(op.b_zero_point()))?;
    let sums = matmul(l, a, b)?;
    let loops = identity(ir::dims(sums.r#type()).len());
    let read = |value: Val<'c>, per_column| {
        (value, matrix_parameter(&ir::dims(value.r#type()), &loops, per_column))
    };
    let y = requantize(
        l,
        sums,
        Requantize {
            x_scale: read(op.a_scale(), false),
            w_scale: read(op.b_scale(), true),
            y_scale: read(op.y_scale(), false),
            y_zero: read(op.y_zero_point(), false),
            bias: None,
        },
    )?;
    Ok(vec![shape::reshape(&l.b, y, &l.result_dims(0)?)?])
}

fn qlinear_conv<'c>(l: &Lowering<'c>, op: QLinearConvAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = Tensor::new(l, op.x(), op.view().x(), Some(op.x_zero_point()))?;
    let w = Tensor::new(l, op.w(), op.view().w(), Some(op.w_zero_point()))?;
    let sums = conv(l, x, w)?;
    let read = |value: Val<'c>| {
        let map = match ir::dims(value.r#type())[..] {
            [] => vec![],
            [1] => vec![c(0)],
            _ => vec![d(1)],
        };
        (value, map)
    };
    let y = requantize(
        l,
        sums,
        Requantize {
            x_scale: read(op.x_scale()),
            w_scale: read(op.w_scale()),
            y_scale: read(op.y_scale()),
            y_zero: read(op.y_zero_point()),
            bias: op.b().map(read),
        },
    )?;
    Ok(vec![y])
}

super::lowerings! {
    ConvInteger => conv_integer,
    MatMulInteger => matmul_integer,
    QLinearConv => qlinear_conv,
    QLinearMatMul => qlinear_matmul,
}
