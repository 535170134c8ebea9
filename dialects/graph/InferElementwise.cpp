//===- InferElementwise.cpp - Types of the odd elementwise ops ------------===//

#include "graph/GraphBinary.h"
#include "graph/GraphUnary.h"

using namespace mlir;
using namespace phl::graph;

LogicalResult CastOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  if (!isa<IntegerType, FloatType>(adaptor.getTo()))
    return infer.fail("'to' must be an element type of tensors, but is ",
                      adaptor.getTo());
  types.push_back(RankedTensorType::get(typeOf(adaptor.getX()).getShape(),
                                        adaptor.getTo()));
  return success();
}

LogicalResult BitcastOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  RankedTensorType x = typeOf(adaptor.getX());
  if (!isa<IntegerType, FloatType>(adaptor.getTo()) ||
      adaptor.getTo().getIntOrFloatBitWidth() != x.getElementTypeBitWidth())
    return infer.fail("'to' must be an element type of ",
                      x.getElementTypeBitWidth(), " bits, but is ",
                      adaptor.getTo());
  types.push_back(RankedTensorType::get(x.getShape(), adaptor.getTo()));
  return success();
}

LogicalResult ClipOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  auto check = [&](StringRef name, Value bound) {
    return !bound ||
           (succeeded(infer.oneElement(name, bound)) &&
            succeeded(infer.sameElementType(name, bound, "x", adaptor.getX())));
  };
  if (!check("min", adaptor.getMin()) || !check("max", adaptor.getMax()))
    return failure();
  return inferLike(adaptor.getX(), types);
}

LogicalResult PowOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType a = typeOf(adaptor.getA()), b = typeOf(adaptor.getB());
  FailureOr<Shape> shape = infer.broadcast(a.getShape(), b.getShape());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, a.getElementType()));
  return success();
}

LogicalResult ModOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  if (!adaptor.getFmod() &&
      isa<FloatType>(typeOf(adaptor.getA()).getElementType()))
    return infer.fail("needs 'fmod' = true for floats");
  return inferBroadcast(infer, adaptor.getA(), adaptor.getB(), types);
}

LogicalResult PreluOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  Value x = adaptor.getX(), slope = adaptor.getSlope();
  if (failed(infer.sameElementType("slope", slope, "x", x)) ||
      failed(infer.broadcastsTo("slope", typeOf(slope).getShape(),
                                typeOf(x).getShape())))
    return failure();
  return inferLike(x, types);
}

LogicalResult WhereOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  if (failed(infer.sameElementType("a", adaptor.getA(), "b", adaptor.getB())))
    return failure();
  RankedTensorType a = typeOf(adaptor.getA()), b = typeOf(adaptor.getB());
  FailureOr<Shape> shape = infer.broadcast(a.getShape(), b.getShape());
  if (failed(shape))
    return failure();
  shape = infer.broadcast(*shape, typeOf(adaptor.getCondition()).getShape());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, a.getElementType()));
  return success();
}
