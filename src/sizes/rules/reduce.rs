//! Operations that fold elements along axes.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, op_name},
    lower::normalize_axis,
    sizes::{Bounding, Dim, mask::Neutral},
};
use melior::ir::ValueLike;
use phaseline_base::size::Size;

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::Softmax::NAME, softmax),
        (graph::Hardmax::NAME, softmax),
        (graph::LpNorm::NAME, lp_norm),
        (graph::DynamicQuantizeLinear::NAME, dynamic_quantize),
        (graph::MeanVarianceNorm::NAME, mean_variance_norm),
        (graph::LogSoftmax::NAME, softmax),
        (graph::ReduceSum::NAME, reduce),
        (graph::ReduceL1::NAME, reduce),
        (graph::ReduceL2::NAME, reduce),
        (graph::ReduceLogSum::NAME, reduce),
        (graph::ReduceLogSumExp::NAME, reduce),
        (graph::ReduceSumSquare::NAME, reduce),
        (graph::ReduceProd::NAME, reduce),
        (graph::ReduceMax::NAME, reduce),
        (graph::ReduceMin::NAME, reduce),
        (graph::ReduceMean::NAME, mean),
        (graph::ArgMax::NAME, position),
        (graph::ArgMin::NAME, position),
        (graph::CumSum::NAME, running_sum),
        (graph::TopK::NAME, top_k),
        (graph::LayerNorm::NAME, normalize),
        (graph::LayerNormWithStats::NAME, normalize),
        (graph::RmsNorm::NAME, normalize),
        (graph::GlobalAveragePool::NAME, global_pool),
        (graph::GlobalMaxPool::NAME, global_pool),
        (graph::InstanceNorm::NAME, instance_norm),
        (graph::GroupNorm::NAME, group_norm),
        (graph::GlobalLpPool::NAME, global_lp_pool),
        (graph::Det::NAME, determinant),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// The axes of a list, counted from the first dimension; an empty list is all of them.
fn axes_of(op: Op<'_>, rank: usize) -> Vec<usize> {
    let axes = ir::attr_i64s(op, "axes").unwrap_or_default();
    match axes.is_empty() {
        true => (0..rank).collect(),
        false => axes.into_iter().map(|axis| normalize_axis(axis, rank)).collect(),
    }
}

/// Dimensions without those at `axes`, or with ones there.
fn without(dims: &[Dim], axes: &[usize], keep: bool) -> Vec<Dim> {
    let kept = dims.iter().enumerate().filter_map(|(axis, dim)| match axes.contains(&axis) {
        true => keep.then(|| Dim::known(1)),
        false => Some(dim.clone()),
    });
    kept.collect()
}

fn softmax<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(-1), dims.len());
    s.mask_operand(b, op, 0, (&[axis], Neutral::Least))?;
    Ok(Outcome::Stays(vec![dims]))
}

fn lp_norm<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(-1), dims.len());
    s.mask_operand(b, op, 0, (&[axis], Neutral::Zero))?;
    Ok(Outcome::Stays(vec![dims]))
}

/// The range that is quantized always has zero in it.
fn dynamic_quantize<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let axes: Vec<_> = (0..dims.len()).collect();
    s.mask_operand(b, op, 0, (&axes, Neutral::Zero))?;
    Ok(Outcome::Stays(vec![dims, vec![], vec![]]))
}

fn mean_variance_norm<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let x = ir::operands(op)[0];
    let dims = s.dims(x);
    let axes = axes_of(op, dims.len());
    if axes.iter().all(|axis| dims[*axis].is_known()) {
        return Ok(Outcome::Stays(vec![dims]));
    }
    let (centered, deviation) = deviations(s, b, x, (&axes, 1e-9))?;
    let y = graph::Div::build(b, centered, deviation)?.y();
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

