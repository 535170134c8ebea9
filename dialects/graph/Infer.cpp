//===- Infer.cpp - Rules that many ops share ------------------------------===//

#include "graph/Infer.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;

namespace phl::graph {

bool compatibleTypes(TypeRange inferred, TypeRange declared) {
  if (inferred.size() != declared.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(inferred, declared)) {
    auto left = dyn_cast<RankedTensorType>(a);
    auto right = dyn_cast<RankedTensorType>(b);
    if (!left || !right || left.getElementType() != right.getElementType() ||
        failed(verifyCompatibleShape(left.getShape(), right.getShape())))
      return false;
  }
  return true;
}

LogicalResult verifyInferred(Operation *op, TypeRange inferred) {
  TypeRange declared = op->getResultTypes();
  if (inferred.size() != declared.size())
    return op->emitOpError() << "has " << declared.size()
                             << " results, but must have " << inferred.size();
  for (auto [index, type, expected] : llvm::enumerate(declared, inferred))
    if (!compatibleTypes({expected}, {type}))
      return op->emitOpError()
             << "result #" << index << " has type " << type
             << ", which does not fit the inferred type " << expected;
  return success();
}

std::string dimText(int64_t dim) {
  return known(dim) ? std::to_string(dim) : "?";
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + dimText(shape[i]);
  return text + "]";
}

LogicalResult Infer::checkOperandTypes(ValueRange operands,
                                       bool countFits) const {
  if (!countFits)
    return fail("has the wrong number of operands, ", operands.size());
  for (auto [index, operand] : llvm::enumerate(operands))
    if (!isa<RankedTensorType>(operand.getType()))
      return fail("operand #", index, " must be a ranked tensor, but is ",
                  operand.getType());
  return success();
}

LogicalResult Infer::checkSegments(ArrayRef<int32_t> sizes, size_t operands,
                                   size_t required) const {
  size_t total = 0;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    if (size != 1 && (size != 0 || index < required))
      return fail("'operandSegmentSizes' has ", size, " at position ", index,
                  ", but must have ", index < required ? "1" : "0 or 1");
    total += size;
  }
  if (total == operands)
    return success();
  return fail("has ", operands,
              " operands, but 'operandSegmentSizes' sums up to ", total);
}

FailureOr<int64_t> Infer::axis(int64_t axis, int64_t rank,
                               StringRef name) const {
  if (axis < -rank || axis >= rank)
    return fail("'", name, "' is ", axis, ", but a tensor of rank ", rank,
                rank ? " has the axes " : " has no axes",
                rank ? std::to_string(-rank) + " to " + std::to_string(rank - 1)
                     : "");
  return axis < 0 ? axis + rank : axis;
}

FailureOr<Shape> Infer::axes(ArrayRef<int64_t> axes, int64_t rank,
                             StringRef name) const {
  Shape result;
  for (int64_t each : axes) {
    FailureOr<int64_t> normal = axis(each, rank, name);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return fail("'", name, "' names axis ", *normal, " twice");
    result.push_back(*normal);
  }
  return result;
}

LogicalResult Infer::rankIs(StringRef name, Value value, int64_t rank) const {
  if (typeOf(value).getRank() == rank)
    return success();
  return fail("'", name, "' must have rank ", rank, ", but is ",
              value.getType());
}

LogicalResult Infer::rankAtLeast(StringRef name, Value value,
                                 int64_t rank) const {
  if (typeOf(value).getRank() >= rank)
    return success();
  return fail("'", name, "' must have rank ", rank, " or more, but is ",
              value.getType());
}

LogicalResult Infer::oneElement(StringRef name, Value value) const {
  for (int64_t dim : typeOf(value).getShape())
    if (!mayEqual(dim, 1))
      return fail("'", name, "' must have one element, but is ",
                  value.getType());
  return success();
}

LogicalResult Infer::sameElementType(StringRef name, Value value,
                                     StringRef otherName, Value other) const {
  Type left = typeOf(value).getElementType();
  Type right = typeOf(other).getElementType();
  if (left == right)
    return success();
  return fail("'", name, "' and '", otherName,
              "' must have the same element type, but have ", left, " and ",
              right);
}

LogicalResult Infer::vectorOf(StringRef name, Value value, int64_t size,
                              StringRef reason) const {
  RankedTensorType type = typeOf(value);
  if (type.getRank() != 1)
    return fail("'", name, "' must have rank 1, but is ", type);
  if (!mayEqual(type.getDimSize(0), size))
    return fail("'", name, "' must have ", size, " elements, ", reason,
                ", but is ", type);
  return success();
}

