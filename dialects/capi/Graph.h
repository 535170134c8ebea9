//===- Graph.h - C API of the graph dialect ---------------------*- C -*-===//

#ifndef PHL_CAPI_GRAPH_H
#define PHL_CAPI_GRAPH_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Graph, graph);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_GRAPH_H
