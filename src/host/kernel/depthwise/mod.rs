//! The kernel of operations that treat each channel alone: depthwise convolutions and pools.
//!
//! Vectors lie along the channels. A register tile holds some neighbouring points of a row. The
//! loop over the window's rows is clipped to the input; within a row the taps that lie outside are
//! left out when the kernel is emitted.

mod blocking;
mod tile;

pub use blocking::DepthwiseBlocking;

use super::{
    Buffer, Element, Emitter, Epilogue, Isa, Ix, Types, View, Weights, Window,
    emit::{argument_types, function},
    start::{Start, StartBuffers},
    window::AXES,
};
use crate::{
    Result,
    ir::{Builder, Val},
    lower::scalar::float::greater,
};
use tile::Kernel;

/// Reduction of the elements that a window covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum of their products with weights.
    Weighted,
    /// The greatest.
    Max,
    /// The mean of those inside of the input.
    Mean,
    /// The sum divided by the size of the window.
    PaddedMean,
}

impl Fold {
    /// Initial value of a fold.
    pub fn start(self, element: Element) -> f64 {
        match (self, element) {
            (Self::Max, Element::F32 | Element::F64) => f64::NEG_INFINITY,
            (Self::Max, Element::I8) => f64::from(i8::MIN),
            _ => 0.0,
        }
    }

    /// A fold and another element.
    pub fn combine<'c>(
        self,
        e: &Emitter<'c>,
        element: Element,
        fold: Val<'c>,
        value: Val<'c>,
    ) -> Result<Val<'c>> {
        match (self, element) {
            (Self::Max, element) if element.is_float() => greater(&e.builder, fold, value),
            (Self::Max, Element::U8) => e.builder.binary("arith.maxui", fold, value),
            (Self::Max, _) => e.builder.binary("arith.maxsi", fold, value),
            _ => e.float("arith.addf", fold, value),
        }
    }
}

/// A depthwise operation with all its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depthwise {
    /// Element types.
    pub types: Types,
    /// Reduction of a window.
    pub fold: Fold,
    /// Images.
    pub batch: i64,
    /// Planes of the output.
    pub planes: i64,
    /// Rows of a plane.
    pub rows: i64,
    /// Points per row.
    pub cols: i64,
    /// Channels.
    pub channels: i64,
    /// Neighbouring channels that see the same channel of the input: 1, 2 or 4.
    pub shared: i64,
    /// The window.
    pub window: Window,
    /// The input.
    pub x: View,
    /// Memory layout of the weights: tap by tap for each block of channels, or for all channels.
    pub weights: Weights,
    /// Initial values of the sums, if not 0.
    pub start: Option<Start>,
    /// The output.
    pub y: View,
    /// Operands of the epilogue.
    pub operands: Vec<View>,
}

impl Depthwise {
    /// Output points along each axis.
    pub fn grid(&self) -> [i64; AXES] {
        [self.planes, self.rows, self.cols]
    }

    /// Multiplications and additions, or what a pool does, with taps beside the input.
    pub fn flops(&self) -> i64 {
        let each = if self.fold == Fold::Weighted { 2 } else { 1 };
        let points: i64 = self.grid().iter().product();
        each * self.batch * points * self.channels * self.window.taps()
    }

    /// Number of tasks of the kernel: parts of rows of the output.
    pub fn tasks(&self, blocking: &DepthwiseBlocking) -> i64 {
        self.batch * self.planes * self.rows * blocking.parts()
    }

    /// Emits the kernel as function `name(x, [w, [start, [zero,]]] operands.., y, lo, hi)`.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        (name, buffers): (&str, &[Buffer]),
        blocking: &DepthwiseBlocking,
        epilogue: &dyn Epilogue<'c>,
    ) -> Result<()> {
        function(at, isa, name, &argument_types(&at, buffers), |e, arguments| {
            let (mut flat, y, bounds) = e.buffers(arguments, buffers.len())?;
            let weighted = self.fold == Fold::Weighted;
            let first = if weighted { 2 } else { 1 };
            let operands = flat.split_off(first + self.start.map_or(0, Start::buffers));
            let start = StartBuffers::of(&flat[first..]);
            let w = weighted.then(|| flat[1]);
            let kernel = Kernel { spec: self, x: flat[0], w, start, operands, y, epilogue };
            e.repeat((Ix::Value(bounds[0]), Ix::Value(bounds[1]), 1), vec![], |e, task, _| {
                kernel.task(e, blocking, task)?;
                Ok(vec![])
            })?;
            Ok(())
        })
    }
}