LogicalResult Infer::broadcastsTo(StringRef name, ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> target) const {
  bool fits = shape.size() <= target.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    int64_t from = shape[shape.size() - 1 - i];
    int64_t to = target[target.size() - 1 - i];
    fits = from == 1 || mayEqual(from, to);
  }
  if (fits)
    return success();
  return fail("'", name, "' of shape ", shapeText(shape),
              " does not broadcast to ", shapeText(target));
}

FailureOr<Shape> Infer::broadcast(ArrayRef<int64_t> a,
                                  ArrayRef<int64_t> b) const {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    int64_t &dim = result[result.size() - 1 - i];
    if (left == 1)
      dim = right;
    else if (right == 1)
      dim = left;
    else if (!known(left) || !known(right))
      dim = known(left) ? left : right;
    else if (left == right)
      dim = left;
    else
      return fail("shapes ", shapeText(a), " and ", shapeText(b),
                  " do not broadcast: dimension ", result.size() - 1 - i,
                  " is both ", left, " and ", right);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult inferLike(Value x, Types &types) {
  RankedTensorType type = typeOf(x);
  types.push_back(
      RankedTensorType::get(type.getShape(), type.getElementType()));
  return success();
}

LogicalResult inferMask(Value x, Types &types) {
  types.push_back(RankedTensorType::get(typeOf(x).getShape(),
                                        IntegerType::get(x.getContext(), 1)));
  return success();
}

static LogicalResult inferBroadcastOf(Infer &infer, Value a, Value b,
                                      Type element, Types &types) {
  if (failed(infer.sameElementType("a", a, "b", b)))
    return failure();
  FailureOr<Shape> shape =
      infer.broadcast(typeOf(a).getShape(), typeOf(b).getShape());
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}

LogicalResult inferBroadcast(Infer &infer, Value a, Value b, Types &types) {
  return inferBroadcastOf(infer, a, b, typeOf(a).getElementType(), types);
}

LogicalResult inferCompare(Infer &infer, Value a, Value b, Types &types) {
  return inferBroadcastOf(infer, a, b, IntegerType::get(infer.context(), 1),
                          types);
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

FailureOr<Shape> reducedShape(Infer &infer, Value x, ArrayRef<int64_t> axes,
                              bool keep) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  FailureOr<Shape> reduced = infer.axes(axes, shape.size());
  if (failed(reduced))
    return failure();
  Shape result;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (!axes.empty() && !llvm::is_contained(*reduced, i))
      result.push_back(dim);
    else if (keep)
      result.push_back(1);
  }
  return result;
}

LogicalResult inferReduce(Infer &infer, Value x, ArrayRef<int64_t> axes,
                          bool keep, Types &types) {
  FailureOr<Shape> shape = reducedShape(infer, x, axes, keep);
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, typeOf(x).getElementType()));
  return success();
}

LogicalResult inferArg(Infer &infer, Value x, int64_t axis, bool keep,
                       Types &types) {
  FailureOr<int64_t> normal = infer.axis(axis, typeOf(x).getRank());
  if (failed(normal))
    return failure();
  if (typeOf(x).getDimSize(*normal) == 0)
    return infer.fail("has no element to pick along axis ", *normal, " of ",
                      x.getType());
  FailureOr<Shape> shape = reducedShape(infer, x, {*normal}, keep);
  if (failed(shape))
    return failure();
  types.push_back(
      RankedTensorType::get(*shape, IntegerType::get(infer.context(), 64)));
  return success();
}

LogicalResult inferAlongAxis(Infer &infer, Value x, int64_t axis,
                             Types &types) {
  if (failed(infer.axis(axis, typeOf(x).getRank())))
    return failure();
  return inferLike(x, types);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

SliceRange clampSlice(int64_t start, int64_t end, int64_t step, int64_t dim) {
  auto clamp = [&](int64_t position, int64_t least, int64_t most) {
    return std::min(std::max(position < 0 ? position + dim : position, least),
                    most);
  };
  // The least step has no positive counterpart; no dimension is that large.
  step = std::max(step, -std::numeric_limits<int64_t>::max());
  if (step > 0) {
    start = clamp(start, 0, dim);
    int64_t span = clamp(end, 0, dim) - start;
    return {start, span > 0 ? (span - 1) / step + 1 : 0};
  }
  start = clamp(start, 0, dim - 1);
  int64_t span = start - clamp(end, -1, dim - 1);
  return {start, span > 0 ? (span - 1) / -step + 1 : 0};
}

std::pair<int64_t, int64_t>
shapeRange(int64_t start, std::optional<int64_t> end, int64_t rank) {
  auto clamp = [&](int64_t axis) {
    return std::min(std::max<int64_t>(axis < 0 ? axis + rank : axis, 0), rank);
  };
  int64_t first = clamp(start);
  return {first, std::max(first, clamp(end.value_or(rank)))};
}

} // namespace phl::graph
