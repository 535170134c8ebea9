//! `graph.top_k`: the best elements so far are kept in order while the axis is read once, so the
//! usual element costs one comparison with the last of them.

use crate::{
    Result,
    ir::{self, Builder, Val, graph::TopKAdaptor},
    lower::{
        Lowering,
        generic::fill,
        loops::{count_to, insert, nest, when},
        normalize_axis,
        operands::choose,
        scalar::{float, widen},
        shape::extract,
    },
};
use melior::ir::ValueLike;

/// The comparison that ranks an element before another one.
#[derive(Clone, Copy)]
struct Order {
    largest: bool,
    unsigned: bool,
}

impl Order {
    fn before<'c>(self, b: &Builder<'c>, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>> {
        let (x, y) = (widen(b, x)?, widen(b, y)?);
        match (ir::is_float(x.r#type()), self.largest, self.unsigned) {
            (true, true, _) => float::ranks_above(b, x, y, false),
            (true, false, _) => {
                let number = b.binary("arith.andi", b.cmpf("ord", x, x)?, b.cmpf("uno", y, y)?)?;
                b.binary("arith.ori", b.cmpf("olt", x, y)?, number)
            }
            (false, true, true) => b.cmpi("ugt", x, y),
            (false, true, false) => b.cmpi("sgt", x, y),
            (false, false, true) => b.cmpi("ult", x, y),
            (false, false, false) => b.cmpi("slt", x, y),
        }
    }
}

/// Where the elements of one row are found: its position in all dimensions but `axis`.
struct Row<'c> {
    outer: Vec<Val<'c>>,
    axis: usize,
}

impl<'c> Row<'c> {
    fn at(&self, along: Val<'c>) -> Vec<Val<'c>> {
        let mut indices = self.outer.clone();
        indices.insert(self.axis, along);
        indices
    }
}

fn top_k<'c>(l: &Lowering<'c>, op: TopKAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = op.x();
    let from = ir::dims(x.r#type());
    let axis = normalize_axis(op.axis(), from.len());
    let types = [l.result_type(0)?, l.result_type(1)?];
    let kept = ir::dims(types[0])[axis];
    let order = Order { largest: op.largest(), unsigned: l.is_unsigned(0) };
    let mut state = vec![];
    for ty in types {
        let zero = l.b.constant(ir::element_type(ty), 0.0)?;
        state.push(fill(&l.b, ty, zero)?);
    }
    let mut outer = from.clone();
    let size = outer.remove(axis);
    if kept == 0 {
        return Ok(state);
    }
    nest(&l.b, &outer, &state, |b, outer, state| {
        let row = Row { outer: outer.to_vec(), axis };
        count_to(b, b.index(size)?, state, |b, index, state| {
            consider(b, &row, order, (x, kept), index, state)
        })
    })
}

/// Takes in the element of `x` at `index` if it is among the best `kept` so far.
fn consider<'c>(
    b: &Builder<'c>,
    row: &Row<'c>,
    order: Order,
    (x, kept): (Val<'c>, i64),
    index: Val<'c>,
    state: &[Val<'c>],
) -> Result<Vec<Val<'c>>> {
    let element = extract(b, x, &row.at(index))?;
    let last = b.index(kept - 1)?;
    let room = b.cmpi("sle", index, last)?;
    let better = order.before(b, element, extract(b, state[0], &row.at(last))?)?;
    let wanted = b.binary("arith.ori", room, better)?;
    when(b, wanted, state, |b| {
        let end = b.binary("arith.minsi", index, last)?;
        let mut carried = state.to_vec();
        carried.push(end);
        let moved = count_to(b, end, &carried, |b, steps, state| {
            let at = b.binary("arith.subi", end, steps)?;
            make_room(b, row, order, element, at, state)
        })?;
        let place = row.at(moved[2]);
        let number = b.op1("arith.index_cast", &[index], b.int(64))?;
        Ok(vec![insert(b, element, moved[0], &place)?, insert(b, number, moved[1], &place)?])
    })
}

/// Moves what is before `at` to it if `element` goes before that; the state is the elements, their
/// numbers, and the place for `element`.
fn make_room<'c>(
    b: &Builder<'c>,
    row: &Row<'c>,
    order: Order,
    element: Val<'c>,
    at: Val<'c>,
    state: &[Val<'c>],
) -> Result<Vec<Val<'c>>> {
    let previous = b.binary("arith.subi", at, b.index(1)?)?;
    let (here, there) = (row.at(at), row.at(previous));
    let other = extract(b, state[0], &there)?;
    let moves = order.before(b, element, other)?;
    let mut next = vec![];
    for tensor in &state[..2] {
        let moved = extract(b, *tensor, &there)?;
        let kept = extract(b, *tensor, &here)?;
        next.push(insert(b, choose(b, moves, moved, kept)?, *tensor, &here)?);
    }
    next.push(b.select(moves, previous, state[2])?);
    Ok(next)
}

super::lowerings! {
    TopK => top_k,
}
