//! Reductions, argmax and argmin, cumulative sums, determinants.

use crate::{
    Result,
    ir::{self, Builder, Val, graph::{CumSumAdaptor, DetAdaptor}, types::is_unsigned},
    lower::{
        Lowering,
        generic::loop_index,
        loops::{Bounds, count_between, count_to, independent, insert, nest},
        normalize_axis,
        reduction::{keepdims, reduce, scan},
        scalar::{
            convert,
            float::{self, accumulate, arith, mul, number, sub},
            narrow, wide_type, widen,
        },
        shape::{extract, reshape},
    },
};
use melior::ir::{Type, ValueLike, r#type::IntegerType};

super::lowerings! {
    ReduceSum => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceMean => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceMax => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceMin => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceProd => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceL1 => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceL2 => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceLogSum => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceLogSumExp => |l, op| lower_reduce(l, op.x(), op.axes()),
    ReduceSumSquare => |l, op| lower_reduce(l, op.x(), op.axes()),
    ArgMax => |l, op| lower_arg(l, op.x(), op.axis(), (true, op.select_last_index())),
    ArgMin => |l, op| lower_arg(l, op.x(), op.axis(), (false, op.select_last_index())),
    CumSum => lower_cumsum,
    Det => lower_det,
}

/// The least value of a type, or the greatest: -infinity or infinity for floats.
pub fn extreme<'c>(b: &Builder<'c>, ty: Type<'c>, unsigned: bool, least: bool) -> Result<Val<'c>> {
    let Ok(integer) = IntegerType::try_from(ty) else {
        return b.constant(ty, if least { f64::NEG_INFINITY } else { f64::INFINITY });
    };
    let width = integer.width();
    b.constant_int(
        ty,
        match (unsigned, least) {
            (true, true) => 0,
            (true, false) => -1,
            (false, true) => i64::MIN >> (64 - width),
            (false, false) => i64::MAX >> (64 - width),
        },
    )
}

/// The axes of a reduction, counted from the first dimension; an empty list is all of them.
fn counted(axes: Vec<i64>, rank: usize) -> Vec<usize> {
    if axes.is_empty() {
        return (0..rank).collect();
    }
    axes.into_iter().map(|axis| normalize_axis(axis, rank)).collect()
}

/// True for a reduction that computes in floats whatever the elements are; others compute in their
/// own type.
fn computes_in_float(name: &str) -> bool {
    matches!(name, "reduce_l2" | "reduce_log_sum" | "reduce_log_sum_exp")
}

fn lower_reduce<'c>(lowering: &Lowering<'c>, x: Val<'c>, axes: Vec<i64>) -> Result<Vec<Val<'c>>> {
    let b = &lowering.b;
    let name = ir::op_name(lowering.op).strip_prefix("graph.").unwrap_or_default();
    let shape = ir::dims(x.r#type());
    let axes = counted(axes, shape.len());
    let element = ir::element_type(x.r#type());
    let unsigned = lowering.is_unsigned(0);
    let float_of_int = !ir::is_float(element) && computes_in_float(name);
    let ty = if float_of_int { b.f64() } else { wide_type(b, element) };
    let load = |b: &Builder<'c>, x: Val<'c>| convert(b, x, unsigned, ty, false);
    let count: i64 = axes.iter().map(|axis| shape[*axis]).product();
    let reduced = if name == "reduce_log_sum_exp" {
        log_sum_exp(lowering, x, &axes, ty, load)?
    } else {
        let init = initial(b, name, ty, unsigned)?;
        let sums = reduce(b, &shape, &axes, &[x], &[init], |b, args| {
            Ok(vec![step(b, name, load(b, args[0])?, args[1], unsigned)?])
        })?;
        sums[0]
    };
    let kept = b.tensor(&keepdims(&shape, &axes), element);
    let result = lowering.elementwise(&[reduced], kept, |b, args| {
        let value = finish(b, name, args[0], count, unsigned)?;
        if float_of_int {
            return convert(b, value, false, element, unsigned);
        }
        narrow(b, value, element)
    })?;
    Ok(vec![reshape(b, result, &lowering.result_dims(0)?)?])
}

fn initial<'c>(b: &Builder<'c>, name: &str, ty: Type<'c>, unsigned: bool) -> Result<Val<'c>> {
    match name {
        "reduce_max" => extreme(b, ty, unsigned, true),
        "reduce_min" => extreme(b, ty, unsigned, false),
        "reduce_prod" => b.constant(ty, 1.0),
        _ => b.constant(ty, 0.0),
    }
}

/// One step of a reduction.
fn step<'c>(
    b: &Builder<'c>,
    name: &str,
    x: Val<'c>,
    sum: Val<'c>,
    unsigned: bool,
) -> Result<Val<'c>> {
    if !ir::is_float(x.r#type()) {
        return integer_step(b, name, x, sum, unsigned);
    }
    match name {
        "reduce_max" => float::greater(b, sum, x),
        "reduce_min" => float::lesser(b, sum, x),
        "reduce_prod" => float::accumulate_product(b, sum, x),
        "reduce_l1" => accumulate(b, sum, arith(b, "math.absf", &[x])?),
        "reduce_l2" | "reduce_sum_square" => accumulate(b, sum, mul(b, x, x)?),
        _ => accumulate(b, sum, x),
    }
}

fn integer_step<'c>(
    b: &Builder<'c>,
    name: &str,
    x: Val<'c>,
    sum: Val<'c>,
    unsigned: bool,
) -> Result<Val<'c>> {
    match (name, unsigned) {
        ("reduce_max", true) => b.binary("arith.maxui", sum, x),
        ("reduce_max", false) => b.binary("arith.maxsi", sum, x),
        ("reduce_min", true) => b.binary("arith.minui", sum, x),
        ("reduce_min", false) => b.binary("arith.minsi", sum, x),
        ("reduce_prod", _) => b.binary("arith.muli", sum, x),
        ("reduce_l1", false) => b.binary("arith.addi", sum, b.unary("math.absi", x)?),
        ("reduce_sum_square", _) => b.binary("arith.addi", sum, b.binary("arith.muli", x, x)?),
        _ => b.binary("arith.addi", sum, x),
    }
}

