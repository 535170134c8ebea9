//! Convolution and its transpose, for any rank, groups, dilations and padding.
//!
//! Loops run along rows of the result innermost: for each row, each filter tap adds a scaled row
//! of the input.

use super::{
    matmul::{finish, multiply_add},
    pool::{self, Fold},
    window::Window,
};
use crate::{
    Result,
    ir::{
        self, Builder, Val,
        graph::{ConvAdaptor, ConvTransposeAdaptor},
        types::with_element,
    },
    lower::{
        Lowering,
        generic::{Aff, Iter, c, d, fill, generic},
        scalar::{narrow, wide_type, widen},
        shape::{pad, reshape},
    },
};
use melior::ir::{Type, ValueLike};

super::lowerings! {
    Conv => lower_conv,
    ConvTranspose => lower_conv_transpose,
    MaxPool => pool::lower_max_pool,
    MaxPoolWithIndices => pool::lower_max_pool_with_indices,
    AveragePool => pool::lower_average_pool,
    LpPool => pool::lower_lp_pool,
    GlobalAveragePool => |l, op| pool::global(l, op.x(), Fold::Mean),
    GlobalMaxPool => |l, op| pool::global(l, op.x(), Fold::Max),
    GlobalLpPool => |l, op| pool::global(l, op.x(), Fold::Power(op.p())),
}

/// A bias `[M]`, or zeros, as the tensor `[N, M, ...]` that sums start from.
fn initial<'c>(
    lowering: &Lowering<'c>,
    bias: Option<Val<'c>>,
    ty: Type<'c>,
    element: Type<'c>,
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let ty = with_element(ty, element);
    match bias {
        Some(bias) => broadcast_channels(lowering, bias, ty, |b, args| widen(b, args[0])),
        None => fill(b, ty, b.constant(element, 0.0)?),
    }
}

/// A tensor of type `ty` from a vector with one element per channel (dimension 1).
fn broadcast_channels<'c>(
    lowering: &Lowering<'c>,
    vector: Val<'c>,
    ty: Type<'c>,
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let rank = ir::dims(ty).len();
    let mut dims = ir::dims(vector.r#type());
    dims.resize(rank.saturating_sub(1).max(1), 1);
    let vector = reshape(&lowering.b, vector, &dims)?;
    lowering.elementwise(&[vector], ty, body)
}

/// `dims` with dimension `at` split into `groups` equal parts, when there are several.
fn split_groups(dims: &[i64], at: usize, groups: i64) -> Vec<i64> {
    let mut split = dims.to_vec();
    if groups > 1 {
        split[at] /= groups;
        split.insert(at, groups);
    }
    split
}

