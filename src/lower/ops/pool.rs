//! Pooling: reductions over windows that slide over the spatial dimensions.

use super::{reduce::extreme, window::Window};
use crate::{
    Error, Result,
    ir::{
        self, Builder, OpSpec, Val,
        graph::{AveragePoolAdaptor, LpPoolAdaptor, MaxPoolAdaptor, MaxPoolWithIndicesAdaptor},
        types::with_element,
    },
    lower::{
        Lowering,
        generic::{Aff, Iter, d, fill, generic, loop_index},
        reduction::reduce,
        scalar::{
            float::{self, accumulate, arith, div, mul, number},
            narrow, wide_type, widen,
        },
    },
};
use melior::ir::{Type, ValueLike, attribute::DenseElementsAttribute};

/// The loops of a pool: n, c, rows of the result, window, columns of the result.
struct Loops {
    rank: usize,
}

impl Loops {
    fn count(&self) -> usize {
        2 + 2 * self.rank
    }

    /// Position of a window in dimension `i`.
    fn pixel(&self, i: usize) -> usize {
        if i + 1 == self.rank { self.count() - 1 } else { 2 + i }
    }

    /// Position inside of a window in dimension `i`.
    fn tap(&self, i: usize) -> usize {
        1 + self.rank + i
    }

    fn kinds(&self) -> Vec<Iter> {
        let mut kinds = vec![Iter::Parallel; self.count()];
        kinds[1 + self.rank..1 + 2 * self.rank].fill(Iter::Reduction);
        kinds
    }

    fn output(&self) -> Vec<Aff> {
        let mut map = vec![d(0), d(1)];
        map.extend((0..self.rank).map(|i| d(self.pixel(i))));
        map
    }
}

