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

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_REWRITE_H
