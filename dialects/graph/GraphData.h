//===- GraphData.h - Ops of GraphData.td ------------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_DATA_H
#define PHASELINE_GRAPH_DATA_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphData.h.inc"

#endif // PHASELINE_GRAPH_DATA_H
