//! Arithmetic of f32 and f64 elements, and small helpers for other lowerings.

use crate::{
    Result,
    ir::{self, Builder, Op, Val, constant::Elements, graph, view::OpView},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::f64::consts::{FRAC_PI_2, PI};

/// A float operation that may be contracted with its neighbours, such as `arith.mulf`.
pub fn arith<'c>(b: &Builder<'c>, name: &str, args: &[Val<'c>]) -> Result<Val<'c>> {
    let flags = b.parse_attr("#arith.fastmath<contract>")?;
    b.op1_with(name, args, args[0].r#type(), vec![("fastmath", flags)])
}

/// `x + y`.
pub fn add<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    arith(b, "arith.addf", &[x, y])
}

/// `x - y`.
pub fn sub<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    arith(b, "arith.subf", &[x, y])
}

/// `x * y`.
pub fn mul<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    arith(b, "arith.mulf", &[x, y])
}

/// `x / y`.
pub fn div<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    arith(b, "arith.divf", &[x, y])
}

/// A number of the type of `like`.
pub fn number<'c>(b: &Builder<'c>, like: Val<'c>, value: f64) -> Result<Val<'c>> {
    b.constant(like.r#type(), value)
}

/// `x < bound ? bound : x`: the greater of the two, and NaN if x is. One instruction, unlike
/// `arith.maximumf`.
pub fn at_least<'c>(b: &Builder<'c>, x: Val<'c>, bound: Val<'c>) -> Result<Val<'c>> {
    b.select(b.cmpf("olt", x, bound)?, bound, x)
}

/// `x > bound ? bound : x`: the lesser of the two, and NaN if x is.
pub fn at_most<'c>(b: &Builder<'c>, x: Val<'c>, bound: Val<'c>) -> Result<Val<'c>> {
    b.select(b.cmpf("ogt", x, bound)?, bound, x)
}

/// The greater of the two, and NaN if either is; of two zeros either.
pub fn greater<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    extreme(b, "arith.maximumf", x, y)
}

/// The lesser of the two, and NaN if either is; of two zeros either.
pub fn lesser<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    extreme(b, "arith.minimumf", x, y)
}

/// Telling zeros apart would be as much work again as finding NaN.
fn extreme<'c>(b: &Builder<'c>, name: &str, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    let flags = b.parse_attr("#arith.fastmath<nsz>")?;
    b.op1_with(name, &[x, y], x.r#type(), vec![("fastmath", flags)])
}

/// Compares `x` and `y` in the order in which NaN is above infinity: true if x is greater, or x is
/// NaN and y is not. With `or_equal` also if both are equal or NaN.
pub fn ranks_above<'c>(b: &Builder<'c>, x: Val<'c>, y: Val<'c>, or_equal: bool) -> Result<Val<'c>> {
    let above = b.cmpf(if or_equal { "oge" } else { "ogt" }, x, y)?;
    let nan = b.cmpf("uno", x, x)?;
    if or_equal {
        return b.binary("arith.ori", above, nan);
    }
    let only = b.binary("arith.andi", nan, b.cmpf("ord", y, y)?)?;
    b.binary("arith.ori", above, only)
}

/// The sum of an accumulator and a term, which may be reordered with other terms. It is what
/// lets LLVM sum with vectors.
pub fn accumulate<'c>(b: &Builder<'c>, sum: Val<'c>, term: Val<'c>) -> Result<Val<'c>> {
    let flags = b.parse_attr("#arith.fastmath<reassoc,contract>")?;
    b.op1_with("arith.addf", &[sum, term], sum.r#type(), vec![("fastmath", flags)])
}

/// The product of an accumulator and a factor, which may be reordered in the same way.
pub fn accumulate_product<'c>(
    b: &Builder<'c>,
    product: Val<'c>,
    factor: Val<'c>,
) -> Result<Val<'c>> {
    let flags = b.parse_attr("#arith.fastmath<reassoc,contract>")?;
    b.op1_with("arith.mulf", &[product, factor], product.r#type(), vec![("fastmath", flags)])
}

