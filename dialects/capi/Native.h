//===- Native.h - Passes written in C++ -------------------------*- C -*-===//

#ifndef PHL_CAPI_NATIVE_H
#define PHL_CAPI_NATIVE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers the passes of this project that are written in C++ because they
/// need something that the C API lacks: `for-target` (dynamic pipelines) and
/// `fuse-elementwise-ops` (rewrite patterns that upstream exports without a
/// bound).
MLIR_CAPI_EXPORTED void phlRegisterNativePasses(void);

/// Has `for-target` ask whether the module that it runs on has a target, when
/// it found nothing of it. `check` returns false after it emitted a diagnostic.
MLIR_CAPI_EXPORTED void phlForTargetCheck(bool (*check)(MlirOperation module,
                                                        MlirStringRef id));

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
namespace phl {
/// Registers `fuse-elementwise-ops`.
void registerFuseElementwiseOpsPass();
} // namespace phl
#endif

#endif // PHL_CAPI_NATIVE_H
