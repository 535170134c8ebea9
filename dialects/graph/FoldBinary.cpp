//===- FoldBinary.cpp - Folds of broadcasting ops -------------------------===//

#include "graph/Fold.h"
#include "graph/GraphBinary.h"

#include <cmath>

using namespace mlir;
using namespace phl::graph;

using Integer = std::optional<int64_t>;

/// Applies an operation of unsigned 64-bit integers, where overflow wraps.
template <typename Operation> static auto wrapping(Operation operation) {
  return [=](int64_t a, int64_t b) -> Integer {
    return static_cast<int64_t>(
        operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  };
}

/// ui64 is the one type whose values do not all fit into int64_t.
static bool isWide(Value value) {
  return typeOf(value).getElementType().isUnsignedInteger(64);
}

static bool lessThan(int64_t a, int64_t b, bool wide) {
  return wide ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // In floats x + 0 is not x for x = -0.
  bool integers = isa<IntegerType>(typeOf(getA()).getElementType());
  if (integers && isFilledWith(adaptor.getB(), 0))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  if (Attribute known = foldKnown(getY()))
    return known;
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::plus<>()),
                    std::plus<>());
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isFilledWith(adaptor.getB(), 0))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  if (Attribute known = foldKnown(getY()))
    return known;
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::minus<>()),
                    std::minus<>());
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isFilledWith(adaptor.getB(), 1))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  if (Attribute known = foldKnown(getY()))
    return known;
  return foldBinary(adaptor.getA(), adaptor.getB(),
                    wrapping(std::multiplies<>()), std::multiplies<>());
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isFilledWith(adaptor.getB(), 1))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  if (Attribute known = foldKnown(getY()))
    return known;
  bool wide = isWide(getA());
  return foldBinary(
      adaptor.getA(), adaptor.getB(),
      [=](int64_t a, int64_t b) -> Integer {
        if (b == 0)
          return 0;
        if (wide)
          return static_cast<int64_t>(static_cast<uint64_t>(a) /
                                      static_cast<uint64_t>(b));
        // Division by -1 would trap on the least number.
        return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a))
                       : a / b;
      },
      std::divides<>());
}

OpFoldResult ModOp::fold(FoldAdaptor adaptor) {
  bool wide = isWide(getA()), truncates = getFmod();
  return foldBinary(
      adaptor.getA(), adaptor.getB(),
      [=](int64_t a, int64_t b) -> Integer {
        if (b == 0)
          return 0;
        if (wide)
          return static_cast<int64_t>(static_cast<uint64_t>(a) %
                                      static_cast<uint64_t>(b));
        int64_t rest = b == -1 ? 0 : a % b;
        bool otherSign = rest != 0 && (rest < 0) != (b < 0);
        return !truncates && otherSign ? rest + b : rest;
      },
      [=](double a, double b) {
        double rest = std::fmod(a, b);
        bool otherSign = rest != 0 && (rest < 0) != (b < 0);
        return !truncates && otherSign ? rest + b : rest;
      });
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB())
    return sameType(getA(), getY());
  if (Attribute known = foldKnown(getY()))
    return known;
  bool wide = isWide(getA());
  return foldBinary(
      adaptor.getA(), adaptor.getB(),
      [=](int64_t a, int64_t b) -> Integer {
        return lessThan(b, a, wide) ? b : a;
      },
      [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB())
    return sameType(getA(), getY());
  if (Attribute known = foldKnown(getY()))
    return known;
  bool wide = isWide(getA());
  return foldBinary(
      adaptor.getA(), adaptor.getB(),
      [=](int64_t a, int64_t b) -> Integer {
        return lessThan(a, b, wide) ? b : a;
      },
      [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}

static Integer integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return std::nullopt;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  if (isFilledWith(adaptor.getB(), 1))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  // Squares are exact whatever the type of the exponent.
  if (isFilledWith(adaptor.getB(), 2))
    if (Attribute b = foldCast(adaptor.getB(), typeOf(getA()).getElementType()))
      return foldBinary(adaptor.getA(), b, integerPower,
                        [](double a, double) { return a * a; });
  if (typeOf(getA()).getElementType() != typeOf(getB()).getElementType())
    return {};
  return foldBinary(adaptor.getA(), adaptor.getB(), integerPower,
                    [](double a, double b) { return std::pow(a, b); });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Folds a comparison that is a function of a < b and b < a.
template <typename Function>
static Attribute foldCompare(Value value, Attribute a, Attribute b,
                             Function holds) {
  bool wide = isWide(value);
  return foldBinary(
      a, b,
      [=](int64_t x, int64_t y) -> Integer {
        return holds(lessThan(x, y, wide), lessThan(y, x, wide), x == y);
      },
      [=](double x, double y) -> double { return holds(x < y, y < x, x == y); },
      IntegerType::get(value.getContext(), 1));
}

OpFoldResult EqualOp::fold(FoldAdaptor adaptor) {
  if (Attribute known = foldKnown(getY()))
    return known;
  return foldCompare(getA(), adaptor.getA(), adaptor.getB(),
                     [](bool, bool, bool equal) { return equal; });
}

OpFoldResult GreaterOp::fold(FoldAdaptor adaptor) {
  return foldCompare(getA(), adaptor.getA(), adaptor.getB(),
                     [](bool, bool more, bool) { return more; });
}

OpFoldResult GreaterOrEqualOp::fold(FoldAdaptor adaptor) {
  return foldCompare(getA(), adaptor.getA(), adaptor.getB(),
                     [](bool, bool more, bool equal) { return more || equal; });
}

OpFoldResult LessOp::fold(FoldAdaptor adaptor) {
  return foldCompare(getA(), adaptor.getA(), adaptor.getB(),
                     [](bool less, bool, bool) { return less; });
}

OpFoldResult LessOrEqualOp::fold(FoldAdaptor adaptor) {
  return foldCompare(getA(), adaptor.getA(), adaptor.getB(),
                     [](bool less, bool, bool equal) { return less || equal; });
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB() || isFilledWith(adaptor.getB(), 1))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::bit_and<>()),
                    {});
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB() || isFilledWith(adaptor.getB(), 0))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::bit_or<>()),
                    {});
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::bit_xor<>()),
                    {});
}

