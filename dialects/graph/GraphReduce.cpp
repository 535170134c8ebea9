//===- GraphReduce.cpp - Definitions generated from GraphReduce.td --------===//

#include "graph/GraphReduce.h"

#include "graph/Assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "graph/GraphReduce.cpp.inc"

void phl::graph::GraphDialect::addReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/GraphReduce.cpp.inc"
      >();
}
