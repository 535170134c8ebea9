//===- GraphShape.h - Ops of GraphShape.td ----------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_SHAPE_H
#define PHASELINE_GRAPH_SHAPE_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphShape.h.inc"

#endif // PHASELINE_GRAPH_SHAPE_H