/// Completes a sum: divides it, or takes its root or logarithm.
fn finish<'c>(
    b: &Builder<'c>,
    name: &str,
    sum: Val<'c>,
    count: i64,
    unsigned: bool,
) -> Result<Val<'c>> {
    match name {
        "reduce_mean" if ir::is_float(sum.r#type()) => {
            arith(b, "arith.divf", &[sum, number(b, sum, count as f64)?])
        }
        "reduce_mean" => {
            let op = if unsigned { "arith.divui" } else { "arith.divsi" };
            b.binary(op, sum, b.constant_int(sum.r#type(), count.max(1))?)
        }
        "reduce_l2" => arith(b, "math.sqrt", &[sum]),
        "reduce_log_sum" => arith(b, "math.log", &[sum]),
        _ => Ok(sum),
    }
}

/// `max + ln(sum(e^(x - max)))`, in which no exponential overflows. An infinite maximum is not
/// subtracted: the difference to itself is NaN.
fn log_sum_exp<'c>(
    lowering: &Lowering<'c>,
    x: Val<'c>,
    axes: &[usize],
    ty: Type<'c>,
    load: impl Fn(&Builder<'c>, Val<'c>) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let shape = ir::dims(x.r#type());
    let least = extreme(b, ty, false, true)?;
    let max = reduce(b, &shape, axes, &[x], &[least], |b, args| {
        Ok(vec![float::greater(b, args[1], load(b, args[0])?)?])
    })?[0];
    let max = lowering.elementwise(&[max], max.r#type(), |b, args| {
        let magnitude = arith(b, "math.absf", &[args[0]])?;
        let infinite = b.cmpf("oeq", magnitude, number(b, args[0], f64::INFINITY)?)?;
        b.select(infinite, number(b, args[0], 0.0)?, args[0])
    })?;
    let zero = b.constant(ty, 0.0)?;
    let sum = reduce(b, &shape, axes, &[x, max], &[zero], |b, args| {
        let shifted = sub(b, load(b, args[0])?, args[1])?;
        Ok(vec![accumulate(b, args[2], arith(b, "math.exp", &[shifted])?)?])
    })?[0];
    lowering.elementwise(&[sum, max], sum.r#type(), |b, args| {
        arith(b, "arith.addf", &[arith(b, "math.log", &[args[0]])?, args[1]])
    })
}

