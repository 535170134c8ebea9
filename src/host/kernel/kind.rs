//! Kernels that read no packed weights. Such a kernel is one file with a [`Kind`], and its name in `kinds!`.

use super::{Buffer, Isa, Types, View, program::Program, recognize::Scope};
use crate::{
    Result,
    ir::{Builder, Op},
};
use std::fmt::Debug;

/// A kind of kernel: the operations that it computes, and the kernel of each.
pub struct Kind {
    /// The anchor's name in composites and symbols; `None` if the kernel cannot compute the operation.
    pub anchor: fn(Op<'_>) -> Option<&'static str>,
    /// True if the dimensions of a result are those of an image, not of matrices.
    pub images: bool,
    /// The kernel of an anchor inside of a composite; `None` for sizes and types that have none. What is not recognised is
    /// lowered to loops.
    pub recognize: for<'c> fn(&Scope<'_, 'c>, Op<'c>) -> Option<Found>,
}

/// The kernel of a composite.
pub struct Found {
    /// The kernel.
    pub kernel: Box<dyn HostKernel>,
    /// The operand of the composite that is the input.
    pub x: usize,
}

/// A kernel with all its sizes: a function `name(x, operands.., y, lo, hi)` on buffers, which does the tasks `lo..hi`.
pub trait HostKernel {
    /// Element types of the input and of the result before the epilogue.
    fn types(&self) -> Types;

    /// Operands of the epilogue.
    fn operands(&mut self) -> &mut Vec<View>;

    /// The view of the output, if it may be a part of a larger buffer.
    fn output(&mut self) -> Option<&mut View> {
        None
    }

    /// True if an epilogue may end in another element type without memory for what is computed.
    fn stores_any(&self) -> bool;

    /// Key of the code: sizes, and the tiling for a machine. Kernels of one key are one function.
    fn key(&self, isa: Isa) -> String;

    /// Operations of all tasks.
    fn flops(&self) -> i64;

    /// Approximate number of operations of a thread per nanosecond.
    fn rate(&self, isa: Isa) -> f64;

    /// Number of tasks.
    fn tasks(&self, isa: Isa) -> i64;

    /// Emits the function.
    ///
    /// # Errors
    /// A module without a body, and operations that MLIR does not accept.
    fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        function: (&str, &[Buffer]),
        epilogue: &Program<'c>,
    ) -> Result<()>;
}

impl Debug for dyn HostKernel + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.key(Isa::WIDEST))
    }
}

impl Kind {
    /// The kind of an anchor, with the anchor's name.
    pub fn of(op: Op<'_>) -> Option<(&'static Self, &'static str)> {
        super::KINDS.iter().copied().find_map(|kind| (kind.anchor)(op).map(|name| (kind, name)))
    }
}
