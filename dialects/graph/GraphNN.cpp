//===- GraphNN.cpp - Definitions generated from GraphNN.td ----------------===//

#include "graph/GraphNN.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphNN.cpp.inc"

void phl::graph::GraphDialect::addNNOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphNN.cpp.inc"
      >();
}
