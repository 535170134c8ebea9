//===- GraphStructure.cpp - Definitions generated from GraphStructure.td --===//

#include "graph/GraphStructure.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphStructure.cpp.inc"

void phl::graph::GraphDialect::addStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphStructure.cpp.inc"
      >();
}
