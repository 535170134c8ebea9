//! Normalizations and softmax. Statistics are computed in f32 for 16-bit floats.

use super::{
    pool::{power, root},
    reduce::{arg_extreme, extreme},
};
use crate::{
    Result,
    ir::{
        self, Builder, Val,
        graph::{
            BatchNormAdaptor, HardmaxAdaptor, LayerNormAdaptor, LayerNormWithStatsAdaptor,
            LogSoftmaxAdaptor, LpNormAdaptor, LrnAdaptor, MeanVarianceNormAdaptor, RmsNormAdaptor,
            SoftmaxAdaptor,
        },
    },
    lower::{
        Lowering,
        generic::{Iter, d, fill, generic, loop_index},
        normalize_axis,
        reduction::{keepdims, reduce},
        scalar::{
            float::{accumulate, add, arith, div, greater, mul, number, sub},
            narrow, wide_type, widen,
        },
        shape::{pad, reshape},
    },
};
use melior::ir::{Type, ValueLike};

super::lowerings! {
    BatchNorm => lower_batch_norm,
    InstanceNorm => |l, op| grouped(l, [op.x(), op.scale(), op.bias()], None),
    GroupNorm => |l, op| grouped(l, [op.x(), op.scale(), op.bias()], Some(op.num_groups())),
    LayerNorm => lower_layer_norm,
    LayerNormWithStats => lower_layer_norm_with_stats,
    RmsNorm => lower_rms_norm,
    Lrn => lower_lrn,
    MeanVarianceNorm => lower_mean_variance_norm,
    LpNorm => lower_lp_norm,
    Softmax => lower_softmax,
    LogSoftmax => lower_log_softmax,
    Hardmax => lower_hardmax,
}

