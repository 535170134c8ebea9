//===- Graph.h - The graph dialect and all of its ops -----------*- C++ -*-===//
//
// The ops are declared by family; a file that needs only one includes that
// family's header, which is much cheaper to compile.
//
//===----------------------------------------------------------------------===//

#ifndef PHASELINE_GRAPH_H
#define PHASELINE_GRAPH_H

#include "graph/GraphBinary.h"
#include "graph/GraphData.h"
#include "graph/GraphDialect.h"
#include "graph/GraphNN.h"
#include "graph/GraphQuant.h"
#include "graph/GraphReduce.h"
#include "graph/GraphShape.h"
#include "graph/GraphStructure.h"
#include "graph/GraphUnary.h"

#endif // PHASELINE_GRAPH_H
