//! Transpositions between the layouts of calls and those of the model.

use super::{definer, replace_uses};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, elements, graph, view::OpView},
    pattern::BoundLayout,
    tensor::ElementType,
};
use melior::ir::{Type, ValueLike, attribute::DenseElementsAttribute, operation::OperationLike};
use std::collections::HashSet;

/// Removes changes of layout that undo another one of the list, and those that nothing uses. Whoever reads `any` of
/// them, by address, may read anything where no element is.
pub fn cancel<'c>(transposes: &mut Vec<Op<'c>>, any: &HashSet<ir::Id>) -> Result<()> {
    let mut filled = vec![];
    for op in transposes.iter() {
        match undone(*op) {
            Some(Undone { after, before, is_full }) if is_full || any.contains(&ir::id(*op)) => {
                replace_uses(after, before);
            }
            Some(Undone { after, before, .. }) => {
                if let Some(made) = fill(*op, before)? {
                    replace_uses(after, made);
                    filled.extend(definer(made));
                }
            }
            None => {}
        }
    }
    transposes.extend(filled);
    // Later ones use earlier ones: from the back, so that chains go at once.
    loop {
        let count = transposes.len();
        transposes.retain(|op| {
            let used = !ir::users_of(*op).is_empty();
            if !used {
                edit::erase(*op);
            }
            used
        });
        if transposes.len() == count {
            return Ok(());
        }
    }
}

/// A change of layout that undoes the one before.
struct Undone<'c> {
    /// Result of the change.
    after: Val<'c>,
    /// The value before both.
    before: Val<'c>,
    /// True if each place has an element, so that both are the same.
    is_full: bool,
}

fn undone<'c>(op: Op<'c>) -> Option<Undone<'c>> {
    if let Some(after) = graph::Pack::of(op) {
        let before = definer(after.x()).and_then(graph::Unpack::of)?;
        let shape = ir::dims(before.y().r#type());
        let (dims, blocks) = (after.dims(), after.blocks());
        // The fill of a partial block is not zero behind a call.
        let mut parts = dims.iter().zip(&blocks);
        let is_full = parts.all(|(dim, block)| {
            let size = usize::try_from(*dim).ok().and_then(|dim| shape.get(dim));
            size.is_some_and(|size| size % block == 0)
        });
        let same = (before.dims(), before.blocks(), before.inner())
            == (dims, blocks, after.inner())
            && before.x().r#type() == after.y().r#type();
        return same.then(|| Undone { after: after.y(), before: before.x(), is_full });
    }
    let after = graph::Transpose::of(op)?;
    let before = definer(after.x()).and_then(graph::Transpose::of)?;
    let (first, second) = (before.perm(), after.perm());
    let undone = second.iter().enumerate().all(|(place, dim)| {
        usize::try_from(*dim).ok().and_then(|dim| first.get(dim)) == Some(&(place as i64))
    });
    undone.then(|| Undone { after: after.y(), before: before.x(), is_full: true })
}

