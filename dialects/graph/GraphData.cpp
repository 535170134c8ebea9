//===- GraphData.cpp - Definitions generated from GraphData.td ------------===//

#include "graph/GraphData.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphData.cpp.inc"

void phl::graph::GraphDialect::addDataOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphData.cpp.inc"
      >();
}
