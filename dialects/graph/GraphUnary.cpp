//===- GraphUnary.cpp - Definitions generated from GraphUnary.td ----------===//

#include "graph/GraphUnary.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphUnary.cpp.inc"

void phl::graph::GraphDialect::addUnaryOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphUnary.cpp.inc"
      >();
}
