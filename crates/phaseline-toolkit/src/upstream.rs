//! Upstream's dialects one by one, so that a program links those that it uses. Each comes with the interfaces of its
//! operations that upstream keeps elsewhere, its passes, and its conversion to the LLVM dialect.

use crate::ffi;

/// A part of upstream that a toolkit may have.
#[derive(Clone, Copy, Debug)]
pub struct Upstream(pub(crate) unsafe extern "C" fn(mlir_sys::MlirDialectRegistry));

macro_rules! parts {
    ($($(#[doc = $about:literal])* $name:ident = $function:ident;)*) => {
        $($(#[doc = $about])*
        // Inlined, so that a program links what it names only.
        #[inline]
        pub fn $name() -> Upstream {
            Upstream(ffi::$function)
        })*
    };
}

/// Patterns as IR ([`crate::ir::pdl`]).
pub fn pdl() -> Upstream {
    Upstream(crate::ir::pdl::register)
}

parts! {
    /// Loops and accesses whose bounds and subscripts are affine.
    affine = phlUpstreamAffine;
    /// Arithmetic on integers and floats.
    arith = phlUpstreamArith;
    /// Tensors and buffers in one program, and bufferization.
    bufferization = phlUpstreamBufferization;
    /// Branches between blocks.
    cf = phlUpstreamCf;
    /// Complex numbers.
    complex = phlUpstreamComplex;
    /// Functions and calls.
    func = phlUpstreamFunc;
    /// Kernels of a grid: the dialect alone, without the passes of vendors' GPUs.
    gpu = phlUpstreamGpu;
    /// Arithmetic on indices.
    index = phlUpstreamIndex;
    /// Structured operations on tensors and buffers.
    linalg = phlUpstreamLinalg;
    /// The LLVM dialect, its translation to LLVM IR, and `convert-to-llvm`.
    llvm = phlUpstreamLLVM;
    /// Mathematical functions.
    math = phlUpstreamMath;
    /// Buffers.
    memref = phlUpstreamMemRef;
    /// Loops and branches with regions.
    scf = phlUpstreamScf;
    /// Tensors.
    tensor = phlUpstreamTensor;
    /// Schedules as IR, with what they do to the other dialects of this list.
    transform = phlUpstreamTransform;
    /// The passes of any dialect: `canonicalize`, `cse`, `inline`, `symbol-dce` and their like.
    transforms = phlUpstreamTransforms;
    /// Values that no program may look at.
    ub = phlUpstreamUb;
    /// Vectors.
    vector = phlUpstreamVector;
}