/// The value of an `arith.constant` of a scalar type, or of a vector of equal lanes.
pub fn scalar_constant(value: Val<'_>) -> Option<f64> {
    if let Some(elements) = Elements::of_value(value) {
        return elements.is_splat().then(|| elements.float(0));
    }
    let op = ir::edit::defining_op(value)?;
    if ir::op_name(op) != "arith.constant" {
        return None;
    }
    let value = op.attribute("value").ok()?;
    ir::attribute::float(value).or_else(|| ir::attribute::int(value).map(|value| value as f64))
}

/// Ops of one name in the math or arith dialect.
const DIRECT: &[(&str, &str)] = &[
    ("abs", "math.absf"),
    ("neg", "arith.negf"),
    ("exp", "math.exp"),
    ("log", "math.log"),
    ("sqrt", "math.sqrt"),
    ("floor", "math.floor"),
    ("ceil", "math.ceil"),
    ("round", "math.roundeven"),
    ("erf", "math.erf"),
    ("sin", "math.sin"),
    ("cos", "math.cos"),
    ("tan", "math.tan"),
    ("asin", "math.asin"),
    ("acos", "math.acos"),
    ("atan", "math.atan"),
    ("sinh", "math.sinh"),
    ("cosh", "math.cosh"),
    ("tanh", "math.tanh"),
    ("asinh", "math.asinh"),
    ("acosh", "math.acosh"),
    ("atanh", "math.atanh"),
    ("add", "arith.addf"),
    ("sub", "arith.subf"),
    ("mul", "arith.mulf"),
    ("div", "arith.divf"),
];

const COMPARISONS: &[(&str, &str)] = &[
    ("equal", "oeq"),
    ("greater", "ogt"),
    ("greater_or_equal", "oge"),
    ("less", "olt"),
    ("less_or_equal", "ole"),
];

pub(super) fn find<'t>(table: &[(&str, &'t str)], name: &str) -> Option<&'t str> {
    table.iter().find(|(candidate, _)| *candidate == name).map(|(_, found)| *found)
}

/// Emits a float op; `None` when there is none of this name.
pub(super) fn emit<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    name: &str,
    args: &[Val<'c>],
) -> Result<Option<Val<'c>>> {
    if let Some(direct) = find(DIRECT, name) {
        return arith(b, direct, args).map(Some);
    }
    if let (Some(predicate), [x, y]) = (find(COMPARISONS, name), args) {
        return b.cmpf(predicate, *x, *y).map(Some);
    }
    let value = match (name, args) {
        ("max", [x, y]) => greater(b, *x, *y)?,
        ("min", [x, y]) => lesser(b, *x, *y)?,
        ("reciprocal", [x]) => div(b, number(b, *x, 1.0)?, *x)?,
        ("sign", [x]) => sign(b, *x)?,
        ("is_nan", [x]) => b.cmpf("uno", *x, *x)?,
        ("is_inf", [x]) => is_inf(b, op, *x)?,
        ("clip", [x, bounds @ ..]) => clip(b, op, *x, bounds)?,
        ("pow", [x, y]) => pow(b, op, *x, *y)?,
        ("mod", [x, y]) => modulo(b, op, *x, *y)?,
        ("atan2", [y, x]) => atan2(b, *y, *x)?,
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// 1 or -1 with the sign of x; zeros and NaN are returned as they are.
fn sign<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let zero = number(b, x, 0.0)?;
    let negative = b.select(b.cmpf("olt", x, zero)?, number(b, x, -1.0)?, x)?;
    b.select(b.cmpf("ogt", x, zero)?, number(b, x, 1.0)?, negative)
}

fn is_inf<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let wanted = |name| ir::attr_bool(op, name).unwrap_or(true);
    let infinity = number(b, x, f64::INFINITY)?;
    match (wanted("detect_negative"), wanted("detect_positive")) {
        (true, true) => b.cmpf("oeq", arith(b, "math.absf", &[x])?, infinity),
        (false, true) => b.cmpf("oeq", x, infinity),
        (true, false) => b.cmpf("oeq", x, number(b, x, f64::NEG_INFINITY)?),
        (false, false) => b.cmpf("false", x, x),
    }
}

