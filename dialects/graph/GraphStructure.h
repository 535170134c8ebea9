//===- GraphStructure.h - Ops of GraphStructure.td --------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_STRUCTURE_H
#define PHASELINE_GRAPH_STRUCTURE_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphStructure.h.inc"

#endif // PHASELINE_GRAPH_STRUCTURE_H
