//===- InferData.cpp - Types of ops that move, pick and join elements -----===//

#include "graph/Elements.h"
#include "graph/GraphData.h"
#include "graph/ShapeValues.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace phl::graph;

//===----------------------------------------------------------------------===//
// Joining and cutting
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  ValueRange inputs = adaptor.getInputs();
  if (inputs.empty())
    return infer.fail("needs one operand or more");
  RankedTensorType first = typeOf(inputs.front());
  FailureOr<int64_t> axis = infer.axis(adaptor.getAxis(), first.getRank());
  if (failed(axis))
    return failure();
  Shape shape(first.getShape());
  for (auto [index, input] : llvm::enumerate(inputs.drop_front())) {
    RankedTensorType type = typeOf(input);
    if (type.getElementType() != first.getElementType() ||
        type.getRank() != first.getRank())
      return infer.fail("operand #", index + 1,
                        " must have the rank and element type of operand #0, ",
                        first, ", but is ", type);
    for (int64_t i = 0; i < type.getRank(); ++i) {
      int64_t dim = type.getDimSize(i);
      if (i == *axis) {
        if (!known(dim) || !known(shape[i]) ||
            llvm::AddOverflow(shape[i], dim, shape[i]))
          shape[i] = kDynamic;
      } else if (!mayEqual(shape[i], dim)) {
        return infer.fail("dimension ", i, " of operand #", index + 1, " is ",
                          dim, ", but that of the others is ", shape[i]);
      } else if (known(dim)) {
        shape[i] = dim;
      }
    }
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

LogicalResult SplitOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<int64_t> axis = infer.axis(adaptor.getAxis(), type.getRank());
  if (failed(axis))
    return failure();
  ArrayRef<int64_t> sizes = adaptor.getSplit();
  if (sizes.empty())
    return infer.fail("'split' must name one size or more");
  int64_t total = 0;
  for (int64_t size : sizes) {
    if (size < 0 || llvm::AddOverflow(total, size, total))
      return infer.fail("'split' must hold sizes, but holds ", size);
    Shape shape(type.getShape());
    shape[*axis] = size;
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  if (!mayEqual(type.getDimSize(*axis), total))
    return infer.fail("'split' sums up to ", total, ", but axis ", *axis,
                      " of ", type, " has size ", type.getDimSize(*axis));
  return success();
}

/// The axes of a list operand, counted from 0, or nothing if one of them is not
/// known. Without an operand, all axes up to `count`.
static FailureOr<std::optional<Shape>>
axesOperand(Infer &infer, Value operand, int64_t count, int64_t rank) {
  Shape all;
  if (!operand) {
    for (int64_t i = 0; i < count; ++i)
      all.push_back(i);
  } else if (auto values = allIntegers(operand)) {
    all.assign(values->begin(), values->end());
  } else {
    return std::optional<Shape>();
  }
  FailureOr<Shape> axes = infer.axes(all, rank);
  if (failed(axes))
    return failure();
  return std::optional<Shape>(*axes);
}

/// One result of the rank of x and no known dimension.
static LogicalResult inferRankOnly(Value x, Types &types) {
  RankedTensorType type = typeOf(x);
  types.push_back(RankedTensorType::get(Shape(type.getRank(), kDynamic),
                                        type.getElementType()));
  return success();
}

LogicalResult SliceOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  Value starts = adaptor.getStarts();
  if (failed(infer.rankIs("starts", starts, 1)))
    return failure();
  int64_t count = typeOf(starts).getDimSize(0);
  for (auto [name, list] :
       {std::pair<StringRef, Value>("ends", adaptor.getEnds()),
        {"axes", adaptor.getAxes()},
        {"steps", adaptor.getSteps()}})
    if (list &&
        failed(infer.vectorOf(name, list, count, "as many as 'starts'")))
      return failure();
  if (known(count) && count > type.getRank())
    return infer.fail("'starts' names ", count, " axes, but 'x' has rank ",
                      type.getRank());
  std::optional<Integers> first = knownIntegers(starts);
  std::optional<Integers> last = knownIntegers(adaptor.getEnds());
  if (!first || !last || first->size() != last->size())
    return inferRankOnly(adaptor.getX(), types);
  FailureOr<std::optional<Shape>> axes =
      axesOperand(infer, adaptor.getAxes(), first->size(), type.getRank());
  if (failed(axes))
    return failure();
  if (!*axes || (*axes)->size() != first->size())
    return inferRankOnly(adaptor.getX(), types);
  Integers steps(first->size(), 1);
  if (adaptor.getSteps())
    steps = knownIntegers(adaptor.getSteps()).value_or(Integers(first->size()));

  Shape shape(type.getShape());
  for (size_t i = 0; i < first->size() && i < steps.size(); ++i) {
    int64_t &dim = shape[(**axes)[i]];
    if (steps[i] == 0)
      return infer.fail("'steps' must not hold 0");
    bool all = known(dim) && (*first)[i] && (*last)[i] && steps[i];
    dim = all ? clampSlice(*(*first)[i], *(*last)[i], *steps[i], dim).count
              : kDynamic;
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult PadOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  Value axesValue = adaptor.getAxes(), value = adaptor.getValue();
  if (value &&
      (failed(infer.oneElement("value", value)) ||
       failed(infer.sameElementType("value", value, "x", adaptor.getX()))))
    return failure();
  if (axesValue && failed(infer.rankIs("axes", axesValue, 1)))
    return failure();
  int64_t count = axesValue ? typeOf(axesValue).getDimSize(0) : type.getRank();
  if (failed(infer.vectorOf("pads", adaptor.getPads(),
                            known(count) ? 2 * count : kDynamic,
                            "two per axis")))
    return failure();
  std::optional<Integers> pads = knownIntegers(adaptor.getPads());
  FailureOr<std::optional<Shape>> axes =
      axesOperand(infer, axesValue, count, type.getRank());
  if (failed(axes))
    return failure();
  if (!pads || !*axes || pads->size() != 2 * (*axes)->size())
    return inferRankOnly(adaptor.getX(), types);

  Shape shape(type.getShape());
  for (auto [i, axis] : llvm::enumerate(**axes)) {
    std::optional<int64_t> begin = (*pads)[i];
    std::optional<int64_t> end = (*pads)[i + (*axes)->size()];
    int64_t size = shape[axis];
    if (begin && end && known(size)) {
      if (llvm::AddOverflow(size, *begin, size) ||
          llvm::AddOverflow(size, *end, size) || size < 0)
        return infer.fail("'pads' of ", *begin, " and ", *end,
                          " do not fit axis ", axis, " of ", type);
    } else {
      size = kDynamic;
    }
    shape[axis] = size;
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Picking
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<int64_t> axis = infer.axis(adaptor.getAxis(), type.getRank());
  if (failed(axis))
    return failure();
  int64_t size = type.getDimSize(*axis);
  if (known(size))
    for (auto index : knownIntegers(adaptor.getIndices()).value_or(Integers()))
      if (index && (*index < -size || *index >= size))
        return infer.fail("'indices' holds ", *index, ", but axis ", *axis,
                          " of ", type, " has size ", size);
  Shape shape(type.getShape().take_front(*axis));
  shape.append(Shape(typeOf(adaptor.getIndices()).getShape()));
  shape.append(Shape(type.getShape().drop_front(*axis + 1)));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

/// Checks that `part` is no larger than `whole` but along `axis`.
static LogicalResult fitsWithin(Infer &infer, StringRef name, Value part,
                                RankedTensorType whole, int64_t axis) {
  if (failed(infer.rankIs(name, part, whole.getRank())))
    return failure();
  for (int64_t i = 0; i < whole.getRank(); ++i) {
    int64_t size = typeOf(part).getDimSize(i), limit = whole.getDimSize(i);
    if (i != axis && known(size) && known(limit) && size > limit)
      return infer.fail("dimension ", i, " of '", name, "' is ", size,
                        ", but that of 'x' only ", limit);
  }
  return success();
}

LogicalResult GatherElementsOp::inferTypes(Infer &infer, Adaptor adaptor,
                                           Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  FailureOr<int64_t> axis = infer.axis(adaptor.getAxis(), type.getRank());
  if (failed(axis) ||
      failed(fitsWithin(infer, "indices", adaptor.getIndices(), type, *axis)))
    return failure();
  types.push_back(RankedTensorType::get(typeOf(adaptor.getIndices()).getShape(),
                                        type.getElementType()));
  return success();
}

/// The shape of the slices that the last dimension of `indices` points to in
/// the dimensions of x from `batch` on, with the positions' own shape before
/// it.
static FailureOr<Shape> sliceShape(Infer &infer, RankedTensorType x,
                                   Value indices, int64_t batch) {
  if (failed(infer.rankAtLeast("indices", indices, batch + 1)))
    return failure();
  ArrayRef<int64_t> positions = typeOf(indices).getShape();
  int64_t depth = positions.back();
  if (!known(depth))
    return infer.fail("the last dimension of 'indices', ", indices.getType(),
                      ", must be known: it determines the rank");
  if (depth < 1 || depth > x.getRank() - batch)
    return infer.fail("the last dimension of 'indices' is ", depth,
                      ", but must be from 1 to ", x.getRank() - batch);
  Shape shape(positions.drop_back());
  shape.append(Shape(x.getShape().drop_front(batch + depth)));
  return shape;
}

LogicalResult GatherNDOp::inferTypes(Infer &infer, Adaptor adaptor,
                                     Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  int64_t batch = adaptor.getBatchDims();
  if (batch < 0 || batch >= type.getRank())
    return infer.fail("'batch_dims' is ", batch, ", but must be from 0 to ",
                      type.getRank() - 1);
  FailureOr<Shape> shape = sliceShape(infer, type, adaptor.getIndices(), batch);
  if (failed(shape))
    return failure();
  for (int64_t i = 0; i < batch; ++i) {
    int64_t dim = typeOf(adaptor.getIndices()).getDimSize(i);
    if (!mayEqual(type.getDimSize(i), dim))
      return infer.fail("batch dimension ", i, " is ", type.getDimSize(i),
                        " in 'x', but ", dim, " in 'indices'");
  }
  types.push_back(RankedTensorType::get(*shape, type.getElementType()));
  return success();
}

LogicalResult ScatterElementsOp::inferTypes(Infer &infer, Adaptor adaptor,
                                            Types &types) {
  Value x = adaptor.getX(), updates = adaptor.getUpdates();
  FailureOr<int64_t> axis = infer.axis(adaptor.getAxis(), typeOf(x).getRank());
  if (failed(axis) ||
      failed(fitsWithin(infer, "indices", adaptor.getIndices(), typeOf(x),
                        *axis)) ||
      failed(infer.sameElementType("updates", updates, "x", x)))
    return failure();
  if (failed(verifyCompatibleShape(typeOf(updates).getShape(),
                                   typeOf(adaptor.getIndices()).getShape())))
    return infer.fail("'updates' must have the shape of 'indices', but they "
                      "are ",
                      updates.getType(), " and ",
                      adaptor.getIndices().getType());
  return inferLike(x, types);
}

LogicalResult ScatterNDOp::inferTypes(Infer &infer, Adaptor adaptor,
                                      Types &types) {
  Value x = adaptor.getX(), updates = adaptor.getUpdates();
  FailureOr<Shape> shape =
      sliceShape(infer, typeOf(x), adaptor.getIndices(), 0);
  if (failed(shape) ||
      failed(infer.sameElementType("updates", updates, "x", x)))
    return failure();
  if (failed(verifyCompatibleShape(typeOf(updates).getShape(), *shape)))
    return infer.fail("'updates' must be ",
                      RankedTensorType::get(*shape, typeOf(x).getElementType()),
                      " for these 'indices', but is ", updates.getType());
  return inferLike(x, types);
}

/// Number of nonzero elements among the first `limit` of a constant, or
/// unknown. Counting stops to pay where constants are as large as weights.
static int64_t countNonZero(Value value, int64_t limit) {
  constexpr int64_t kMostElements = 1 << 20;
  auto reader = ElementReader::get(constantOf(value));
  if (!reader || !known(limit) || reader->size() > kMostElements)
    return kDynamic;
  int64_t count = 0;
  for (int64_t i = 0; i < std::min(limit, reader->size()); ++i)
    count +=
        reader->isFloat() ? reader->number(i) != 0 : reader->integer(i) != 0;
  return count;
}

LogicalResult CompressOp::inferTypes(Infer &infer, Adaptor adaptor,
                                     Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  if (failed(infer.rankIs("condition", adaptor.getCondition(), 1)))
    return failure();
  Shape shape;
  if (std::optional<int64_t> given = adaptor.getAxis()) {
    FailureOr<int64_t> axis = infer.axis(*given, type.getRank());
    if (failed(axis))
      return failure();
    shape.assign(type.getShape().begin(), type.getShape().end());
    shape[*axis] = countNonZero(adaptor.getCondition(), type.getDimSize(*axis));
  } else {
    int64_t total = type.hasStaticShape() ? type.getNumElements() : kDynamic;
    shape.push_back(countNonZero(adaptor.getCondition(), total));
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult NonZeroOp::inferTypes(Infer &infer, Adaptor adaptor,
                                    Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  int64_t total = type.hasStaticShape() ? type.getNumElements() : kDynamic;
  types.push_back(RankedTensorType::get(
      {type.getRank(), countNonZero(adaptor.getX(), total)},
      IntegerType::get(infer.context(), 64)));
  return success();
}

LogicalResult NonMaxSuppressionOp::inferTypes(Infer &infer, Adaptor adaptor,
                                              Types &types) {
  RankedTensorType boxes = typeOf(adaptor.getBoxes());
  RankedTensorType scores = typeOf(adaptor.getScores());
  if (failed(infer.rankIs("boxes", adaptor.getBoxes(), 3)) ||
      failed(infer.rankIs("scores", adaptor.getScores(), 3)))
    return failure();
  if (!mayEqual(boxes.getDimSize(2), 4))
    return infer.fail("must have boxes of 4 numbers, but they have ",
                      boxes.getDimSize(2));
  if (!mayEqual(boxes.getDimSize(0), scores.getDimSize(0)) ||
      !mayEqual(boxes.getDimSize(1), scores.getDimSize(2)))
    return infer.fail("boxes are ", boxes, ", but scores are ", scores,
                      ": batches and boxes must be as many");
  if (boxes.getElementType() != scores.getElementType())
    return infer.fail("boxes are ", boxes, ", but scores are ", scores);
  for (auto [name, value] :
       {std::pair("max_output", adaptor.getMaxOutput()),
        std::pair("iou_threshold", adaptor.getIouThreshold()),
        std::pair("score_threshold", adaptor.getScoreThreshold())})
    if (value && failed(infer.oneElement(name, value)))
      return failure();
  types.push_back(RankedTensorType::get({kDynamic, 3},
                                        IntegerType::get(infer.context(), 64)));
  return success();
}

LogicalResult OneHotOp::inferTypes(Infer &infer, Adaptor adaptor,
                                   Types &types) {
  RankedTensorType indices = typeOf(adaptor.getIndices());
  if (failed(infer.oneElement("depth", adaptor.getDepth())) ||
      failed(infer.vectorOf("values", adaptor.getValues(), 2,
                            "that for off and that for on")))
    return failure();
  FailureOr<int64_t> axis =
      infer.axis(adaptor.getAxis(), indices.getRank() + 1);
  if (failed(axis))
    return failure();
  std::optional<int64_t> depth = knownInteger(adaptor.getDepth());
  // A float depth is truncated.
  auto reader = ElementReader::get(constantOf(adaptor.getDepth()));
  if (!depth && reader && reader->isFloat() && reader->size() == 1 &&
      std::abs(reader->number(0)) < 0x1p62)
    depth = static_cast<int64_t>(reader->number(0));
  if (depth && *depth < 1)
    return infer.fail("'depth' must be positive, but is ", *depth);
  Shape shape(indices.getShape());
  shape.insert(shape.begin() + *axis, depth.value_or(kDynamic));
  types.push_back(RankedTensorType::get(
      shape, typeOf(adaptor.getValues()).getElementType()));
  return success();
}

LogicalResult TriluOp::inferTypes(Infer &infer, Adaptor adaptor, Types &types) {
  if (failed(infer.rankAtLeast("x", adaptor.getX(), 2)) ||
      (adaptor.getK() && failed(infer.oneElement("k", adaptor.getK()))))
    return failure();
  return inferLike(adaptor.getX(), types);
}

LogicalResult ReverseSequenceOp::inferTypes(Infer &infer, Adaptor adaptor,
                                            Types &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  if (failed(infer.rankAtLeast("x", adaptor.getX(), 2)))
    return failure();
  FailureOr<int64_t> batch =
      infer.axis(adaptor.getBatchAxis(), type.getRank(), "batch_axis");
  FailureOr<int64_t> time =
      infer.axis(adaptor.getTimeAxis(), type.getRank(), "time_axis");
  if (failed(batch) || failed(time))
    return failure();
  if (*batch == *time)
    return infer.fail("'batch_axis' and 'time_axis' are both ", *batch);
  if (failed(infer.vectorOf("lens", adaptor.getLens(), type.getDimSize(*batch),
                            "the size of the batch")))
    return failure();
  return inferLike(adaptor.getX(), types);
}
