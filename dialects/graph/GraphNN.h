//===- GraphNN.h - Ops of GraphNN.td ----------------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_NN_H
#define PHASELINE_GRAPH_NN_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphNN.h.inc"

#endif // PHASELINE_GRAPH_NN_H
