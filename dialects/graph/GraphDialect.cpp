//===- GraphDialect.cpp - The dialect itself ------------------------------===//

#include "graph/GraphDialect.h"

#include "graph/GraphShape.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace phl::graph;

#include "graph/GraphDialect.cpp.inc"

void GraphDialect::initialize() {
  addUnaryOps();
  addBinaryOps();
  addNNOps();
  addQuantOps();
  addReduceOps();
  addShapeOps();
  addDataOps();
  addStructureOps();
}

/// `value` may be more static than `type`: folding finds sizes that the type of
/// the folded op does not know.
Operation *GraphDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || !compatibleTypes({elements.getType()}, {type}))
    return nullptr;
  OperationState state(location, ConstantOp::getOperationName());
  state.addTypes(type);
  state.getOrAddProperties<ConstantOp::Properties>().value = elements;
  return builder.create(state);
}
