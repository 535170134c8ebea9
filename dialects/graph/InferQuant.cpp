//===- InferQuant.cpp - Types of quantized ops ----------------------------===//

#include "graph/GraphQuant.h"

using namespace mlir;
using namespace phl::graph;

//===----------------------------------------------------------------------===//
// Quantization parameters
//===----------------------------------------------------------------------===//

/// Checks the shape of a scale of x: one for all, one per position along
/// `axis`, or one per block of it.
static LogicalResult checkScale(Infer &infer, Value x, Value scale,
                                int64_t axis, int64_t block) {
  RankedTensorType type = typeOf(x), scaleType = typeOf(scale);
  if (block < 0)
    return infer.fail("'block_size' must not be negative, but is ", block);
  if (block == 0 &&
      (scaleType.getRank() == 0 ||
       (scaleType.getRank() == 1 && scaleType.getDimSize(0) == 1)))
    return success();
  FailureOr<int64_t> normal = infer.axis(axis, type.getRank());
  if (failed(normal))
    return failure();
  if (block == 0)
    return infer.vectorOf("scale", scale, type.getDimSize(*normal),
                          "one per position along 'axis'");
  if (failed(infer.rankIs("scale", scale, type.getRank())))
    return failure();
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t dim = type.getDimSize(i);
    if (i == *normal && known(dim))
      dim = (dim + block - 1) / block;
    if (!mayEqual(scaleType.getDimSize(i), dim))
      return infer.fail("dimension ", i, " of 'scale' must be ", dim,
                        " for blocks of ", block, " along axis ", *normal,
                        ", but 'scale' is ", scaleType);
  }
  return success();
}

static LogicalResult checkZeroPoint(Infer &infer, StringRef scaleName,
                                    Value scale, StringRef name, Value zero) {
  ArrayRef<int64_t> expected = typeOf(scale).getShape();
  ArrayRef<int64_t> actual = typeOf(zero).getShape();
  auto isOne = [](ArrayRef<int64_t> shape) {
    return shape.empty() || (shape.size() == 1 && mayEqual(shape[0], 1));
  };
  if (succeeded(verifyCompatibleShape(expected, actual)) ||
      (isOne(expected) && isOne(actual)))
    return success();
  return infer.fail("'", name, "' must have the shape of '", scaleName,
                    "', but they are ", zero.getType(), " and ",
                    scale.getType());
}

LogicalResult LookupOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  if (failed(infer.vectorOf("table", adaptor.getTable(), 256,
                            "one for each byte")))
    return failure();
  types.push_back(
      RankedTensorType::get(typeOf(adaptor.getX()).getShape(),
                            typeOf(adaptor.getTable()).getElementType()));
  return success();
}

LogicalResult QuantizeLinearOp::inferTypes(Infer &infer, Adaptor adaptor,
                                           Types &types) {
  Value x = adaptor.getX(), scale = adaptor.getScale();
  Value zero = adaptor.getZeroPoint();
  if (failed(checkScale(infer, x, scale, adaptor.getAxis(),
                        adaptor.getBlockSize())) ||
      (zero &&
       failed(checkZeroPoint(infer, "scale", scale, "zero_point", zero))))
    return failure();
  Type element = adaptor.getTo().value_or(
      zero ? typeOf(zero).getElementType()
           : IntegerType::get(infer.context(), 8, IntegerType::Unsigned));
  if (!isa<IntegerType, FloatType>(element))
    return infer.fail("'to' must be an element type of tensors, but is ",
                      element);
  if (zero && element != typeOf(zero).getElementType())
    return infer.fail("'to' is ", element, ", but 'zero_point' is ",
                      zero.getType());
  types.push_back(RankedTensorType::get(typeOf(x).getShape(), element));
  return success();
}

LogicalResult DequantizeLinearOp::inferTypes(Infer &infer, Adaptor adaptor,
                                             Types &types) {
  Value x = adaptor.getX(), scale = adaptor.getScale();
  Value zero = adaptor.getZeroPoint();
  if (failed(checkScale(infer, x, scale, adaptor.getAxis(),
                        adaptor.getBlockSize())))
    return failure();
  if (zero &&
      (failed(checkZeroPoint(infer, "scale", scale, "zero_point", zero)) ||
       failed(infer.sameElementType("zero_point", zero, "x", x))))
    return failure();
  types.push_back(RankedTensorType::get(typeOf(x).getShape(),
                                        typeOf(scale).getElementType()));
  return success();
}

