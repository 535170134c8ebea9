//===- GraphBinary.h - Ops of GraphBinary.td --------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_BINARY_H
#define PHASELINE_GRAPH_BINARY_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphBinary.h.inc"

#endif // PHASELINE_GRAPH_BINARY_H