/// The type of an elementwise result over `dims` in the type that is computed in.
fn wide_tensor<'c>(b: &Builder<'c>, dims: &[i64], like: Val<'c>) -> Type<'c> {
    b.tensor(dims, wide_type(b, ir::element_type(like.r#type())))
}

/// The sum over `axes` of what `term` makes of an element of each of `ins`, divided by `divisor`.
fn mean<'c>(
    lowering: &Lowering<'c>,
    axes: &[usize],
    ins: &[Val<'c>],
    divisor: i64,
    term: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let shape = ir::dims(ins[0].r#type());
    let zero = b.constant(wide_type(b, ir::element_type(ins[0].r#type())), 0.0)?;
    let sums = reduce(b, &shape, axes, ins, &[zero], |b, args| {
        let wide: Vec<_> =
            args[..ins.len()].iter().map(|arg| widen(b, *arg)).collect::<Result<_>>()?;
        Ok(vec![accumulate(b, args[ins.len()], term(b, &wide)?)?])
    })?;
    if divisor == 1 {
        return Ok(sums[0]);
    }
    lowering.elementwise(&sums, sums[0].r#type(), |b, args| {
        div(b, args[0], number(b, args[0], divisor as f64)?)
    })
}

/// Mean and `1 / sqrt(variance + epsilon)` over `axes`. The variance is the mean of squared
/// differences: the difference of means of squares loses all digits when the mean is large.
fn moments<'c>(
    lowering: &Lowering<'c>,
    x: Val<'c>,
    axes: &[usize],
    epsilon: f64,
) -> Result<(Val<'c>, Val<'c>)> {
    let shape = ir::dims(x.r#type());
    let count: i64 = axes.iter().map(|axis| shape[*axis]).product();
    let average = mean(lowering, axes, &[x], count, |_, args| Ok(args[0]))?;
    let variance = mean(lowering, axes, &[x, average], count, |b, args| {
        let difference = sub(b, args[0], args[1])?;
        mul(b, difference, difference)
    })?;
    let inverse = lowering
        .elementwise(&[variance], variance.r#type(), |b, args| inverse_root(b, args[0], epsilon))?;
    Ok((average, inverse))
}

fn inverse_root<'c>(b: &Builder<'c>, x: Val<'c>, epsilon: f64) -> Result<Val<'c>> {
    let sum = add(b, x, number(b, x, epsilon)?)?;
    div(b, number(b, x, 1.0)?, arith(b, "math.sqrt", &[sum])?)
}

/// `(x - mean) * inverse * scale + bias` for operands that broadcast to type `ty`.
fn normalize<'c>(lowering: &Lowering<'c>, operands: &[Val<'c>], ty: Type<'c>) -> Result<Val<'c>> {
    lowering.elementwise(operands, ty, |b, args| {
        let args: Vec<_> = args.iter().map(|arg| widen(b, *arg)).collect::<Result<_>>()?;
        let mut value = mul(b, sub(b, args[0], args[1])?, args[2])?;
        if let Some(scale) = args.get(3) {
            value = mul(b, value, *scale)?;
        }
        if let Some(bias) = args.get(4) {
            value = add(b, value, *bias)?;
        }
        narrow(b, value, ir::element_type(ty))
    })
}

/// A vector with one element per channel, so that it broadcasts along dimension 1 of `rank`.
fn per_channel<'c>(b: &Builder<'c>, vector: Val<'c>, rank: usize) -> Result<Val<'c>> {
    let mut dims = ir::dims(vector.r#type());
    dims.resize(rank.saturating_sub(1).max(1), 1);
    reshape(b, vector, &dims)
}

fn lower_batch_norm<'c>(
    lowering: &Lowering<'c>,
    op: BatchNormAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let rank = ir::dims(ty).len();
    let (x, scale) = (op.x(), op.scale());
    let epsilon = lowering.float("epsilon", 1e-5);
    // y = x * factor + offset, with both computed once per channel.
    let vector = wide_tensor(b, &ir::dims(scale.r#type()), x);
    let factor = lowering.elementwise(&[scale, op.var()], vector, |b, args| {
        mul(b, widen(b, args[0])?, inverse_root(b, widen(b, args[1])?, epsilon)?)
    })?;
    let offset = lowering.elementwise(&[op.bias(), op.mean(), factor], vector, |b, args| {
        sub(b, widen(b, args[0])?, mul(b, widen(b, args[1])?, args[2])?)
    })?;
    let operands = [x, per_channel(b, factor, rank)?, per_channel(b, offset, rank)?];
    let value = lowering.elementwise(&operands, ty, |b, args| {
        let value = add(b, mul(b, widen(b, args[0])?, args[1])?, args[2])?;
        narrow(b, value, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

/// Group and instance normalization: the latter has one channel per group.
fn grouped<'c>(
    lowering: &Lowering<'c>,
    [x, scale, bias]: [Val<'c>; 3],
    groups: Option<i64>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let dims = ir::dims(ty);
    let channels = dims[1];
    let groups = groups.unwrap_or(channels);
    let spatial: i64 = dims[2..].iter().product();
    let view = [dims[0], groups, channels / groups.max(1), spatial];
    let x = reshape(b, x, &view)?;
    let (average, inverse) = moments(lowering, x, &[2, 3], lowering.float("epsilon", 1e-5))?;
    let channel = |value: Val<'c>| reshape(b, value, &[groups, view[2], 1]);
    let operands = [x, average, inverse, channel(scale)?, channel(bias)?];
    let value = normalize(lowering, &operands, b.tensor(&view, ir::element_type(ty)))?;
    Ok(vec![reshape(b, value, &dims)?])
}

/// The normalized tensor, the mean, and `1 / sqrt(variance + epsilon)`, over the axes from `axis` on.
fn over_layer<'c>(
    lowering: &Lowering<'c>,
    [x, scale]: [Val<'c>; 2],
    bias: Option<Val<'c>>,
    axis: i64,
) -> Result<[Val<'c>; 3]> {
    let ty = lowering.result_type(0)?;
    let rank = ir::dims(ty).len();
    let axes: Vec<_> = (normalize_axis(axis, rank)..rank).collect();
    let (average, inverse) = moments(lowering, x, &axes, lowering.float("epsilon", 1e-5))?;
    let mut operands = vec![x, average, inverse, scale];
    operands.extend(bias);
    Ok([normalize(lowering, &operands, ty)?, average, inverse])
}

fn lower_layer_norm<'c>(
    lowering: &Lowering<'c>,
    op: LayerNormAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let [value, ..] = over_layer(lowering, [op.x(), op.scale()], op.bias(), op.axis())?;
    Ok(vec![value])
}

fn lower_layer_norm_with_stats<'c>(
    lowering: &Lowering<'c>,
    op: LayerNormWithStatsAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let [value, average, inverse] =
        over_layer(lowering, [op.x(), op.scale()], op.bias(), op.axis())?;
    let mut results = vec![value];
    for (index, value) in [(1, average), (2, inverse)] {
        let ty = lowering.result_type(index)?;
        results.push(lowering.elementwise(&[value], ty, |b, args| {
            crate::lower::scalar::convert(b, args[0], false, ir::element_type(ty), false)
        })?);
    }
    Ok(results)
}

fn lower_rms_norm<'c>(lowering: &Lowering<'c>, op: RmsNormAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = lowering.result_type(0)?;
    let shape = ir::dims(op.x().r#type());
    let axes: Vec<_> = (normalize_axis(op.axis(), shape.len())..shape.len()).collect();
    let count: i64 = axes.iter().map(|axis| shape[*axis]).product();
    let square = mean(lowering, &axes, &[op.x()], count, |b, args| mul(b, args[0], args[0]))?;
    let epsilon = lowering.float("epsilon", 1e-5);
    let inverse = lowering
        .elementwise(&[square], square.r#type(), |b, args| inverse_root(b, args[0], epsilon))?;
    let value = lowering.elementwise(&[op.x(), inverse, op.scale()], ty, |b, args| {
        let value = mul(b, widen(b, args[0])?, widen(b, args[1])?)?;
        let scale = widen(b, args[2])?;
        let value = crate::lower::scalar::convert(b, value, false, scale.r#type(), false)?;
        narrow(b, mul(b, value, scale)?, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

fn lower_lrn<'c>(lowering: &Lowering<'c>, op: LrnAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (b, x) = (&lowering.b, op.x());
    let ty = lowering.result_type(0)?;
    let dims = ir::dims(ty);
    let element = ir::element_type(ty);
    if dims.contains(&0) {
        return Ok(vec![b.empty(ty)?]);
    }
    let size = op.size();
    let view = [dims[0], dims[1], dims[2..].iter().product()];
    let x = reshape(b, x, &view)?;
    let before = (size - 1) / 2;
    // Beyond the first and last channel there is nothing to sum up.
    let [before, after] = [before, size - 1 - before].map(|reach| reach.min(dims[1] - 1));
    let zero = b.constant(element, 0.0)?;
    let padded = pad(b, x, &[0, before, 0], &[0, after, 0], zero)?;
    let wide = wide_tensor(b, &view, x);
    let sum = fill(b, wide, b.constant(ir::element_type(wide), 0.0)?)?;
    let window = b.empty(b.tensor(&[before + 1 + after], b.i1()))?;
    let loops = [Iter::Parallel, Iter::Parallel, Iter::Reduction, Iter::Parallel];
    let sums = generic(
        b,
        &loops,
        &[(padded, vec![d(0), d(1) + d(2), d(3)]), (window, vec![d(2)])],
        &[(sum, vec![d(0), d(1), d(3)])],
        |b, args| {
            let x = widen(b, args[0])?;
            Ok(vec![accumulate(b, args[2], mul(b, x, x)?)?])
        },
    )?;
    let (alpha, beta) = (lowering.float("alpha", 1e-4), lowering.float("beta", 0.75));
    let bias = lowering.float("bias", 1.0);
    let value = lowering.elementwise(&[x, sums[0]], b.tensor(&view, element), |b, args| {
        let factor = number(b, args[1], alpha / size as f64)?;
        let base = add(b, mul(b, args[1], factor)?, number(b, args[1], bias)?)?;
        let power = if beta == 0.75 {
            let root = arith(b, "math.sqrt", &[base])?;
            mul(b, root, arith(b, "math.sqrt", &[root])?)?
        } else {
            arith(b, "math.powf", &[base, number(b, base, beta)?])?
        };
        narrow(b, div(b, widen(b, args[0])?, power)?, element)
    })?;
    Ok(vec![reshape(b, value, &dims)?])
}

fn lower_mean_variance_norm<'c>(
    lowering: &Lowering<'c>,
    op: MeanVarianceNormAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let ty = lowering.result_type(0)?;
    let shape = ir::dims(ty);
    let axes: Vec<_> =
        op.axes().into_iter().map(|axis| normalize_axis(axis, shape.len())).collect();
    let count: i64 = axes.iter().map(|axis| shape[*axis]).product();
    let average = mean(lowering, &axes, &[op.x()], count, |_, args| Ok(args[0]))?;
    let variance = mean(lowering, &axes, &[op.x(), average], count, |b, args| {
        let difference = sub(b, args[0], args[1])?;
        mul(b, difference, difference)
    })?;
    let value = lowering.elementwise(&[op.x(), average, variance], ty, |b, args| {
        let deviation = arith(b, "math.sqrt", &[args[2]])?;
        let divisor = add(b, deviation, number(b, deviation, 1e-9)?)?;
        narrow(b, div(b, sub(b, widen(b, args[0])?, args[1])?, divisor)?, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

fn lower_lp_norm<'c>(lowering: &Lowering<'c>, op: LpNormAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = lowering.result_type(0)?;
    let axis = normalize_axis(op.axis(), ir::dims(ty).len());
    let p = op.p();
    let sum = mean(lowering, &[axis], &[op.x()], 1, |b, args| power(b, args[0], p))?;
    let value = lowering.elementwise(&[op.x(), sum], ty, |b, args| {
        let zero = number(b, args[1], 0.0)?;
        let quotient = div(b, widen(b, args[0])?, root(b, args[1], p)?)?;
        let value = b.select(b.cmpf("oeq", args[1], zero)?, zero, quotient)?;
        narrow(b, value, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

/// The greatest element along `axis`, which is subtracted before exponentials are taken.
fn maximum<'c>(lowering: &Lowering<'c>, x: Val<'c>, axis: usize) -> Result<Val<'c>> {
    let b = &lowering.b;
    let wide = wide_type(b, ir::element_type(x.r#type()));
    let least = extreme(b, wide, false, true)?;
    let results = reduce(b, &ir::dims(x.r#type()), &[axis], &[x], &[least], |b, args| {
        Ok(vec![greater(b, widen(b, args[0])?, args[1])?])
    })?;
    Ok(results[0])
}

fn lower_softmax<'c>(lowering: &Lowering<'c>, op: SoftmaxAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = lowering.result_type(0)?;
    let shape = ir::dims(ty);
    let axis = normalize_axis(op.axis(), shape.len());
    let max = maximum(lowering, op.x(), axis)?;
    let wide = wide_tensor(&lowering.b, &shape, op.x());
    let exp = lowering.elementwise(&[op.x(), max], wide, |b, args| {
        arith(b, "math.exp", &[sub(b, widen(b, args[0])?, args[1])?])
    })?;
    let sum = mean(lowering, &[axis], &[exp], 1, |_, args| Ok(args[0]))?;
    let inverse = lowering
        .elementwise(&[sum], sum.r#type(), |b, args| div(b, number(b, args[0], 1.0)?, args[0]))?;
    let value = lowering.elementwise(&[exp, inverse], ty, |b, args| {
        narrow(b, mul(b, args[0], args[1])?, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

fn lower_log_softmax<'c>(
    lowering: &Lowering<'c>,
    op: LogSoftmaxAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let ty = lowering.result_type(0)?;
    let axis = normalize_axis(op.axis(), ir::dims(ty).len());
    let max = maximum(lowering, op.x(), axis)?;
    let sum = mean(lowering, &[axis], &[op.x(), max], 1, |b, args| {
        arith(b, "math.exp", &[sub(b, args[0], args[1])?])
    })?;
    let log =
        lowering.elementwise(&[sum], sum.r#type(), |b, args| arith(b, "math.log", &[args[0]]))?;
    let value = lowering.elementwise(&[op.x(), max, log], ty, |b, args| {
        let value = sub(b, sub(b, widen(b, args[0])?, args[1])?, args[2])?;
        narrow(b, value, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

fn lower_hardmax<'c>(lowering: &Lowering<'c>, op: HardmaxAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let shape = ir::dims(ty);
    let axis = normalize_axis(op.axis(), shape.len());
    if shape.contains(&0) {
        return Ok(vec![b.empty(ty)?]);
    }
    let first = arg_extreme(lowering, op.x(), axis, true, false)?;
    debug_assert_eq!(ir::dims(first.r#type()), keepdims(&shape, &[axis]));
    let value = lowering.elementwise(&[first], ty, |b, args| {
        let index = b.op1("arith.index_cast", &[loop_index(b, axis)?], b.int(64))?;
        let chosen = b.cmpi("eq", index, args[0])?;
        let element = ir::element_type(ty);
        b.select(chosen, b.constant(element, 1.0)?, b.constant(element, 0.0)?)
    })?;
    Ok(vec![value])
}
