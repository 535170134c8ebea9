//===- Graph.cpp - C API of the graph dialect -----------------------------===//

#include "capi/Graph.h"

#include "graph/GraphDialect.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Graph, graph, phl::graph::GraphDialect)

bool phlTryFold(MlirOperation op, MlirValue *results) {
  Operation *operation = unwrap(op);
  OpBuilder builder(operation);
  SmallVector<Value> values;
  if (failed(builder.tryFold(operation, values)) ||
      values.size() != operation->getNumResults() || values.empty())
    return false;
  for (auto [i, value] : llvm::enumerate(values))
    results[i] = wrap(value);
  return true;
}
