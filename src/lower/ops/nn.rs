//! Convolution and its transpose, for any rank, groups, dilations and padding.
//!
//! Loops run along rows of the result innermost: for each row, each filter tap adds a scaled row
//! of the input.

use super::{
    Table,
    matmul::{finish, multiply_add},
    pool,
};
use crate::{
    Result,
    ir::{self, Builder, Op, Val},
    lower::{
        Lowering,
        generic::{Aff, Iter, c, d, fill, generic},
        scalar::{narrow, wide_type, widen},
        shape::{pad, reshape},
        types::with_element,
    },
};
use melior::ir::{Type, ValueLike};

/// This family.
pub const TABLE: Table = &[
    ("conv", lower_conv),
    ("conv_transpose", lower_conv_transpose),
    ("max_pool", pool::lower_max_pool),
    ("max_pool_with_indices", pool::lower_max_pool_with_indices),
    ("average_pool", pool::lower_average_pool),
    ("lp_pool", pool::lower_lp_pool),
    ("global_average_pool", pool::lower_global),
    ("global_max_pool", pool::lower_global),
    ("global_lp_pool", pool::lower_global),
];

/// The window attributes of a convolution or pool, one number per spatial dimension.
pub struct Window {
    /// Size of the window.
    pub kernel: Vec<i64>,
    /// Distance of two windows.
    pub strides: Vec<i64>,
    /// Distance of two elements of a window.
    pub dilations: Vec<i64>,
    /// Padding before the first element; negative cuts off.
    pub begin: Vec<i64>,
    /// Padding after the last element.
    pub end: Vec<i64>,
}

impl Window {
    /// Reads the attributes of an op.
    pub fn of(lowering: &Lowering<'_>, kernel: &[i64]) -> Self {
        let rank = kernel.len();
        let mut begin = lowering.ints("pads", 2 * rank, 0);
        begin.resize(2 * rank, 0);
        let end = begin.split_off(rank);
        Self {
            kernel: kernel.to_vec(),
            strides: lowering.ints("strides", rank, 1),
            dilations: lowering.ints("dilations", rank, 1),
            begin,
            end,
        }
    }

    /// Number of spatial dimensions.
    pub fn rank(&self) -> usize {
        self.kernel.len()
    }

    /// Elements from the first of a window to the last, in dimension `i`.
    pub fn extent(&self, i: usize) -> i64 {
        self.dilations[i] * (self.kernel[i] - 1) + 1
    }

    /// Position in the padded input of element `k` of window `o` in dimension `i`; both are loops.
    pub fn position(&self, i: usize, o: usize, k: usize) -> Aff {
        d(o) * self.strides[i] + d(k) * self.dilations[i]
    }

    /// `x` (two dimensions and then the spatial ones) with padding, as far as `output` windows
    /// reach.
    pub fn pad<'c>(
        &self,
        b: &Builder<'c>,
        x: Val<'c>,
        output: &[i64],
        padding: Val<'c>,
    ) -> Result<Val<'c>> {
        let dims = ir::dims(x.r#type());
        let (mut low, mut high) = (vec![0, 0], vec![0, 0]);
        for i in 0..self.rank() {
            let reach = (output[i] - 1) * self.strides[i] + self.extent(i);
            low.push(self.begin[i]);
            // What no window reaches need not be copied when something is added anyway.
            high.push((reach - dims[i + 2] - self.begin[i]).max(0));
        }
        pad(b, x, &low, &high, padding)
    }
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

fn lower_conv<'c>(lowering: &Lowering<'c>, _: Op<'c>, inputs: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let window = Window::of(lowering, &ir::dims(inputs[1].r#type())[2..]);
    let element = ir::element_type(inputs[0].r#type());
    let init = initial(lowering, inputs.get(2).copied(), ty, wide_type(b, element))?;
    let padding = b.constant(element, 0.0)?;
    let groups = lowering.int("group", 1);
    let operands = [inputs[0], inputs[1], init];
    let value = convolve(lowering, &window, groups, operands, padding, |b, args| {
        multiply_add(b, args[0], args[1], args[2])
    })?;
    Ok(vec![finish(lowering, value, ty)?])
}

/// Every input element adds a scaled filter to the result; what `pads` covers is cut off.
fn lower_conv_transpose<'c>(
    lowering: &Lowering<'c>,
    _: Op<'c>,
    inputs: &[Val<'c>],
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let output = ir::dims(ty);
    let (x_dims, w_dims) = (ir::dims(inputs[0].r#type()), ir::dims(inputs[1].r#type()));
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
    let sum = spread(lowering, &window, [inputs[0], inputs[1], sum])?;
    let sum = pad(b, sum, &low, &high, zero)?;
    let Some(bias) = inputs.get(2) else {
        return Ok(vec![finish(lowering, sum, ty)?]);
    };
    let mut dims = ir::dims(bias.r#type());
    dims.resize(output.len() - 1, 1);
    let bias = reshape(b, *bias, &dims)?;
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
    [x, w, sum]: [Val<'c>; 3],
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let dims = ir::dims(sum.r#type());
    let groups = lowering.int("group", 1);
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
