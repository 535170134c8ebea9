//! The end of every kernel: epilogue and stores.

use super::{Element, Emitter, Epilogue, Ix, View, tiling::Width};
use crate::{
    Result,
    ir::{self, Val},
};
use melior::ir::ValueLike;

/// An index of the output's place, and the step of a view that belongs to it.
pub type Coordinate<'c> = (Ix<'c>, fn(&View) -> i64);

/// The results of a register tile and where they go.
pub struct Results<'r, 'c> {
    /// The first point and channel.
    pub place: &'r [Coordinate<'c>],
    /// Points of the tile, next to each other in a row.
    pub points: i64,
    /// Widths of the vectors of each point.
    pub widths: &'r [Width],
    /// The vectors, point by point.
    pub values: &'r [Val<'c>],
    /// The output.
    pub y: Seen<'r, 'c>,
    /// Operands of the epilogue, then further places for the results.
    pub operands: &'r [Seen<'r, 'c>],
    /// Operations on the results before they are stored.
    pub epilogue: &'r dyn Epilogue<'c>,
}

impl View {
    /// The elements of some channels, the first of which is at `from`.
    pub(super) fn load<'c>(
        &self,
        e: &Emitter<'c>,
        buffer: Val<'c>,
        from: Ix<'c>,
        width: Width,
    ) -> Result<Val<'c>> {
        let value = match self.channel {
            0 => e.load_splat(buffer, from, width.lanes)?,
            _ => e.load(buffer, from, width)?,
        };
        if !self.truth {
            return Ok(value);
        }
        e.builder.cmpi("ne", value, e.builder.constant_int(value.r#type(), 0)?)
    }
}

/// A buffer and how it is seen.
type Seen<'v, 'c> = (&'v View, Val<'c>);

