//! Kernels whose work is cut: what passes ask of any of them.

use super::{
    Blocking, Buffer, Contraction, Depthwise, DepthwiseBlocking, Element, Isa, Planar,
    PlanarBlocking, Softmax,
    program::Program,
    recognize::{Kernel, Recognized},
    weights,
};
use crate::{Result, ir::Builder};

/// A kernel and how its work is cut.
#[derive(Debug)]
pub enum Scheduled<'k> {
    /// Convolution or product.
    Contraction(&'k Contraction, Blocking),
    /// Depthwise convolution or pool.
    Depthwise(&'k Depthwise, DepthwiseBlocking),
    /// Pool on an image with its channels first.
    Planar(&'k Planar, PlanarBlocking),
    /// Softmax of rows, and its tasks.
    Softmax(&'k Softmax, i64),
}

impl<'k> Scheduled<'k> {
    /// Cuts the work of a kernel.
    pub fn of(found: &'k Recognized<'_>, isa: Isa) -> Self {
        match &found.kernel {
            Kernel::Contraction(spec) => Self::Contraction(spec, spec.blocking(isa)),
            Kernel::Depthwise(spec) => Self::Depthwise(spec, spec.blocking(isa)),
            Kernel::Planar(spec) => Self::Planar(spec, spec.blocking(isa)),
            Kernel::Softmax(spec) => Self::Softmax(spec, spec.tasks(isa)),
        }
    }

    /// Weights in the order in which the kernel reads them.
    pub fn pack<T: Copy + Default>(
        &self,
        source: &weights::Source,
        values: &[T],
        isa: Isa,
    ) -> Vec<T> {
        match self {
            Self::Contraction(spec, blocking) => {
                source.pack(values, &blocking.channels, spec.grouping(isa))
            }
            Self::Depthwise(..) => source.pack_depthwise(values),
            Self::Planar(..) | Self::Softmax(..) => vec![],
        }
    }

    /// Packed weights of four bits, two rows to a byte.
    pub fn pairs_of_rows(&self, packed: &[i16], isa: Isa) -> Vec<i8> {
        match self {
            Self::Contraction(spec, blocking) => {
                let rows = spec.grouping(isa).padded(spec.reduction());
                weights::pairs_of_rows(packed, &blocking.channels, rows)
            }
            Self::Depthwise(..) | Self::Planar(..) | Self::Softmax(..) => vec![],
        }
    }

    /// The type of packed integers.
    pub fn packed_element(&self, isa: Isa) -> Element {
        match self {
            Self::Contraction(spec, _) => spec.packed(spec.grouping(isa).arithmetic),
            Self::Depthwise(spec, _) => spec.types.weights,
            Self::Planar(spec, _) => spec.element,
            Self::Softmax(..) => Element::F32,
        }
    }

    /// Whether it computes in AMX's registers.
    pub fn uses_amx(&self) -> bool {
        matches!(self, Self::Contraction(spec, _) if spec.amx.is_some())
    }

    /// Operations of all tasks.
    pub fn flops(&self) -> i64 {
        match self {
            Self::Contraction(spec, _) => spec.flops(),
            Self::Depthwise(spec, _) => spec.flops(),
            Self::Planar(spec, _) => spec.flops(),
            Self::Softmax(spec, _) => spec.flops(),
        }
    }

    /// Number of tasks.
    pub fn tasks(&self) -> i64 {
        match self {
            Self::Contraction(spec, blocking) => spec.tasks(blocking),
            Self::Depthwise(spec, blocking) => spec.tasks(blocking),
            Self::Planar(spec, blocking) => spec.tasks(blocking),
            Self::Softmax(_, tasks) => *tasks,
        }
    }

    /// Emits the kernel as function `name`, whose arguments are `buffers` and the range of tasks.
    pub fn emit<'c>(
        &self,
        at: Builder<'c>,
        isa: Isa,
        function: (&str, &[Buffer]),
        epilogue: &Program<'c>,
    ) -> Result<()> {
        match self {
            Self::Contraction(spec, blocking) => spec.emit(at, isa, function, blocking, epilogue),
            Self::Depthwise(spec, blocking) => spec.emit(at, isa, function, blocking, epilogue),
            Self::Planar(spec, blocking) => spec.emit(at, isa, function, blocking, epilogue),
            Self::Softmax(spec, _) => spec.emit(at, isa, function, epilogue),
        }
    }
}
