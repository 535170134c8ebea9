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
    /// Arithmetic on integers and floats.
    arith = phlUpstreamArith;
    /// Tensors and buffers in one program, and bufferization.
    bufferization = phlUpstreamBufferization;
    /// Branches between blocks.
    cf = phlUpstreamCf;
    /// Functions and calls.
    func = phlUpstreamFunc;
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
    /// The passes of any dialect: `canonicalize`, `cse`, `inline`, `symbol-dce` and their like.
    transforms = phlUpstreamTransforms;
    /// Vectors.
    vector = phlUpstreamVector;
}
