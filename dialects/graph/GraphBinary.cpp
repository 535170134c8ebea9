//===- GraphBinary.cpp - Definitions generated from GraphBinary.td --------===//

#include "graph/GraphBinary.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphBinary.cpp.inc"

void phl::graph::GraphDialect::addBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphBinary.cpp.inc"
      >();
}
