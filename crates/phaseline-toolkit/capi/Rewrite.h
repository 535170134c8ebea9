//===- Rewrite.h - C API of rewriters -------------------------*- C++ -*-===//
//
// Additions to MLIR's C API of rewriters.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_REWRITE_H
#define PHL_CAPI_REWRITE_H

#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Tells the listener of a rewriter that `op` was put into a block.
MLIR_CAPI_EXPORTED void phlRewriterInserted(MlirRewriterBase rewriter,
                                            MlirOperation op);

/// Folds `op`, which is in a block. On success fills `results` with one value
/// per result of `op`, to replace it by, and returns true; constants that this
/// takes are inserted before `op`. `op` itself stays, for the caller to erase.
/// Returns false if `op` cannot be replaced; it may have become simpler then.
MLIR_CAPI_EXPORTED bool phlTryFold(MlirOperation op, MlirValue *results);

/// A part of a range.
typedef void (*PhlRangeValueCallback)(MlirValue value, void *user);
typedef void (*PhlRangeTypeCallback)(MlirType type, void *user);

/// Calls `callback` for each value of a `!pdl.range<value>`. Returns false for
/// other kinds.
MLIR_CAPI_EXPORTED bool
phlPdlValues(MlirPDLValue range, PhlRangeValueCallback callback, void *user);

/// Calls `callback` for each type of a `!pdl.range<type>`. Returns false for
/// other kinds.
MLIR_CAPI_EXPORTED bool phlPdlTypes(MlirPDLValue range,
                                    PhlRangeTypeCallback callback, void *user);

/// Adds a `!pdl.range<value>` to results.
MLIR_CAPI_EXPORTED void phlPdlPushValues(MlirPDLResultList results,
                                         intptr_t count,
                                         const MlirValue *values);

/// Adds a `!pdl.range<type>` to results.
MLIR_CAPI_EXPORTED void phlPdlPushTypes(MlirPDLResultList results,
                                        intptr_t count, const MlirType *types);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_REWRITE_H
