//===- FoldShape.cpp - Folds of constants and ops on shapes ---------------===//

#include "graph/Fold.h"
#include "graph/GraphShape.h"
#include "graph/ShapeValues.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace phl::graph;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getY(), "cst");
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

OpFoldResult ShapeOp::fold(FoldAdaptor) { return foldKnown(getY()); }

OpFoldResult SizeOp::fold(FoldAdaptor) { return foldKnown(getY()); }

OpFoldResult ConstantOfShapeOp::fold(FoldAdaptor) {
  auto sizes = allIntegers(getShape());
  auto value = dyn_cast<DenseElementsAttr>(getValue());
  if (!sizes || !value)
    return {};
  Shape shape(sizes->begin(), sizes->end());
  auto type = RankedTensorType::get(shape, value.getElementType());
  if (isa<FloatType>(value.getElementType()))
    return DenseElementsAttr::get(type, *value.getValues<APFloat>().begin());
  return DenseElementsAttr::get(type, *value.getValues<APInt>().begin());
}

OpFoldResult RangeOp::fold(FoldAdaptor adaptor) {
  auto start = ElementReader::get(adaptor.getStart());
  auto delta = ElementReader::get(adaptor.getDelta());
  if (!start || !delta || !adaptor.getLimit() || start->size() != 1 ||
      delta->size() != 1)
    return {};
  // Inference counts the elements.
  SmallVector<Type> types;
  if (failed(inferReturnTypes(getContext(), std::nullopt, getOperands(),
                              (*this)->getRawDictionaryAttrs(),
                              (*this)->getPropertiesStorage(),
                              (*this)->getRegions(), types)))
    return {};
  auto type = cast<RankedTensorType>(types.front());
  if (!type.hasStaticShape() || type.getNumElements() > kFoldLimit)
    return {};
  Int64s integers;
  Doubles numbers;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    if (start->isFloat())
      numbers.push_back(start->number(0) +
                        static_cast<double>(i) * delta->number(0));
    else
      integers.push_back(static_cast<int64_t>(
          static_cast<uint64_t>(start->integer(0)) +
          static_cast<uint64_t>(i) * static_cast<uint64_t>(delta->integer(0))));
  }
  return start->isFloat() ? makeFloats(type, numbers)
                          : makeIntegers(type, integers);
}

//===----------------------------------------------------------------------===//
// Reshaping
//===----------------------------------------------------------------------===//

/// The operand of an op that keeps its elements in row-major order, or null.
static Value reshapedFrom(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp>(
          [](auto op) { return op.getX(); })
      .Default([](Operation *) { return Value(); });
}

/// Folds that all these ops share: nothing to do, a constant, or the reverse of
/// the op in front.
template <typename Op> static OpFoldResult foldReshape(Op op, Attribute x) {
  RankedTensorType type = typeOf(op.getX()), result = typeOf(op.getY());
  // With at most one size open, both have as many elements only if it is equal.
  auto fixed = [](RankedTensorType type) {
    return type.getNumDynamicDims() <= 1 &&
           !llvm::is_contained(type.getShape(), 0);
  };
  if (type == result && fixed(type))
    return op.getX();
  if (Value inner = reshapedFrom(op.getX()))
    if (inner.getType() == result && fixed(result))
      return inner;
  if (Attribute known = foldKnown(op.getY()))
    return known;
  SmallVector<Type> types;
  if (!x || failed(Op::inferReturnTypes(
                op.getContext(), std::nullopt, op->getOperands(),
                op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                op->getRegions(), types)))
    return {};
  return Attribute(
      reshapeConstant(x, cast<RankedTensorType>(types[0]).getShape()));
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (OpFoldResult result = foldReshape(*this, adaptor.getX()))
    return result;
  // The shapes in between do not matter, unless sizes are copied from them.
  Value inner = reshapedFrom(getX());
  auto sizes = allIntegers(getShape());
  bool copies = !sizes || llvm::is_contained(*sizes, 0);
  if (inner && (getAllowzero() || !copies)) {
    getXMutable().assign(inner);
    return getY();
  }
  return {};
}

OpFoldResult FlattenOp::fold(FoldAdaptor adaptor) {
  return foldReshape(*this, adaptor.getX());
}

OpFoldResult SqueezeOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return sameType(getX(), getY());
  auto inner = getX().getDefiningOp<UnsqueezeOp>();
  if (inner && inner.getAxes() == getAxes())
    if (OpFoldResult x = sameType(inner.getX(), getY()))
      return x;
  return foldReshape(*this, adaptor.getX());
}

