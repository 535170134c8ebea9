//! Positions of the windows of convolutions and pools on the input.

use super::{Emitter, Fold, Ix, View, tiling::ceil_div};
use crate::{Result, ir::Val};
use melior::ir::Type;

/// Output points along an axis, by the taps of their windows that lie in the input: those at the
/// edges have a class each, those between share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Points before the first whose taps all do.
    before: i64,
    /// The first point after those.
    after: i64,
    /// All points.
    points: i64,
}

impl Classes {
    /// Number of classes.
    pub fn count(&self) -> i64 {
        self.before + self.points - self.after + i64::from(self.after > self.before)
    }

    /// A point of each class.
    pub fn members(&self) -> Vec<i64> {
        let between = (self.after > self.before).then_some(self.before);
        (0..self.before).chain(between).chain(self.after..self.points).collect()
    }

    /// The class of a point.
    pub fn of<'c>(&self, e: &Emitter<'c>, point: Ix<'c>) -> Result<Ix<'c>> {
        if self.count() == 1 {
            return Ok(Ix::Const(0));
        }
        if self.after == self.before {
            return Ok(point);
        }
        let late = e.max(e.add(point, Ix::Const(1 - self.after))?, 0)?;
        e.add(e.min(point, self.before)?, late)
    }
}

/// Spatial dimensions of a kernel: planes, rows and columns. An image of fewer has one plane, or
/// one plane of one row.
pub const AXES: usize = 3;
/// The first axis.
pub const PLANE: usize = 0;
/// The second axis.
pub const ROW: usize = 1;
/// The last axis, along which register tiles lie.
pub const COL: usize = 2;

/// Spatial sizes with leading `fill` for the axes that are lacking; `None` if there are too many.
pub fn spread(sizes: &[i64], fill: i64) -> Option<[i64; AXES]> {
    let mut all = [fill; AXES];
    let lead = AXES.checked_sub(sizes.len())?;
    all[lead..].copy_from_slice(sizes);
    Some(all)
}

/// A window that slides over planes, rows and columns. What it covers outside of the input counts
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Size.
    pub kernel: [i64; AXES],
    /// Step from one output point to the next.
    pub stride: [i64; AXES],
    /// Step from one tap to the next.
    pub dilation: [i64; AXES],
    /// Positions before the input at which the first window starts.
    pub pad: [i64; AXES],
    /// Size of the input.
    pub input: [i64; AXES],
}

impl Window {
    /// The window of a product or of a convolution that sees points one by one.
    pub fn point(input: [i64; AXES]) -> Self {
        let ones = [1; AXES];
        Self { kernel: ones, stride: ones, dilation: ones, pad: [0; AXES], input }
    }

    /// Number of taps.
    pub fn taps(&self) -> i64 {
        self.kernel.iter().product()
    }

    /// The element of an image's view at the first tap of the first point.
    pub fn corner(&self, view: &View) -> i64 {
        let steps = [view.plane, view.row, view.col];
        view.offset - self.pad.iter().zip(steps).map(|(pad, step)| pad * step).sum::<i64>()
    }

    /// The position in the input of output point `point` and `tap`, maybe outside.
    pub fn position(&self, axis: usize, point: i64, tap: i64) -> i64 {
        point * self.stride[axis] + tap * self.dilation[axis] - self.pad[axis]
    }

    /// True if all taps of `count` output columns from `start` on lie in the input.
    pub fn columns_inside(&self, start: i64, count: i64) -> bool {
        self.position(COL, start, 0) >= 0
            && self.position(COL, start + count - 1, self.kernel[COL] - 1) < self.input[COL]
    }

    /// An output column of `count` all of whose taps lie in the input.
    pub fn columns_inside_any(&self, count: i64) -> Option<i64> {
        (0..count).find(|column| self.columns_inside(*column, 1))
    }

    /// True if some window of `points` points along an axis reaches beyond the input.
    pub fn clips(&self, axis: usize, points: i64) -> bool {
        self.pad[axis] > 0
            || self.position(axis, points - 1, self.kernel[axis] - 1) >= self.input[axis]
    }

    /// The range of points in `start..start + count` whose tap `tap` lies in the input's columns,
    /// relative to `start`.
    pub fn active(&self, start: i64, count: i64, tap: i64) -> (i64, i64) {
        let inside =
            |point: i64| (0..self.input[COL]).contains(&self.position(COL, start + point, tap));
        let first = (0..count).find(|p| inside(*p)).unwrap_or(count);
        let last = (first..count).find(|p| !inside(*p)).unwrap_or(count);
        (first, last)
    }

