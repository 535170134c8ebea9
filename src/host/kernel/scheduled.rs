//! Kernels with their tiling, and the interface of all of them to passes.

use super::{
    Blocking, Buffer, Contraction, Depthwise, DepthwiseBlocking, Element, HostKernel, Isa, Tiles,
    Winograd,
    program::Program,
    recognize::{Kernel, Recognized},
    weights,
};
use crate::{
    Result,
    ir::{Builder, blob::Plain},
};

/// Nanoseconds of work that are worth handing to another thread. It takes one to two microseconds
/// until that begins and until its end is seen. Its results are then in another core's cache.
const WORTHWHILE: f64 = 3000.0;
/// Bytes that a thread reads or writes in a nanosecond in its own cache, and beyond it.
const NEAR: f64 = 64.0;
const FAR: f64 = 16.0;
/// Bytes up to which buffers are near.
const CACHE: i64 = 1 << 20;

/// A kernel and its tiling.
#[derive(Debug)]
pub enum Scheduled<'k> {
    /// Convolution or product.
    Contraction(&'k Contraction, Blocking),
    /// Convolution by tiles.
    Winograd(Box<Winograd>),
    /// Depthwise convolution or pool.
    Depthwise(&'k Depthwise, DepthwiseBlocking),
    /// Kernel without packed weights, and the machine that it is tiled for.
    Other(&'k dyn HostKernel, Isa),
}

impl Scheduled<'_> {
    /// Key of the code of a kernel, without its epilogue.
    pub fn key(&self) -> String {
        match self {
            Self::Other(kernel, isa) => kernel.key(*isa),
            _ => format!("{self:?}"),
        }
    }
}

impl<'k> Scheduled<'k> {
    /// Cuts the work of a kernel.
    pub fn of(found: &'k Recognized<'_>, isa: Isa, tiles: Tiles) -> Self {
        let packed = found.weights.as_ref().is_some_and(|weights| weights.source.is_some());
        if let Kernel::Contraction(spec) = &found.kernel
            && packed
            && let Some(tiled) = Winograd::of(spec, isa, tiles)
        {
            return Self::Winograd(Box::new(tiled));
        }
        match &found.kernel {
            Kernel::Contraction(spec) => Self::Contraction(spec, spec.blocking(isa)),
            Kernel::Depthwise(spec) => Self::Depthwise(spec, spec.blocking(isa)),
            Kernel::Other { kernel, .. } => Self::Other(kernel.as_ref(), isa),
        }
    }

    /// Weights in the order in which the kernel reads them.
    pub fn pack<T: Plain + Default>(
        &self,
        source: &weights::Source,
        values: &[T],
        isa: Isa,
    ) -> Vec<T> {
        match self {
            Self::Contraction(spec, blocking) => {
                source.pack(values, &blocking.channels, spec.grouping(isa))
            }
            Self::Depthwise(_, blocking) => source.pack_depthwise(values, &blocking.channels),
            Self::Winograd(_) | Self::Other(..) => vec![],
        }
    }

    /// Packed weights of four bits, two rows to a byte.
    pub fn pairs_of_rows(&self, packed: &[i16], isa: Isa) -> Vec<i8> {
        match self {
            Self::Contraction(spec, blocking) => {
                let rows = spec.grouping(isa).padded(spec.reduction());
                weights::pairs_of_rows(packed, &blocking.channels, rows)
            }
            _ => vec![],
        }
    }

    /// The type of packed integers.
    pub fn packed_element(&self, isa: Isa) -> Element {
        match self {
            Self::Contraction(spec, _) => spec.packed(spec.grouping(isa).arithmetic),
            Self::Winograd(spec) => spec.conv.types.weights,
            Self::Depthwise(spec, _) => spec.types.weights,
            Self::Other(kernel, _) => kernel.types().weights,
        }
    }

    /// Bytes that its weights take more than those of the model.
    pub fn growth(&self) -> i64 {
        match self {
            Self::Winograd(spec) => spec.growth(),
            _ => 0,
        }
    }

    /// True if the kernel computes in AMX's registers.
    pub fn uses_amx(&self) -> bool {
        matches!(self, Self::Contraction(spec, _) if spec.amx.is_some())
    }

    /// Operations of all tasks.
    pub fn flops(&self) -> i64 {
        match self {
            Self::Contraction(spec, _) => spec.flops(),
            Self::Winograd(spec) => spec.flops(),
            Self::Depthwise(spec, _) => spec.flops(),
            Self::Other(kernel, _) => kernel.flops(),
        }
    }

    /// Approximate number of operations of a thread per nanosecond.
    fn rate(&self, isa: Isa) -> f64 {
        let lanes = isa.lanes as f64;
        match self {
            Self::Contraction(spec, _) if spec.amx.is_some() => 64.0 * lanes,
            Self::Contraction(spec, _) => {
                let arithmetic = spec.grouping(isa).arithmetic;
                let steps = arithmetic.group() as f64 / arithmetic.instructions() as f64;
                6.0 * isa.lanes_of(spec.types.sum) as f64 * steps
            }
            Self::Winograd(spec) => spec.rate(isa),
            Self::Depthwise(..) => 2.0 * lanes,
            Self::Other(kernel, _) => kernel.rate(isa),
        }
    }

    /// The tasks that are worth handing to a thread, at least, by an estimate of their time.
    pub fn grain(&self, isa: Isa, buffers: &[Buffer]) -> i64 {
        let bytes: i64 = buffers.iter().map(Buffer::bytes).sum();
        let speed = if bytes <= CACHE { NEAR } else { FAR };
        let time = (self.flops() as f64 / self.rate(isa)).max(bytes as f64 / speed);
        let tasks = self.tasks();
        ((tasks as f64 * WORTHWHILE / time.max(1.0)).ceil() as i64).clamp(1, tasks.max(1))
    }

    /// The memory that tasks work in, if they need some.
    pub fn memory(&self) -> Option<Buffer> {
        match self {
            Self::Winograd(spec) => Some(spec.memory()),
            _ => None,
        }
    }

    /// Number of tasks.
    pub fn tasks(&self) -> i64 {
        match self {
            Self::Contraction(spec, blocking) => spec.tasks(blocking),
            Self::Winograd(spec) => spec.tasks(),
            Self::Depthwise(spec, blocking) => spec.tasks(blocking),
            Self::Other(kernel, isa) => kernel.tasks(*isa),
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
            Self::Winograd(spec) => spec.emit(at, isa, function, epilogue),
            Self::Depthwise(spec, blocking) => spec.emit(at, isa, function, blocking, epilogue),
            Self::Other(kernel, _) => kernel.emit(at, isa, function, epilogue),
        }
    }
}
