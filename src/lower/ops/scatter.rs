//! Ops that write to positions held in tensors: sequential loops, as later updates of a position
//! see earlier ones. Positions out of range are led into the tensor as in [`super::index`].

use super::index::position;
use crate::{
    Error, Result,
    ir::{
        self, Builder, Val,
        graph::{ScatterElementsAdaptor, ScatterNDAdaptor},
    },
    lower::{
        Lowering,
        loops::{alone, insert, nest},
        normalize_axis,
        scalar::{
            float::{self, add, mul},
            narrow, widen,
        },
        shape,
    },
};
use melior::ir::ValueLike;

/// Combines the present element and its update as `reduction` says.
fn combine<'c>(
    b: &Builder<'c>,
    reduction: &str,
    unsigned: bool,
    old: Val<'c>,
    update: Val<'c>,
) -> Result<Val<'c>> {
    let ty = old.r#type();
    if ir::is_float(ty) {
        let (old, update) = (widen(b, old)?, widen(b, update)?);
        let value = match reduction {
            "add" => add(b, old, update)?,
            "mul" => mul(b, old, update)?,
            "max" => float::greater(b, old, update)?,
            _ => float::lesser(b, old, update)?,
        };
        return narrow(b, value, ty);
    }
    let name = match (reduction, ty == b.i1(), unsigned) {
        ("add" | "max", true, _) => "arith.ori",
        ("mul" | "min", true, _) => "arith.andi",
        ("add", ..) => "arith.addi",
        ("mul", ..) => "arith.muli",
        ("max", _, true) => "arith.maxui",
        ("max", ..) => "arith.maxsi",
        (_, _, true) => "arith.minui",
        _ => "arith.minsi",
    };
    b.binary(name, old, update)
}

/// Writes the elements of `updates`. The first `outer` dimensions are those of what says where: `place` computes from
/// the position in them the first indices of a part of the result; the rest are those of the part.
fn scatter<'c>(
    l: &Lowering<'c>,
    [x, updates]: [Val<'c>; 2],
    (outer, reduction): (usize, &str),
    place: impl FnOnce(&Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let dims = ir::dims(updates.r#type());
    if dims.contains(&0) {
        return Ok(vec![x]);
    }
    if ir::dims(x.r#type()).contains(&0) {
        return Err(Error::invalid(format!(
            "writes to its operand of type {}, which has no elements",
            x.r#type()
        )));
    }
    let unsigned = l.is_unsigned(0);
    let results = nest(&l.b, &dims[..outer], &[x], |b, from, state| {
        let to = place(b, from)?;
        nest(b, &dims[outer..], state, |b, inside, state| {
            let (from, to) = ([from, inside].concat(), [&to, inside].concat());
            let mut value = shape::extract(b, updates, &from)?;
            if !reduction.is_empty() && reduction != "none" {
                let old = shape::extract(b, state[0], &to)?;
                value = combine(b, reduction, unsigned, old, value)?;
            }
            Ok(vec![insert(b, value, state[0], &to)?])
        })
    })?;
    // Where buffers are known to be apart, parts are copied with vectors.
    alone(&results);
    Ok(results)
}

fn scatter_elements<'c>(
    l: &Lowering<'c>,
    op: ScatterElementsAdaptor<'_, 'c>,
) -> Result<Vec<Val<'c>>> {
    let to = l.result_dims(0)?;
    let axis = normalize_axis(op.axis(), to.len());
    let indices = op.indices();
    scatter(l, [op.x(), op.updates()], (to.len(), op.reduction()), |b, from| {
        let mut at = from.to_vec();
        at[axis] = position(b, shape::extract(b, indices, from)?, to[axis])?;
        Ok(at)
    })
}

fn scatter_nd<'c>(l: &Lowering<'c>, op: ScatterNDAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let to = l.result_dims(0)?;
    let indices = op.indices();
    let positions = ir::dims(indices.r#type());
    let (outer, depth) = (positions.len() - 1, positions[positions.len() - 1]);
    scatter(l, [op.x(), op.updates()], (outer, op.reduction()), |b, from| {
        let mut at = vec![];
        for k in 0..depth {
            let mut coordinate = from.to_vec();
            coordinate.push(b.index(k)?);
            let raw = shape::extract(b, indices, &coordinate)?;
            at.push(position(b, raw, to[k as usize])?);
        }
        Ok(at)
    })
}

super::lowerings! {
    ScatterElements => scatter_elements,
    ScatterND => scatter_nd,
}
