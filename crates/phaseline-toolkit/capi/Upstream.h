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

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_UPSTREAM_H
