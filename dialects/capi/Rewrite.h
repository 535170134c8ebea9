//===- Rewrite.h - C API of rewriters -------------------------*- C++ -*-===//
//
// What MLIR's C API of rewriters leaves out.
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

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_REWRITE_H
