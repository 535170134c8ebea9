//! `graph.resize`: tables of positions and weights per axis, which [`super::resize_taps`] computes,
//! and loops that apply them.

use super::{
    resize_exact::{self, Exact},
    resize_taps::{Axis, Mode, Rounding, Sampling, Taps, Transformation},
    shape::repeat,
};
use crate::{
    Error, Result,
    ir::{
        self, Builder, Val,
        graph::{Resize, ResizeAdaptor},
    },
    lower::{
        Iter, Lowering,
        generic::{Access, c, d, fill, generic, identity, loop_index, parallel},
        normalize_axis,
        operands::{choose, float_tensor, i64_tensor},
        scalar::{
            convert,
            float::{add, mul},
        },
        shape,
    },
};
use melior::ir::{Type, ValueLike, r#type::IntegerType};

/// Up to this many taps are written out; more are summed by a loop.
const MOST_TAPS_WRITTEN_OUT: usize = 4;

fn resize<'c>(l: &Lowering<'c>, op: ResizeAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = op.x();
    let (from, ty) = (ir::dims(x.r#type()), l.result_type(0)?);
    let to = ir::dims(ty);
    let sampling = sampling(l, *op)?;
    let axes: Vec<_> = axes(l, op, &from, &to, &sampling)?
        .into_iter()
        .enumerate()
        .filter(|(_, axis)| !axis.is_identity(&sampling))
        .collect();
    if axes.is_empty() {
        return Ok(vec![x]);
    }
    if to.contains(&0) {
        return Ok(vec![l.b.empty(ty)?]);
    }
    if from.contains(&0) {
        return Err(Error::invalid(format!("resizes {}, which has no elements", x.r#type())));
    }
    let longest = axes.iter().map(|(_, axis)| axis.from.max(axis.to)).max().unwrap_or_default();
    if longest > MAX_LENGTH {
        return Err(Error::unsupported(format!(
            "resizes an axis of {longest} elements; at most {MAX_LENGTH} are supported"
        )));
    }
    let tables: Vec<_> = axes.iter().map(|(axis, sizes)| (*axis, sizes.taps(&sampling))).collect();
    let value = match sampling.mode {
        Mode::Nearest(_) => nearest(l, x, ty, &tables)?,
        _ => interpolate(l, x, ty, &tables, &sampling)?,
    };
    Ok(vec![value])
}

/// Longest axis that is resized: positions are computed in f32, which counts no further.
const MAX_LENGTH: i64 = 1 << 24;

fn sampling<'c>(l: &Lowering<'c>, op: Resize<'c>) -> Result<Sampling> {
    let rounding = match op.nearest_mode() {
        "round_prefer_ceil" => Rounding::PreferCeil,
        "floor" => Rounding::Floor,
        "ceil" => Rounding::Ceil,
        _ => Rounding::PreferFloor,
    };
    let mode = match op.mode() {
        "linear" => Mode::Linear,
        "cubic" => Mode::Cubic,
        _ => Mode::Nearest(rounding),
    };
    let name = op.coordinate_transformation_mode();
    let transformation = match name {
        "half_pixel" => Transformation::HalfPixel,
        "half_pixel_symmetric" => Transformation::HalfPixelSymmetric,
        "pytorch_half_pixel" => Transformation::PytorchHalfPixel,
        "align_corners" => Transformation::AlignCorners,
        "asymmetric" => Transformation::Asymmetric,
        "tf_crop_and_resize" => Transformation::Crop,
        _ => return Err(l.unsupported(format!("'coordinate_transformation_mode' = \"{name}\""))),
    };
    Ok(Sampling {
        mode,
        transformation,
        cubic_coefficient: l.float("cubic_coeff_a", -0.75),
        exclude_outside: op.exclude_outside(),
        antialias: op.antialias(),
    })
}

/// Sizes, factor and region of every dimension.
fn axes<'c>(
    l: &Lowering<'c>,
    op: ResizeAdaptor<'_, 'c>,
    from: &[i64],
    to: &[i64],
    sampling: &Sampling,
) -> Result<Vec<Axis>> {
    let rank = from.len();
    let mut axes: Vec<_> = from
        .iter()
        .zip(to)
        .map(|(from, to)| {
            let exact = Some(Exact::from(1));
            Axis { from: *from, to: *to, scale: 1.0, exact, region: (0.0, 1.0) }
        })
        .collect();
    let mut named: Vec<usize> =
        op.axes().into_iter().map(|axis| normalize_axis(axis, rank)).collect();
    if named.is_empty() {
        named = (0..rank).collect();
    }
    if let Some(scales) = op.scales() {
        let scales = l.known(scales, "scales")?.floats();
        for (axis, scale) in named.iter().zip(scales) {
            axes[*axis].scale = scale;
            axes[*axis].exact = resize_exact::fraction(scale);
        }
    } else if let Some(sizes) = op.sizes() {
        scale_to_sizes(l, sizes, &named, &mut axes)?;
    }
    let roi = op.roi().filter(|_| sampling.transformation == Transformation::Crop);
    if let Some(roi) = roi {
        let roi = l.known(roi, "roi")?.floats();
        for (i, axis) in named.iter().enumerate() {
            if let (Some(start), Some(end)) = (roi.get(i), roi.get(i + named.len())) {
                axes[*axis].region = (*start, *end);
            }
        }
    }
    Ok(axes)
}

/// The factors that lead to sizes: of each axis, or one that keeps the proportions.
fn scale_to_sizes<'c>(
    l: &Lowering<'c>,
    sizes: Val<'c>,
    named: &[usize],
    axes: &mut [Axis],
) -> Result<()> {
    let policy = ir::attr_str(l.op, "keep_aspect_ratio_policy").unwrap_or_default();
    if policy.is_empty() || policy == "stretch" {
        for axis in named {
            let (to, from) = (axes[*axis].to, axes[*axis].from);
            axes[*axis].scale = ratio(to, from);
            axes[*axis].exact = resize_exact::quotient(to, from);
        }
        return Ok(());
    }
    let sizes = l.known_ints(sizes, "sizes")?;
    let sizes = named.iter().zip(&sizes).map(|(axis, to)| (*to, axes[*axis].from));
    // By products, as quotients are rounded; sizes are dimensions.
    let order = |a: &(i64, i64), b: &(i64, i64)| {
        (i128::from(a.0) * i128::from(b.1)).cmp(&(i128::from(b.0) * i128::from(a.1)))
    };
    let bound = if policy == "not_larger" { sizes.min_by(order) } else { sizes.max_by(order) };
    for axis in named {
        let (to, from) = bound.unwrap_or((1, 1));
        axes[*axis].scale = ratio(to, from);
        axes[*axis].exact = resize_exact::quotient(to, from);
    }
    Ok(())
}

/// A factor with the precision of an f32, which those given as tensors have.
fn ratio(to: i64, from: i64) -> f64 {
    f64::from(to as f32 / from as f32)
}

/// Each element is one of x, or the value for the outside.
fn nearest<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    ty: Type<'c>,
    tables: &[(usize, Taps)],
) -> Result<Val<'c>> {
    let (from, to) = (ir::dims(x.r#type()), ir::dims(ty));
    if let Some(times) = whole_factors(&from, &to, tables) {
        return repeat(&l.b, x, &vec![1; to.len()], &times, &to);
    }
    let mut ins = vec![];
    for (axis, taps) in tables {
        ins.push((table(&l.b, taps, true)?, vec![d(*axis)]));
    }
    let has_outside = tables.iter().any(|(_, taps)| taps.outside.contains(&true));
    let outside = l.float("extrapolation_value", 0.0);
    parallel(&l.b, ty, &ins, |b, positions| {
        let mut at = (0..to.len()).map(|i| loop_index(b, i)).collect::<Result<Vec<_>>>()?;
        let mut inside = b.constant_int(b.i1(), 1)?;
        for ((axis, _), position) in tables.iter().zip(positions) {
            let zero = b.constant_int(b.int(64), 0)?;
            let hit = b.cmpi("sge", *position, zero)?;
            inside = b.binary("arith.andi", inside, hit)?;
            let position = b.binary("arith.maxsi", *position, zero)?;
            at[*axis] = b.op1("arith.index_cast", &[position], b.index_type())?;
        }
        let value = shape::extract(b, x, &at)?;
        if !has_outside {
            return Ok(value);
        }
        choose(b, inside, value, b.constant(value.r#type(), outside)?)
    })
}

/// Number of times that each element is repeated, if that is what the tables amount to.
fn whole_factors(from: &[i64], to: &[i64], tables: &[(usize, Taps)]) -> Option<Vec<i64>> {
    let mut times = vec![1; from.len()];
    for (axis, taps) in tables {
        let factor = to[*axis] / from[*axis];
        let repeats = taps.positions.iter().enumerate().all(|(i, at)| *at * factor <= i as i64)
            && taps.positions.iter().enumerate().all(|(i, at)| (i as i64) < (*at + 1) * factor);
        if factor * from[*axis] != to[*axis] || !repeats || taps.outside.contains(&true) {
            return None;
        }
        times[*axis] = factor;
    }
    Some(times)
}

/// The positions as a constant, -1 for those outside when they are `marked`.
fn table<'c>(b: &Builder<'c>, taps: &Taps, marked: bool) -> Result<Val<'c>> {
    let size = taps.outside.len() as i64;
    if marked {
        let positions: Vec<_> = taps
            .positions
            .iter()
            .zip(&taps.outside)
            .map(|(at, outside)| if *outside { -1 } else { *at })
            .collect();
        return i64_tensor(b, &[size], &positions);
    }
    i64_tensor(b, &[size, taps.count as i64], &taps.positions)
}

/// One axis after the other, in f32, or f64 where elements have more bits.
fn interpolate<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    ty: Type<'c>,
    tables: &[(usize, Taps)],
    sampling: &Sampling,
) -> Result<Val<'c>> {
    let element = ir::element_type(ty);
    let wide = element == l.b.f64()
        || IntegerType::try_from(element).is_ok_and(|integer| integer.width() > 16);
    let real = if wide { l.b.f64() } else { l.b.f32() };
    let mut value = x;
    for (axis, taps) in tables {
        let mut dims = ir::dims(value.r#type());
        dims[*axis] = taps.outside.len() as i64;
        value = along_axis(l, value, *axis, taps, l.b.tensor(&dims, real))?;
    }
    if element == real {
        return Ok(value);
    }
    let unsigned = l.is_unsigned_result(0);
    let truncate = sampling.mode == Mode::Linear && !sampling.antialias;
    parallel(&l.b, ty, &[(value, identity(ir::dims(ty).len()))], |b, x| {
        if ir::is_float(element) {
            return convert(b, x[0], false, element, false);
        }
        to_integer(b, x[0], element, unsigned, truncate)
    })
}

/// A real number as an integer: rounded, ties to even, or truncated as onnxruntime does it for
/// plain linear interpolation; saturated.
fn to_integer<'c>(
    b: &Builder<'c>,
    x: Val<'c>,
    element: Type<'c>,
    unsigned: bool,
    truncate: bool,
) -> Result<Val<'c>> {
    let x = b.unary(if truncate { "math.trunc" } else { "math.roundeven" }, x)?;
    convert(b, x, false, element, unsigned)
}

