//! Ops that read elements at positions held in tensors.
//!
//! Positions that are only known at run time are clamped. One that is out of range (which ONNX does
//! not allow) reads or writes the nearest element along that axis.

use crate::{
    Error, Result,
    ir::{
        self, Builder, Val,
        constant::Elements,
        func,
        graph::{
            CompressAdaptor, GatherAdaptor, GatherElementsAdaptor, GatherNDAdaptor, NonZeroAdaptor,
            OneHotAdaptor,
        },
    },
    lower::{
        Aff, Lowering,
        generic::{c, d, loop_index, parallel},
        normalize_axis,
        operands::{choose, i64_tensor},
        scalar::convert,
        shape,
    },
};
use melior::ir::{Type, ValueLike};

/// The position `raw` (an integer of any width) in an axis of `size` elements, as an index.
/// Negative ones count from the end; what is out of range gives the nearest position.
pub(super) fn position<'c>(b: &Builder<'c>, raw: Val<'c>, size: i64) -> Result<Val<'c>> {
    let ty = b.int(64);
    let raw = convert(b, raw, false, ty, false)?;
    let (zero, size) = (b.constant_int(ty, 0)?, b.constant_int(ty, size)?);
    let from_end = b.binary("arith.addi", raw, size)?;
    let at = b.select(b.cmpi("slt", raw, zero)?, from_end, raw)?;
    let last = b.binary("arith.subi", size, b.constant_int(ty, 1)?)?;
    let at = b.binary("arith.minsi", b.binary("arith.maxsi", at, zero)?, last)?;
    b.op1("arith.index_cast", &[at], b.index_type())
}

/// Fails when elements are to be picked from a tensor without any.
fn check_not_empty(x: Val<'_>, to: Type<'_>) -> Result<()> {
    if ir::dims(x.r#type()).contains(&0) && !ir::dims(to).contains(&0) {
        return Err(Error::invalid(format!(
            "picks elements from its operand of type {}, which has none",
            x.r#type()
        )));
    }
    Ok(())
}

fn loop_indices<'c>(b: &Builder<'c>, range: std::ops::Range<usize>) -> Result<Vec<Val<'c>>> {
    range.map(|dim| loop_index(b, dim)).collect()
}