/// Positions (i64) of the greatest elements along `axis`, or of the least; of NaN if there is one. The result keeps the
/// dimension with size 1.
pub fn arg_extreme<'c>(
    lowering: &Lowering<'c>,
    x: Val<'c>,
    axis: usize,
    greatest: bool,
    last: bool,
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let unsigned = is_unsigned(lowering.operand_type(0)?);
    let shape = ir::dims(x.r#type());
    let element = wide_type(b, ir::element_type(x.r#type()));
    let outer: i64 = shape[..axis].iter().product();
    let inner: i64 = shape[axis + 1..].iter().product();
    let init = [extreme(b, element, unsigned, greatest)?, b.constant_int(b.int(64), 0)?];
    let view = [outer, shape[axis], inner];
    if inner == 1 && (LONG_ROW..=i64::from(i32::MAX)).contains(&shape[axis]) {
        let x = reshape(b, x, &[outer, shape[axis]])?;
        let found = arg_extreme_of_rows(lowering, x, (greatest, unsigned), last, init[0])?;
        return reshape(b, found, &keepdims(&shape, &[axis]));
    }
    // Size-1 dimensions have no loop of their own, so the axis is the loop after `outer`'s.
    let position = usize::from(outer != 1);
    let results = reduce(b, &view, &[1], &[reshape(b, x, &view)?], &init, |b, args| {
        let x = widen(b, args[0])?;
        let better = if ir::is_float(x.r#type()) {
            // Less is more for the negatives, of which NaN still comes first.
            let sign = |x| if greatest { Ok(x) } else { b.unary("arith.negf", x) };
            float::ranks_above(b, sign(x)?, sign(args[1])?, last)?
        } else {
            let comparison = match (greatest, last) {
                (true, false) => "gt",
                (true, true) => "ge",
                (false, false) => "lt",
                (false, true) => "le",
            };
            b.cmpi(&format!("{}{comparison}", if unsigned { 'u' } else { 's' }), x, args[1])?
        };
        let index = if shape[axis] == 1 { b.index(0)? } else { loop_index(b, position)? };
        let index = b.op1("arith.index_cast", &[index], b.int(64))?;
        Ok(vec![b.select(better, x, args[1])?, b.select(better, index, args[2])?])
    })?;
    reshape(b, results[1], &keepdims(&shape, &[axis]))
}

/// Elements of a row from which on it is worth reading twice.
const LONG_ROW: i64 = 8;

/// Positions of the extreme elements of the rows of a matrix: what they are, then where. LLVM makes vectors of
/// both, but not of a loop that carries an element and its place.
fn arg_extreme_of_rows<'c>(
    lowering: &Lowering<'c>,
    x: Val<'c>,
    (greatest, unsigned): (bool, bool),
    last: bool,
    start: Val<'c>,
) -> Result<Val<'c>> {
    let b = &lowering.b;
    let shape = ir::dims(x.r#type());
    let is_float = ir::is_float(x.r#type());
    let extremes = reduce(b, &shape, &[1], &[x], &[start], |b, args| {
        let (x, sum) = (widen(b, args[0])?, args[1]);
        let better = match (is_float, greatest, unsigned) {
            (true, true, _) => float::greater(b, sum, x)?,
            (true, false, _) => float::lesser(b, sum, x)?,
            (false, true, false) => b.binary("arith.maxsi", sum, x)?,
            (false, true, true) => b.binary("arith.maxui", sum, x)?,
            (false, false, false) => b.binary("arith.minsi", sum, x)?,
            (false, false, true) => b.binary("arith.minui", sum, x)?,
        };
        Ok(vec![better])
    })?;
    // Half as wide as positions are, as sizes fit. The first place is counted from the end, as a minimum that starts
    // from the greatest integer becomes a choice that carries a condition, of which LLVM makes no vectors.
    let place = b.int(32);
    let end = shape[1] - 1;
    let position = usize::from(shape[0] != 1);
    let from_the_end = |b: &Builder<'c>, index| -> Result<Val<'c>> {
        if last { Ok(index) } else { b.binary("arith.subi", b.constant_int(place, end)?, index) }
    };
    let start = b.constant_int(place, 0)?;
    let found = reduce(b, &shape, &[1], &[x, extremes[0]], &[start], |b, args| {
        let x = widen(b, args[0])?;
        let here = if is_float {
            // If there is NaN, the extreme is, and nothing equals it.
            b.binary("arith.ori", b.cmpf("oeq", x, args[1])?, b.cmpf("uno", x, x)?)?
        } else {
            b.cmpi("eq", x, args[1])?
        };
        let index = b.op1("arith.index_cast", &[loop_index(b, position)?], place)?;
        let index = b.select(here, from_the_end(b, index)?, b.constant_int(place, 0)?)?;
        Ok(vec![b.binary("arith.maxsi", args[2], index)?])
    })?;
    lowering.elementwise(&found, b.tensor(&[shape[0], 1], b.int(64)), |b, args| {
        b.op1("arith.extsi", &[from_the_end(b, args[0])?], b.int(64))
    })
}

/// The first or last position of the greatest or least elements.
fn lower_arg<'c>(
    lowering: &Lowering<'c>,
    x: Val<'c>,
    axis: i64,
    (greatest, last): (bool, bool),
) -> Result<Vec<Val<'c>>> {
    let axis = normalize_axis(axis, ir::dims(x.r#type()).len());
    let found = arg_extreme(lowering, x, axis, greatest, last)?;
    Ok(vec![reshape(&lowering.b, found, &lowering.result_dims(0)?)?])
}

fn lower_cumsum<'c>(lowering: &Lowering<'c>, op: CumSumAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (b, x) = (&lowering.b, op.x());
    let element = ir::element_type(x.r#type());
    let rank = ir::dims(x.r#type()).len();
    let axis = normalize_axis(op.axis(), rank);
    let exclusive = op.exclusive();
    let zero = b.constant(wide_type(b, element), 0.0)?;
    let value = scan(b, x, axis, op.reverse(), zero, |b, x, sum| {
        let x = widen(b, x)?;
        let add = if ir::is_float(x.r#type()) { "arith.addf" } else { "arith.addi" };
        let next = b.binary(add, sum, x)?;
        let element = narrow(b, if exclusive { sum } else { next }, element)?;
        Ok((element, next))
    })?;
    Ok(vec![value])
}

/// Determinants by elimination, which takes the greatest element of each column for its pivot.
fn lower_det<'c>(l: &Lowering<'c>, op: DetAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (b, x, y) = (&l.b, op.x(), l.result_type(0)?);
    let dims = ir::dims(x.r#type());
    let (outer, size) = (&dims[..dims.len() - 2], dims[dims.len() - 1]);
    let real = wide_type(b, ir::element_type(y));
    let state = [b.empty(y)?, b.empty(b.tensor(&dims, real))?];
    let results = independent(b, outer, &state, |b, outer, state| {
        let work = nest(b, &[size, size], &state[1..], |b, at, work| {
            let at = [outer, at].concat();
            let element = convert(b, extract(b, x, &at)?, false, real, false)?;
            Ok(vec![insert(b, element, work[0], &at)?])
        })?;
        let eliminated = count_to(b, b.index(size)?, &[b.constant(real, 1.0)?, work[0]], |b, step, state| {
            Elimination { outer, size, step }.emit(b, state)
        })?;
        let det = convert(b, eliminated[0], false, ir::element_type(y), false)?;
        Ok(vec![insert(b, det, state[0], outer)?, eliminated[1]])
    })?;
    Ok(vec![results[0]])
}

/// A step of an elimination: the column `step` of a matrix becomes zero below the diagonal.
struct Elimination<'o, 'c> {
    outer: &'o [Val<'c>],
    size: i64,
    step: Val<'c>,
}

impl<'c> Elimination<'_, 'c> {
    fn at(&self, row: Val<'c>, column: Val<'c>) -> Vec<Val<'c>> {
        [self.outer, &[row, column]].concat()
    }

    /// State is the product of the pivots so far, and the matrix.
    fn emit(&self, b: &Builder<'c>, state: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
        let (step, end) = (self.step, b.index(self.size)?);
        let [det, work] = [state[0], state[1]];
        let rows = Bounds { from: step, to: end };
        let none = number(b, det, -1.0)?;
        let found = count_between(b, rows, &[none, step], |b, row, best| {
            let length = arith(b, "math.absf", &[extract(b, work, &self.at(row, step))?])?;
            let better = b.cmpf("ogt", length, best[0])?;
            Ok(vec![b.select(better, length, best[0])?, b.select(better, row, best[1])?])
        })?;
        let top = found[1];
        let work = count_to(b, end, &[work], |b, column, work| {
            let places = [self.at(step, column), self.at(top, column)];
            let [low, high] = [extract(b, work[0], &places[0])?, extract(b, work[0], &places[1])?];
            let work = insert(b, high, work[0], &places[0])?;
            Ok(vec![insert(b, low, work, &places[1])?])
        })?[0];
        let pivot = extract(b, work, &self.at(step, step))?;
        let stays = b.cmpi("eq", top, step)?;
        let turned = b.select(stays, pivot, arith(b, "arith.negf", &[pivot])?)?;
        let below = Bounds { from: b.binary("arith.addi", step, b.index(1)?)?, to: end };
        // Below a pivot of zero there are zeros only, and the determinant is zero.
        let zero = b.cmpf("oeq", pivot, number(b, pivot, 0.0)?)?;
        let divisor = b.select(zero, number(b, pivot, 1.0)?, pivot)?;
        let work = count_between(b, below, &[work], |b, row, work| {
            let factor = float::div(b, extract(b, work[0], &self.at(row, step))?, divisor)?;
            count_between(b, below, work, |b, column, work| {
                let taken = mul(b, factor, extract(b, work[0], &self.at(step, column))?)?;
                let place = self.at(row, column);
                let rest = sub(b, extract(b, work[0], &place)?, taken)?;
                Ok(vec![insert(b, rest, work[0], &place)?])
            })
        })?[0];
        Ok(vec![mul(b, det, turned)?, work])
    }
}
