//===- Fold.cpp - Moving and computing the elements of constants ----------===//

#include "graph/Fold.h"

#include "graph/ShapeValues.h"

#include <cmath>

using namespace mlir;

namespace phl::graph {

Attribute foldKnown(Value result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || type.getRank() > 1)
    return {};
  auto values = allIntegers(result);
  if (!values)
    return {};
  Shape shape;
  if (type.getRank() == 1)
    shape.push_back(values->size());
  else if (values->size() != 1)
    return {};
  return makeIntegers(RankedTensorType::get(shape, type.getElementType()),
                      *values);
}

bool isFilledWith(Attribute value, double number) {
  std::optional<ElementReader> reader = ElementReader::get(value);
  if (!reader || reader->size() == 0 ||
      (!reader->isSplat() && reader->size() > kFoldLimit))
    return false;
  int64_t count = reader->isSplat() ? 1 : reader->size();
  for (int64_t i = 0; i < count; ++i) {
    double element = reader->isFloat()
                         ? reader->number(i)
                         : static_cast<double>(reader->integer(i));
    if (element != number)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void forEachPosition(ArrayRef<int64_t> shape,
                     llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  Shape position(shape.size(), 0);
  while (true) {
    visit(position);
    size_t axis = shape.size();
    while (axis > 0 && ++position[axis - 1] == shape[axis - 1])
      position[--axis] = 0;
    if (axis == 0)
      return;
  }
}

/// The type of a constant that may be made, or null.
static RankedTensorType smallType(ArrayRef<int64_t> shape, Type element) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0)
      return {};
    count = std::min(count, kFoldLimit + 1) * std::min(dim, kFoldLimit + 1);
  }
  if (count > kFoldLimit && !llvm::is_contained(shape, 0))
    return {};
  return RankedTensorType::get(shape, element);
}

Attribute pickElements(Attribute x, ArrayRef<int64_t> shape,
                       llvm::function_ref<int64_t(ArrayRef<int64_t>)> source) {
  std::optional<ElementReader> reader = ElementReader::get(x);
  if (!reader)
    return {};
  RankedTensorType type = smallType(shape, reader->elementType());
  if (!type)
    return {};
  SmallVector<APInt> bits;
  bits.reserve(type.getNumElements());
  bool valid = true;
  forEachPosition(shape, [&](ArrayRef<int64_t> position) {
    int64_t offset = source(position);
    valid &= offset >= 0 && offset < reader->size();
    if (valid)
      bits.push_back(reader->bits(offset));
  });
  return valid ? makeBits(type, bits) : Attribute();
}

Int64s broadcastOffsets(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Shape strides = stridesOf(from);
  size_t skipped = to.size() - from.size();
  Int64s offsets;
  forEachPosition(to, [&](ArrayRef<int64_t> position) {
    int64_t offset = 0;
    for (size_t i = 0; i < from.size(); ++i)
      offset += from[i] == 1 ? 0 : strides[i] * position[i + skipped];
    offsets.push_back(offset);
  });
  return offsets;
}

//===----------------------------------------------------------------------===//
// Computing elements
//===----------------------------------------------------------------------===//

/// True if one value stands for all elements, of which there are too many to be
/// written out.
static bool isLargeSplat(const ElementReader &reader) {
  return reader.isSplat() && reader.size() > kFoldLimit;
}

/// A constant with the one value of `scalar` everywhere.
static Attribute spread(Attribute scalar, RankedTensorType type) {
  auto value = dyn_cast_or_null<DenseElementsAttr>(scalar);
  return value && value.isSplat() ? value.resizeSplat(type) : Attribute();
}

Attribute foldUnary(Attribute x, IntUnary ints, FloatUnary floats) {
  std::optional<ElementReader> reader = ElementReader::get(x);
  if (!reader || !(reader->isFloat() ? bool(floats) : bool(ints)))
    return {};
  bool large = isLargeSplat(*reader);
  if (!large && reader->size() > kFoldLimit)
    return {};
  Type element = reader->elementType();
  if (large) {
    auto one = RankedTensorType::get({}, element);
    return spread(
        reader->isFloat()
            ? makeFloats(one, floats(reader->number(0)))
            : makeIntegers(one, wrapInteger(ints(reader->integer(0)), element)),
        reader->type());
  }
  Int64s integers;
  Doubles numbers;
  for (int64_t i = 0; i < reader->size(); ++i) {
    if (reader->isFloat())
      numbers.push_back(floats(reader->number(i)));
    else
      integers.push_back(wrapInteger(ints(reader->integer(i)), element));
  }
  return reader->isFloat() ? makeFloats(reader->type(), numbers)
                           : makeIntegers(reader->type(), integers);
}

