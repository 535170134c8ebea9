//===- FoldData.cpp - Folds of ops that move, pick and join ---------------===//

#include "graph/Fold.h"
#include "graph/GraphData.h"
#include "graph/ShapeValues.h"

using namespace mlir;
using namespace phl::graph;

static int64_t fromStart(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

//===----------------------------------------------------------------------===//
// Joining and cutting
//===----------------------------------------------------------------------===//

/// Drops operands that add nothing along the axis; at least one stays.
static bool dropEmptyOperands(ConcatOp op) {
  int64_t axis = fromStart(op.getAxis(), typeOf(op.getY()).getRank());
  SmallVector<Value> kept;
  for (Value input : op.getInputs())
    if (typeOf(input).getDimSize(axis) != 0)
      kept.push_back(input);
  if (kept.empty() || kept.size() == op.getInputs().size())
    return false;
  op.getInputsMutable().assign(kept);
  return true;
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1) {
    if (Attribute only = adaptor.getInputs()[0])
      return only;
    return sameType(getInputs()[0], getY());
  }
  if (dropEmptyOperands(*this))
    return getY();
  if (Attribute known = foldKnown(getY()))
    return known;

  SmallVector<ElementReader> parts;
  for (Attribute input : adaptor.getInputs()) {
    auto reader = ElementReader::get(input);
    if (!reader || reader->size() > kFoldLimit)
      return {};
    parts.push_back(*reader);
  }
  int64_t axis = fromStart(getAxis(), typeOf(getY()).getRank()), total = 0;
  for (const ElementReader &part : parts)
    total += part.type().getDimSize(axis);
  Shape shape(parts.front().type().getShape());
  shape[axis] = total;
  auto type = RankedTensorType::get(shape, parts.front().elementType());
  if (type.getNumElements() > kFoldLimit)
    return {};
  // Each operand gives a run of elements for each position before the axis.
  SmallVector<APInt> bits;
  int64_t runs = ShapedType::getNumElements(ArrayRef(shape).take_front(axis));
  for (int64_t run = 0; run < runs; ++run)
    for (const ElementReader &part : parts) {
      int64_t length = part.size() / runs;
      for (int64_t i = 0; i < length; ++i)
        bits.push_back(part.bits(run * length + i));
    }
  return makeBits(type, bits);
}

LogicalResult SplitOp::fold(FoldAdaptor adaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if (getPieces().size() == 1) {
    OpFoldResult same = sameType(getX(), getPieces()[0]);
    results.push_back(same);
    return success(bool(same));
  }
  auto reader = ElementReader::get(adaptor.getX());
  if (!reader || reader->size() > kFoldLimit)
    return failure();
  ArrayRef<int64_t> whole = reader->type().getShape();
  int64_t axis = fromStart(getAxis(), whole.size()), start = 0;
  Shape strides = stridesOf(whole);
  for (int64_t size : getSplit()) {
    Shape shape(whole);
    shape[axis] = size;
    Attribute piece =
        pickElements(adaptor.getX(), shape, [&](ArrayRef<int64_t> position) {
          int64_t offset = start * strides[axis];
          for (auto [stride, i] : llvm::zip_equal(strides, position))
            offset += stride * i;
          return offset;
        });
    if (!piece)
      return failure();
    results.push_back(piece);
    start += size;
  }
  return success();
}

namespace {

/// The positions that a slice with constant operands picks.
struct ConstantSlice {
  Shape starts, ends, steps, axes;

  static std::optional<ConstantSlice> get(SliceOp op);
  /// True if it picks all of x.
  bool isWhole(RankedTensorType type) const;
};

} // namespace

std::optional<ConstantSlice> ConstantSlice::get(SliceOp op) {
  auto starts = allIntegers(op.getStarts()), ends = allIntegers(op.getEnds());
  if (!starts || !ends || starts->size() != ends->size())
    return std::nullopt;
  ConstantSlice slice;
  slice.starts.assign(starts->begin(), starts->end());
  slice.ends.assign(ends->begin(), ends->end());
  slice.steps.assign(starts->size(), 1);
  for (size_t i = 0; i < starts->size(); ++i)
    slice.axes.push_back(i);
  int64_t rank = typeOf(op.getX()).getRank();
  if (op.getSteps()) {
    auto steps = allIntegers(op.getSteps());
    if (!steps || steps->size() != starts->size())
      return std::nullopt;
    slice.steps.assign(steps->begin(), steps->end());
  }
  if (op.getAxes()) {
    auto axes = allIntegers(op.getAxes());
    if (!axes || axes->size() != starts->size())
      return std::nullopt;
    for (auto [axis, given] : llvm::zip_equal(slice.axes, *axes))
      axis = fromStart(given, rank);
  }
  return slice;
}