/// Position of a tile's first element in a buffer.
fn address<'c>(e: &Emitter<'c>, place: &[Coordinate<'c>], view: &View) -> Result<Ix<'c>> {
    let steps: Vec<_> = place.iter().map(|(index, step)| (*index, step(view))).collect();
    e.sum(view.offset, &steps)
}

/// Bytes of a line of a cache.
const LINE: i64 = 64;

/// Prefetches the cache lines of the results of so many points and lanes, and of operands that each
/// point has its own of, while the results are computed. Points lie so far apart that the hardware
/// does not foresee them. If these are more than `most` lines, none is prefetched.
pub fn prefetch<'c>(
    e: &Emitter<'c>,
    place: &[Coordinate<'c>],
    (points, lanes): (i64, i64),
    (y, operands): (Seen<'_, 'c>, &[Seen<'_, 'c>]),
    most: i64,
) -> Result<()> {
    let mut lines = vec![];
    let operands = operands.iter().map(|operand| (*operand, operand.0.output));
    for ((view, buffer), write) in std::iter::once((y, true)).chain(operands) {
        let Some(element) = Element::of(buffer.r#type()) else { continue };
        if view.channel != 1 || view.col == 0 || view.col == lanes {
            continue;
        }
        let step = (LINE / element.bytes()).max(1) as usize;
        for point in 0..points {
            let offsets = (0..lanes).step_by(step).map(|lane| point * view.col + lane);
            lines.extend(offsets.map(|offset| (view, buffer, offset, write)));
        }
    }
    if lines.len() as i64 > most {
        return Ok(());
    }
    for (view, buffer, offset, write) in lines {
        let at = e.add(address(e, place, view)?, Ix::Const(offset))?;
        e.prefetch(buffer, at, write)?;
    }
    Ok(())
}

/// Applies the epilogue and stores.
pub fn finish<'c>(e: &Emitter<'c>, results: Results<'_, 'c>) -> Result<()> {
    let address = |view: &View| address(e, results.place, view);
    let y = address(results.y.0)?;
    let bases =
        results.operands.iter().map(|(view, _)| address(view)).collect::<Result<Vec<_>>>()?;
    let addresses = Addresses { y, bases };
    // Sums can wait in the output only if it has their type.
    let fits = results.values.first().is_some_and(|sum| {
        ir::element_type(sum.r#type()) == ir::element_type(results.y.1.r#type())
    });
    if results.epilogue.is_large() && results.points > 1 && fits {
        return finish_in_loop(e, &results, &addresses);
    }
    let mut lane = 0;
    for (v, width) in results.widths.iter().enumerate() {
        let mut shared = vec![None; results.operands.len()];
        for point in 0..results.points {
            let sum = results.values[point as usize * results.widths.len() + v];
            let at = At { point: Ix::Const(point), lane, width: *width };
            results.store(e, &addresses, at, sum, &mut shared)?;
        }
        lane += width.lanes;
    }
    Ok(())
}

/// Stores the sums, and applies the epilogue in a loop over the points.
fn finish_in_loop<'c>(
    e: &Emitter<'c>,
    results: &Results<'_, 'c>,
    addresses: &Addresses<'c>,
) -> Result<()> {
    let (view, y) = results.y;
    let mut values = results.values.iter();
    for point in 0..results.points {
        let mut lane = 0;
        for (width, value) in results.widths.iter().zip(values.by_ref()) {
            let step = point * view.col + lane * view.channel;
            e.store(*value, y, e.add(addresses.y, Ix::Const(step))?, *width)?;
            lane += width.lanes;
        }
    }
    e.repeat((Ix::Const(0), Ix::Const(results.points), 1), vec![], |e, point, _| {
        let mut lane = 0;
        for width in results.widths {
            let step = e.add(e.mul(point, view.col)?, Ix::Const(lane * view.channel))?;
            let sum = e.load(y, e.add(addresses.y, step)?, *width)?;
            let mut shared = vec![None; results.operands.len()];
            results.store(e, addresses, At { point, lane, width: *width }, sum, &mut shared)?;
            lane += width.lanes;
        }
        Ok(vec![])
    })?;
    Ok(())
}

/// Positions of the tile's first point and channel in the output and in the operands.
struct Addresses<'c> {
    y: Ix<'c>,
    bases: Vec<Ix<'c>>,
}

/// A vector of the tile.
#[derive(Clone, Copy)]
struct At<'c> {
    point: Ix<'c>,
    lane: i64,
    width: Width,
}

impl<'c> Results<'_, 'c> {
    /// Applies the epilogue to one vector and stores it. `shared` keeps the elements of operands
    /// that do not depend on the point.
    fn store(
        &self,
        e: &Emitter<'c>,
        addresses: &Addresses<'c>,
        at: At<'c>,
        sum: Val<'c>,
        shared: &mut [Option<Val<'c>>],
    ) -> Result<()> {
        let mut values = vec![];
        for (i, (view, buffer)) in self.operands.iter().enumerate() {
            let value = match shared[i] {
                _ if view.output => continue,
                _ if view.table => *buffer,
                Some(value) if view.col == 0 => value,
                _ => {
                    let step =
                        e.add(e.mul(at.point, view.col)?, Ix::Const(at.lane * view.channel))?;
                    let from = e.add(addresses.bases[i], step)?;
                    view.load(e, *buffer, from, at.width)?
                }
            };
            shared[i] = Some(value);
            values.push(value);
        }
        let value = self.epilogue.emit(e, sum, &values)?;
        let others =
            self.operands.iter().zip(&addresses.bases).filter(|((view, _), _)| view.output);
        let others = others.map(|((view, buffer), base)| ((*view, *buffer), *base));
        for ((view, buffer), base) in std::iter::once((self.y, addresses.y)).chain(others) {
            let step = e.add(e.mul(at.point, view.col)?, Ix::Const(at.lane * view.channel))?;
            e.store(value, buffer, e.add(base, step)?, at.width)?;
        }
        Ok(())
    }
}
