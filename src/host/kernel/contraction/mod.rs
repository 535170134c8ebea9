//! The kernel of convolutions and matrix products.
//!
//! Both are sums over a reduction space of `x[point + offset] * w[reduction, channel]` for points
//! of a grid (pixels or rows) and channels (filters or columns). A register tile holds some points
//! times some vectors of channels while the reduction runs. Each step loads the vectors of weights,
//! and one scalar of x per point, which all lanes share. For bytes that is a few neighbouring ones
//! (see [`super::arithmetic`]).

mod amx;
mod reduction;
mod tile;
mod weights;

pub use self::amx::Amx;
pub(super) use self::tile::{Buffers, Kernel, Place};
use super::{
    Arithmetic, Buffer, Element, Emitter, Isa, Ix, Types, Window,
    emit::{argument_types, function},
    start::{Start, StartBuffers},
    tiling::Blocking,
    weights::Grouping,
    window::{AXES, COL},
};
use crate::{
    Result,
    ir::{Builder, Val},
};

/// Products of an element from which on it is worth another form in memory.
const MANY_USES: i64 = 16;
/// Points from which on an image is worth it.
const WIDENED_POINTS: i64 = 16;

/// Strided view of a buffer: the place of the element of a point and channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The first element.
    pub offset: i64,
    /// Step from one image or matrix to the next.
    pub batch: i64,
    /// Step from one plane of points to the next.
    pub plane: i64,
    /// Step from one row of points to the next.
    pub row: i64,
    /// Step from one point to the next in the row.
    pub col: i64,
    /// Step from one channel to the next: 1, or 0 if all channels share an element.
    pub channel: i64,
    /// True for a table that steps of the epilogue look things up in; all else is 0 then.
    pub table: bool,
    /// True if elements are truth values.
    pub truth: bool,
    /// True for a second place for results, which is no operand of the epilogue.
    pub output: bool,
}

impl View {
    /// The same, with steps in bytes.
    fn in_bytes(&self, bytes: i64) -> Self {
        let Self { offset, batch, plane, row, col, channel, .. } = *self;
        let [offset, batch, plane, row, col, channel] =
            [offset, batch, plane, row, col, channel].map(|step| step * bytes);
        Self { offset, batch, plane, row, col, channel, ..*self }
    }
}

/// Memory layout of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Channel blocks one after another, each `[reduction][lanes of the block]`.
    Packed,
    /// `[reduction][channels]` with this step between rows.
    Rows(i64),
}

/// Neighbouring channels of a group whose weights are 0 at the first taps of each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Number of channels.
    pub channels: i64,
    /// Taps of 0 along each axis.
    pub skip: [i64; AXES],
}

/// A contraction with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// Element types.
    pub types: Types,
    /// Images or matrices.
    pub batch: i64,
    /// Planes of points.
    pub planes: i64,
    /// Rows of a plane.
    pub rows: i64,
    /// Points per row.
    pub cols: i64,
    /// Groups of channels that each have an input and weights of their own.
    pub groups: i64,
    /// Output channels of a group.
    pub channels: i64,
    /// The channels of a group by the taps that they have, if some lack the first ones.
    pub sections: Vec<Section>,
    /// Input channels of a group.
    pub depth: i64,
    /// Points of the input that an output point reads.
    pub window: Window,
    /// The input; its channels are the depth.
    pub x: View,
    /// The weights.
    pub weights: Weights,
    /// Step from the weights of one batch to those of the next.
    pub weights_batch: i64,
    /// Step from the weights of one plane to those of the next.
    pub weights_plane: i64,
    /// Elements of the reduction that share factors, one for each channel, if weights have such.
    pub scales: Option<i64>,
    /// Initial values of the sums, if not 0.
    pub start: Option<Start>,
    /// Tiling for AMX, if it is computed there.
    pub amx: Option<Amx>,
    /// The output.
    pub y: View,
    /// Operands of the epilogue.
    pub operands: Vec<View>,
}

