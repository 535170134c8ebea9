//! Copies that change the order of dimensions, in squares that are transposed in registers.
//!
//! Loops that read along one dimension and write along another touch a line of the cache for each
//! element. Here a square of elements is read in rows, transposed by shuffles and written in rows.
//! A task does all squares of a line of the output before the next one.

use super::{
    kernel::{Emitter, Isa, Ix, Width},
    loops::{MAX_TASKS, Nest, TASK_WORK},
};
use crate::{
    Result,
    ir::{self, Val, edit, memref},
};
use melior::ir::ValueLike;

/// Bytes of a line of the cache.
const LINE: i64 = 64;
/// Elements of a block along the dimension that the input is read along.
const BLOCK: i64 = 256;
/// Bytes from which on most of a copy comes from memory.
const FAR: i64 = 1 << 22;
/// Elements of a block along the other dimension then: lines of the input that are fetched ahead wait in a cache.
const BLOCK_AHEAD: i64 = 256;
/// Bytes of the part of a vector register within which shuffles cost least.
const LANE: i64 = 16;

/// A dimension that is walked: its size, and the distance of neighbours in input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    extent: i64,
    from: i64,
    to: i64,
}

/// A copy in another order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transpose {
    /// Offsets of input and output, in elements.
    start: (i64, i64),
    outer: Vec<Axis>,
    /// The dimension along which elements are neighbours in the output.
    along: Cut,
    /// A short dimension that `along` is made of together with the one around it, as the columns of depth to
    /// space are of points and phases: it is walked first.
    inner: Option<Axis>,
    /// The dimension along which elements are neighbours in the input.
    across: Cut,
    /// Rows and columns of a square.
    side: i64,
    bytes: i64,
    /// True if lines of the next block are prefetched while one is copied: the processor foresees
    /// neither those that are read, which lie apart, nor the many that are written.
    ahead: bool,
}

/// An axis in blocks of `size`; the last one has the rest, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    axis: Axis,
    size: i64,
}

impl Cut {
    fn count(&self) -> i64 {
        (self.axis.extent / self.size).max(1)
    }

    /// First element of a block and the one after its last.
    fn range<'c>(&self, e: &Emitter<'c>, block: Ix<'c>) -> Result<(Ix<'c>, Ix<'c>)> {
        let (count, extent) = (self.count(), self.axis.extent);
        if count == 1 {
            return Ok((Ix::Const(0), Ix::Const(extent)));
        }
        let start = e.mul(block, self.size)?;
        let (last, _) = e.div_rem(block, count - 1)?;
        let rest = e.mul(last, extent - count * self.size)?;
        Ok((start, e.add(e.add(start, Ix::Const(self.size))?, rest)?))
    }
}

/// Makes axes that are walked as one into one. They come sorted by their distance in the output.
fn collapse(axes: &[Axis]) -> Vec<Axis> {
    let mut made: Vec<Axis> = vec![];
    for axis in axes {
        match made.last_mut() {
            Some(outer)
                if outer.from == axis.from * axis.extent && outer.to == axis.to * axis.extent =>
            {
                *outer = Axis { extent: outer.extent * axis.extent, ..*axis };
            }
            _ => made.push(*axis),
        }
    }
    made
}