bool ConstantSlice::isWhole(RankedTensorType type) const {
  // ONNX has the greatest int stand for the end of an unknown dimension.
  constexpr int64_t toEnd = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t dim = type.getDimSize(axes[i]);
    bool all = known(dim) ? ends[i] >= dim : ends[i] >= toEnd;
    if (starts[i] != 0 || steps[i] != 1 || !all)
      return false;
  }
  return true;
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (Attribute known = foldKnown(getY()))
    return known;
  std::optional<ConstantSlice> slice = ConstantSlice::get(*this);
  if (!slice)
    return {};
  if (slice->isWhole(typeOf(getX())))
    if (OpFoldResult x = sameType(getX(), getY()))
      return x;
  auto reader = ElementReader::get(adaptor.getX());
  if (!reader)
    return {};
  Shape shape(reader->type().getShape()), strides = stridesOf(shape);
  int64_t base = 0;
  for (size_t i = 0; i < slice->axes.size(); ++i) {
    int64_t axis = slice->axes[i], step = slice->steps[i];
    if (step == 0)
      return {};
    SliceRange range =
        clampSlice(slice->starts[i], slice->ends[i], step, shape[axis]);
    shape[axis] = range.count;
    base += range.start * strides[axis];
    // With one element, the step may be anything.
    strides[axis] = range.count > 1 ? strides[axis] * step : 0;
  }
  return pickElements(adaptor.getX(), shape, [&](ArrayRef<int64_t> position) {
    int64_t offset = base;
    for (auto [stride, i] : llvm::zip_equal(strides, position))
      offset += stride * i;
    return offset;
  });
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto pads = allIntegers(getPads());
  if (pads && llvm::all_of(*pads, [](int64_t count) { return count == 0; }))
    return sameType(getX(), getY());
  return {};
}

//===----------------------------------------------------------------------===//
// Picking
//===----------------------------------------------------------------------===//

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  if (Attribute known = foldKnown(getY()))
    return known;
  auto reader = ElementReader::get(adaptor.getX());
  auto indices = integerElements(adaptor.getIndices(), kFoldLimit);
  if (!reader || !indices)
    return {};
  ArrayRef<int64_t> whole = reader->type().getShape();
  int64_t axis = fromStart(getAxis(), whole.size());
  auto indexType = cast<ElementsAttr>(adaptor.getIndices()).getShapedType();
  Shape strides = stridesOf(whole), shape(whole.take_front(axis));
  Shape indexStrides = stridesOf(indexType.getShape());
  shape.append(Shape(indexType.getShape()));
  shape.append(Shape(whole.drop_front(axis + 1)));
  size_t indexRank = indexType.getRank();
  return pickElements(
      adaptor.getX(), shape, [&](ArrayRef<int64_t> position) -> int64_t {
        int64_t which = 0, offset = 0;
        for (size_t i = 0; i < indexRank; ++i)
          which += indexStrides[i] * position[axis + i];
        int64_t index = fromStart((*indices)[which], whole[axis]);
        if (index < 0 || index >= whole[axis])
          return -1;
        for (int64_t i = 0; i < axis; ++i)
          offset += strides[i] * position[i];
        for (size_t i = axis + 1; i < whole.size(); ++i)
          offset += strides[i] * position[i - 1 + indexRank];
        return offset + strides[axis] * index;
      });
}

OpFoldResult NonZeroOp::fold(FoldAdaptor adaptor) {
  auto reader = ElementReader::get(adaptor.getX());
  if (!reader || reader->size() > kFoldLimit)
    return {};
  int64_t rank = reader->type().getRank(), offset = 0;
  SmallVector<Int64s> rows(rank);
  int64_t count = 0;
  forEachPosition(reader->type().getShape(), [&](ArrayRef<int64_t> position) {
    bool isZero = reader->isFloat() ? reader->number(offset) == 0
                                    : reader->integer(offset) == 0;
    ++offset;
    if (isZero)
      return;
    ++count;
    for (auto [row, i] : llvm::zip_equal(rows, position))
      row.push_back(i);
  });
  if (rank * count > kFoldLimit)
    return {};
  Int64s all;
  for (const Int64s &row : rows)
    all.append(row);
  return makeIntegers(
      RankedTensorType::get({rank, count}, typeOf(getY()).getElementType()),
      all);
}