/// Elements less their mean along axes, and the root of the mean of the squares of these.
fn deviations<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    x: Val<'c>,
    (axes, epsilon): (&[usize], f64),
) -> Result<(Val<'c>, Val<'c>)> {
    let dims = s.dims(x);
    let mean = mean_of(s, b, x, (axes, true))?;
    let centered = graph::Sub::build(b, x, mean)?.y();
    s.know(centered, dims.clone());
    let squares = graph::Mul::build(b, centered, centered)?.y();
    s.know(squares, dims);
    let variance = mean_of(s, b, squares, (axes, true))?;
    let element = ir::element_type(variance.r#type());
    let epsilon = b.parse_attr(&format!("dense<{epsilon:.20}> : tensor<{element}>"))?;
    let epsilon = graph::Constant::build(b, epsilon)?.y();
    let deviation = graph::Sqrt::build(b, graph::Add::build(b, variance, epsilon)?.y())?.y();
    Ok((centered, deviation))
}

fn reduce<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let axes = axes_of(op, dims.len());
    let neutral = match op_name(op) {
        graph::ReduceProd::NAME => Neutral::One,
        graph::ReduceMax::NAME | graph::ReduceLogSumExp::NAME => Neutral::Least,
        graph::ReduceMin::NAME => Neutral::Greatest,
        _ => Neutral::Zero,
    };
    s.mask_operand(b, op, 0, (&axes, neutral))?;
    let keep = ir::attr_bool(op, "keepdims").unwrap_or(true);
    Ok(Outcome::Stays(vec![without(&dims, &axes, keep)]))
}

/// The number of elements along axes, as a scalar of an element type.
fn count<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (dims, axes): (&[Dim], &[usize]),
    like: Val<'c>,
) -> Result<Val<'c>> {
    let size = axes.iter().fold(Size::from(1), |all, axis| all.times(&dims[*axis].size()));
    let count = s.value_of(&size)?;
    let element = ir::element_type(like.r#type());
    Ok(graph::Cast::build(b, count, element, graph::CastAttrs::default())?.y())
}

/// The mean along axes: the sum of what counts, divided by its number.
fn mean_of<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    x: Val<'c>,
    (axes, keepdims): (&[usize], bool),
) -> Result<Val<'c>> {
    let dims = s.dims(x);
    let masked = s.masked(b, x, axes, Neutral::Zero)?;
    let list = axes.iter().map(|axis| *axis as i64).collect();
    let attributes = graph::ReduceSumAttrs { axes: list, keepdims };
    let sum = graph::ReduceSum::build(b, masked, attributes)?.y();
    let number = count(s, b, (&dims, axes), x)?;
    let mean = graph::Div::build(b, sum, number)?.y();
    s.know(mean, without(&dims, axes, keepdims));
    Ok(mean)
}

fn mean<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let x = ir::operands(op)[0];
    let dims = s.dims(x);
    let axes = axes_of(op, dims.len());
    let keep = ir::attr_bool(op, "keepdims").unwrap_or(true);
    if axes.iter().all(|axis| dims[*axis].is_known()) {
        return Ok(Outcome::Stays(vec![without(&dims, &axes, keep)]));
    }
    Ok(Outcome::Replaced(vec![mean_of(s, b, x, (&axes, keep))?]))
}

/// The axis of an operation, along which its first operand has a single size from now on, and the dimensions of that.
fn single_axis<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    default: i64,
) -> Result<(usize, Vec<Dim>)> {
    let x = ir::operands(op)[0];
    let axis = ir::attr_i64(op, "axis").unwrap_or(default);
    let axis = normalize_axis(axis, s.dims(x).len());
    let x = s.singled(b, x, axis)?;
    edit::set_operand(op, 0, x)?;
    Ok((axis, s.dims(x)))
}