impl Transpose {
    /// Reads a nest; `None` if it is another one, or has no squares.
    pub fn of(nest: &Nest<'_>, isa: Isa) -> Option<Self> {
        let [from, to] = ir::operands(nest.op)[..] else { return None };
        let element = ir::element_type(from.r#type());
        let bits = ir::types::bits(element)?;
        let copies = is_copy(nest) && ir::element_type(to.r#type()) == element;
        if !copies || !matches!(bits, 8 | 16 | 32 | 64) || memref::base(from) == memref::base(to) {
            return None;
        }
        let (from, to) = (nest.strides(0)?, nest.strides(1)?);
        let sizes = nest.extents.iter().zip(from.0.iter().zip(&to.0));
        let axes = sizes.map(|(extent, (from, to))| Axis { extent: *extent, from: *from, to: *to });
        let mut axes: Vec<_> = axes.filter(|axis| axis.extent != 1).collect();
        axes.sort_by_key(|axis| (-axis.to, -axis.from));
        Self::on(&collapse(&axes), (from.1, to.1), (i64::from(bits) / 8, isa))
    }

    fn on(axes: &[Axis], start: (i64, i64), (bytes, isa): (i64, Isa)) -> Option<Self> {
        if axes.iter().any(|axis| axis.from < 1 || axis.to < 1) {
            return None;
        }
        let lanes = (isa.lanes * 4 / bytes).min(16);
        let first = *axes.iter().find(|axis| axis.to == 1 && axis.from > 1)?;
        let across = *axes.iter().find(|axis| axis.from == 1 && axis.to > 1)?;
        let around = axes
            .iter()
            .find(|axis| first.extent < lanes && axis.to == first.extent && **axis != across);
        let (along, inner) = match around {
            Some(around) => {
                let extent = around.extent * first.extent;
                (Axis { extent, to: 1, ..*around }, Some(first))
            }
            None => (first, None),
        };
        let side = [lanes, lanes / 2, lanes / 4]
            .into_iter()
            .find(|side| *side >= 2 && *side <= along.extent.min(across.extent))?;
        let walked = [Some(first), Some(across), around.copied()];
        let outer = axes.iter().copied().filter(|axis| !walked.contains(&Some(*axis))).collect();
        let line = (LINE / bytes).max(side);
        let total: i64 = axes.iter().map(|axis| axis.extent).product();
        let ahead = total * bytes > FAR && along.extent.min(across.extent) >= 2 * line;
        let (along_size, across_size) = if ahead { (BLOCK_AHEAD, line) } else { (line, BLOCK) };
        let along = Cut { axis: along, size: along_size };
        let across = Cut { axis: across, size: across_size };
        Some(Self { start, outer, along, inner, across, side, bytes, ahead })
    }

    /// Parts that one thread does without a break.
    fn units(&self) -> i64 {
        let outer: i64 = self.outer.iter().map(|axis| axis.extent).product();
        outer * self.along.count() * self.across.count()
    }

    /// Units of a task.
    fn step(&self) -> i64 {
        let outer: i64 = self.outer.iter().map(|axis| axis.extent).product();
        let elements = outer * self.along.axis.extent * self.across.axis.extent;
        let tasks = (elements / TASK_WORK).clamp(1, MAX_TASKS);
        (self.units() + tasks - 1) / tasks
    }

    /// Number of tasks.
    pub fn tasks(&self) -> i64 {
        (self.units() + self.step() - 1) / self.step()
    }

    /// Emits the tasks `lo..hi`; all if there is no range.
    pub fn emit<'c>(
        &self,
        e: &Emitter<'c>,
        (from, to): (Val<'c>, Val<'c>),
        range: Option<(Val<'c>, Val<'c>)>,
    ) -> Result<()> {
        let (from, to) = (e.flatten(from)?, e.flatten(to)?);
        let units = match range {
            Some((lo, hi)) => {
                let last = e.mul(Ix::Value(hi), self.step())?;
                (e.mul(Ix::Value(lo), self.step())?, e.min(last, self.units())?, 1)
            }
            None => (Ix::Const(0), Ix::Const(self.units()), 1),
        };
        e.repeat(units, vec![], |e, unit, _| {
            let (rest, block) = e.div_rem(unit, self.across.count())?;
            let across = self.across.range(e, block)?;
            let (mut rest, block) = e.div_rem(rest, self.along.count())?;
            let along = self.along.range(e, block)?;
            let mut at = (Ix::Const(self.start.0), Ix::Const(self.start.1));
            for axis in self.outer.iter().rev() {
                let (left, index) = e.div_rem(rest, axis.extent)?;
                at = self.moved(e, at, (index, axis))?;
                rest = left;
            }
            self.part(e, (from, to), at, (along, across))?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// The squares of a unit. The last ones begin earlier, so that they are squares, too.
    fn part<'c>(
        &self,
        e: &Emitter<'c>,
        buffers: (Val<'c>, Val<'c>),
        at: (Ix<'c>, Ix<'c>),
        (along, across): ((Ix<'c>, Ix<'c>), (Ix<'c>, Ix<'c>)),
    ) -> Result<()> {
        if self.ahead {
            return self.part_ahead(e, buffers, at, (along, across));
        }
        e.repeat((across.0, across.1, self.side), vec![], |e, index, _| {
            let last = e.add(across.1, Ix::Const(-self.side))?;
            let at = self.moved(e, at, (e.smaller(index, last)?, &self.across.axis))?;
            e.repeat((along.0, along.1, self.side), vec![], |e, index, _| {
                let last = e.add(along.1, Ix::Const(-self.side))?;
                self.square(e, buffers, at, e.smaller(index, last)?)?;
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// The same, line of the input by line: those of the next block are prefetched while one is
    /// copied.
    fn part_ahead<'c>(
        &self,
        e: &Emitter<'c>,
        buffers: (Val<'c>, Val<'c>),
        at: (Ix<'c>, Ix<'c>),
        (along, across): ((Ix<'c>, Ix<'c>), (Ix<'c>, Ix<'c>)),
    ) -> Result<()> {
        let next = self.moved(e, at, (across.1, &self.across.axis))?;
        e.repeat((along.0, along.1, self.side), vec![], |e, index, _| {
            let index = e.smaller(index, e.add(along.1, Ix::Const(-self.side))?)?;
            e.repeat((across.0, across.1, self.side), vec![], |e, column, _| {
                let last = e.add(across.1, Ix::Const(-self.side))?;
                let at = self.moved(e, at, (e.smaller(column, last)?, &self.across.axis))?;
                self.square(e, buffers, at, index)?;
                Ok(vec![])
            })?;
            for row in 0..self.side {
                let reached = self.reached(e, e.add(index, Ix::Const(row))?)?;
                e.prefetch(buffers.0, e.add(next.0, reached)?, false)?;
            }
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Positions in input and output after `index` steps along an axis.
    fn moved<'c>(
        &self,
        e: &Emitter<'c>,
        at: (Ix<'c>, Ix<'c>),
        (index, axis): (Ix<'c>, &Axis),
    ) -> Result<(Ix<'c>, Ix<'c>)> {
        Ok((e.add(at.0, e.mul(index, axis.from)?)?, e.add(at.1, e.mul(index, axis.to)?)?))
    }

    /// Offset in the input of element `index` of `along`.
    fn reached<'c>(&self, e: &Emitter<'c>, index: Ix<'c>) -> Result<Ix<'c>> {
        match self.inner {
            None => e.mul(index, self.along.axis.from),
            Some(inner) => {
                let (outer, within) = e.div_rem(index, inner.extent)?;
                e.sum(0, &[(outer, self.along.axis.from), (within, inner.from)])
            }
        }
    }

    fn square<'c>(
        &self,
        e: &Emitter<'c>,
        (from, to): (Val<'c>, Val<'c>),
        at: (Ix<'c>, Ix<'c>),
        index: Ix<'c>,
    ) -> Result<()> {
        let width = Width::full(self.side);
        // Squares begin at the first element of a short dimension if it divides them.
        let known = self.inner.is_none_or(|inner| self.side % inner.extent == 0);
        let first = self.reached(e, index)?;
        let rows = (0..self.side)
            .map(|row| {
                let reached = match known {
                    true => e.add(first, self.reached(e, Ix::Const(row))?)?,
                    false => self.reached(e, e.add(index, Ix::Const(row))?)?,
                };
                e.load(from, e.add(at.0, reached)?, width)
            })
            .collect::<Result<Vec<_>>>()?;
        let to_row = e.add(at.1, index)?;
        for (row, value) in transposed(e, rows, self.bytes)?.into_iter().enumerate() {
            let at = e.add(to_row, Ix::Const(row as i64 * self.across.axis.to))?;
            e.store(value, to, at, width)?;
            if self.ahead {
                let block = Ix::Const(self.across.size * self.across.axis.to);
                e.prefetch(to, e.add(at, block)?, true)?;
            }
        }
        Ok(())
    }
}

/// True if the body gives the input as it is.
fn is_copy(nest: &Nest<'_>) -> bool {
    let body = ir::ops_of(nest.op);
    let input = edit::entry_block(nest.op).map(edit::arguments);
    match (&body[..], input.as_deref()) {
        ([last], Some([input, _])) => ir::operands(*last) == [*input],
        _ => false,
    }
}

/// Transposes a square of as many vectors as each has lanes: blocks of a part of a register change
/// places, then elements within the parts do.
fn transposed<'c>(e: &Emitter<'c>, mut rows: Vec<Val<'c>>, bytes: i64) -> Result<Vec<Val<'c>>> {
    let side = rows.len();
    let within = side.min((LANE / bytes) as usize);
    let mut bit = side / 2;
    while bit >= within {
        for low in (0..side).filter(|row| row & bit == 0) {
            let (a, b) = (rows[low], rows[low | bit]);
            // Of lanes with the bit, the first row takes those of the second without it.
            let first =
                (0..side).map(|lane| if lane & bit == 0 { lane } else { side + lane - bit });
            let second =
                (0..side).map(|lane| if lane & bit == 0 { lane + bit } else { side + lane });
            (rows[low], rows[low | bit]) = (shuffle(e, a, b, first)?, shuffle(e, a, b, second)?);
        }
        bit /= 2;
    }
    for _ in 0..within.ilog2() {
        let mut zipped = rows.clone();
        for (row, pair) in (0..side)
            .filter(|row| row % within < within / 2)
            .map(|row| (row, (rows[row], rows[row + within / 2])))
        {
            // Halves of all parts are interleaved at once.
            let halves = |half: usize| {
                (0..side).map(move |lane| {
                    let (part, lane) = (lane / within * within, lane % within);
                    part + half * (within / 2) + lane / 2 + (lane % 2) * side
                })
            };
            let at = row / within * within + row % within * 2;
            zipped[at] = shuffle(e, pair.0, pair.1, halves(0))?;
            zipped[at + 1] = shuffle(e, pair.0, pair.1, halves(1))?;
        }
        rows = zipped;
    }
    Ok(rows)
}

fn shuffle<'c>(
    e: &Emitter<'c>,
    a: Val<'c>,
    b: Val<'c>,
    lanes: impl Iterator<Item = usize>,
) -> Result<Val<'c>> {
    let mask: Vec<_> = lanes.map(|lane| lane as i64).collect();
    e.builder.op1_with(
        "vector.shuffle",
        &[a, b],
        a.r#type(),
        vec![("mask", e.builder.i64s_attr(&mask))],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::kernel::Extensions;

    fn axes(list: &[(i64, i64, i64)]) -> Vec<Axis> {
        list.iter()
            .map(|(extent, from, to)| Axis { extent: *extent, from: *from, to: *to })
            .collect()
    }

    #[test]
    fn axes_that_stay_together_are_one() {
        // 2x3x5x7 to 2x5x7x3.
        let all = axes(&[(2, 105, 105), (5, 7, 21), (7, 1, 3), (3, 35, 1)]);
        assert_eq!(collapse(&all), axes(&[(2, 105, 105), (35, 1, 3), (3, 35, 1)]));
    }

    #[test]
    fn blocks_cover_all_and_short_sides_get_small_squares() {
        let avx2 = Isa::of_vector_bits(256, Extensions::default()).expect("a machine");
        let found = |list: &[(i64, i64, i64)]| Transpose::on(&axes(list), (0, 0), (4, avx2));
        let wide = found(&[(1000, 1, 40), (40, 1000, 1)]).expect("squares");
        assert_eq!((wide.side, wide.along.count(), wide.across.count()), (8, 2, 3));
        assert_eq!(found(&[(1000, 1, 5), (5, 1000, 1)]).map(|narrow| narrow.side), Some(4));
        assert_eq!(found(&[(1000, 1, 1)]), None);
        assert!(!wide.ahead);
        let far = found(&[(2000, 1, 600), (600, 2000, 1)]).expect("squares");
        assert_eq!((far.ahead, far.along.count(), far.across.count()), (true, 2, 125));
        assert_eq!(
            found(&[(100_000, 1, 16), (16, 100_000, 1)]).map(|flat| flat.ahead),
            Some(false)
        );
    }

    #[test]
    fn depth_to_space_has_whole_squares() {
        // 28x28x2x2x64 to 64x28x2x28x2.
        let widest = Isa::of_vector_bits(512, Extensions::default()).expect("a machine");
        let list = &[(64, 1, 3136), (28, 7168, 112), (2, 128, 56), (28, 256, 2), (2, 64, 1)];
        let found = Transpose::on(&axes(list), (0, 0), (4, widest)).expect("squares");
        assert_eq!((found.side, found.along.axis.extent, found.outer.len()), (16, 56, 2));
        assert_eq!(found.inner, Some(Axis { extent: 2, from: 64, to: 1 }));
    }
}
