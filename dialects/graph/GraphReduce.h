//===- GraphReduce.h - Ops of GraphReduce.td --------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_REDUCE_H
#define PHASELINE_GRAPH_REDUCE_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphReduce.h.inc"

#endif // PHASELINE_GRAPH_REDUCE_H