    /// The range of taps along an axis that lie in the input for output point `point` of `points`.
    pub fn taps_inside<'c>(
        &self,
        e: &Emitter<'c>,
        axis: usize,
        (point, points): (Ix<'c>, i64),
    ) -> Result<(Ix<'c>, Ix<'c>)> {
        let taps = self.kernel[axis];
        if !self.clips(axis, points) {
            return Ok((Ix::Const(0), Ix::Const(taps)));
        }
        let dilation = self.dilation[axis];
        // Tap t is at `t * dilation - before`, which is in the input for
        // `ceil(before / dilation) <= t < ceil((input + before) / dilation)`.
        let before = e.add(e.mul(point, -self.stride[axis])?, Ix::Const(self.pad[axis]))?;
        let after = e.add(before, Ix::Const(self.input[axis]))?;
        let ceil = |value| e.fold_ceil_div(value, dilation);
        let lo = e.min(e.max(ceil(before)?, 0)?, taps)?;
        let hi = e.max(e.min(ceil(after)?, taps)?, 0)?;
        Ok((lo, hi))
    }

    /// Number of planes times rows of a mean, whose taps in the input are `taps`: the known part,
    /// and a factor of type `real` that is computed.
    pub fn mean_of<'c>(
        &self,
        e: &Emitter<'c>,
        fold: Fold,
        taps: [(Ix<'c>, Ix<'c>); 2],
        real: Type<'c>,
    ) -> Result<(i64, Option<Val<'c>>)> {
        let (mut known, mut counted) = (1, None);
        for ((lo, hi), axis) in taps.into_iter().zip([PLANE, ROW]) {
            let inside = match fold {
                Fold::Mean => e.add(hi, e.mul(lo, -1)?)?,
                // Others count the padding.
                _ => Ix::Const(self.kernel[axis]),
            };
            let count = match inside {
                Ix::Const(count) => {
                    known *= count;
                    continue;
                }
                Ix::Value(count) => count,
            };
            let b = e.builder;
            let count = b.op1("arith.index_cast", &[count], b.int(32))?;
            let count = b.op1("arith.sitofp", &[count], real)?;
            counted = Some(match counted {
                Some(others) => e.float("arith.mulf", others, count)?,
                None => count,
            });
        }
        Ok((known, counted))
    }

    /// The classes of output points along an axis by the taps that lie in the input.
    pub fn classes(&self, axis: usize, points: i64) -> Classes {
        let last = self.kernel[axis] - 1;
        let whole = |point: &i64| {
            self.position(axis, *point, 0) >= 0
                && self.position(axis, *point, last) < self.input[axis]
        };
        match (0..points).find(whole) {
            None => Classes { before: points, after: points, points },
            // Windows move on, so those that reach beyond the end follow each other.
            Some(before) => {
                let clipped = (before..points).find(|point| !whole(point));
                Classes { before, after: clipped.unwrap_or(points), points }
            }
        }
    }

    /// True if a tap of an output point lies in the input.
    pub fn covers(&self, axis: usize, point: i64, tap: i64) -> bool {
        (0..self.input[axis]).contains(&self.position(axis, point, tap))
    }

    /// Size of the output along an axis, with `pad_end` positions after the input.
    pub fn output(&self, axis: usize, pad_end: i64) -> i64 {
        let span = self.dilation[axis] * (self.kernel[axis] - 1) + 1;
        let room = self.input[axis] + self.pad[axis] + pad_end - span;
        if room < 0 { 0 } else { ceil_div(room + 1, self.stride[axis]) }
    }
}

#[cfg(test)]
mod tests {
    use super::{COL, Classes, PLANE, ROW, Window};

    #[test]
    fn points_at_the_edges_have_classes_of_their_own() {
        let window = Window {
            kernel: [1, 3, 5],
            stride: [1, 1, 2],
            dilation: [1; 3],
            pad: [0, 1, 2],
            input: [1, 7, 4],
        };
        let rows = window.classes(ROW, 7);
        assert_eq!(rows, Classes { before: 1, after: 6, points: 7 });
        assert_eq!(rows.members(), [0, 1, 6]);
        // The input is narrower than the window.
        let cols = window.classes(COL, 2);
        assert_eq!((cols.count(), cols.members()), (2, vec![0, 1]));
        assert!(!window.covers(COL, 0, 1) && window.covers(COL, 0, 2));
    }

    #[test]
    fn taps_outside_of_the_input_are_not_active() {
        let window = Window {
            kernel: [1, 3, 3],
            stride: [1; 3],
            dilation: [1; 3],
            pad: [0, 1, 1],
            input: [1, 7, 7],
        };
        assert_eq!(window.output(COL, 1), 7);
        assert!(!window.columns_inside(0, 7));
        assert!(window.columns_inside(1, 5));
        assert_eq!(window.active(0, 7, 0), (1, 7));
        assert_eq!(window.active(0, 7, 1), (0, 7));
        assert_eq!(window.active(0, 7, 2), (0, 6));
        assert!(window.clips(ROW, 7) && !window.clips(PLANE, 1));
    }
}