Attribute foldBinary(Attribute a, Attribute b, IntBinary ints,
                     FloatBinary floats, Type element) {
  std::optional<ElementReader> left = ElementReader::get(a);
  std::optional<ElementReader> right = ElementReader::get(b);
  if (!left || !right || left->elementType() != right->elementType() ||
      !(left->isFloat() ? bool(floats) : bool(ints)))
    return {};
  Infer silent(a.getContext(), std::nullopt, "");
  FailureOr<Shape> shape =
      silent.broadcast(left->type().getShape(), right->type().getShape());
  if (failed(shape))
    return {};
  element = element ? element : left->elementType();
  RankedTensorType type = smallType(*shape, element);
  if (!type) {
    auto single = [](ElementReader &reader) {
      return reader.size() == 1 || isLargeSplat(reader);
    };
    if (!single(*left) || !single(*right) ||
        llvm::any_of(*shape, [](int64_t dim) { return dim < 0; }))
      return {};
    auto one = [](ElementReader &reader, Attribute value) -> Attribute {
      auto dense = cast<DenseElementsAttr>(value);
      auto scalar = RankedTensorType::get({}, reader.elementType());
      return dense.isSplat() ? dense.resizeSplat(scalar) : Attribute();
    };
    if (!isa<DenseElementsAttr>(a) || !isa<DenseElementsAttr>(b))
      return {};
    return spread(
        foldBinary(one(*left, a), one(*right, b), ints, floats, element),
        RankedTensorType::get(*shape, element));
  }
  Int64s from = broadcastOffsets(left->type().getShape(), *shape);
  Int64s with = broadcastOffsets(right->type().getShape(), *shape);
  Int64s integers;
  Doubles numbers;
  for (auto [i, j] : llvm::zip_equal(from, with)) {
    if (left->isFloat()) {
      numbers.push_back(floats(left->number(i), right->number(j)));
    } else if (auto value = ints(left->integer(i), right->integer(j))) {
      integers.push_back(wrapInteger(*value, element));
    } else {
      return {};
    }
  }
  if (!left->isFloat())
    return makeIntegers(type, integers);
  if (isa<FloatType>(element))
    return makeFloats(type, numbers);
  // A comparison of floats.
  return makeIntegers(type, llvm::map_to_vector(numbers, [](double number) {
                        return static_cast<int64_t>(number);
                      }));
}

/// Reduces the elements of one result. Sums are rounded once, in the end.
static std::optional<double> reduceFloats(const ElementReader &x,
                                          ArrayRef<int64_t> offsets,
                                          const Reduction &reduction) {
  size_t first = reduction.start ? 0 : 1;
  if (offsets.size() < first)
    return std::nullopt;
  double result = reduction.start.value_or(0);
  if (!reduction.start)
    result = x.number(offsets[0]);
  for (int64_t offset : offsets.drop_front(first))
    result = reduction.floats(result, x.number(offset));
  if (reduction.mean)
    result /= static_cast<double>(offsets.size());
  return result;
}

static std::optional<int64_t> reduceIntegers(const ElementReader &x,
                                             ArrayRef<int64_t> offsets,
                                             const Reduction &reduction) {
  size_t first = reduction.start ? 0 : 1;
  if (offsets.size() < first || (reduction.mean && offsets.empty()))
    return std::nullopt;
  int64_t result = static_cast<int64_t>(reduction.start.value_or(0));
  if (!reduction.start)
    result = x.integer(offsets[0]);
  for (int64_t offset : offsets.drop_front(first)) {
    std::optional<int64_t> next = reduction.ints(result, x.integer(offset));
    if (!next)
      return std::nullopt;
    result = wrapInteger(*next, x.elementType());
  }
  if (!reduction.mean)
    return result;
  if (x.elementType().isUnsignedInteger(64))
    return static_cast<int64_t>(static_cast<uint64_t>(result) / offsets.size());
  return result / static_cast<int64_t>(offsets.size());
}

