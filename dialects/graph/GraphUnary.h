//===- GraphUnary.h - Ops of GraphUnary.td ----------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_UNARY_H
#define PHASELINE_GRAPH_UNARY_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphUnary.h.inc"

#endif // PHASELINE_GRAPH_UNARY_H