/// The weighted sums along one axis, as a tensor of the float type `ty`.
fn along_axis<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    axis: usize,
    taps: &Taps,
    ty: Type<'c>,
) -> Result<Val<'c>> {
    let b = &l.b;
    let real = ir::element_type(ty);
    let shape = [taps.outside.len() as i64, taps.count as i64];
    let positions = table(b, taps, false)?;
    let weights = float_tensor(b, &shape, &taps.weights, real == b.f64())?;
    let value = if taps.count <= MOST_TAPS_WRITTEN_OUT {
        few_taps(l, (x, axis), ty, positions, weights, taps.count)?
    } else {
        many_taps(l, (x, axis), ty, positions, weights)?
    };
    if !taps.outside.contains(&true) {
        return Ok(value);
    }
    let flags = table(b, &Taps { positions: vec![0; taps.outside.len()], ..taps.clone() }, true)?;
    let outside = l.float("extrapolation_value", 0.0);
    let rank = ir::dims(ty).len();
    parallel(b, ty, &[(value, identity(rank)), (flags, vec![d(axis)])], |b, x| {
        let inside = b.cmpi("sge", x[1], b.constant_int(b.int(64), 0)?)?;
        b.select(inside, x[0], b.constant(real, outside)?)
    })
}

/// A weighted element of x: the one at the loops' indices, but for `position` along the axis.
fn weighted<'c>(
    b: &Builder<'c>,
    (x, axis): (Val<'c>, usize),
    unsigned: bool,
    position: Val<'c>,
    weight: Val<'c>,
) -> Result<Val<'c>> {
    let rank = ir::dims(x.r#type()).len();
    let mut at = (0..rank).map(|i| loop_index(b, i)).collect::<Result<Vec<_>>>()?;
    at[axis] = b.op1("arith.index_cast", &[position], b.index_type())?;
    let element = shape::extract(b, x, &at)?;
    mul(b, weight, convert(b, element, unsigned, weight.r#type(), false)?)
}

fn few_taps<'c>(
    l: &Lowering<'c>,
    x: (Val<'c>, usize),
    ty: Type<'c>,
    positions: Val<'c>,
    weights: Val<'c>,
    count: usize,
) -> Result<Val<'c>> {
    let unsigned = l.is_unsigned(0);
    let ins: Vec<Access<'c>> = (0..count)
        .flat_map(|tap| {
            let map = vec![d(x.1), c(tap as i64)];
            [(positions, map.clone()), (weights, map)]
        })
        .collect();
    parallel(&l.b, ty, &ins, |b, loaded| {
        let mut sum: Option<Val<'c>> = None;
        for tap in loaded.chunks(2) {
            let term = weighted(b, x, unsigned, tap[0], tap[1])?;
            sum = Some(match sum {
                Some(sum) => add(b, sum, term)?,
                None => term,
            });
        }
        sum.ok_or_else(|| Error::internal("a resize without taps"))
    })
}

fn many_taps<'c>(
    l: &Lowering<'c>,
    x: (Val<'c>, usize),
    ty: Type<'c>,
    positions: Val<'c>,
    weights: Val<'c>,
) -> Result<Val<'c>> {
    let b = &l.b;
    let unsigned = l.is_unsigned(0);
    let rank = ir::dims(ty).len();
    let mut loops = vec![Iter::Parallel; rank];
    loops.push(Iter::Reduction);
    let map = vec![d(x.1), d(rank)];
    let zero = b.constant(ir::element_type(ty), 0.0)?;
    let start = (fill(b, ty, zero)?, identity(rank));
    let ins = [(positions, map.clone()), (weights, map)];
    let sums = generic(b, &loops, &ins, &[start], |b, loaded| {
        let term = weighted(b, x, unsigned, loaded[0], loaded[1])?;
        Ok(vec![add(b, loaded[2], term)?])
    })?;
    sums.first().copied().ok_or_else(|| Error::internal("a resize without a result"))
}

super::lowerings! {
    Resize => resize,
}
