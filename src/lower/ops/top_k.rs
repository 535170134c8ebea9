//! `graph.top_k`: the best elements so far are kept in order while the axis is read once. Blocks of elements are
//! compared with the last of them at once; the place of one that is better is found by halving. Where many are kept,
//! rows are sorted.

mod sort;

use crate::{
    Result,
    ir::{self, Builder, Val, graph::TopKAdaptor},
    lower::{
        Lowering,
        loops::{Bounds, alone, count_between, count_to, independent, insert, when, while_holds},
        normalize_axis,
        scalar::{float, widen},
        shape::{extract, transpose},
    },
};
use melior::ir::{Type, ValueLike};

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

/// A row of `x`, of which the best `kept` elements are looked for: its position in all dimensions but the last.
struct Row<'c> {
    outer: Vec<Val<'c>>,
    x: Val<'c>,
    order: Order,
    kept: i64,
}

impl<'c> Row<'c> {
    fn at(&self, along: Val<'c>) -> Vec<Val<'c>> {
        [&self.outer[..], &[along]].concat()
    }
}

/// Elements that are compared with the last of the best at once.
const BLOCK: i64 = 32;
/// Number of best elements up to which they are moved one by one to insert a better one. With more,
/// its place is looked for first.
const FEW: i64 = 64;

fn top_k<'c>(l: &Lowering<'c>, op: TopKAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let rank = ir::dims(op.x().r#type()).len();
    let axis = normalize_axis(op.axis(), rank);
    let order = Order { largest: op.largest(), unsigned: l.is_unsigned(0) };
    let types = [l.result_type(0)?, l.result_type(1)?];
    let kept = ir::dims(types[0])[axis];
    // Elements of a row are neighbours.
    let last: Vec<usize> = (0..rank).filter(|at| *at != axis).chain([axis]).collect();
    let back: Vec<usize> = (0..axis).chain([rank - 1]).chain(axis..rank - 1).collect();
    let moves = axis + 1 < rank;
    let x = if moves { transpose(&l.b, op.x(), &last)? } else { op.x() };
    let best = best_of_rows(l, x, (order, kept), types.map(ir::element_type))?;
    let back = |value: Val<'c>| if moves { transpose(&l.b, value, &back) } else { Ok(value) };
    best.into_iter().map(back).collect()
}

/// The best elements of each row, and their numbers.
fn best_of_rows<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    (order, kept): (Order, i64),
    elements: [Type<'c>; 2],
) -> Result<Vec<Val<'c>>> {
    let mut outer = ir::dims(x.r#type());
    let axis = outer.len() - 1;
    let size = outer.remove(axis);
    let dims = [&outer[..], &[kept]].concat();
    // No row begins with what is there before.
    let state = elements.map(|element| l.b.empty(l.b.tensor(&dims, element)));
    let state = state.into_iter().collect::<Result<Vec<_>>>()?;
    if kept == 0 {
        return Ok(state);
    }
    if sort::pays(elements[0], size, kept) {
        let state = [state, sort::memory(&l.b, x)?].concat();
        let sorted = independent(&l.b, &outer, &state, |b, outer, state| {
            Row { outer: outer.to_vec(), x, order, kept }.sort(b, size, state)
        })?;
        return Ok(sorted[..2].to_vec());
    }
    independent(&l.b, &outer, &state, |b, outer, state| {
        let row = Row { outer: outer.to_vec(), x, order, kept };
        let first = Bounds { from: b.index(0)?, to: b.index(kept)? };
        let state =
            count_between(b, first, state, |b, index, state| row.take(b, index, index, state))?;
        alone(&state);
        // A single block would be no loop, and bufferization takes its branch for a copy.
        let blocks = Some((size - kept) / BLOCK).filter(|blocks| *blocks > 1).unwrap_or(0);
        let state = count_to(b, b.index(blocks)?, &state, |b, block, state| {
            let from = b.binary("arith.muli", block, b.index(BLOCK)?)?;
            let from = b.binary("arith.addi", from, b.index(kept)?)?;
            let some = row.any_better(b, from, state)?;
            when(b, some, state, |b| {
                let to = b.binary("arith.addi", from, b.index(BLOCK)?)?;
                row.consider(b, Bounds { from, to }, state)
            })
        })?;
        alone(&state);
        let rest = Bounds { from: b.index(kept + blocks * BLOCK)?, to: b.index(size)? };
        let state = row.consider(b, rest, &state)?;
        alone(&state);
        Ok(state)
    })
}

impl<'c> Row<'c> {
    /// Tests for an element of a block that is better than the last of the best.
    fn any_better(&self, b: &Builder<'c>, from: Val<'c>, state: &[Val<'c>]) -> Result<Val<'c>> {
        let last = extract(b, state[0], &self.at(b.index(self.kept - 1)?))?;
        let none = b.constant_int(b.int(32), 0)?;
        let count = count_to(b, b.index(BLOCK)?, &[none], |b, index, count| {
            let at = b.binary("arith.addi", from, index)?;
            let better = self.order.before(b, extract(b, self.x, &self.at(at))?, last)?;
            let better = b.op1("arith.extui", &[better], b.int(32))?;
            Ok(vec![b.binary("arith.ori", count[0], better)?])
        })?;
        b.cmpi("ne", count[0], none)
    }

    /// Takes in those of some elements that are among the best.
    fn consider(
        &self,
        b: &Builder<'c>,
        bounds: Bounds<'c>,
        state: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        count_between(b, bounds, state, |b, index, state| {
            let last = b.index(self.kept - 1)?;
            let element = extract(b, self.x, &self.at(index))?;
            let better = self.order.before(b, element, extract(b, state[0], &self.at(last))?)?;
            when(b, better, state, |b| self.take(b, index, last, state))
        })
    }

    /// Takes in the element at `index`, where those before place `end` are in order, and that place is free.
    fn take(
        &self,
        b: &Builder<'c>,
        index: Val<'c>,
        end: Val<'c>,
        state: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let element = extract(b, self.x, &self.at(index))?;
        let number = self.number(b, index)?;
        if self.kept <= FEW {
            let moved = self.make_room(b, element, end, state)?;
            let place = self.at(moved[0]);
            let values = [element, number].into_iter().zip(&moved[1..]);
            return values.map(|(value, tensor)| insert(b, value, *tensor, &place)).collect();
        }
        let place = self.place(b, element, end, state[0])?;
        let count = b.binary("arith.subi", end, place)?;
        let mut next = vec![];
        for (tensor, value) in state.iter().zip([element, number]) {
            // One loop for each, which LLVM makes a move of memory.
            let moved = count_to(b, count, &[*tensor], |b, steps, state| {
                let to = b.binary("arith.subi", end, steps)?;
                let from = b.binary("arith.subi", to, b.index(1)?)?;
                let other = extract(b, state[0], &self.at(from))?;
                Ok(vec![insert(b, other, state[0], &self.at(to))?])
            })?;
            next.push(insert(b, value, moved[0], &self.at(place))?);
        }
        Ok(next)
    }

    /// Moves those of the best that an element goes before by one place each; the place that it gets, and the state.
    fn make_room(
        &self,
        b: &Builder<'c>,
        element: Val<'c>,
        end: Val<'c>,
        state: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>> {
        let before = |b: &Builder<'c>, at: Val<'c>| b.binary("arith.subi", at, b.index(1)?);
        let some = |b: &Builder<'c>, at: Val<'c>| b.cmpi("ne", at, b.index(0)?);
        while_holds(
            b,
            &[&[end], state].concat(),
            |b, state| {
                // The first place is compared with itself when there is none before it.
                let at = b.select(some(b, state[0])?, before(b, state[0])?, state[0])?;
                let worse = self.order.before(b, element, extract(b, state[1], &self.at(at))?)?;
                b.binary("arith.andi", some(b, state[0])?, worse)
            },
            |b, state| {
                let from = before(b, state[0])?;
                let mut next = vec![from];
                for tensor in &state[1..] {
                    let moved = extract(b, *tensor, &self.at(from))?;
                    next.push(insert(b, moved, *tensor, &self.at(state[0]))?);
                }
                Ok(next)
            },
        )
    }

    fn number(&self, b: &Builder<'c>, index: Val<'c>) -> Result<Val<'c>> {
        b.op1("arith.index_cast", &[index], b.int(64))
    }

    /// The place of an element among the best, which are ordered before `end`: behind its equals. The range
    /// of places is halved as often as the longest one takes, without a branch.
    fn place(
        &self,
        b: &Builder<'c>,
        element: Val<'c>,
        end: Val<'c>,
        best: Val<'c>,
    ) -> Result<Val<'c>> {
        let turns = i64::from(self.kept.ilog2()) + 1;
        let range = count_to(b, b.index(turns)?, &[b.index(0)?, end], |b, _, range| {
            let middle = b.binary("arith.addi", range[0], range[1])?;
            let middle = b.binary("arith.shrui", middle, b.index(1)?)?;
            let open = b.cmpi("ult", range[0], range[1])?;
            let before = self.order.before(b, element, extract(b, best, &self.at(middle))?)?;
            let (lower, upper) = (
                b.binary("arith.andi", open, before)?,
                b.select(before, b.constant_int(b.i1(), 0)?, open)?,
            );
            let behind = b.binary("arith.addi", middle, b.index(1)?)?;
            Ok(vec![b.select(upper, behind, range[0])?, b.select(lower, middle, range[1])?])
        })?;
        Ok(range[0])
    }
}

super::lowerings! {
    TopK => top_k,
}
