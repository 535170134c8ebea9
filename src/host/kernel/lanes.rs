//! Folds over rows of elements and over the lanes of vectors.

use super::{Emitter, Ix, tiling::Width};
use crate::{Result, ir::Val};

/// Vectors that a turn of a loop over a row takes.
const UNROLL: i64 = 4;

/// A vector of a row: its first element and width, and the accumulator that it goes to.
pub type Vector<'c> = (Ix<'c>, Width, usize);

/// The vectors of a row of `count` elements from `whole` on.
pub fn vectors(lanes: i64, whole: i64, count: i64) -> impl Iterator<Item = (i64, Width)> {
    (whole..count)
        .step_by(lanes as usize)
        .map(move |from| (from, Width { lanes, used: lanes.min(count - from) }))
}

/// Goes through a row of `count` elements, with some accumulators that are `start` first.
pub fn fold<'c>(
    e: &Emitter<'c>,
    count: i64,
    start: Option<Val<'c>>,
    body: impl Fn(&Emitter<'c>, Vector<'c>, Option<Val<'c>>) -> Result<Option<Val<'c>>>,
) -> Result<Vec<Val<'c>>> {
    let lanes = e.isa.lanes;
    let slots = start.map_or(0, |_| UNROLL.min(count.div_euclid(lanes).max(1)));
    let mut sums: Vec<Val<'c>> = start.into_iter().cycle().take(slots as usize).collect();
    let by = UNROLL * lanes;
    let whole = count - count % by;
    let step = |e: &Emitter<'c>, vector: Vector<'c>, sums: &mut Vec<Val<'c>>| {
        let place = if sums.is_empty() { 0 } else { vector.2 % sums.len() };
        let sum = body(e, vector, sums.get(place).copied())?;
        if let (Some(sum), Some(slot)) = (sum, sums.get_mut(place)) {
            *slot = sum;
        }
        Ok::<_, crate::Error>(())
    };
    sums = e.repeat((Ix::Const(0), Ix::Const(whole), by), sums, |e, from, mut sums| {
        for i in 0..UNROLL {
            let at = e.add(from, Ix::Const(i * lanes))?;
            step(e, (at, Width::full(lanes), i as usize), &mut sums)?;
        }
        Ok(sums)
    })?;
    for (i, (from, width)) in vectors(lanes, whole, count).enumerate() {
        step(e, (Ix::Const(from), width, i), &mut sums)?;
    }
    Ok(sums)
}

/// The greater one; the second, if one is NaN.
pub fn greater<'c>(e: &Emitter<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
    e.builder.select(e.builder.cmpf("ogt", a, b)?, a, b)
}

/// The sum.
pub fn add<'c>(e: &Emitter<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
    e.builder.binary("arith.addf", a, b)
}

/// Folds vectors in pairs, and then the halves of one, to one element.
pub fn reduce<'c>(
    e: &Emitter<'c>,
    mut vectors: Vec<Val<'c>>,
    with: fn(&Emitter<'c>, Val<'c>, Val<'c>) -> Result<Val<'c>>,
) -> Result<Val<'c>> {
    while vectors.len() > 1 {
        let pairs = vectors.chunks(2).map(|pair| match pair {
            [a, b] => with(e, *a, *b),
            _ => Ok(pair[0]),
        });
        vectors = pairs.collect::<Result<_>>()?;
    }
    let none = || crate::Error::internal("a row that nothing is taken from");
    let mut value = vectors.pop().ok_or_else(none)?;
    let mut lanes = e.isa.lanes;
    while lanes > 1 {
        lanes /= 2;
        let [low, high] = [0, lanes].map(|from| e.part(value, from, lanes));
        value = with(e, low?, high?)?;
    }
    e.element(value)
}
