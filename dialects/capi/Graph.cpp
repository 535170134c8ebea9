//===- Graph.cpp - C API of the graph dialect -----------------------------===//

#include "capi/Graph.h"

#include "graph/GraphDialect.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Graph, graph, phl::graph::GraphDialect)
