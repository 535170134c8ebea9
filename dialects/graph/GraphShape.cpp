//===- GraphShape.cpp - Definitions generated from GraphShape.td ----------===//

#include "graph/GraphShape.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphShape.cpp.inc"

void phl::graph::GraphDialect::addShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphShape.cpp.inc"
      >();
}