OpFoldResult UnsqueezeOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return sameType(getX(), getY());
  auto inner = getX().getDefiningOp<SqueezeOp>();
  if (inner && inner.getAxes() == getAxes())
    if (OpFoldResult x = sameType(inner.getX(), getY()))
      return x;
  return foldReshape(*this, adaptor.getX());
}

/// True if two operations are about the same blocks.
template <typename A, typename B> static bool sameBlocks(A a, B b) {
  return a.getDims() == b.getDims() && a.getBlocks() == b.getBlocks() &&
         a.getInner() == b.getInner();
}

OpFoldResult PackOp::fold(FoldAdaptor adaptor) {
  auto unpack = getX().getDefiningOp<UnpackOp>();
  if (!unpack || !sameBlocks(*this, unpack) ||
      unpack.getX().getType() != getType())
    return {};
  // The fill of a partial block would have to become zeros.
  auto shape = unpack.getType().getShape();
  for (auto [dim, block] : llvm::zip(getDims(), getBlocks()))
    if (shape[dim] % block != 0)
      return {};
  return unpack.getX();
}

OpFoldResult UnpackOp::fold(FoldAdaptor adaptor) {
  auto pack = getX().getDefiningOp<PackOp>();
  if (pack && sameBlocks(*this, pack) && pack.getX().getType() == getType())
    return pack.getX();
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> perm = getPerm();
  bool isIdentity = llvm::all_of(llvm::enumerate(perm), [](auto pair) {
    return pair.value() == static_cast<int64_t>(pair.index());
  });
  if (isIdentity)
    if (OpFoldResult x = sameType(getX(), getY()))
      return x;
  if (auto reader = ElementReader::get(adaptor.getX())) {
    ArrayRef<int64_t> from = reader->type().getShape();
    Shape strides = stridesOf(from), shape;
    for (int64_t axis : perm)
      shape.push_back(from[axis]);
    if (Attribute moved = pickElements(
            adaptor.getX(), shape, [&](ArrayRef<int64_t> position) {
              int64_t offset = 0;
              for (auto [axis, i] : llvm::zip_equal(perm, position))
                offset += strides[axis] * i;
              return offset;
            }))
      return moved;
  }
  // Two in a row are one.
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    Shape joined;
    for (int64_t axis : perm)
      joined.push_back(inner.getPerm()[axis]);
    setPerm(joined);
    getXMutable().assign(inner.getX());
    return getY();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Repeating
//===----------------------------------------------------------------------===//

/// A constant repeated to fill `shape`; one value fills any shape for free.
static Attribute repeat(Attribute x, ArrayRef<int64_t> shape) {
  auto reader = ElementReader::get(x);
  if (!reader || llvm::is_contained(shape, 0))
    return {};
  if (reader->isSplat())
    return makeBits(RankedTensorType::get(shape, reader->elementType()),
                    {reader->bits(0)});
  ArrayRef<int64_t> from = reader->type().getShape();
  Shape strides = stridesOf(from);
  size_t skipped = shape.size() - from.size();
  return pickElements(x, shape, [&](ArrayRef<int64_t> position) {
    int64_t offset = 0;
    for (size_t i = 0; i < from.size(); ++i)
      offset += strides[i] * (position[i + skipped] % from[i]);
    return offset;
  });
}

OpFoldResult ExpandOp::fold(FoldAdaptor adaptor) {
  // An unknown dimension of 1 may still be expanded.
  if (typeOf(getX()).hasStaticShape())
    if (OpFoldResult x = sameType(getX(), getY()))
      return x;
  auto sizes = allIntegers(getShape());
  if (!sizes || !adaptor.getX())
    return {};
  Infer silent(getContext(), std::nullopt, "");
  FailureOr<Shape> shape =
      silent.broadcast(typeOf(getX()).getShape(), ArrayRef<int64_t>(*sizes));
  if (failed(shape) || ShapedType::isDynamicShape(*shape))
    return {};
  return repeat(adaptor.getX(), *shape);
}

OpFoldResult TileOp::fold(FoldAdaptor adaptor) {
  auto repeats = allIntegers(getRepeats());
  if (!repeats)
    return {};
  if (llvm::all_of(*repeats, [](int64_t count) { return count == 1; }))
    if (OpFoldResult x = sameType(getX(), getY()))
      return x;
  auto reader = ElementReader::get(adaptor.getX());
  if (!reader)
    return {};
  Shape shape;
  for (auto [dim, count] :
       llvm::zip_equal(reader->type().getShape(), *repeats)) {
    int64_t size;
    if (llvm::MulOverflow(dim, count, size))
      return {};
    shape.push_back(size);
  }
  return repeat(adaptor.getX(), shape);
}
