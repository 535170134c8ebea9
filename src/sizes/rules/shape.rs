//! Operations that move elements without looking at them.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, graph, op_name},
    lower::normalize_axis,
    sizes::{
        Bounding, Dim, Remedy,
        dim::check,
        mask::{Neutral, integers},
        shape::reshaped,
    },
};
use phaseline_base::size::{Size, Solution, Symbol};

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
        (graph::DequantizeLinear::NAME, quantize),
        (graph::QuantizeLinear::NAME, quantize),
        (graph::Lookup::NAME, as_first),
        (graph::BatchNorm::NAME, batch_norm),
        (graph::Lrn::NAME, across_channels),
        (graph::Trilu::NAME, triangle),
        (graph::EyeLike::NAME, triangle),
        (graph::Col2Im::NAME, col2im),
        (graph::DepthToSpace::NAME, blocks),
        (graph::SpaceToDepth::NAME, blocks),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

impl<'c> Bounding<'c> {
    /// A value in the order of its buffer, with these dimensions.
    fn with_dims(&mut self, b: &Builder<'c>, x: Val<'c>, dims: Vec<Dim>) -> Result<Val<'c>> {
        check(&dims, &self.symbols)?;
        let rooms: Vec<_> = dims.iter().map(|dim| self.room(dim)).collect();
        let shape = integers(b, &[rooms.len() as i64], &rooms)?;
        let attributes = graph::ReshapeAttrs { allowzero: rooms.contains(&0) };
        let y = graph::Reshape::build(b, x, shape, attributes)?.y();
        self.know(y, dims);
        Ok(y)
    }

    /// A value reshaped to sizes with as many elements.
    pub(super) fn reshaped_to(
        &mut self,
        b: &Builder<'c>,
        x: Val<'c>,
        sizes: Vec<Size>,
    ) -> Result<Val<'c>> {
        let from = self.dims(x);
        match reshaped(&from, &sizes, &self.symbols) {
            Ok(dims) => self.with_dims(b, x, dims),
            Err(_) => looked_up(self, b, (x, &from), sizes),
        }
    }

    /// A value whose elements that count are the first ones along an axis.
    pub(super) fn singled(&mut self, b: &Builder<'c>, x: Val<'c>, axis: usize) -> Result<Val<'c>> {
        let dims = self.dims(x);
        match dims[axis].single() {
            Some(_) => Ok(x),
            None => looked_up(self, b, (x, &dims), dims.iter().map(Dim::size).collect()),
        }
    }

    /// A value with its axes in another order.
    pub(super) fn turned(&mut self, b: &Builder<'c>, x: Val<'c>, order: &[i64]) -> Result<Val<'c>> {
        let dims = self.dims(x);
        let y = graph::Transpose::build(b, x, order)?.y();
        self.know(y, order.iter().map(|axis| dims[*axis as usize].clone()).collect());
        Ok(y)
    }

    /// The quotient of a size by a number that has to divide it.
    pub(super) fn part_of(&mut self, size: &Size, number: i64, what: &str) -> Result<Size> {
        size.divided(&number.into()).ok_or_else(|| {
            self.remedy = size.divisible(number, &self.symbols).map(Remedy::Symbol);
            let text = size.text(&self.symbols);
            Error::invalid(format!("{what} {text}, which {number} may not divide"))
        })
    }
}

/// Replaces an operation by a reshape to these dimensions.
fn to_dims<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    dims: Vec<Dim>,
) -> Result<Outcome<'c>> {
    let x = s.materialized(b, ir::operands(op)[0])?;
    Ok(Outcome::Replaced(vec![s.with_dims(b, x, dims)?]))
}

fn reshape<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let [x, shape] = ir::operands(op)[..] else {
        return Err(Error::internal("a reshape without a shape"));
    };
    let from = s.dims(x);
    let mut target = s.content(shape).ok_or_else(|| {
        Error::invalid("reshapes to sizes that do not follow from those of inputs; if an input has them, give it values or ranges: --value NAME=[1..8,3]")
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
        sizes[open] = match total.divided(&others) {
            Some(size) => size,
            None => {
                s.remedy = divisible(&total, &others, &s.symbols).map(Remedy::Symbol);
                return None;
            }
        };
    }
    let product = sizes.iter().fold(Size::from(1), |all, size| all.times(size));
    if product != total {
        let solution =
            product.minus(&total).solved(&s.symbols).or_else(|| aligned(from, &sizes, &s.symbols));
        s.remedy = solution.map(Remedy::Symbol);
        return None;
    }
    Some(looked_up(s, b, (x, from), sizes).map(|y| Outcome::Replaced(vec![y])))
}

/// The multiples that a symbol has to have for a product of sizes and a number to divide a size.
fn divisible(total: &Size, others: &Size, symbols: &[Symbol]) -> Option<Solution> {
    let (symbolic, number) = others.parts()?;
    let rest = total.divided(&symbolic)?;
    rest.divisible(number, symbols)
}

/// A symbol at either end that is the number there.
fn aligned(from: &[Dim], target: &[Size], symbols: &[Symbol]) -> Option<Solution> {
    if target.iter().any(|size| size.known().is_none()) {
        return None;
    }
    let ends = [(from.last(), target.last()), (from.first(), target.first())];
    let open = |dim: &Dim| dim.single().cloned().filter(|size| size.known().is_none());
    let end =
        ends.into_iter().find_map(|(dim, size)| dim.and_then(open)?.minus(size?).solved(symbols));
    // Where only the least, or the greatest, sizes have as many elements, these.
    let product = |sizes: &mut dyn Iterator<Item = Size>| {
        sizes.fold(Size::from(1), |all, size| all.times(&size))
    };
    let total = product(&mut from.iter().map(Dim::size)).bounds(symbols);
    let wanted = product(&mut target.iter().cloned()).known()?;
    let pinned = || {
        let size = from.iter().find_map(open)?;
        let (least, most) = size.bounds(symbols);
        let value = match (total.0 == wanted, total.1 == wanted) {
            (true, _) => least,
            (_, true) => most,
            _ => return None,
        };
        size.minus(&value.into()).solved(symbols)
    };
    match total {
        (least, most) if least == wanted || most == wanted => pinned(),
        _ => end,
    }
}