/// The convolution of `x` `[N, C, ...]` with `w` `[M, C / groups, ...]` added to `init`
/// `[N, M, ...]`. The product of two elements is added by `step`, which gets elements of x, w and
/// the sum.
pub fn convolve<'c>(
    lowering: &Lowering<'c>,
    window: &Window,
    groups: i64,
    [x, w, init]: [Val<'c>; 3],
    padding: Val<'c>,
    step: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let output = ir::dims(init.r#type());
    if output.contains(&0) || ir::dims(w.r#type()).contains(&0) {
        return Ok(init);
    }
    let x = window.pad(b, x, &output[2..], padding)?;
    let grouped = |value: Val<'c>, at| {
        let dims = split_groups(&ir::dims(value.r#type()), at, groups);
        reshape(b, value, &dims)
    };
    let rank = window.rank();
    // Loops: n, (group,) m, rows of the result, c, taps, columns of the result.
    let lead = 2 + usize::from(groups > 1);
    let channel = lead + rank - 1;
    let last = channel + rank + 1;
    let pixel = |i: usize| if i + 1 == rank { last } else { lead + i };
    let tap = |i: usize| channel + 1 + i;
    let group: Vec<Aff> = (1..lead - 1).map(d).collect();
    let of = |head: Vec<Aff>, tail: Vec<Aff>| [head, group.clone(), tail].concat();
    let mut x_map = of(vec![d(0)], vec![d(channel)]);
    x_map.extend((0..rank).map(|i| window.position(i, pixel(i), tap(i))));
    let mut w_map = of(vec![], vec![d(lead - 1), d(channel)]);
    w_map.extend((0..rank).map(|i| d(tap(i))));
    let mut y_map = of(vec![d(0)], vec![d(lead - 1)]);
    y_map.extend((0..rank).map(|i| d(pixel(i))));
    let mut loops = vec![Iter::Parallel; last + 1];
    loops[channel..last].fill(Iter::Reduction);
    let results = generic(
        b,
        &loops,
        &[(grouped(x, 1)?, x_map), (grouped(w, 0)?, w_map)],
        &[(grouped(init, 1)?, y_map)],
        |b, args| Ok(vec![step(b, args)?]),
    )?;
    reshape(b, results[0], &output)
}

fn lower_conv<'c>(lowering: &Lowering<'c>, op: ConvAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let window = Window::of(lowering, &ir::dims(op.w().r#type())[2..]);
    let element = ir::element_type(op.x().r#type());
    let init = initial(lowering, op.b(), ty, wide_type(b, element))?;
    let padding = b.constant(element, 0.0)?;
    let groups = op.group();
    let operands = [op.x(), op.w(), init];
    let value = convolve(lowering, &window, groups, operands, padding, |b, args| {
        multiply_add(b, args[0], args[1], args[2])
    })?;
    Ok(vec![finish(lowering, value, ty)?])
}

/// Every input element adds a scaled filter to the result; what `pads` covers is cut off.
fn lower_conv_transpose<'c>(
    lowering: &Lowering<'c>,
    op: ConvTransposeAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let output = ir::dims(ty);
    let (x_dims, w_dims) = (ir::dims(op.x().r#type()), ir::dims(op.w().r#type()));
    let window = Window::of(lowering, &w_dims[2..]);
    let element = wide_type(b, ir::element_type(ty));
    let zero = b.constant(element, 0.0)?;
    // The result before cutting, and how much is cut or added at the far ends.
    let mut full = output[..2].to_vec();
    let (mut low, mut high) = (vec![0, 0], vec![0, 0]);
    for i in 0..window.rank() {
        let size = window.strides[i] * (x_dims[i + 2] - 1) + window.extent(i);
        full.push(size.max(0));
        low.push(-window.begin[i]);
        high.push(output[i + 2] - (size - window.begin[i]));
    }
    let sum = fill(b, b.tensor(&full, element), zero)?;
    let sum = spread(lowering, &window, op.group(), [op.x(), op.w(), sum])?;
    let sum = pad(b, sum, &low, &high, zero)?;
    let Some(bias) = op.b() else {
        return Ok(vec![finish(lowering, sum, ty)?]);
    };
    let mut dims = ir::dims(bias.r#type());
    dims.resize(output.len() - 1, 1);
    let bias = reshape(b, bias, &dims)?;
    let value = lowering.elementwise(&[sum, bias], ty, |b, args| {
        let total = b.binary("arith.addf", args[0], widen(b, args[1])?)?;
        narrow(b, total, ir::element_type(ty))
    })?;
    Ok(vec![value])
}

/// The loops of a transposed convolution: n, (group,) c, m, taps, input positions.
fn spread<'c>(
    lowering: &Lowering<'c>,
    window: &Window,
    groups: i64,
    [x, w, sum]: [Val<'c>; 3],
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let dims = ir::dims(sum.r#type());
    if [x, w, sum].iter().any(|value| ir::dims(value.r#type()).contains(&0)) {
        return Ok(sum);
    }
    let grouped = |value: Val<'c>, at| {
        let dims = split_groups(&ir::dims(value.r#type()), at, groups);
        reshape(b, value, &dims)
    };
    let rank = window.rank();
    let lead = 1 + usize::from(groups > 1);
    let (channel, filter) = (lead, lead + 1);
    let tap = |i: usize| lead + 2 + i;
    let pixel = |i: usize| lead + 2 + rank + i;
    let group: Vec<Aff> = (1..lead).map(d).collect();
    let of = |head: Vec<Aff>, tail: Vec<Aff>| [head, group.clone(), tail].concat();
    let mut x_map = of(vec![d(0)], vec![d(channel)]);
    x_map.extend((0..rank).map(|i| d(pixel(i))));
    let mut w_map = of(vec![], vec![d(channel), d(filter)]);
    w_map.extend((0..rank).map(|i| d(tap(i))));
    let mut y_map = of(vec![d(0)], vec![d(filter)]);
    y_map.extend((0..rank).map(|i| window.position(i, pixel(i), tap(i)) + c(0)));
    // Different positions may add to one element, so only batch, group and filter are parallel.
    let mut loops = vec![Iter::Reduction; lead + 2 + 2 * rank];
    loops[..lead].fill(Iter::Parallel);
    loops[filter] = Iter::Parallel;
    let results = generic(
        b,
        &loops,
        &[(grouped(x, 1)?, x_map), (grouped(w, 0)?, w_map)],
        &[(grouped(sum, 1)?, y_map)],
        |b, args| Ok(vec![multiply_add(b, args[0], args[1], args[2])?]),
    )?;
    reshape(b, results[0], &dims)
}
