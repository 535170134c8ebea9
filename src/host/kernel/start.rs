//! Initial values of sums of integers: a bias, and the contribution of zero points.
//!
//! `sum of (x - z) * w = sum of x * w - z * sum of w`, where the sums go over the taps that lie in
//! the input. The second part does not depend on the input, but on the channel and on those taps. A
//! table of it has a row for each class of output points (see [`super::window::Classes`]).

use super::{
    Element, Emitter, Ix, Window,
    tiling::{PointTiles, Width},
    weights::Source,
    window::{AXES, COL, Classes, PLANE, ROW},
};
use crate::{Result, ir::Val};

/// Initial values of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The elements of a table `[class of planes][class of rows][class of columns][channel]`.
    Table,
    /// The same elements times a zero point of this type that is an argument, after a number is
    /// added to it.
    Scaled(Element, i64),
}

/// The buffers of a start: none, a table, or a table and a zero point.
pub struct StartBuffers<'c> {
    table: Option<Val<'c>>,
    zero: Option<Val<'c>>,
}

impl<'c> StartBuffers<'c> {
    /// From a kernel's arguments.
    pub fn of(buffers: &[Val<'c>]) -> Self {
        Self { table: buffers.first().copied(), zero: buffers.get(1).copied() }
    }
}

impl Start {
    /// Number of buffers that it takes.
    pub fn buffers(self) -> usize {
        match self {
            Self::Table => 1,
            Self::Scaled(..) => 2,
        }
    }

    /// The start of the sums of a window's products over a grid of output points.
    pub fn of_window(self, window: &Window, grid: [i64; AXES]) -> StartTable {
        let inside = window.columns_inside_any(grid[COL]);
        StartTable { start: self, classes: classes(window, grid), inside }
    }
}

/// A start and the classes of its points.
pub struct StartTable {
    start: Start,
    classes: [Classes; AXES],
    /// A column all of whose taps lie in the input.
    inside: Option<i64>,
}

impl StartTable {
    /// The starts of the points of a tile: the first `channel` of a place, and of how many.
    pub fn load<'c>(
        &self,
        e: &Emitter<'c>,
        buffers: &StartBuffers<'c>,
        [plane, row, col]: [Ix<'c>; AXES],
        (channel, channels): (Ix<'c>, i64),
        (points, widths): (&PointTiles, &[Width]),
    ) -> Result<Vec<Val<'c>>> {
        let Some(table) = buffers.table else {
            return Err(crate::Error::internal("a kernel without the start of its sums"));
        };
        let [planes, rows, cols] = &self.classes;
        let plane = e.mul(planes.of(e, plane)?, rows.count())?;
        let row = e.add(rows.of(e, row)?, plane)?;
        let mut starts: Vec<Val<'c>> = vec![];
        let mut known: Option<Ix<'c>> = None;
        for point in 0..points.size {
            // Tiles that are run several times lie inside, as do all of one class.
            let class = match self.inside {
                Some(inside) if points.count > 1 => cols.of(e, Ix::Const(inside))?,
                _ if cols.count() == 1 => Ix::Const(0),
                _ => cols.of(e, e.add(col, Ix::Const(point))?)?,
            };
            if let (Some(Ix::Const(a)), Ix::Const(b)) = (known, class)
                && a == b
            {
                let from = starts.len() - widths.len();
                starts.extend_from_within(from..);
                continue;
            }
            known = Some(class);
            let at =
                e.sum(0, &[(row, cols.count() * channels), (class, channels), (channel, 1)])?;
            let mut lane = 0;
            for width in widths {
                let start = e.load(table, e.add(at, Ix::Const(lane))?, *width)?;
                starts.push(self.scale(e, buffers, start, width.lanes)?);
                lane += width.lanes;
            }
        }
        Ok(starts)
    }

    fn scale<'c>(
        &self,
        e: &Emitter<'c>,
        buffers: &StartBuffers<'c>,
        start: Val<'c>,
        lanes: i64,
    ) -> Result<Val<'c>> {
        let (Start::Scaled(element, offset), Some(zero)) = (self.start, buffers.zero) else {
            return Ok(start);
        };
        let b = e.builder;
        let zero = e.load_scalar(zero, Ix::Const(0))?;
        let mut zero = e.extend(zero, element != Element::U8)?;
        if offset != 0 {
            zero = b.binary("arith.addi", zero, b.constant_int(b.int(32), offset)?)?;
        }
        b.binary("arith.muli", start, e.broadcast(zero, lanes)?)
    }
}

/// The classes of output points along each axis.
pub fn classes(window: &Window, grid: [i64; AXES]) -> [Classes; AXES] {
    [PLANE, ROW, COL].map(|axis| window.classes(axis, grid[axis]))
}

/// The table: for each class and channel, `bias - zero * sum` of the weights of the taps that lie
/// in the input, modulo 2^32 as the sums are.
pub fn table(
    window: &Window,
    grid: [i64; AXES],
    source: &Source,
    weights: &[i16],
    (zero, bias): (i64, &[i64]),
) -> Vec<i32> {
    let sums = source.tap_sums(weights);
    let channels = sums.first().map_or(0, Vec::len);
    let members = classes(window, grid).map(|classes| classes.members());
    let mut table = vec![];
    for class in product(&members) {
        let axes = [PLANE, ROW, COL];
        let taps = axes.map(|axis| {
            let inside = |tap: &i64| window.covers(axis, class[axis], *tap);
            (0..window.kernel[axis]).filter(inside).collect()
        });
        let mut totals = vec![0; channels];
        for [plane, row, col] in product(&taps) {
            let tap = (plane * window.kernel[ROW] + row) * window.kernel[COL] + col;
            for (total, sum) in totals.iter_mut().zip(&sums[tap as usize]) {
                *total += sum;
            }
        }
        for (channel, total) in totals.into_iter().enumerate() {
            let bias = bias.get(channel).or(bias.first()).copied().unwrap_or(0);
            table.push((bias - zero * total) as i32);
        }
    }
    table
}

/// All combinations of an element for each axis, the last axis varying fastest.
fn product(lists: &[Vec<i64>; AXES]) -> impl Iterator<Item = [i64; AXES]> {
    let [planes, rows, cols] = lists;
    planes.iter().flat_map(move |plane| {
        rows.iter().flat_map(move |row| cols.iter().map(move |col| [*plane, *row, *col]))
    })
}
