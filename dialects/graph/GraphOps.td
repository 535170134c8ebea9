//===- GraphOps.td - All ops of the graph dialect -----------*- tablegen -*-===//

#ifndef PHASELINE_GRAPH_OPS_TD
#define PHASELINE_GRAPH_OPS_TD

include "graph/GraphUnary.td"
include "graph/GraphBinary.td"
include "graph/GraphNN.td"
include "graph/GraphQuant.td"
include "graph/GraphReduce.td"
include "graph/GraphShape.td"
include "graph/GraphData.td"
include "graph/GraphStructure.td"

#endif // PHASELINE_GRAPH_OPS_TD
