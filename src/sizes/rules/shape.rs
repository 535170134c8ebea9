//! Operations that move elements without looking at them.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, graph, op_name},
    lower::normalize_axis,
    sizes::{Bounding, Dim, dim::check, mask::integers, shape::reshaped},
};
use phaseline_base::size::Size;

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::Reshape::NAME, reshape),
        (graph::Flatten::NAME, flatten),
        (graph::Squeeze::NAME, squeeze),
        (graph::Unsqueeze::NAME, unsqueeze),
        (graph::Transpose::NAME, transpose),
        (graph::Expand::NAME, expand),
        (graph::Tile::NAME, tile),
        (graph::ConstantOfShape::NAME, constant_of_shape),
        (graph::DequantizeLinear::NAME, as_first),
        (graph::QuantizeLinear::NAME, as_first),
        (graph::Lookup::NAME, as_first),
        (graph::BatchNorm::NAME, as_first),
        (graph::Lrn::NAME, across_channels),
        (graph::Trilu::NAME, triangle),
        (graph::DepthToSpace::NAME, blocks),
        (graph::SpaceToDepth::NAME, blocks),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// Replaces an operation by a reshape to these dimensions.
fn to_dims<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    dims: Vec<Dim>,
) -> Result<Outcome<'c>> {
    let x = s.materialized(b, ir::operands(op)[0])?;
    let rooms: Vec<_> = dims.iter().map(|dim| s.room(dim)).collect();
    let shape = crate::sizes::mask::integers(b, &[rooms.len() as i64], &rooms)?;
    let attributes = graph::ReshapeAttrs { allowzero: rooms.contains(&0) };
    let y = graph::Reshape::build(b, x, shape, attributes)?.y();
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

fn reshape<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let [x, shape] = ir::operands(op)[..] else {
        return Err(Error::internal("a reshape without a shape"));
    };
    let from = s.dims(x);
    let mut target = s.content(shape).ok_or_else(|| {
        Error::invalid("reshapes to sizes that do not follow from those of inputs")
    })?;
    let keeps = !ir::attr_bool(op, "allowzero").unwrap_or(false);
    for (place, size) in target.iter_mut().enumerate() {
        if size.known() == Some(0) && keeps {
            let dim = from.get(place).ok_or_else(|| {
                Error::invalid(format!("keeps dimension {place} of its operand, which has none"))
            })?;
            *size = dim.size();
        }
    }
    match reshaped(&from, &target, &s.symbols) {
        Ok(dims) => to_dims(s, b, op, dims),
        Err(error) => rearranged(s, b, (x, &from), &target).unwrap_or(Err(error)),
    }
}

/// A reshape whose elements that count are not the first ones any more: each is looked up by its number among those that
/// count. `None` if a size does not follow.
fn rearranged<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (x, from): (Val<'c>, &[Dim]),
    target: &[Size],
) -> Option<Result<Outcome<'c>>> {
    let total = from.iter().fold(Size::from(1), |all, dim| all.times(&dim.size()));
    let mut sizes = target.to_vec();
    if let Some(open) = sizes.iter().position(|size| size.known() == Some(-1)) {
        let others = sizes.iter().enumerate().filter(|(at, _)| *at != open);
        let others = others.fold(Size::from(1), |all, (_, size)| all.times(size));
        sizes[open] = total.divided(&others)?;
    }
    let product = sizes.iter().fold(Size::from(1), |all, size| all.times(size));
    if product != total {
        s.solution = product.minus(&total).solved(&s.symbols);
        return None;
    }
    Some(looked_up(s, b, (x, from), sizes))
}

fn looked_up<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (x, from): (Val<'c>, &[Dim]),
    sizes: Vec<Size>,
) -> Result<Outcome<'c>> {
    let dims: Vec<_> = sizes.into_iter().map(Dim::of).collect();
    check(&dims, &s.symbols)?;
    let rooms: Vec<_> = dims.iter().map(|dim| s.room(dim)).collect();
    // The number of each element of the result among those that count.
    let mut number = integers(b, &[], &[0])?;
    let mut stride = Size::from(1);
    for (axis, dim) in dims.iter().enumerate().rev() {
        let mut shape = vec![1; dims.len() - axis];
        shape[0] = rooms[axis];
        let places = integers(b, &shape, &(0..rooms[axis]).collect::<Vec<_>>())?;
        let step = s.value_of(&stride)?;
        let offset = graph::Mul::build(b, places, step)?.y();
        number = graph::Add::build(b, number, offset)?.y();
        stride = stride.times(&dim.size());
    }
    // Its place in the buffer that there is.
    let (mut place, mut rest, mut inner) = (integers(b, &[], &[0])?, number, 1);
    let factors: Vec<_> = from
        .iter()
        .flat_map(|dim| dim.sizes().iter().cloned().zip(dim.rooms(&s.symbols)))
        .collect();
    let one = integers(b, &[], &[1])?;
    for (size, room) in factors.into_iter().rev() {
        let size = s.value_of(&size)?;
        let size = graph::Max::build(b, size, one)?.y();
        let at = graph::Mod::build(b, rest, size, graph::ModAttrs::default())?.y();
        rest = graph::Div::build(b, rest, size)?.y();
        let step = integers(b, &[], &[inner])?;
        let offset = graph::Mul::build(b, at, step)?.y();
        place = graph::Add::build(b, place, offset)?.y();
        inner *= room;
    }
    let flat = integers(b, &[1], &[-1])?;
    let x = s.materialized(b, x)?;
    let x = graph::Reshape::build(b, x, flat, graph::ReshapeAttrs::default())?.y();
    let y = graph::Gather::build(b, x, place, graph::GatherAttrs::default())?.y();
    s.know(y, dims);
    Ok(Outcome::Replaced(vec![y]))
}