Attribute foldReduce(Attribute x, ArrayRef<int64_t> axes, bool keepDims,
                     const Reduction &reduction) {
  std::optional<ElementReader> reader = ElementReader::get(x);
  if (!reader || reader->size() > kReadLimit)
    return {};
  ArrayRef<int64_t> shape = reader->type().getShape();
  int64_t rank = shape.size();
  SmallVector<bool> reduced(rank, axes.empty());
  for (int64_t axis : axes)
    reduced[axis < 0 ? axis + rank : axis] = true;

  Shape outer, kept, result;
  for (int64_t i = 0; i < rank; ++i) {
    outer.push_back(reduced[i] ? 1 : shape[i]);
    if (!reduced[i] || keepDims)
      result.push_back(outer.back());
  }
  RankedTensorType type = smallType(result, reader->elementType());
  if (!type)
    return {};
  // The offsets of the elements that meet in each element of the result.
  SmallVector<Int64s> groups(type.getNumElements());
  Shape strides = stridesOf(outer);
  int64_t offset = 0;
  forEachPosition(shape, [&](ArrayRef<int64_t> position) {
    int64_t group = 0;
    for (int64_t i = 0; i < rank; ++i)
      group += reduced[i] ? 0 : strides[i] * position[i];
    groups[group].push_back(offset++);
  });

  Int64s integers;
  Doubles numbers;
  for (ArrayRef<int64_t> group : groups) {
    if (reader->isFloat()) {
      std::optional<double> value = reduceFloats(*reader, group, reduction);
      if (!value)
        return {};
      numbers.push_back(*value);
    } else {
      std::optional<int64_t> value = reduceIntegers(*reader, group, reduction);
      if (!value)
        return {};
      integers.push_back(*value);
    }
  }
  return reader->isFloat() ? makeFloats(type, numbers)
                           : makeIntegers(type, integers);
}

/// A float as an integer: without its fraction, the nearest integer of the type
/// if it is out of range, and 0 for NaN.
static int64_t truncate(double value, Type element) {
  if (element.isInteger(1))
    return value != 0;
  if (std::isnan(value))
    return 0;
  unsigned width = element.getIntOrFloatBitWidth();
  bool isSigned = !element.isUnsignedInteger();
  double above = std::ldexp(1.0, isSigned ? width - 1 : width);
  APInt low = isSigned ? APInt::getSignedMinValue(width) : APInt(width, 0);
  APInt high =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  auto number = [&](const APInt &bits) {
    return isSigned ? bits.getSExtValue()
                    : static_cast<int64_t>(bits.getZExtValue());
  };
  if (value >= above)
    return number(high);
  if (value <= (isSigned ? -above : 0.0))
    return number(low);
  return isSigned ? static_cast<int64_t>(value)
                  : static_cast<int64_t>(static_cast<uint64_t>(value));
}

/// An integer as a float, rounded once.
static APFloat toFloat(int64_t value, Type from, FloatType to) {
  bool isSigned = !from.isUnsignedInteger();
  APFloat result(to.getFloatSemantics());
  result.convertFromAPInt(APInt(64, static_cast<uint64_t>(value), isSigned),
                          isSigned, APFloat::rmNearestTiesToEven);
  return result;
}

Attribute foldCast(Attribute x, Type element) {
  std::optional<ElementReader> reader = ElementReader::get(x);
  // Out of range, 8-bit floats depend on `saturate`; nobody computes with them.
  if (!reader || reader->size() > kFoldLimit ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16))
    return {};
  auto type = RankedTensorType::get(reader->type().getShape(), element);
  auto number = dyn_cast<FloatType>(element);
  Int64s integers;
  SmallVector<APInt> bits;
  for (int64_t i = 0; i < reader->size(); ++i) {
    if (reader->isFloat() && number) {
      bits.push_back(
          makeFloats(RankedTensorType::get({}, element), {reader->number(i)})
              .getSplatValue<APFloat>()
              .bitcastToAPInt());
    } else if (number) {
      bits.push_back(toFloat(reader->integer(i), reader->elementType(), number)
                         .bitcastToAPInt());
    } else if (reader->isFloat()) {
      integers.push_back(truncate(reader->number(i), element));
    } else {
      int64_t value = reader->integer(i);
      integers.push_back(element.isInteger(1) ? value != 0
                                              : wrapInteger(value, element));
    }
  }
  return number ? makeBits(type, bits) : makeIntegers(type, integers);
}

} // namespace phl::graph