/// An image in the blocks of a change of layout, with zeros in places that no element has; none if its dimensions are not
/// those of the parts.
fn fill<'c>(pack: Op<'c>, image: Val<'c>) -> Result<Option<Val<'c>>> {
    let Some(pack) = graph::Pack::of(pack) else { return Ok(None) };
    let (sizes, extents) = (ir::dims(pack.x().r#type()), ir::dims(image.r#type()));
    let (dims, blocks, inner) = (pack.dims(), pack.blocks(), pack.inner());
    let parts: Vec<(usize, i64, bool)> = (0_i64..)
        .zip(dims.iter().zip(&blocks))
        .map(|(place, (dim, block))| (*dim as usize, *block, inner.contains(&place)))
        .collect();
    let size = |dim: usize| sizes.get(dim).copied().unwrap_or(1);
    let extent = |(dim, block, inner): &(usize, i64, bool)| match inner {
        true => *block,
        false => (size(*dim) + block - 1) / block,
    };
    if parts.iter().map(extent).ne(extents.iter().copied()) {
        return Ok(None);
    }
    let is_open = |part: &(usize, i64, bool)| size(part.0) % part.1 != 0;
    let shape: Vec<i64> =
        parts.iter().map(|part| if is_open(part) { extent(part) } else { 1 }).collect();
    let strides = ir::memref::row_major(&shape);
    let count = shape.iter().product::<i64>();
    let has_element = |cell: i64| {
        let mut places = vec![0; sizes.len()];
        for ((part, stride), extent) in parts.iter().zip(&strides).zip(&shape) {
            let at = cell / stride.max(&1) % extent;
            places[part.0] += if part.2 { at } else { at * part.1 };
        }
        places.iter().zip(&sizes).all(|(place, size)| place < size)
    };
    let mask: Vec<i32> = (0..count).map(|cell| i32::from(has_element(cell))).collect();
    let b = Builder::before(pack.op())?;
    let mask = DenseElementsAttribute::bool_values(b.tensor(&shape, b.i1()), &mask);
    let mask = graph::Constant::build(&b, mask.into())?.y();
    let element = ir::element_type(image.r#type());
    let width = ElementType::from_mlir_name(&element.to_string()).map(ElementType::bits);
    let Some(width) = width.filter(|bits| bits % 8 == 0) else { return Ok(None) };
    let zero = elements::dense(b.tensor(&[], element), &vec![0; width / 8])?;
    let zero = graph::Constant::build(&b, zero)?.y();
    Ok(Some(graph::Where::build(&b, mask, image, zero)?.y()))
}

/// The changes of layout that belong to a region: those between two of its operations, one after the other or
/// alone.
pub fn within<'c>(region: &[Op<'c>], transposes: &[Op<'c>]) -> Vec<Op<'c>> {
    let sources = |op: Op<'c>| ir::operands(op).into_iter().filter_map(definer).collect();
    let behind = reached(region, transposes, sources);
    let before = reached(region, transposes, ir::users_of);
    let mut all = region.to_vec();
    all.extend(transposes.iter().copied().filter(|op| {
        let op = ir::id(*op);
        behind.contains(&op) && before.contains(&op)
    }));
    all
}

/// Addresses of those of a list that lead to a region by a relation, through others of the list too.
fn reached<'c>(
    region: &[Op<'c>],
    list: &[Op<'c>],
    next: impl Fn(Op<'c>) -> Vec<Op<'c>>,
) -> HashSet<ir::Id> {
    let region: HashSet<ir::Id> = region.iter().map(|op| ir::id(*op)).collect();
    let mut found = HashSet::new();
    loop {
        let count = found.len();
        for op in list {
            let leads = |op: Op<'c>| region.contains(&ir::id(op)) || found.contains(&ir::id(op));
            if next(*op).into_iter().any(leads) {
                found.insert(ir::id(*op));
            }
        }
        if found.len() == count {
            return found;
        }
    }
}

/// Builds behind an operation, under its name.
pub(super) fn builder_after<'c>(op: Op<'c>) -> Result<Builder<'c>> {
    match op.next_in_block() {
        Some(next) => Ok(Builder::before(next)?.with_location(op.location())),
        None => Err(Error::internal("a match at the end of a block")),
    }
}

/// A tensor type with its dimensions in another order.
pub(super) fn permuted<'c>(b: &Builder<'c>, ty: Type<'c>, permutation: &[usize]) -> Type<'c> {
    let dims = ir::dims(ty);
    let dims: Vec<i64> = permutation.iter().map(|dim| dims[*dim]).collect();
    b.tensor(&dims, ir::element_type(ty))
}

/// A tensor in the layout of a call.
pub(super) fn in_layout<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    layout: &BoundLayout,
) -> Result<Val<'c>> {
    match layout {
        BoundLayout::Permuted(order) => transposed(b, value, &order.permutation),
        BoundLayout::Blocked { parts, shape } => {
            let Blocks { dims, blocks, inner } = Blocks::of(parts);
            let sizes = ir::dims(value.r#type());
            let shape = shape.clone().unwrap_or_else(|| {
                let part = |(dim, block, inner): &(usize, i64, bool)| match inner {
                    true => *block,
                    false => (sizes.get(*dim).copied().unwrap_or(1) + block - 1) / block,
                };
                parts.iter().map(part).collect()
            });
            Ok(graph::Pack::build(b, value, &dims, &blocks, &inner, &shape)?.y())
        }
        BoundLayout::Given { layout, .. } => in_layout(b, value, layout),
        BoundLayout::Flat => Ok(value),
    }
}

/// A tensor of a type, from the layout of a call.
pub(super) fn from_layout<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    ty: Type<'c>,
    layout: &BoundLayout,
) -> Result<Val<'c>> {
    match layout {
        BoundLayout::Permuted(order) => transposed(b, value, &order.inverse()),
        BoundLayout::Blocked { parts, .. } => {
            let Blocks { dims, blocks, inner } = Blocks::of(parts);
            Ok(graph::Unpack::build(b, value, &dims, &blocks, &inner, &ir::dims(ty))?.y())
        }
        BoundLayout::Given { layout, .. } => from_layout(b, value, ty, layout),
        BoundLayout::Flat => Ok(value),
    }
}

/// The attributes of `graph.pack`.
struct Blocks {
    dims: Vec<i64>,
    blocks: Vec<i64>,
    inner: Vec<i64>,
}

impl Blocks {
    fn of(parts: &[(usize, i64, bool)]) -> Self {
        let inner = (0_i64..).zip(parts).filter(|(_, part)| part.2).map(|(place, _)| place);
        Self {
            dims: parts.iter().map(|part| part.0 as i64).collect(),
            blocks: parts.iter().map(|part| part.1).collect(),
            inner: inner.collect(),
        }
    }
}

/// A tensor with its dimensions in another order.
fn transposed<'c>(b: &Builder<'c>, value: Val<'c>, permutation: &[usize]) -> Result<Val<'c>> {
    let perm: Vec<i64> = permutation.iter().map(|dim| *dim as i64).collect();
    Ok(graph::Transpose::build(b, value, &perm)?.y())
}