fn flatten<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let dims = s.dims(ir::operands(op)[0]);
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(1), dims.len());
    let join = |dims: &[Dim]| Dim::product(dims.iter().flat_map(|dim| dim.sizes().iter().cloned()));
    let (outer, inner) = dims.split_at(axis);
    to_dims(s, b, op, vec![join(outer), join(inner)])
}

fn squeeze<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let dims = s.dims(ir::operands(op)[0]);
    let axes = ir::attr_i64s(op, "axes").unwrap_or_default();
    let axes: Vec<_> = axes.into_iter().map(|axis| normalize_axis(axis, dims.len())).collect();
    if axes.iter().any(|axis| dims.get(*axis).and_then(Dim::as_known) != Some(1)) {
        return Err(Error::invalid("removes a dimension that is not known to be 1"));
    }
    let kept = dims.into_iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
    let dims = kept.map(|(_, dim)| dim).collect();
    to_dims(s, b, op, dims)
}

fn unsqueeze<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let mut dims = s.dims(ir::operands(op)[0]);
    let axes = ir::attr_i64s(op, "axes").unwrap_or_default();
    let rank = dims.len() + axes.len();
    let mut axes: Vec<_> = axes.into_iter().map(|axis| normalize_axis(axis, rank)).collect();
    axes.sort_unstable();
    for axis in axes {
        dims.insert(axis.min(dims.len()), Dim::known(1));
    }
    to_dims(s, b, op, dims)
}

fn transpose<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let order = ir::attr_i64s(op, "perm").unwrap_or_default();
    let dims = order.iter().map(|axis| dims[normalize_axis(*axis, dims.len())].clone()).collect();
    Ok(Outcome::Stays(vec![dims]))
}

fn expand<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let [x, shape] = ir::operands(op)[..] else {
        return Err(Error::internal("an expand without a shape"));
    };
    let target = s.content(shape).ok_or_else(|| {
        Error::invalid("expands to sizes that do not follow from those of inputs")
    })?;
    let own = s.dims(x);
    // A dimension of several sizes keeps them.
    let lead = target.len().saturating_sub(own.len());
    let target: Vec<_> = target
        .into_iter()
        .enumerate()
        .map(|(place, size)| match place.checked_sub(lead).and_then(|place| own.get(place)) {
            Some(dim) if dim.size() == size => dim.clone(),
            _ => Dim::of(size),
        })
        .collect();
    let dims = s.broadcast(&[own, target])?;
    let rooms: Vec<_> = dims.iter().map(|dim| s.room(dim)).collect();
    let x = s.materialized(b, x)?;
    ir::edit::set_operand(op, 0, x)?;
    s.put_numbers(b, op, 1, &rooms)?;
    Ok(Outcome::Stays(vec![dims]))
}

fn tile<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let [x, repeats] = ir::operands(op)[..] else {
        return Err(Error::internal("a tile without repeats"));
    };
    let repeats = s.content(repeats).ok_or_else(|| {
        Error::invalid("repeats as often as its data say, not as sizes of inputs do")
    })?;
    let own = s.dims(x);
    let dims: Vec<_> = own
        .iter()
        .zip(&repeats)
        .map(|(dim, count)| Dim::product([std::slice::from_ref(count), dim.sizes()].concat()))
        .collect();
    let rooms: Vec<_> = repeats.iter().map(|count: &Size| count.most(&s.symbols)).collect();
    let x = s.materialized(b, x)?;
    ir::edit::set_operand(op, 0, x)?;
    s.put_numbers(b, op, 1, &rooms)?;
    Ok(Outcome::Stays(vec![dims]))
}

fn constant_of_shape<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let shape = s.content(ir::operands(op)[0]).ok_or_else(|| {
        Error::invalid("makes a tensor whose sizes do not follow from those of inputs")
    })?;
    let dims: Vec<_> = shape.into_iter().map(Dim::of).collect();
    let rooms: Vec<_> = dims.iter().map(|dim| s.room(dim)).collect();
    s.put_numbers(b, op, 0, &rooms)?;
    Ok(Outcome::Stays(vec![dims]))
}

/// The result has the dimensions of the first operand, and no element depends on one that is padding.
fn as_first<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    Ok(Outcome::Stays(vec![dims]))
}

/// Elements of a matrix are kept by their row and column.
fn triangle<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let dims = s.dims(ir::operands(op)[0]);
    if dims.iter().rev().take(2).any(|dim| dim.single().is_none()) {
        return Err(Error::invalid("has a matrix whose side is a product of sizes"));
    }
    as_first(s, b, op)
}

/// Windows reach across channels.
fn across_channels<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    if s.dims(ir::operands(op)[0]).get(1).is_none_or(|dim| !dim.is_known()) {
        return Err(Error::invalid("needs a number of channels that is known"));
    }
    as_first(s, b, op)
}

fn blocks<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let size = ir::attr_i64(op, "blocksize").unwrap_or(1);
    let [n, c, h, w] = &dims[..] else { return Err(Error::invalid("is of images only")) };
    let Some(channels) = c.as_known() else {
        return Err(Error::invalid("needs a number of channels that is known"));
    };
    let deep = op_name(op) == graph::SpaceToDepth::NAME;
    let spatial = |dim: &Dim| match (dim.single(), deep) {
        (Some(dim), false) => Ok(Dim::of(dim.times(&size.into()))),
        (Some(dim), true) => Ok(Dim::of(dim.over(size))),
        (None, _) => Err(Error::invalid("has an image whose side is a product of sizes")),
    };
    let channels = if deep { channels * size * size } else { channels / (size * size) };
    Ok(Outcome::Stays(vec![vec![n.clone(), Dim::known(channels), spatial(h)?, spatial(w)?]]))
}