OpFoldResult BitwiseAndOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::bit_and<>()),
                    {});
}

OpFoldResult BitwiseOrOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::bit_or<>()),
                    {});
}

OpFoldResult BitwiseXorOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getA(), adaptor.getB(), wrapping(std::bit_xor<>()),
                    {});
}

OpFoldResult BitShiftOp::fold(FoldAdaptor adaptor) {
  bool left = getDirection() == "LEFT";
  uint64_t width = typeOf(getA()).getElementTypeBitWidth();
  return foldBinary(adaptor.getA(), adaptor.getB(),
                    wrapping([=](uint64_t a, uint64_t b) -> uint64_t {
                      return b >= width ? 0 : left ? a << b : a >> b;
                    }),
                    {});
}

OpFoldResult WhereOp::fold(FoldAdaptor adaptor) {
  Attribute condition = adaptor.getCondition();
  if (getA() == getB() || isFilledWith(condition, 1))
    if (OpFoldResult a = sameType(getA(), getY()))
      return a;
  if (isFilledWith(condition, 0))
    if (OpFoldResult b = sameType(getB(), getY()))
      return b;
  if (Attribute known = foldKnown(getY()))
    return known;
  auto mask = ElementReader::get(condition);
  auto a = ElementReader::get(adaptor.getA());
  auto b = ElementReader::get(adaptor.getB());
  if (!mask || !a || !b)
    return {};
  // Broadcasting reads at most as many elements as the result has.
  Infer silent(getContext(), std::nullopt, "");
  FailureOr<Shape> shape =
      silent.broadcast(a->type().getShape(), b->type().getShape());
  if (succeeded(shape))
    shape = silent.broadcast(*shape, mask->type().getShape());
  if (failed(shape) || ShapedType::getNumElements(*shape) > kFoldLimit)
    return {};
  Int64s fromMask = broadcastOffsets(mask->type().getShape(), *shape);
  Int64s fromA = broadcastOffsets(a->type().getShape(), *shape);
  Int64s fromB = broadcastOffsets(b->type().getShape(), *shape);
  SmallVector<APInt> bits;
  for (auto [m, x, y] : llvm::zip_equal(fromMask, fromA, fromB))
    bits.push_back(mask->integer(m) ? a->bits(x) : b->bits(y));
  return makeBits(RankedTensorType::get(*shape, a->elementType()), bits);
}
