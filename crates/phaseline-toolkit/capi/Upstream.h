//===- Upstream.h - C API of all of upstream --------------------*- C -*-===//

#ifndef PHL_CAPI_UPSTREAM_H
#define PHL_CAPI_UPSTREAM_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Adds upstream's dialects, their extensions and translations to `registry`.
MLIR_CAPI_EXPORTED void
phlRegisterUpstreamDialects(MlirDialectRegistry registry);

/// Registers the passes of upstream MLIR, once per process.
MLIR_CAPI_EXPORTED void phlRegisterUpstreamPasses(void);

/// Add one dialect of upstream to `registry`, with the interfaces of its
/// operations that upstream keeps elsewhere, and register its passes and its
/// conversion to the LLVM dialect. A program links those that it calls.
MLIR_CAPI_EXPORTED void phlUpstreamAffine(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamArith(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamBufferization(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamCf(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamComplex(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamFunc(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamGpu(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamIndex(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamLLVM(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamLinalg(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamMath(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamMemRef(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamScf(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamTensor(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamTransform(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamTransforms(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamUb(MlirDialectRegistry registry);
MLIR_CAPI_EXPORTED void phlUpstreamVector(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_UPSTREAM_H