LogicalResult DynamicQuantizeLinearOp::inferTypes(Infer &infer, Adaptor adaptor,
                                                  Types &types) {
  Type ui8 = IntegerType::get(infer.context(), 8, IntegerType::Unsigned);
  types.push_back(
      RankedTensorType::get(typeOf(adaptor.getX()).getShape(), ui8));
  types.push_back(RankedTensorType::get({}, Float32Type::get(infer.context())));
  types.push_back(RankedTensorType::get({}, ui8));
  return success();
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// A scalar, or one element per filter.
static LogicalResult scalarOrPerFilter(Infer &infer, StringRef name,
                                       Value value, int64_t filters) {
  if (typeOf(value).getRank() == 0)
    return success();
  if (typeOf(value).getRank() == 1 && mayEqual(typeOf(value).getDimSize(0), 1))
    return success();
  return infer.vectorOf(name, value, filters, "one per filter");
}

LogicalResult QLinearConvOp::inferTypes(Infer &infer, Adaptor adaptor,
                                        Types &types) {
  Window window{
      {}, adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations()};
  FailureOr<Shape> shape = convShape(infer, adaptor.getX(), adaptor.getW(),
                                     window, adaptor.getGroup());
  if (failed(shape))
    return failure();
  int64_t filters = (*shape)[1];
  Value xZero = adaptor.getXZeroPoint(), wZero = adaptor.getWZeroPoint();
  if (failed(infer.oneElement("x_scale", adaptor.getXScale())) ||
      failed(infer.oneElement("x_zero_point", xZero)) ||
      failed(infer.oneElement("y_scale", adaptor.getYScale())) ||
      failed(infer.oneElement("y_zero_point", adaptor.getYZeroPoint())) ||
      failed(
          scalarOrPerFilter(infer, "w_scale", adaptor.getWScale(), filters)) ||
      failed(scalarOrPerFilter(infer, "w_zero_point", wZero, filters)) ||
      failed(
          infer.sameElementType("x_zero_point", xZero, "x", adaptor.getX())) ||
      failed(
          infer.sameElementType("w_zero_point", wZero, "w", adaptor.getW())) ||
      (adaptor.getB() &&
       failed(infer.vectorOf("b", adaptor.getB(), filters, "one per filter"))))
    return failure();
  types.push_back(RankedTensorType::get(
      *shape, typeOf(adaptor.getYZeroPoint()).getElementType()));
  return success();
}

LogicalResult ConvIntegerOp::inferTypes(Infer &infer, Adaptor adaptor,
                                        Types &types) {
  Window window{
      {}, adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations()};
  FailureOr<Shape> shape = convShape(infer, adaptor.getX(), adaptor.getW(),
                                     window, adaptor.getGroup());
  if (failed(shape))
    return failure();
  Value xZero = adaptor.getXZeroPoint(), wZero = adaptor.getWZeroPoint();
  if (xZero && (failed(infer.oneElement("x_zero_point", xZero)) ||
                failed(infer.sameElementType("x_zero_point", xZero, "x",
                                             adaptor.getX()))))
    return failure();
  if (wZero &&
      (failed(scalarOrPerFilter(infer, "w_zero_point", wZero, (*shape)[1])) ||
       failed(
           infer.sameElementType("w_zero_point", wZero, "w", adaptor.getW()))))
    return failure();
  types.push_back(
      RankedTensorType::get(*shape, IntegerType::get(infer.context(), 32)));
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A scalar, one element per row (or column) of `matrix`, or a tensor with the
/// rank of it that has one such element per row of each matrix.
static LogicalResult checkMatrixParameter(Infer &infer, StringRef name,
                                          Value value, ArrayRef<int64_t> matrix,
                                          bool perColumn) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  if (shape.empty() || (shape.size() == 1 && mayEqual(shape[0], 1)))
    return success();
  int64_t count = 1;
  if (!matrix.empty())
    count = matrix.size() == 1 || perColumn ? matrix.back()
                                            : matrix[matrix.size() - 2];
  if (shape.size() == 1)
    return infer.vectorOf(name, value, count,
                          perColumn ? "one per column" : "one per row");
  Shape expected(matrix);
  if (expected.size() >= 2)
    expected[expected.size() - (perColumn ? 2 : 1)] = 1;
  if (succeeded(verifyCompatibleShape(shape, expected)))
    return success();
  return infer.fail("'", name, "' must be a scalar or hold one element per ",
                    perColumn ? "column" : "row", ", but is ", value.getType());
}

LogicalResult QLinearMatMulOp::inferTypes(Infer &infer, Adaptor adaptor,
                                          Types &types) {
  Value a = adaptor.getA(), b = adaptor.getB();
  FailureOr<Shape> shape = matmulShape(infer, a, b);
  if (failed(shape))
    return failure();
  struct Parameter {
    StringRef name;
    Value value;
    ArrayRef<int64_t> matrix;
    bool perColumn;
  };
  ArrayRef<int64_t> left = typeOf(a).getShape(), right = typeOf(b).getShape();
  for (const Parameter &each :
       {Parameter{"a_scale", adaptor.getAScale(), left, false},
        Parameter{"a_zero_point", adaptor.getAZeroPoint(), left, false},
        Parameter{"b_scale", adaptor.getBScale(), right, true},
        Parameter{"b_zero_point", adaptor.getBZeroPoint(), right, true},
        Parameter{"y_scale", adaptor.getYScale(), *shape, false},
        Parameter{"y_zero_point", adaptor.getYZeroPoint(), *shape, false}})
    if (failed(checkMatrixParameter(infer, each.name, each.value, each.matrix,
                                    each.perColumn)))
      return failure();
  if (failed(infer.sameElementType("a_zero_point", adaptor.getAZeroPoint(), "a",
                                   a)) ||
      failed(infer.sameElementType("b_zero_point", adaptor.getBZeroPoint(), "b",
                                   b)))
    return failure();
  types.push_back(RankedTensorType::get(
      *shape, typeOf(adaptor.getYZeroPoint()).getElementType()));
  return success();
}

LogicalResult MatMulIntegerOp::inferTypes(Infer &infer, Adaptor adaptor,
                                          Types &types) {
  Value a = adaptor.getA(), b = adaptor.getB();
  Value aZero = adaptor.getAZeroPoint(), bZero = adaptor.getBZeroPoint();
  FailureOr<Shape> shape = matmulShape(infer, a, b);
  if (failed(shape))
    return failure();
  if (aZero && (failed(checkMatrixParameter(infer, "a_zero_point", aZero,
                                            typeOf(a).getShape(), false)) ||
                failed(infer.sameElementType("a_zero_point", aZero, "a", a))))
    return failure();
  if (bZero && (failed(checkMatrixParameter(infer, "b_zero_point", bZero,
                                            typeOf(b).getShape(), true)) ||
                failed(infer.sameElementType("b_zero_point", bZero, "b", b))))
    return failure();
  types.push_back(
      RankedTensorType::get(*shape, IntegerType::get(infer.context(), 32)));
  return success();
}
