//===- GraphQuant.h - Ops of GraphQuant.td ----------------------*- C++ -*-===//

#ifndef PHASELINE_GRAPH_QUANT_H
#define PHASELINE_GRAPH_QUANT_H

#include "graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "graph/GraphQuant.h.inc"

#endif // PHASELINE_GRAPH_QUANT_H