/// Folds each window of `x`. `padding` fills what is outside of x; `init` are the values to start
/// from, one for each result; `body` gets an element of x and the accumulators.
fn fold_windows<'c>(
    lowering: &Lowering<'c>,
    window: &Window,
    x: Val<'c>,
    padding: Val<'c>,
    init: &[Val<'c>],
    body: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let ty = lowering.result_type(0)?;
    let output = ir::dims(ty);
    let loops = Loops { rank: window.rank() };
    let mut outs = vec![];
    for scalar in init {
        outs.push((fill(b, with_element(ty, scalar.r#type()), *scalar)?, loops.output()));
    }
    if output.contains(&0) {
        return Ok(outs.into_iter().map(|(value, _)| value).collect());
    }
    let x = window.pad(b, x, &output[2..], padding)?;
    let mut x_map = vec![d(0), d(1)];
    x_map.extend((0..loops.rank).map(|i| window.position(i, loops.pixel(i), loops.tap(i))));
    // The window's loops take their bounds from a tensor that is never read.
    let shape = b.empty(b.tensor(&window.kernel, b.i1()))?;
    let shape_map = (0..loops.rank).map(|i| d(loops.tap(i))).collect();
    generic(b, &loops.kinds(), &[(x, x_map), (shape, shape_map)], &outs, |b, args| {
        let mut values = vec![args[0]];
        values.extend(&args[2..]);
        body(b, &values)
    })
}

/// Compares x with the accumulator: true if it is greater, or the first NaN.
fn ranks_above<'c>(b: &Builder<'c>, x: Val<'c>, than: Val<'c>, unsigned: bool) -> Result<Val<'c>> {
    match (ir::is_float(x.r#type()), unsigned) {
        (true, _) => float::ranks_above(b, x, than, false),
        (false, true) => b.cmpi("ugt", x, than),
        (false, false) => b.cmpi("sgt", x, than),
    }
}

/// The greater of an element and the accumulator, and NaN if either is.
fn greatest<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    than: Val<'c>,
    element: Type<'c>,
    unsigned: bool,
) -> Result<Val<'c>> {
    if ir::is_float(element) {
        return narrow(b, float::greater(b, widen(b, than)?, widen(b, x)?)?, element);
    }
    b.binary(if unsigned { "arith.maxui" } else { "arith.maxsi" }, than, x)
}

/// `graph.max_pool`.
pub fn lower_max_pool<'c>(
    lowering: &Lowering<'c>,
    op: MaxPoolAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let element = ir::element_type(op.x().r#type());
    let unsigned = lowering.is_unsigned(0);
    let least = extreme(b, element, unsigned, true)?;
    fold_windows(
        lowering,
        &Window::of(lowering, &op.kernel_shape()),
        op.x(),
        least,
        &[least],
        |b, args| Ok(vec![greatest(b, args[0], args[1], element, unsigned)?]),
    )
}

/// `graph.max_pool_with_indices`. An index of -1 marks a window without any element yet.
pub fn lower_max_pool_with_indices<'c>(
    lowering: &Lowering<'c>,
    op: MaxPoolWithIndicesAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let shape = ir::dims(op.x().r#type());
    let element = ir::element_type(op.x().r#type());
    let unsigned = lowering.is_unsigned(0);
    let least = extreme(b, element, unsigned, true)?;
    let window = Window::of(lowering, &op.kernel_shape());
    let column_major = op.storage_order() == 1;
    let none = b.constant_int(b.int(64), -1)?;
    fold_windows(lowering, &window, op.x(), least, &[least, none], |b, args| {
        let (inside, index) = flat_index(b, &window, &shape, column_major)?;
        let (x, than) = (widen(b, args[0])?, widen(b, args[1])?);
        let better = ranks_above(b, x, than, unsigned)?;
        let first = b.cmpi("slt", args[2], b.constant_int(b.int(64), 0)?)?;
        let better = b.binary("arith.ori", better, first)?;
        let better = b.binary("arith.andi", better, inside)?;
        Ok(vec![b.select(better, args[0], args[1])?, b.select(better, index, args[2])?])
    })
}

/// In the body of a pool: whether the element is inside of x, and its index in x.
fn flat_index<'c>(
    b: &Builder<'c>,
    window: &Window,
    shape: &[i64],
    column_major: bool,
) -> Result<(Val<'c>, Val<'c>)> {
    let loops = Loops { rank: window.rank() };
    let times = |x: Val<'c>, factor: i64| b.binary("arith.muli", x, b.index(factor)?);
    let plane = times(loop_index(b, 0)?, shape[1])?;
    let mut index = b.binary("arith.addi", plane, loop_index(b, 1)?)?;
    index = times(index, shape[2..].iter().product())?;
    let mut inside: Option<Val<'c>> = None;
    for i in 0..loops.rank {
        let start = times(loop_index(b, loops.pixel(i))?, window.strides[i])?;
        let offset = times(loop_index(b, loops.tap(i))?, window.dilations[i])?;
        let position = b.binary("arith.addi", start, offset)?;
        let position = b.binary("arith.subi", position, b.index(window.begin[i])?)?;
        // Unsigned, so that positions before the first are too great as well.
        let valid = b.cmpi("ult", position, b.index(shape[i + 2])?)?;
        inside = Some(match inside {
            Some(others) => b.binary("arith.andi", others, valid)?,
            None => valid,
        });
        let step: i64 = match column_major {
            true => shape[2..2 + i].iter().product(),
            false => shape[3 + i..].iter().product(),
        };
        index = b.binary("arith.addi", index, times(position, step)?)?;
    }
    let inside = inside.ok_or_else(|| Error::internal("a pool without spatial dimensions"))?;
    Ok((inside, b.op1("arith.index_cast", &[index], b.int(64))?))
}

/// `graph.average_pool`.
pub fn lower_average_pool<'c>(
    lowering: &Lowering<'c>,
    op: AveragePoolAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let (x, window) = (op.x(), Window::of(lowering, &op.kernel_shape()));
    let element = ir::element_type(x.r#type());
    let zero = b.constant(wide_type(b, element), 0.0)?;
    let padding = b.constant(element, 0.0)?;
    let sums = fold_windows(lowering, &window, x, padding, &[zero], |b, args| {
        Ok(vec![accumulate(b, args[1], widen(b, args[0])?)?])
    })?;
    let ty = lowering.result_type(0)?;
    let mut operands = vec![sums[0]];
    operands.extend(counts(lowering, &window, &ir::dims(x.r#type()), zero.r#type())?);
    let value = lowering.elementwise(&operands, ty, |b, args| {
        let mut count = args[1];
        for factor in &args[2..] {
            count = mul(b, count, *factor)?;
        }
        narrow(b, div(b, args[0], count)?, element)
    })?;
    Ok(vec![value])
}

/// Most positions along a dimension whose elements are counted here.
const MAX_COUNTS: i64 = 1 << 26;

/// Number of elements of each window in each dimension, as constants that broadcast to the result;
/// their product is the divisor of the average.
fn counts<'c>(
    lowering: &Lowering<'c>,
    window: &Window,
    shape: &[i64],
    element: Type<'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let include_pad = lowering.flag("count_include_pad", false);
    let output = lowering.result_dims(0)?;
    let mut found = vec![];
    for i in 0..window.rank() {
        // The positions that count, relative to the first element of x.
        let (low, high) = match include_pad {
            true => (-window.begin[i], shape[i + 2] + window.end[i]),
            false => (0, shape[i + 2]),
        };
        if output[i + 2] > MAX_COUNTS {
            return Err(Error::unsupported(format!(
                "averages at {} positions along a dimension; at most {MAX_COUNTS} are supported",
                output[i + 2]
            )));
        }
        // The first element of the window that does not lie before a position.
        let first = |position: i64| {
            let steps = (position.max(0) + window.dilations[i] - 1) / window.dilations[i];
            steps.min(window.kernel[i])
        };
        let counts: Vec<f64> = (0..output[i + 2])
            .map(|o| {
                let start = o * window.strides[i] - window.begin[i];
                (first(high - start) - first(low - start)) as f64
            })
            .collect();
        let mut dims = vec![output[i + 2]];
        dims.resize(window.rank() - i, 1);
        found.push(float_constant(b, &dims, element, &counts)?);
    }
    Ok(found)
}

fn float_constant<'c>(
    b: &Builder<'c>,
    dims: &[i64],
    element: Type<'c>,
    values: &[f64],
) -> Result<Val<'c>> {
    let ty = b.tensor(dims, element);
    let value = if element == b.f64() {
        DenseElementsAttribute::f64_values(ty, values)
    } else {
        let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        DenseElementsAttribute::f32_values(ty, &values)
    };
    let spec =
        OpSpec { results: &[ty], attributes: vec![("value", value.into())], ..Default::default() };
    ir::result0(b.create("arith.constant", spec)?)
}

/// `|x|^p` for p = 1, 2 or more.
pub fn power<'c>(b: &Builder<'c>, x: Val<'c>, p: i64) -> Result<Val<'c>> {
    match p {
        2 => mul(b, x, x),
        1 => arith(b, "math.absf", &[x]),
        _ => {
            let magnitude = arith(b, "math.absf", &[x])?;
            arith(b, "math.powf", &[magnitude, number(b, x, p as f64)?])
        }
    }
}

/// `x^(1 / p)`.
pub fn root<'c>(b: &Builder<'c>, x: Val<'c>, p: i64) -> Result<Val<'c>> {
    match p {
        2 => arith(b, "math.sqrt", &[x]),
        1 => Ok(x),
        _ => arith(b, "math.powf", &[x, number(b, x, 1.0 / p as f64)?]),
    }
}

/// `graph.lp_pool`.
pub fn lower_lp_pool<'c>(
    lowering: &Lowering<'c>,
    op: LpPoolAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let element = ir::element_type(op.x().r#type());
    let p = op.p();
    let zero = b.constant(wide_type(b, element), 0.0)?;
    let padding = b.constant(element, 0.0)?;
    let window = Window::of(lowering, &op.kernel_shape());
    let sums = fold_windows(lowering, &window, op.x(), padding, &[zero], |b, args| {
        Ok(vec![accumulate(b, args[1], power(b, widen(b, args[0])?, p)?)?])
    })?;
    let value = lowering.elementwise(&sums, lowering.result_type(0)?, |b, args| {
        narrow(b, root(b, args[0], p)?, element)
    })?;
    Ok(vec![value])
}

/// Reduction of a global pool, over all elements of a channel.
#[derive(Clone, Copy)]
pub enum Fold {
    /// Their mean.
    Mean,
    /// The greatest.
    Max,
    /// The root of the sum of their powers by this exponent.
    Power(i64),
}

/// `graph.global_average_pool`, `graph.global_max_pool` and `graph.global_lp_pool`.
pub fn global<'c>(lowering: &Lowering<'c>, x: Val<'c>, fold: Fold) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let shape = ir::dims(x.r#type());
    let axes: Vec<_> = (2..shape.len()).collect();
    let element = ir::element_type(x.r#type());
    let wide = wide_type(b, element);
    let count: i64 = shape[2..].iter().product();
    let start = if matches!(fold, Fold::Max) { f64::NEG_INFINITY } else { 0.0 };
    let init = b.constant(wide, start)?;
    let folded = reduce(b, &shape, &axes, &[x], &[init], |b, args| {
        let x = widen(b, args[0])?;
        Ok(vec![match fold {
            Fold::Max => float::greater(b, args[1], x)?,
            Fold::Power(p) => accumulate(b, args[1], power(b, x, p)?)?,
            Fold::Mean => accumulate(b, args[1], x)?,
        }])
    })?;
    let value = lowering.elementwise(&folded, lowering.result_type(0)?, |b, args| {
        let value = match fold {
            Fold::Max => args[0],
            Fold::Power(p) => root(b, args[0], p)?,
            Fold::Mean => div(b, args[0], number(b, args[0], count as f64)?)?,
        };
        narrow(b, value, element)
    })?;
    Ok(vec![value])
}
