//! What sums of integers start from: a bias, and what zero points add.
//!
//! `sum of (x - z) * w = sum of x * w - z * sum of w`, where the sums go over the taps that lie in
//! the input. The second part does not depend on the input, but on the channel and on which taps
//! those are: a table of it has a row for each class of output points (see
//! [`super::window::Classes`]).

use super::{
    Element, Emitter, Ix, Window,
    tiling::{PointTiles, Width},
    weights::Source,
    window::Classes,
};
use crate::{Result, ir::Val};

/// What sums start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The elements of a table `[class of rows][class of columns][channel]`.
    Table,
    /// Those times a zero point of this type that is an argument, after a number is added to it.
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

    /// The start of the sums of a window's products over `rows` and `cols` of output points.
    pub fn of_window(self, window: &Window, (rows, cols): (i64, i64)) -> StartTable {
        let classes = [window.classes(0, rows), window.classes(1, cols)];
        StartTable { start: self, classes, inside: window.columns_inside_any(cols) }
    }
}

/// A start and the classes of its points.
pub struct StartTable {
    start: Start,
    classes: [Classes; 2],
    /// A column all of whose taps lie in the input.
    inside: Option<i64>,
}

impl StartTable {
    /// The starts of the points of a tile: the first `channel` of a place, and of how many.
    pub fn load<'c>(
        &self,
        e: &Emitter<'c>,
        buffers: &StartBuffers<'c>,
        (row, col): (Ix<'c>, Ix<'c>),
        (channel, channels): (Ix<'c>, i64),
        (points, widths): (&PointTiles, &[Width]),
    ) -> Result<Vec<Val<'c>>> {
        let Some(table) = buffers.table else {
            return Err(crate::Error::internal("a kernel without the start of its sums"));
        };
        let [rows, cols] = &self.classes;
        let row = rows.of(e, row)?;
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

/// The table: for each class and channel, `bias - zero * sum` of the weights of the taps that lie
/// in the input, modulo 2^32 as the sums are.
pub fn table(
    window: &Window,
    (rows, cols): (i64, i64),
    source: &Source,
    weights: &[i16],
    (zero, bias): (i64, &[i64]),
) -> Vec<i32> {
    let sums = source.tap_sums(weights);
    let channels = sums.first().map_or(0, Vec::len);
    let [row_points, col_points] =
        [window.classes(0, rows).members(), window.classes(1, cols).members()];
    let mut table = Vec::with_capacity(row_points.len() * col_points.len() * channels);
    for row in &row_points {
        for col in &col_points {
            let taps = (0..window.kernel[0])
                .filter(|tap| window.covers(0, *row, *tap))
                .flat_map(|v| (0..window.kernel[1]).map(move |h| (v, h)))
                .filter(|(_, h)| window.covers(1, *col, *h))
                .map(|(v, h)| (v * window.kernel[1] + h) as usize);
            let mut totals = vec![0; channels];
            for tap in taps {
                for (total, sum) in totals.iter_mut().zip(&sums[tap]) {
                    *total += sum;
                }
            }
            for (channel, total) in totals.into_iter().enumerate() {
                let bias = bias.get(channel).or(bias.first()).copied().unwrap_or(0);
                table.push((bias - zero * total) as i32);
            }
        }
    }
    table
}
