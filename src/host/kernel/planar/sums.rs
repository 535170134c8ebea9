//! Sums of windows of one row, which have nothing to fold downwards.

use super::{
    columns::Line,
    rows::{Kernel, Source},
};
use crate::{
    Result,
    host::kernel::{
        Emitter, Ix,
        tiling::{PointTiles, Width},
        window::{PLANE, ROW},
    },
    ir::Val,
};

impl<'c> Kernel<'_, 'c> {
    /// Adds up windows row by row, in the order of their elements.
    pub(super) fn sum(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (x, view, [planes, rows]): Source<'_, 'c>,
        sums: Val<'c>,
    ) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        if spec.covered(points) == (0, spec.span(points.size)) {
            return self.sum_inside(e, points, (x, view, [planes, rows]), sums);
        }
        self.set(e, sums, (0, points.size), 0.0)?;
        e.repeat((planes.0, planes.1, 1), vec![], |e, tap, _| {
            let x = e.add(e.mul(tap, window.dilation[PLANE] * view.plane)?, x)?;
            e.repeat((rows.0, rows.1, 1), vec![], |e, tap, _| {
                let x = e.add(e.mul(tap, window.dilation[ROW] * view.row)?, x)?;
                self.blocks(e, spec.covered(points), self.blocking.vectors, |e, col, widths| {
                    let mut values = vec![];
                    let mut x = e.add(x, col)?;
                    for width in widths {
                        values.push(e.load(self.x, x, *width)?);
                        x = e.add(x, Ix::Const(width.lanes))?;
                    }
                    self.store_row(e, self.row, (col, widths), &values)
                })?;
                self.blocks(e, (0, points.size), 2, |e, col, widths| {
                    let mut at = col;
                    let mut values = vec![];
                    for width in widths {
                        let sum = e.load(sums, at, Width::full(width.lanes))?;
                        values.push(self.along(
                            e,
                            Line::scratch(self.row),
                            (at, *width),
                            Some(sum),
                        )?);
                        at = e.add(at, Ix::Const(width.lanes))?;
                    }
                    self.store_row(e, sums, (col, widths), &values)
                })?;
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// The same for windows whose columns all lie in the input.
    fn sum_inside(
        &self,
        e: &Emitter<'c>,
        points: &PointTiles,
        (x, view, [planes, rows]): Source<'_, 'c>,
        sums: Val<'c>,
    ) -> Result<()> {
        let (spec, window) = (self.spec, &self.spec.window);
        self.blocks(e, (0, points.size), self.blocking.vectors, |e, col, widths| {
            let zero = |width: &Width| e.splat(0.0, width.lanes, spec.element);
            let zeros = widths.iter().map(zero).collect::<Result<Vec<_>>>()?;
            let values = e.repeat((planes.0, planes.1, 1), zeros, |e, tap, values| {
                let x = e.add(e.mul(tap, window.dilation[PLANE] * view.plane)?, x)?;
                e.repeat((rows.0, rows.1, 1), values, |e, tap, mut values| {
                    let from = e.add(e.mul(tap, window.dilation[ROW] * view.row)?, x)?;
                    let line = Line { buffer: self.x, from, has_room: false };
                    let mut at = col;
                    for (value, width) in values.iter_mut().zip(widths) {
                        *value = self.along(e, line, (at, *width), Some(*value))?;
                        at = e.add(at, Ix::Const(width.lanes))?;
                    }
                    Ok(values)
                })
            })?;
            self.store_row(e, sums, (col, widths), &values)
        })
    }
}
