//! Where the windows of convolutions and pools lie on the input.

use super::{Emitter, Ix, tiling::ceil_div};
use crate::Result;

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

    /// Size of the output along an axis, with `pad_end` positions after the input.
    pub fn output(&self, axis: usize, pad_end: i64) -> i64 {
        let span = self.dilation[axis] * (self.kernel[axis] - 1) + 1;
        let room = self.input[axis] + self.pad[axis] + pad_end - span;
        if room < 0 { 0 } else { ceil_div(room + 1, self.stride[axis]) }
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

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