fn position<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let (axis, dims) = single_axis(s, b, op, 0)?;
    let greatest = op_name(op) == graph::ArgMax::NAME;
    let neutral = if greatest { Neutral::Least } else { Neutral::Greatest };
    s.mask_operand(b, op, 0, (&[axis], neutral))?;
    let keep = ir::attr_bool(op, "keepdims").unwrap_or(true);
    let result = without(&dims, &[axis], keep);
    let last = ir::attr_bool(op, "select_last_index").unwrap_or(false);
    if dims[axis].is_known() || !last {
        return Ok(Outcome::Stays(vec![result]));
    }
    // Where all elements are as padding is, the last of what counts.
    let x = ir::operands(op)[0];
    let (axis, keepdims, select_last_index) = (axis as i64, keep, true);
    let position = match greatest {
        true => {
            let attributes = graph::ArgMaxAttrs { axis, keepdims, select_last_index };
            graph::ArgMax::build(b, x, attributes)?.y()
        }
        false => {
            let attributes = graph::ArgMinAttrs { axis, keepdims, select_last_index };
            graph::ArgMin::build(b, x, attributes)?.y()
        }
    };
    let end = s.value_of(&dims[axis as usize].size().minus(&1.into()))?;
    let y = graph::Min::build(b, position, end)?.y();
    s.know(y, result);
    Ok(Outcome::Replaced(vec![y]))
}

fn running_sum<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let (axis, dims) = single_axis(s, b, op, 0)?;
    if ir::attr_bool(op, "reverse").unwrap_or(false) {
        s.mask_operand(b, op, 0, (&[axis], Neutral::Zero))?;
    }
    Ok(Outcome::Stays(vec![dims]))
}

fn top_k<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let operands = ir::operands(op);
    let k = s.content(operands[1]).and_then(|content| content.first().cloned());
    let Some(k) = k else {
        return Err(Error::invalid(
            "selects as many elements as data say; if an input does, give it a value or a range: --value NAME=1..8",
        ));
    };
    let (axis, mut dims) = single_axis(s, b, op, -1)?;
    let size = dims[axis].size();
    if !k.is_at_most(&size, &s.symbols) {
        return Err(Error::invalid(format!(
            "selects {} of {} elements, which may be fewer",
            k.text(&s.symbols),
            size.text(&s.symbols)
        )));
    }
    let largest = ir::attr_bool(op, "largest").unwrap_or(true);
    let neutral = if largest { Neutral::Least } else { Neutral::Greatest };
    s.mask_operand(b, op, 0, (&[axis], neutral))?;
    s.put_numbers(b, op, 1, &[k.most(&s.symbols)])?;
    dims[axis] = Dim::of(k);
    Ok(Outcome::Stays(vec![dims.clone(), dims]))
}

fn normalize<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let operands = ir::operands(op);
    let (dims, scale) = (s.dims(operands[0]), s.dims(operands[1]));
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(-1), dims.len());
    // There is a scale for each element of what is normalized.
    for (dim, scale) in dims[axis..].iter().rev().zip(scale.iter().rev()) {
        if scale.as_known() != Some(1) {
            s.same(dim, scale, "normalizes elements, and has scales for elements, of")?;
        }
    }
    if dims[axis..].iter().any(|dim| !dim.is_known()) {
        return Err(Error::invalid("normalizes along a size that is known at run time"));
    }
    let axes: Vec<_> = (axis..dims.len()).collect();
    let means = without(&dims, &axes, true);
    Ok(Outcome::Stays(vec![dims, means.clone(), means]))
}

/// The spatial axes of an image.
fn spatial(dims: &[Dim]) -> Vec<usize> {
    (2..dims.len()).collect()
}

fn global_pool<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let x = ir::operands(op)[0];
    let dims = s.dims(x);
    let axes = spatial(&dims);
    let known = axes.iter().all(|axis| dims[*axis].is_known());
    if op_name(op) == graph::GlobalAveragePool::NAME && !known {
        return Ok(Outcome::Replaced(vec![mean_of(s, b, x, (&axes, true))?]));
    }
    s.mask_operand(b, op, 0, (&axes, Neutral::Least))?;
    Ok(Outcome::Stays(vec![without(&dims, &axes, true)]))
}

