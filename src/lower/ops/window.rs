//! Windows that slide over the spatial dimensions of an image.

use crate::{
    Result,
    ir::{self, Builder, Val},
    lower::{
        Lowering,
        generic::{Aff, d},
        shape::pad,
    },
};
use melior::ir::ValueLike;

/// The window attributes of a convolution or pool, one number per spatial dimension.
pub struct Window {
    /// Size of the window.
    pub kernel: Vec<i64>,
    /// Distance of two windows.
    pub strides: Vec<i64>,
    /// Distance of two elements of a window.
    pub dilations: Vec<i64>,
    /// Padding before the first element; negative cuts off.
    pub begin: Vec<i64>,
    /// Padding after the last element.
    pub end: Vec<i64>,
}

impl Window {
    /// Reads the attributes of an op.
    pub fn of(lowering: &Lowering<'_>, kernel: &[i64]) -> Self {
        let rank = kernel.len();
        let mut begin = lowering.ints("pads", 2 * rank, 0);
        begin.resize(2 * rank, 0);
        let end = begin.split_off(rank);
        Self {
            kernel: kernel.to_vec(),
            strides: lowering.ints("strides", rank, 1),
            dilations: lowering.ints("dilations", rank, 1),
            begin,
            end,
        }
    }

    /// Number of spatial dimensions.
    pub fn rank(&self) -> usize {
        self.kernel.len()
    }

    /// Elements from the first of a window to the last, in dimension `i`.
    pub fn extent(&self, i: usize) -> i64 {
        self.dilations[i] * (self.kernel[i] - 1) + 1
    }

    /// Position in the padded input of element `k` of window `o` in dimension `i`; both are loops.
    pub fn position(&self, i: usize, o: usize, k: usize) -> Aff {
        d(o) * self.strides[i] + d(k) * self.dilations[i]
    }

    /// `x` (two dimensions and then the spatial ones) with padding, as far as `output` windows
    /// reach.
    pub fn pad<'c>(
        &self,
        b: &Builder<'c>,
        x: Val<'c>,
        output: &[i64],
        padding: Val<'c>,
    ) -> Result<Val<'c>> {
        let dims = ir::dims(x.r#type());
        let (mut low, mut high) = (vec![0, 0], vec![0, 0]);
        for i in 0..self.rank() {
            let reach = (output[i] - 1) * self.strides[i] + self.extent(i);
            low.push(self.begin[i]);
            // What no window reaches need not be copied when something is added anyway.
            high.push((reach - dims[i + 2] - self.begin[i]).max(0));
        }
        pad(b, x, &low, &high, padding)
    }
}
