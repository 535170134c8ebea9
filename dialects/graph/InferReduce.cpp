//===- InferReduce.cpp - Types of the odd ops along axes ------------------===//

#include "graph/GraphReduce.h"
#include "graph/ShapeValues.h"

using namespace mlir;
using namespace phl::graph;

LogicalResult TopKOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<int64_t> axis = infer.axis(adaptor.getAxis(), type.getRank());
  if (failed(axis) || failed(infer.oneElement("k", adaptor.getK())))
    return failure();
  Shape shape(type.getShape());
  int64_t size = shape[*axis];
  std::optional<int64_t> k = knownInteger(adaptor.getK());
  if (k && (*k < 0 || (known(size) && *k > size)))
    return infer.fail("'k' is ", *k, ", but axis ", *axis, " of ", type,
                      " has ", dimText(size), " elements");
  shape[*axis] = k.value_or(kDynamic);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  types.push_back(
      RankedTensorType::get(shape, IntegerType::get(infer.context(), 64)));
  return success();
}

LogicalResult DetOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  if (failed(infer.rankAtLeast("x", adaptor.getX(), 2)))
    return failure();
  ArrayRef<int64_t> shape = type.getShape(), matrix = shape.take_back(2);
  if (!mayEqual(matrix[0], matrix[1]))
    return infer.fail("matrices of 'x' must be square, but have ",
                      dimText(matrix[0]), " rows and ", dimText(matrix[1]),
                      " columns");
  types.push_back(
      RankedTensorType::get(shape.drop_back(2), type.getElementType()));
  return success();
}
