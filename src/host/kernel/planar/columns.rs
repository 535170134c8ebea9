//! Folds along a row.

use super::{MAX_SHUFFLED, MAX_TAPS, rows::Kernel};
use crate::{
    Result,
    host::kernel::{Emitter, Ix, tiling::Width, window::COL},
    ir::Val,
};

/// Elements of which some are folded.
#[derive(Clone, Copy)]
pub(super) struct Line<'c> {
    /// Buffer of the elements.
    pub buffer: Val<'c>,
    /// The first one.
    pub from: Ix<'c>,
    /// True if memory behind the elements may be read.
    pub has_room: bool,
}

impl<'c> Line<'c> {
    /// A scratch row.
    pub fn scratch(buffer: Val<'c>) -> Self {
        Self { buffer, from: Ix::Const(0), has_room: true }
    }
}

impl<'c> Kernel<'_, 'c> {
    /// The folds of the windows of output columns from `col` on along a scratch row, after others if there are any.
    pub(super) fn along(
        &self,
        e: &Emitter<'c>,
        line: Line<'c>,
        (col, width): (Ix<'c>, Width),
        before: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        let (spec, window) = (self.spec, &self.spec.window);
        let (stride, dilation) = (window.stride[COL], window.dilation[COL]);
        let taps = window.kernel[COL];
        let from = e.add(line.from, e.mul(col, stride)?)?;
        if taps > MAX_TAPS {
            let start = match before {
                Some(before) => before,
                None => e.splat(spec.fold.start(spec.element), width.lanes, spec.element)?,
            };
            let bounds = (Ix::Const(0), Ix::Const(taps), 1);
            let folds = e.repeat(bounds, vec![start], |e, tap, folds| {
                let at = e.add(from, e.mul(tap, dilation)?)?;
                let value = self.strided(e, line, (at, 0), width, &mut vec![])?;
                Ok(vec![spec.fold.combine(e, spec.element, folds[0], value)?])
            })?;
            return Ok(folds[0]);
        }
        let mut loaded = vec![];
        let mut fold = before;
        for tap in 0..taps {
            let value = self.strided(e, line, (from, tap * dilation), width, &mut loaded)?;
            fold = Some(match fold {
                Some(fold) => spec.fold.combine(e, spec.element, fold, value)?,
                None => value,
            });
        }
        fold.ok_or_else(|| crate::Error::internal("a pool whose window has no columns"))
    }

    /// The elements of a scratch row from `from + offset` on that are a stride apart. Those between are loaded, too, and
    /// remembered for other taps by the first of them.
    fn strided(
        &self,
        e: &Emitter<'c>,
        line: Line<'c>,
        (from, offset): (Ix<'c>, i64),
        width: Width,
        loaded: &mut Vec<(i64, Val<'c>)>,
    ) -> Result<Val<'c>> {
        let spec = self.spec;
        let stride = spec.window.stride[COL];
        // Taps of a loop are at no place that is known.
        let is_alone = spec.window.kernel[COL] > MAX_TAPS;
        let lanes = width.lanes;
        if stride == 1 {
            let width = if line.has_room { Width::full(lanes) } else { width };
            return e.load(line.buffer, e.add(from, Ix::Const(offset))?, width);
        }
        if stride > MAX_SHUFFLED {
            let values = (0..lanes).map(|lane| {
                let at = offset + if lane < width.used { lane * stride } else { 0 };
                e.load_scalar(line.buffer, e.add(from, Ix::Const(at))?)
            });
            return e.with_elements(&values.collect::<Result<Vec<_>>>()?);
        }
        let first = offset / stride * stride;
        let all = match loaded.iter().find(|(other, _)| *other == first) {
            Some((_, all)) => *all,
            None => {
                let at = e.add(from, Ix::Const(first))?;
                let all = Width::full(lanes * stride);
                // Other taps read what lies between, up to the last one of a window.
                let between = if is_alone { 1 } else { (spec.reach() + 1 - first).min(stride) };
                let used = (width.used - 1) * stride + between;
                e.load(line.buffer, at, if line.has_room { all } else { Width { used, ..all } })?
            }
        };
        loaded.push((first, all));
        let places: Vec<_> = (0..lanes).map(|lane| lane * stride + offset - first).collect();
        e.shuffle(all, &places)
    }
}
