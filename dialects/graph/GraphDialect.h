//===- GraphDialect.h - What every op file of the dialect includes -*- C++ -*-//

#ifndef PHASELINE_GRAPH_DIALECT_H
#define PHASELINE_GRAPH_DIALECT_H

#include "graph/Infer.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "graph/GraphDialect.h.inc"

#endif // PHASELINE_GRAPH_DIALECT_H