fn clip<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>, bounds: &[Val<'c>]) -> Result<Val<'c>> {
    let (low, high) = clip_bounds(op, bounds);
    let x = low.map_or(Ok(x), |low| at_least(b, x, low))?;
    high.map_or(Ok(x), |high| at_most(b, x, high))
}

/// Lower and upper bound of `graph.clip`, as far as they are there.
pub(super) fn clip_bounds<'c>(
    op: Op<'c>,
    bounds: &[Val<'c>],
) -> (Option<Val<'c>>, Option<Val<'c>>) {
    match bounds {
        [low, high] => (Some(*low), Some(*high)),
        [only] => {
            let has_low = graph::Clip::of(op).is_some_and(|clip| clip.min().is_some());
            if has_low { (Some(*only), None) } else { (None, Some(*only)) }
        }
        _ => (None, None),
    }
}

fn pow<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    match scalar_constant(y) {
        Some(0.5) => {
            // The root of -0 is -0, and that of minus infinity NaN, unlike these powers.
            let root = arith(b, "math.sqrt", &[b.binary("arith.addf", x, number(b, x, 0.0)?)?])?;
            let infinite = b.cmpf("oeq", x, number(b, x, f64::NEG_INFINITY)?)?;
            return b.select(infinite, number(b, x, f64::INFINITY)?, root);
        }
        Some(1.0) => return Ok(x),
        Some(2.0) => return mul(b, x, x),
        Some(3.0) => return mul(b, mul(b, x, x)?, x),
        Some(-1.0) => return div(b, number(b, x, 1.0)?, x),
        _ => {}
    }
    let unsigned = super::operand_unsigned(op, 1);
    let y = super::convert(b, y, unsigned, x.r#type(), false)?;
    arith(b, "math.powf", &[x, y])
}

/// The remainder with the sign of x (`fmod`), or of y.
fn modulo<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
    let remainder = arith(b, "arith.remf", &[x, y])?;
    if ir::attr_bool(op, "fmod").unwrap_or(false) {
        return Ok(remainder);
    }
    let zero = number(b, x, 0.0)?;
    let different =
        b.binary("arith.xori", b.cmpf("olt", remainder, zero)?, b.cmpf("olt", y, zero)?)?;
    let nonzero = b.cmpf("une", remainder, zero)?;
    let adjust = b.binary("arith.andi", different, nonzero)?;
    b.select(adjust, add(b, remainder, y)?, remainder)
}

/// The angle of the point `(x, y)`: that of the point in the first octant with the same lengths, reflected at the
/// diagonal and at the axes.
fn atan2<'c>(b: &Builder<'c>, y: Val<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let [height, width] = [arith(b, "math.absf", &[y])?, arith(b, "math.absf", &[x])?];
    let steep = b.cmpf("ogt", height, width)?;
    let (short, long) = (b.select(steep, width, height)?, b.select(steep, height, width)?);
    // A quotient of two infinities or of two zeros is no number, but has an angle.
    let diagonal = b.cmpf("oeq", short, long)?;
    let slope = b.select(diagonal, number(b, x, 1.0)?, div(b, short, long)?)?;
    let zero = b.cmpf("oeq", long, number(b, x, 0.0)?)?;
    let slope = b.select(zero, short, slope)?;
    let angle = arith(b, "math.atan", &[slope])?;
    let angle = b.select(steep, sub(b, number(b, x, FRAC_PI_2)?, angle)?, angle)?;
    let sign = b.binary("math.copysign", number(b, x, 1.0)?, x)?;
    let left = b.cmpf("olt", sign, number(b, x, 0.0)?)?;
    let angle = b.select(left, sub(b, number(b, x, PI)?, angle)?, angle)?;
    b.binary("math.copysign", angle, y)
}
