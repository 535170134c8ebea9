//===- Graph.h - C API of the graph dialect ---------------------*- C -*-===//

#ifndef PHL_CAPI_GRAPH_H
#define PHL_CAPI_GRAPH_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Graph, graph);

/// Folds `op`, which is in a block. On success fills `results` with one value
/// per result of `op`, to replace it by, and returns true; constants that this
/// takes are inserted before `op`. `op` itself stays, for the caller to erase.
/// Returns false if `op` cannot be replaced; it may have become simpler then.
MLIR_CAPI_EXPORTED bool phlTryFold(MlirOperation op, MlirValue *results);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_GRAPH_H