fn gather<'c>(l: &Lowering<'c>, op: GatherAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (x, indices) = (op.x(), op.indices());
    let ty = l.result_type(0)?;
    check_not_empty(x, ty)?;
    let from = ir::dims(x.r#type());
    let axis = normalize_axis(op.axis(), from.len());
    if let Some(value) = gather_one(l, x, indices, axis)? {
        return Ok(vec![value]);
    }
    let (rank, picked) = (ir::dims(ty).len(), ir::dims(indices.r#type()).len());
    let map = (axis..axis + picked).map(d).collect();
    let value = parallel(&l.b, ty, &[(indices, map)], |b, raw| {
        let mut at = loop_indices(b, 0..axis)?;
        at.push(position(b, raw[0], from[axis])?);
        at.extend(loop_indices(b, axis + picked..rank)?);
        shape::extract(b, x, &at)
    })?;
    Ok(vec![value])
}

/// A single known position is a slice, which needs no loop.
fn gather_one<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    indices: Val<'c>,
    axis: usize,
) -> Result<Option<Val<'c>>> {
    let mut sizes = ir::dims(x.r#type());
    let Some(elements) = Elements::of_value(indices).filter(|indices| indices.len() == 1) else {
        return Ok(None);
    };
    if sizes.contains(&0) {
        return Ok(None);
    }
    let (at, size) = (elements.int(0), sizes[axis]);
    let mut offsets = vec![0; sizes.len()];
    offsets[axis] = if at < 0 { at.saturating_add(size).max(0) } else { at.min(size - 1) };
    sizes[axis] = 1;
    let slice = shape::slice(&l.b, x, &offsets, &sizes, &vec![1; sizes.len()])?;
    shape::reshape(&l.b, slice, &l.result_dims(0)?).map(Some)
}

fn gather_elements<'c>(
    l: &Lowering<'c>,
    op: GatherElementsAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let (x, indices) = (op.x(), op.indices());
    let ty = l.result_type(0)?;
    check_not_empty(x, ty)?;
    let from = ir::dims(x.r#type());
    let axis = normalize_axis(op.axis(), from.len());
    let map = (0..from.len()).map(d).collect();
    let value = parallel(&l.b, ty, &[(indices, map)], |b, raw| {
        let mut at = loop_indices(b, 0..from.len())?;
        at[axis] = position(b, raw[0], from[axis])?;
        shape::extract(b, x, &at)
    })?;
    Ok(vec![value])
}

fn gather_nd<'c>(l: &Lowering<'c>, op: GatherNDAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (x, indices) = (op.x(), op.indices());
    let ty = l.result_type(0)?;
    check_not_empty(x, ty)?;
    let (from, positions) = (ir::dims(x.r#type()), ir::dims(indices.r#type()));
    let batch = op.batch_dims().max(0) as usize;
    let (outer, depth) = (positions.len() - 1, positions[positions.len() - 1]);
    // One access of the coordinates for each of them.
    let coordinate = |k: i64| -> Vec<Aff> { (0..outer).map(d).chain([c(k)]).collect() };
    let ins: Vec<_> = (0..depth).map(|k| (indices, coordinate(k))).collect();
    let rank = ir::dims(ty).len();
    let value = parallel(&l.b, ty, &ins, |b, raw| {
        let mut at = loop_indices(b, 0..batch)?;
        for (k, raw) in raw.iter().enumerate() {
            at.push(position(b, *raw, from[batch + k])?);
        }
        at.extend(loop_indices(b, outer..rank)?);
        shape::extract(b, x, &at)
    })?;
    Ok(vec![value])
}

fn one_hot<'c>(l: &Lowering<'c>, op: OneHotAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let (indices, values) = (op.indices(), op.values());
    let ty = l.result_type(0)?;
    let to = ir::dims(ty);
    if to.contains(&0) {
        return Ok(vec![l.b.empty(ty)?]);
    }
    let axis = normalize_axis(op.axis(), to.len());
    let map = (0..to.len()).filter(|dim| *dim != axis).map(d).collect();
    let off = shape::extract(&l.b, values, &[l.b.index(0)?])?;
    let on = shape::extract(&l.b, values, &[l.b.index(1)?])?;
    let unsigned = l.is_unsigned(0);
    let value = parallel(&l.b, ty, &[(indices, map)], |b, raw| {
        let wide = b.int(64);
        let raw = convert(b, raw[0], unsigned, wide, false)?;
        let depth = b.constant_int(wide, to[axis])?;
        let negative = b.cmpi("slt", raw, b.constant_int(wide, 0)?)?;
        let at = b.select(negative, b.binary("arith.addi", raw, depth)?, raw)?;
        let here = b.op1("arith.index_cast", &[loop_index(b, axis)?], wide)?;
        choose(b, b.cmpi("eq", at, here)?, on, off)
    })?;
    Ok(vec![value])
}

/// The error for an op whose result has as many elements as its operand's values say.
fn depends_on_data(name: &str, value: Val<'_>) -> Error {
    Error::unsupported(format!(
        "has a result whose shape depends on the values of '{name}', which are not constant; {}",
        func::value_remedy(&[value])
    ))
}

fn non_zero<'c>(l: &Lowering<'c>, op: NonZeroAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = Elements::of_value(op.x()).ok_or_else(|| depends_on_data("x", op.x()))?;
    let dims = ir::dims(op.x().r#type());
    let hits: Vec<_> = (0..x.len() as i64).filter(|i| x.float(*i as usize) != 0.0).collect();
    let mut rows = vec![];
    for axis in 0..dims.len() {
        let stride: i64 = dims[axis + 1..].iter().product();
        rows.extend(hits.iter().map(|hit| hit / stride % dims[axis]));
    }
    let to = [dims.len() as i64, hits.len() as i64];
    check_count(l, &to)?;
    Ok(vec![i64_tensor(&l.b, &to, &rows)?])
}

fn check_count(l: &Lowering<'_>, found: &[i64]) -> Result<()> {
    if l.result_dims(0)? == found {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "has a result declared as {}, but its operand gives the shape {found:?}",
        l.result_type(0)?
    )))
}

fn compress<'c>(l: &Lowering<'c>, op: CompressAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let kept = Elements::of_value(op.condition()).ok_or_else(|| depends_on_data("condition", op.condition()))?;
    let kept: Vec<_> = (0..kept.len() as i64).filter(|i| kept.int(*i as usize) != 0).collect();
    let (mut x, mut axis) = (op.x(), 0);
    let mut dims = ir::dims(x.r#type());
    if let Some(along) = op.axis() {
        axis = normalize_axis(along, dims.len());
    } else {
        dims = vec![dims.iter().product()];
        x = shape::reshape(&l.b, x, &dims)?;
    }
    let kept: Vec<_> = kept.into_iter().filter(|i| *i < dims[axis]).collect();
    dims[axis] = kept.len() as i64;
    check_count(l, &dims)?;
    let table = i64_tensor(&l.b, &[dims[axis]], &kept)?;
    let ty = l.result_type(0)?;
    let size = ir::dims(x.r#type())[axis];
    let value = parallel(&l.b, ty, &[(table, vec![d(axis)])], |b, raw| {
        let mut at = loop_indices(b, 0..dims.len())?;
        at[axis] = position(b, raw[0], size)?;
        shape::extract(b, x, &at)
    })?;
    Ok(vec![value])
}

super::lowerings! {
    Compress => compress,
    Gather => gather,
    GatherElements => gather_elements,
    GatherND => gather_nd,
    NonZero => non_zero,
    OneHot => one_hot,
}
