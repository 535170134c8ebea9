//===- Machine.h - C API of what LLVM knows of processors -------*- C -*-===//

#ifndef PHL_CAPI_MACHINE_H
#define PHL_CAPI_MACHINE_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Calls `callback` with the name of each CPU of the triple's architecture.
/// Nothing is called for a triple that this build has no backend for.
MLIR_CAPI_EXPORTED void phlForEachCpu(MlirStringRef triple,
                                      MlirStringCallback callback,
                                      void *user_data);

/// As `phlForEachCpu`, with the names of CPU features.
MLIR_CAPI_EXPORTED void phlForEachCpuFeature(MlirStringRef triple,
                                             MlirStringCallback callback,
                                             void *user_data);

/// True if code for a CPU and features (comma-separated, each with a sign) may
/// use a feature. A CPU that LLVM does not know is a generic one, and features
/// that it does not know are ignored.
MLIR_CAPI_EXPORTED bool phlCpuHasFeature(MlirStringRef triple,
                                         MlirStringRef cpu,
                                         MlirStringRef features,
                                         MlirStringRef feature);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_MACHINE_H
