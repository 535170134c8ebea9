//===- GraphQuant.cpp - Definitions generated from GraphQuant.td ----------===//

#include "graph/GraphQuant.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphQuant.cpp.inc"

void phl::graph::GraphDialect::addQuantOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphQuant.cpp.inc"
      >();
}