/// Epilogue: operations on each result before it is stored.
pub trait Epilogue<'c> {
    /// Emits it on vectors: the sum, and the operands' elements for the same points and channels.
    fn emit(&self, e: &Emitter<'c>, sum: Val<'c>, operands: &[Val<'c>]) -> Result<Val<'c>>;

    /// True if the code is too large to be emitted for each register. It is then emitted once per
    /// tile, in a loop over the points.
    fn is_large(&self) -> bool {
        false
    }
}

/// Stores the sums as they are.
pub struct NoEpilogue;

impl<'c> Epilogue<'c> for NoEpilogue {
    fn emit(&self, _: &Emitter<'c>, sum: Val<'c>, _: &[Val<'c>]) -> Result<Val<'c>> {
        Ok(sum)
    }
}

impl Contraction {
    /// True if batches or planes have weights of their own.
    pub fn has_matrices(&self) -> bool {
        self.weights_batch != 0 || self.weights_plane != 0
    }

    /// Distance in matrices of weights from one batch, and from one plane, to the next.
    fn matrices(&self) -> [i64; 2] {
        let size = (self.channels * self.reduction()).max(1);
        [self.weights_batch / size, self.weights_plane / size]
    }

    /// Number of matrices of weights.
    fn matrix_count(&self) -> i64 {
        let [batch, plane] = self.matrices();
        1 + batch * (self.batch - 1) + plane * (self.planes - 1)
    }

    /// Output points along each axis.
    pub fn grid(&self) -> [i64; AXES] {
        [self.planes, self.rows, self.cols]
    }

    /// Multiplications and additions, with taps beside the input.
    pub fn flops(&self) -> i64 {
        let points: i64 = self.grid().iter().product();
        let products = match &self.sections[..] {
            [] => self.channels * self.reduction(),
            sections => sections.iter().map(|part| part.channels * self.live(part.skip)).sum(),
        };
        2 * self.batch * points * self.groups * products
    }

    /// Length of the reduction without the first taps of each axis.
    pub fn live(&self, skip: [i64; AXES]) -> i64 {
        let taps = self.window.kernel.iter().zip(skip).map(|(taps, skip)| taps - skip);
        taps.product::<i64>() * self.depth
    }

    /// Number of tasks of the kernel.
    pub fn tasks(&self, blocking: &Blocking) -> i64 {
        if let Some(amx) = &self.amx {
            let tasks: i64 = amx.tasks(self, blocking).iter().product();
            return self.batch * self.groups * self.planes * tasks;
        }
        let (channels, rows, cols) = blocking.tasks();
        self.batch * self.groups * channels * rows * cols
    }

    /// Length of the whole reduction.
    pub fn reduction(&self) -> i64 {
        self.window.taps() * self.depth
    }

    /// The type that weights are packed as.
    pub fn packed(&self, arithmetic: Arithmetic) -> Element {
        arithmetic.packed(self.types.weights, self.points())
    }

    /// Output points of all images.
    pub fn points(&self) -> i64 {
        self.batch * self.planes * self.rows * self.cols
    }

    /// True if the caller is to widen the bytes of the image to 16-bit numbers. That is so if they
    /// are multiplied in pairs, and so often that widening them each time would take longer.
    pub fn is_widened(&self, isa: Isa) -> bool {
        self.amx.is_none()
            && Arithmetic::of(isa, self.types) == Arithmetic::Words
            && self.points() >= WIDENED_POINTS
            && self.window.taps() * self.channels >= MANY_USES
    }

    /// Order of the reduction's elements in packed weights.
    pub fn grouping(&self, isa: Isa) -> Grouping {
        if let Some(amx) = &self.amx {
            return amx.grouping();
        }
        let window = &self.window;
        let taps = window.kernel[COL];
        let row = taps == 1 || window.dilation[COL] * self.x.col == self.depth * self.x.channel;
        let run = if row && window.columns_inside(0, self.cols) { taps } else { 1 } * self.depth;
        Grouping { run, arithmetic: Arithmetic::of(isa, self.types) }
    }

    /// Emits the kernel as function `name(x, w, [scales,] [start, [zero,]] operands.., y, lo, hi)`, whose
    /// buffers are `buffers`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        blocking: &Blocking,
        epilogue: &dyn Epilogue<'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (mut flat, y, bounds) = e.buffers(arguments, buffers.len())?;
            let own = 2 + usize::from(self.scales.is_some());
            let operands = flat.split_off(own + self.start.map_or(0, Start::buffers));
            let start = StartBuffers::of(&flat[own..]);
            let scales = self.scales.map(|_| flat[2]);
            let buffers = Buffers { x: flat[0], w: flat[1], scales, start, operands, y };
            let grouping = self.grouping(isa);
            let kernel = Kernel { spec: self, grouping, blocking, buffers, epilogue };
            let tasks = (Ix::Value(bounds[0]), Ix::Value(bounds[1]));
            if let Some(amx) = &self.amx {
                return amx.emit(e, &kernel, tasks);
            }
            e.repeat((tasks.0, tasks.1, 1), vec![], |e, task, _| {
                kernel.task(e, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}