fn looked_up<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    (x, from): (Val<'c>, &[Dim]),
    sizes: Vec<Size>,
) -> Result<Val<'c>> {
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
    Ok(y)
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
        Error::invalid("expands to sizes that do not follow from those of inputs; if an input has them, give it values or ranges: --value NAME=[1..8,3]")
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

/// Windows of squares reach across channels.
fn across_channels<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    if s.dims(ir::operands(op)[0]).get(1).is_none_or(|dim| dim.single().is_none()) {
        return Err(Error::invalid("has channels that are a product of sizes"));
    }
    s.materialize_all(b, op)?;
    s.mask_operand(b, op, 0, (&[1], Neutral::Zero))?;
    as_first(s, b, op)
}

/// There is a number for each channel.
fn batch_norm<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let operands = ir::operands(op);
    let channels = s.dims(operands[0]).get(1).cloned().unwrap_or(Dim::known(1));
    let scales = s.dims(operands[1])[0].clone();
    s.same(&channels, &scales, "has channels, and scales for channels, of")?;
    as_first(s, b, op)
}

/// There is a scale for all, for each slice along an axis, or for each block of slices.
fn quantize<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    let operands = ir::operands(op);
    let (dims, scale) = (s.dims(operands[0]), s.dims(operands[1]));
    let axis = normalize_axis(ir::attr_i64(op, "axis").unwrap_or(1), dims.len());
    let block = ir::attr_i64(op, "block_size").unwrap_or(0);
    if let [along] = &scale[..]
        && along.as_known() != Some(1)
    {
        s.same(&dims[axis], along, "has slices, and scales for slices, of")?;
    }
    if scale.len() > 1 && block > 0 {
        for (place, (dim, scale)) in dims.iter().zip(&scale).enumerate() {
            let dim = match place == axis {
                true => Dim::of(dim.size().plus(&(block - 1).into()).over(block)),
                false => dim.clone(),
            };
            s.same(&dim, scale, "has blocks, and scales for blocks, of")?;
        }
    }
    as_first(s, b, op)
}

fn blocks<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let x = ir::operands(op)[0];
    let dims = s.dims(x);
    let block = ir::attr_i64(op, "blocksize").unwrap_or(1).max(1);
    let deep = op_name(op) == graph::SpaceToDepth::NAME;
    let [n, c, h, w] = &dims[..] else { return Err(Error::invalid("is of images only")) };
    let (c, h, w) = (c.size(), h.size(), w.size());
    let block_size = Size::from(block);
    let sides = match deep {
        true => {
            [s.part_of(&h, block, "divides a side of")?, s.part_of(&w, block, "divides a side of")?]
        }
        false => [h.times(&block_size), w.times(&block_size)],
    };
    let channels = match deep {
        true => c.times(&(block * block).into()),
        false => s.part_of(&c, block * block, "divides channels of")?,
    };
    let [high, wide] = sides.clone();
    if c.known().is_some() && dims[2..].iter().all(|dim| dim.single().is_some()) {
        let result = vec![n.clone(), Dim::of(channels), Dim::of(high), Dim::of(wide)];
        return Ok(Outcome::Stays(vec![result]));
    }
    let n = n.size();
    let crd = ir::attr_str(op, "mode").as_deref() == Some("CRD");
    let (parts, order) = match (deep, crd) {
        (true, _) => {
            let parts =
                vec![n.clone(), c, high.clone(), block_size.clone(), wide.clone(), block_size];
            (parts, [0, 3, 5, 1, 2, 4])
        }
        (false, true) => {
            let blocks = [block_size.clone(), block_size];
            let [first, second] = blocks;
            (vec![n.clone(), channels.clone(), first, second, h, w], [0, 1, 4, 2, 5, 3])
        }
        (false, false) => {
            let first = block_size.clone();
            (vec![n.clone(), first, block_size, channels.clone(), h, w], [0, 3, 4, 1, 5, 2])
        }
    };
    let split = s.reshaped_to(b, x, parts)?;
    let turned = s.turned(b, split, &order)?;
    let y = s.reshaped_to(b, turned, vec![n, channels, high, wide])?;
    Ok(Outcome::Replaced(vec![y]))
}

/// Images have sizes that are known, so there are as many windows as fit.
fn col2im<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let dims = s.dims(ir::operands(op)[0]);
    let list = |name: &str| ir::attr_i64s(op, name).unwrap_or_default();
    let (image, kernels) = (list("image_shape"), list("kernel_shape"));
    let windows = super::window::windows(op, &kernels);
    let counts = image.iter().zip(&windows).map(|(side, window)| window.result(&(*side).into()));
    let count = counts.fold(Size::from(1), |all, count| all.times(&count));
    s.same(&dims[2], &Dim::of(count), "has columns for windows, and windows, of")?;
    let patch: i64 = kernels.iter().product();
    let channels = s.part_of(&dims[1].size(), patch, "divides rows of")?;
    let mut result = vec![dims[0].clone(), Dim::of(channels)];
    result.extend(image.into_iter().map(Dim::known));
    Ok(Outcome::Stays(vec![result]))
}
