//! Buffers of tensors whose rows stay for the next stripe.
//!
//! A buffer has the rows of the tallest stripe. Before a stripe is computed, the rows that it
//! shares with the one before are moved to the start, by the `shift` of their pool. The others are
//! loaded behind them.

use super::{
    cascade::{Cascade, Part, Ring},
    slice::{Offset, part, replace},
    tiled::{self, Tiled, lost, room},
};
use crate::{
    Error, Result,
    ir::{
        self, Builder, Val,
        call_extern::{CallExtern, Group, offset_attr},
    },
    pattern::{CallProto, Param, Returns, tile::dma::shifted},
};
use melior::ir::{Attribute, ValueLike, attribute::IntegerAttribute};

/// Memory for the rings of a cascade, in the order of its calls.
pub fn buffers<'c>(
    b: &Builder<'c>,
    calls: &[Tiled<'c>],
    cascade: &Cascade,
) -> Result<Vec<Val<'c>>> {
    let mut made = vec![];
    let parts = cascade.stripes.first().map(|run| run.parts.as_slice()).unwrap_or_default();
    for (tiled, stripe) in calls.iter().zip(parts) {
        for ring in &stripe.rings {
            let (tensor, pool) = stripe.call.home_of_kept(ring.tensor).ok_or_else(lost)?;
            let mut sizes: Vec<i64> = tensor.dims.iter().map(|dim| dim.size).collect();
            *sizes.get_mut(ring.dim).ok_or_else(lost)? = ring.rows;
            let value = tiled.value(ring.tensor).ok_or_else(lost)?;
            made.push(room(b, b.tensor(&sizes, ir::element_type(value.r#type())), &pool.name)?);
        }
    }
    Ok(made)
}

/// The rows of a stripe in a buffer, and the buffer's contents after that. The rows are those at
/// `offsets` of `source`.
pub fn next<'c>(
    b: &Builder<'c>,
    (stripe, ring): (&Part, &Ring),
    (source, offsets, sizes): (Val<'c>, &[Offset<'c>], &[i64]),
    buffer: &mut Val<'c>,
) -> Result<Val<'c>> {
    let row = stripe.row_bytes(ring);
    if ring.kept > 0 && ring.from > 0 {
        let (_, pool) = stripe.call.home_of_kept(ring.tensor).ok_or_else(lost)?;
        let text = pool.dma.shift.as_deref().ok_or_else(lost)?;
        let moved = (ring.from.saturating_mul(row), ring.kept.saturating_mul(row));
        *buffer = shift(b, text, *buffer, moved)?;
    }
    let rows = *sizes.get(ring.dim).ok_or_else(lost)?;
    // Two parts where the first stripe is as tall as any: an insertion of all would be what is inserted.
    let is_whole = rows - ring.kept == ring.rows && rows > 1;
    let cuts = if is_whole { vec![0, rows - 1, rows] } else { vec![ring.kept, rows] };
    for pair in cuts.windows(2) {
        let [first, end] = *pair else { continue };
        if first == end {
            continue;
        }
        let (mut from, mut to) = (offsets.to_vec(), vec![Offset::Known(0); sizes.len()]);
        let mut new = sizes.to_vec();
        let at = from.get_mut(ring.dim).ok_or_else(lost)?;
        *at = at.behind(b, first)?;
        *to.get_mut(ring.dim).ok_or_else(lost)? = Offset::Known(first);
        *new.get_mut(ring.dim).ok_or_else(lost)? = end - first;
        let loaded = part(b, source, &from, &new)?;
        *buffer = match loaded.r#type() == buffer.r#type() {
            // A single row, which nothing shifts.
            true => {
                let (_, pool) = stripe.call.home_of_kept(ring.tensor).ok_or_else(lost)?;
                tiled::loaded(b, loaded, &pool.name)?
            }
            false => replace(b, loaded, *buffer, &to, &new)?,
        };
    }
    part(b, *buffer, &vec![Offset::Known(0); sizes.len()], sizes)
}

/// A buffer whose bytes from `from` on have moved to its start.
fn shift<'c>(b: &Builder<'c>, text: &str, buffer: Val<'c>, moved: (i64, i64)) -> Result<Val<'c>> {
    let proto = CallProto::parse(text).map_err(|error| Error::invalid(error.to_string()))?;
    let mut call = CallExtern::new(&proto.symbol);
    let unit = Attribute::unit(b.context);
    for param in &proto.params {
        match param {
            Param::Device => call.set("with_device", unit),
            Param::Out { .. } => {
                let index = call.add(Group::Outs, buffer);
                call.args.push(offset_attr(b.context, Group::Outs, index));
            }
            Param::Scalar { value, .. } | Param::Value(value) => {
                let number = shifted(value, moved).map_err(Error::invalid)?;
                let bits = if i32::try_from(number).is_ok() { 32 } else { 64 };
                call.args.push(IntegerAttribute::new(b.int(bits), number).into());
            }
            other => return Err(Error::invalid(format!("'{other}' cannot be passed to a shift"))),
        }
    }
    if proto.returns == Returns::Status {
        call.set("returns_status", unit);
    }
    // It reads what is there.
    call.set("accumulate", unit);
    ir::result0(call.build(b, &[buffer.r#type()])?)
}
