//! Elements at coordinates that data give.

use super::{Outcome, Rule, index::counted};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, view::OpView},
    lower::normalize_axis,
    sizes::{Bounding, Dim, mask::integers},
};
use melior::ir::ValueLike;

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::ScatterElements::NAME, scatter_elements),
        (graph::ScatterND::NAME, scatter_nd),
        (graph::GatherND::NAME, gather_nd),
        (graph::ReverseSequence::NAME, reverse_sequence),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// A scalar of an integer type.
fn scalar<'c>(b: &Builder<'c>, like: Val<'c>, number: i64) -> Result<Val<'c>> {
    let element = ir::element_type(like.r#type());
    let value = b.parse_attr(&format!("dense<{number}> : tensor<{element}>"))?;
    Ok(graph::Constant::build(b, value)?.y())
}

/// A buffer with more elements at the end of each axis.
fn widened<'c>(b: &Builder<'c>, x: Val<'c>, more: &[i64]) -> Result<Val<'c>> {
    let pads = [vec![0; more.len()], more.to_vec()].concat();
    let pads = integers(b, &[pads.len() as i64], &pads)?;
    Ok(graph::Pad::build(b, x, pads, None, None, graph::PadAttrs::default())?.y())
}

/// The first elements of a buffer along each axis.
fn cut_back<'c>(b: &Builder<'c>, x: Val<'c>, sizes: &[i64]) -> Result<Val<'c>> {
    let list = |values: &[i64]| integers(b, &[values.len() as i64], values);
    let (starts, ends) = (list(&vec![0; sizes.len()])?, list(sizes)?);
    Ok(graph::Slice::build(b, x, starts, ends, None, None)?.y())
}

/// Padding of updates is written behind what the result keeps.
fn scatter_elements<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::ScatterElements::of(op) else {
        return Err(Error::internal("a scatter that is not as ODS has it"));
    };
    let axis = normalize_axis(view.axis(), s.dims(view.x()).len());
    let x = s.singled(b, view.x(), axis)?;
    let (dims, inner) = (s.dims(x), s.dims(view.indices()));
    for (one, other) in inner.iter().zip(s.dims(view.updates())) {
        s.same(one, &other, "has positions and updates of")?;
    }
    if inner.iter().chain(&dims).any(|dim| dim.single().is_none()) {
        return Err(Error::invalid("writes along a product of sizes"));
    }
    let places = counted(s, b, (view.indices(), &dims[axis]))?;
    let axes: Vec<_> = (0..inner.len()).collect();
    let behind = scalar(b, places, s.room(&dims[axis]))?;
    let places = s.masked_with(b, places, &axes, behind)?;
    let more = axes.iter().map(|at| match *at == axis {
        true => 1,
        false => (s.room(&inner[*at]) - s.room(&dims[*at])).max(0),
    });
    let wide = widened(b, x, &more.collect::<Vec<_>>())?;
    let attributes =
        graph::ScatterElementsAttrs { axis: axis as i64, reduction: view.reduction().to_owned() };
    let y = graph::ScatterElements::build(b, wide, places, view.updates(), attributes)?.y();
    let rooms: Vec<_> = dims.iter().map(|dim| s.room(dim)).collect();
    let y = cut_back(b, y, &rooms)?;
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

/// Coordinates whose elements count from the end of what counts.
fn coordinates<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (places, dims): (Val<'c>, &[Dim]),
) -> Result<Val<'c>> {
    let positive = |all: Vec<i64>| all.iter().all(|at| *at >= 0);
    if dims.iter().all(Dim::is_known) || s.numbers(places).is_some_and(positive) {
        return Ok(places);
    }
    if dims.iter().any(|dim| dim.single().is_none()) {
        return Err(Error::invalid("has coordinates along a product of sizes"));
    }
    let mut sizes = vec![];
    for dim in dims {
        let size = s.value_of(&dim.size())?;
        sizes.push(graph::Unsqueeze::build(b, size, &[0])?.y());
    }
    let sizes = match sizes[..] {
        [only] => only,
        _ => graph::Concat::build(b, &sizes, 0)?.y(),
    };
    let zero = scalar(b, places, 0)?;
    let negative = graph::Less::build(b, places, zero)?.y();
    let wrapped = graph::Add::build(b, places, sizes)?.y();
    let y = graph::Where::build(b, negative, wrapped, places)?.y();
    let own = s.dims(places);
    s.know(y, own);
    Ok(y)
}

/// The number of coordinates, which is known as it decides on ranks.
fn depth(dims: &[Dim]) -> Result<usize> {
    let depth = dims.last().and_then(Dim::as_known).and_then(|depth| usize::try_from(depth).ok());
    depth.ok_or_else(|| Error::invalid("has as many coordinates as a run says"))
}

fn scatter_nd<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::ScatterND::of(op) else {
        return Err(Error::internal("a scatter that is not as ODS has it"));
    };
    let (x, updates) = (view.x(), view.updates());
    let (dims, inner) = (s.dims(x), s.dims(view.indices()));
    let depth = depth(&inner)?;
    let lead = &inner[..inner.len() - 1];
    let written: Vec<_> = lead.iter().chain(&dims[depth..]).cloned().collect();
    for (one, other) in written.iter().zip(s.dims(updates)) {
        s.same(one, &other, "has slices and updates of")?;
    }
    let places = coordinates(s, b, (view.indices(), &dims[..depth]))?;
    if depth == 0 || lead.iter().all(Dim::is_known) {
        edit::set_operand(op, 1, places)?;
        return Ok(Outcome::Stays(vec![dims]));
    }
    let axes: Vec<_> = (0..lead.len()).collect();
    let behind = scalar(b, places, s.room(&dims[0]))?;
    let places = s.masked_with(b, places, &axes, behind)?;
    let mut more = vec![0; dims.len()];
    more[0] = 1;
    let wide = widened(b, x, &more)?;
    let attributes = graph::ScatterNDAttrs { reduction: view.reduction().to_owned() };
    let y = graph::ScatterND::build(b, wide, places, updates, attributes)?.y();
    let rooms: Vec<_> = dims.iter().map(|dim| s.room(dim)).collect();
    let y = cut_back(b, y, &rooms)?;
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

fn gather_nd<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::GatherND::of(op) else {
        return Err(Error::internal("a gather that is not as ODS has it"));
    };
    let (dims, inner) = (s.dims(view.x()), s.dims(view.indices()));
    let batch = usize::try_from(view.batch_dims()).unwrap_or(0);
    let depth = depth(&inner)?;
    for (one, other) in dims[..batch].iter().zip(&inner) {
        s.same(one, other, "has batches of")?;
    }
    let places = coordinates(s, b, (view.indices(), &dims[batch..batch + depth]))?;
    edit::set_operand(op, 1, places)?;
    let result = [&inner[..inner.len() - 1], &dims[batch + depth..]].concat();
    Ok(Outcome::Stays(vec![result]))
}

/// A sequence is not longer than what counts.
fn reverse_sequence<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let operands = ir::operands(op);
    let (dims, lengths) = (s.dims(operands[0]), s.dims(operands[1]));
    let axis = |name: &str, otherwise: i64| {
        normalize_axis(ir::attr_i64(op, name).unwrap_or(otherwise), dims.len())
    };
    let (batch, time) = (axis("batch_axis", 1), axis("time_axis", 0));
    s.same(&dims[batch], &lengths[0], "has sequences, and lengths for sequences, of")?;
    if dims[time].single().is_none() {
        return Err(Error::invalid("reverses along a product of sizes"));
    }
    Ok(Outcome::Stays(vec![dims]))
}