fn instance_norm<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let [x, scale, bias] = ir::operands(op)[..] else {
        return Err(Error::internal("an instance_norm without a scale and a bias"));
    };
    let dims = s.dims(x);
    let channels = s.dims(scale)[0].clone();
    s.same(&dims[1], &channels, "has channels, and scales for channels, of")?;
    let axes = spatial(&dims);
    if axes.iter().all(|axis| dims[*axis].is_known()) {
        return Ok(Outcome::Stays(vec![dims]));
    }
    let epsilon = ir::attr_f64(op, "epsilon").unwrap_or(1e-5);
    let (centered, deviation) = deviations(s, b, x, (&axes, epsilon))?;
    let normal = graph::Div::build(b, centered, deviation)?.y();
    let channels: Vec<_> = (1..axes.len() as i64 + 1).collect();
    let wide = |value| Ok::<_, Error>(graph::Unsqueeze::build(b, value, &channels)?.y());
    let scaled = graph::Mul::build(b, normal, wide(scale)?)?.y();
    let y = graph::Add::build(b, scaled, wide(bias)?)?.y();
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

fn global_lp_pool<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let axes = spatial(&dims);
    s.mask_operand(b, op, 0, (&axes, Neutral::Zero))?;
    Ok(Outcome::Stays(vec![without(&dims, &axes, true)]))
}

fn group_norm<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let [x, scale, bias] = ir::operands(op)[..] else {
        return Err(Error::internal("a group_norm without a scale and a bias"));
    };
    let dims = s.dims(x);
    let channels = s.dims(scale)[0].clone();
    s.same(&dims[1], &channels, "has channels, and scales for channels, of")?;
    if dims[1..].iter().all(Dim::is_known) {
        return Ok(Outcome::Stays(vec![dims]));
    }
    let groups = ir::attr_i64(op, "num_groups").unwrap_or(1).max(1);
    let own = s.part_of(&dims[1].size(), groups, "divides channels of")?;
    let sizes: Vec<_> = dims.iter().map(Dim::size).collect();
    let split = [&sizes[..1], &[groups.into(), own], &sizes[2..]].concat();
    let split = s.reshaped_to(b, x, split)?;
    let axes: Vec<_> = (2..dims.len() + 1).collect();
    let epsilon = ir::attr_f64(op, "epsilon").unwrap_or(1e-5);
    let (centered, deviation) = deviations(s, b, split, (&axes, epsilon))?;
    let normal = graph::Div::build(b, centered, deviation)?.y();
    let split = s.dims(split);
    s.know(normal, split);
    let normal = s.reshaped_to(b, normal, sizes)?;
    let dims = s.dims(normal);
    let axes: Vec<_> = (1..dims.len() as i64 - 1).collect();
    let wide = |value| match axes.is_empty() {
        true => Ok::<_, Error>(value),
        false => Ok(graph::Unsqueeze::build(b, value, &axes)?.y()),
    };
    let scaled = graph::Mul::build(b, normal, wide(scale)?)?.y();
    let y = graph::Add::build(b, scaled, wide(bias)?)?.y();
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

/// The matrix goes on as the identity behind what counts.
fn determinant<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let x = ir::operands(op)[0];
    let dims = s.dims(x);
    let [lead @ .., rows, columns] = &dims[..] else {
        return Err(Error::invalid("is of matrices only"));
    };
    s.same(rows, columns, "has rows and columns of")?;
    if rows.single().is_none() {
        return Err(Error::invalid("has a matrix whose side is a product of sizes"));
    }
    if !rows.is_known() {
        let axes = [dims.len() - 2, dims.len() - 1];
        let masked = s.masked(b, x, &axes, Neutral::Zero)?;
        let side = s.room(rows);
        let element = ir::element_type(x.r#type());
        let zeros = b.parse_attr(&format!("dense<0.0> : tensor<{side}x{side}x{element}>"))?;
        let zeros = graph::Constant::build(b, zeros)?.y();
        let identity = graph::EyeLike::build(b, zeros, graph::EyeLikeAttrs::default())?.y();
        s.know(identity, vec![rows.clone(), columns.clone()]);
        let inside = s.masked(b, identity, &[0], Neutral::Zero)?;
        let behind = graph::Sub::build(b, identity, inside)?.y();
        let whole = graph::Add::build(b, masked, behind)?.y();
        s.know(whole, dims.clone());
        ir::edit::set_operand(op, 0, whole)?;
    }
    Ok(Outcome::Stays(vec![lead.to_vec()]))
}
