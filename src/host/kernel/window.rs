//! Where the windows of convolutions and pools lie on the input.

use super::{Emitter, Ix, tiling::ceil_div};
use crate::Result;

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

/// A window that slides over two dimensions. What it covers outside of the input counts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Size.
    pub kernel: [i64; 2],
    /// Step from one output point to the next.
    pub stride: [i64; 2],
    /// Step from one tap to the next.
    pub dilation: [i64; 2],
    /// Positions before the input at which the first window starts.
    pub pad: [i64; 2],
    /// Size of the input.
    pub input: [i64; 2],
}

impl Window {
    /// The window of a product or of a convolution that sees points one by one.
    pub fn point(rows: i64, cols: i64) -> Self {
        Self { kernel: [1; 2], stride: [1; 2], dilation: [1; 2], pad: [0; 2], input: [rows, cols] }
    }

    /// The position in the input of output point `point` and `tap`, maybe outside.
    pub fn position(&self, axis: usize, point: i64, tap: i64) -> i64 {
        point * self.stride[axis] + tap * self.dilation[axis] - self.pad[axis]
    }

    /// Whether all taps of the output columns from `start` on lie in the input.
    pub fn columns_inside(&self, start: i64, count: i64) -> bool {
        self.position(1, start, 0) >= 0
            && self.position(1, start + count - 1, self.kernel[1] - 1) < self.input[1]
    }

    /// An output column of `count` all of whose taps lie in the input.
    pub fn columns_inside_any(&self, count: i64) -> Option<i64> {
        (0..count).find(|column| self.columns_inside(*column, 1))
    }

    /// Whether some window of `rows` rows covers rows outside of the input.
    pub fn clips_rows(&self, rows: i64) -> bool {
        self.pad[0] > 0 || self.position(0, rows - 1, self.kernel[0] - 1) >= self.input[0]
    }

    /// The range of points in `start..start + count` whose tap `tap` lies in the input's columns,
    /// relative to `start`.
    pub fn active(&self, start: i64, count: i64, tap: i64) -> (i64, i64) {
        let inside =
            |point: i64| (0..self.input[1]).contains(&self.position(1, start + point, tap));
        let first = (0..count).find(|p| inside(*p)).unwrap_or(count);
        let last = (first..count).find(|p| !inside(*p)).unwrap_or(count);
        (first, last)
    }

    /// The range of vertical taps that lie in the input for output row `row` of `rows`.
    pub fn row_taps<'c>(
        &self,
        e: &Emitter<'c>,
        row: Ix<'c>,
        rows: i64,
    ) -> Result<(Ix<'c>, Ix<'c>)> {
        let taps = self.kernel[0];
        if !self.clips_rows(rows) {
            return Ok((Ix::Const(0), Ix::Const(taps)));
        }
        let dilation = self.dilation[0];
        // Tap t is at `t * dilation - before`, which is in the input for
        // `ceil(before / dilation) <= t < ceil((input + before) / dilation)`.
        let before = e.add(e.mul(row, -self.stride[0])?, Ix::Const(self.pad[0]))?;
        let after = e.add(before, Ix::Const(self.input[0]))?;
        let ceil = |value| e.fold_ceil_div(value, dilation);
        let lo = e.min(e.max(ceil(before)?, 0)?, taps)?;
        let hi = e.max(e.min(ceil(after)?, taps)?, 0)?;
        Ok((lo, hi))
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

    /// Whether a tap of an output point lies in the input.
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
    use super::{Classes, Window};

    #[test]
    fn points_at_the_edges_have_classes_of_their_own() {
        let window =
            Window { kernel: [3, 5], stride: [1, 2], dilation: [1, 1], pad: [1, 2], input: [7, 4] };
        let rows = window.classes(0, 7);
        assert_eq!(rows, Classes { before: 1, after: 6, points: 7 });
        assert_eq!(rows.members(), [0, 1, 6]);
        // The input is narrower than the window.
        let cols = window.classes(1, 2);
        assert_eq!((cols.count(), cols.members()), (2, vec![0, 1]));
        assert!(!window.covers(1, 0, 1) && window.covers(1, 0, 2));
    }

    #[test]
    fn taps_outside_of_the_input_are_not_active() {
        let window =
            Window { kernel: [3, 3], stride: [1, 1], dilation: [1, 1], pad: [1, 1], input: [7, 7] };
        assert_eq!(window.output(1, 1), 7);
        assert!(!window.columns_inside(0, 7));
        assert!(window.columns_inside(1, 5));
        assert_eq!(window.active(0, 7, 0), (1, 7));
        assert_eq!(window.active(0, 7, 1), (0, 7));
        assert_eq!(window.active(0, 7, 2), (0, 6));
        assert!(window.clips_rows(7));
    }
}
