//! A copy of the rows of the image that a task sees, with zeros beside them.

use super::{Amx, Contraction, View};
use crate::{
    Result,
    host::kernel::{
        Emitter, Ix, Width,
        window::{COL, PLANE, ROW},
    },
    ir::Val,
};

/// Bytes of a vector.
const VECTOR: i64 = 64;
/// Vectors that a turn of a loop copies.
const UNROLL: i64 = 4;

/// The memory of a copy.
pub(super) struct Strip<'k, 'c> {
    spec: &'k Contraction,
    pub view: View,
    pub memory: Val<'c>,
}

/// Origin of a task: image, group, plane, and the rows of the output.
#[derive(Clone, Copy)]
pub(super) struct Seen<'c> {
    pub batch: Ix<'c>,
    pub group: Ix<'c>,
    pub plane: Ix<'c>,
    pub rows: (Ix<'c>, Ix<'c>),
}

impl<'k, 'c> Strip<'k, 'c> {
    /// Memory for the rows of the image that so many rows of the output read.
    pub fn new(e: &Emitter<'c>, amx: &Amx, spec: &'k Contraction, rows: i64) -> Result<Self> {
        let image = spec.types.image;
        let memory = e.scratch(amx.strip_bytes(spec, rows) / image.bytes(), image)?;
        Ok(Self { spec, view: amx.strip_view(spec, rows), memory })
    }

    /// Elements of a vector.
    fn lanes(&self) -> i64 {
        VECTOR / self.spec.types.image.bytes()
    }

    /// Copies what a task sees of `x`.
    pub fn fill(&self, e: &Emitter<'c>, x: Val<'c>, seen: Seen<'c>) -> Result<()> {
        let (window, from) = (&self.spec.window, &self.spec.x);
        let planes = window.taps_inside(e, PLANE, (seen.plane, self.spec.planes))?;
        let first = e.add(e.mul(seen.rows.0, window.stride[ROW])?, Ix::Const(-window.pad[ROW]))?;
        let span = (window.kernel[ROW] - 1) * window.dilation[ROW] + 1 - window.stride[ROW];
        let count = e.add(seen.rows.1, e.mul(seen.rows.0, -1)?)?;
        let count = e.add(e.mul(count, window.stride[ROW])?, Ix::Const(span))?;
        let (before, after) = if window.clips(ROW, self.spec.rows) {
            let end = e.add(e.mul(first, -1)?, Ix::Const(window.input[ROW]))?;
            let before = e.smaller(e.max(e.mul(first, -1)?, 0)?, count)?;
            (before, e.smaller(e.max(end, 0)?, count)?)
        } else {
            (Ix::Const(0), count)
        };
        let corner = e.sum(
            from.offset - window.pad[PLANE] * from.plane,
            &[
                (seen.batch, from.batch),
                (seen.plane, window.stride[PLANE] * from.plane),
                (first, from.row),
                (seen.group, self.spec.depth),
            ],
        )?;
        let zeros = |e: &Emitter<'c>, rows, to| {
            e.repeat(rows, vec![], |e, row, _| {
                self.zero(e, e.add(e.mul(row, self.view.row)?, to)?, self.view.row)?;
                Ok(vec![])
            })
        };
        e.repeat((planes.0, planes.1, 1), vec![], |e, tap, _| {
            let corner = e.add(e.mul(tap, window.dilation[PLANE] * from.plane)?, corner)?;
            let to = e.mul(tap, self.view.plane)?;
            zeros(e, (Ix::Const(0), before, 1), to)?;
            e.repeat((before, after, 1), vec![], |e, row, _| {
                let x_row = e.add(e.mul(row, from.row)?, corner)?;
                self.row(e, (x, x_row), e.add(e.mul(row, self.view.row)?, to)?)?;
                Ok(vec![])
            })?;
            zeros(e, (after, count, 1), to)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// Copies a row of the input, with zeros before and after.
    fn row(&self, e: &Emitter<'c>, (x, from): (Val<'c>, Ix<'c>), to: Ix<'c>) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        let depth = spec.depth;
        let all = self.view.row / depth;
        let before = window.pad[COL].min(all);
        let inside = window.input[COL].min(all - before);
        let behind = |columns: i64| e.add(to, Ix::Const(columns * depth));
        self.zero(e, to, before * depth)?;
        if spec.x.col == depth {
            self.copy(e, (x, from), behind(before)?, inside * depth)?;
        } else {
            let first = behind(before)?;
            e.repeat((Ix::Const(0), Ix::Const(inside), 1), vec![], |e, col, _| {
                let from = e.add(e.mul(col, spec.x.col)?, from)?;
                self.copy(e, (x, from), e.add(e.mul(col, depth)?, first)?, depth)?;
                Ok(vec![])
            })?;
        }
        self.zero(e, behind(before + inside)?, (all - before - inside) * depth)
    }

    fn copy(
        &self,
        e: &Emitter<'c>,
        (x, from): (Val<'c>, Ix<'c>),
        to: Ix<'c>,
        count: i64,
    ) -> Result<()> {
        vectors(e, count, self.lanes(), |e, at, width| {
            let value = e.load(x, e.add(from, at)?, width)?;
            e.store(value, self.memory, e.add(to, at)?, width)
        })
    }

    fn zero(&self, e: &Emitter<'c>, to: Ix<'c>, count: i64) -> Result<()> {
        let zero = e.splat(0.0, self.lanes(), self.spec.types.image)?;
        vectors(e, count, self.lanes(), |e, at, width| {
            e.store(zero, self.memory, e.add(to, at)?, width)
        })
    }
}

/// Goes through so many elements by vectors.
fn vectors<'c>(
    e: &Emitter<'c>,
    count: i64,
    lanes: i64,
    body: impl Fn(&Emitter<'c>, Ix<'c>, Width) -> Result<()>,
) -> Result<()> {
    let by = lanes * UNROLL;
    let whole = count - count % by;
    e.repeat((Ix::Const(0), Ix::Const(whole), by), vec![], |e, from, _| {
        for vector in 0..UNROLL {
            body(e, e.add(from, Ix::Const(vector * lanes))?, Width::full(lanes))?;
        }
        Ok(vec![])
    })?;
    for from in (whole..count).step_by(lanes as usize) {
        let used = lanes.min(count - from);
        body(e, Ix::Const(from), Width { lanes, used })?;
    }
    Ok(())
}
