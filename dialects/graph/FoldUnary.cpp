//===- FoldUnary.cpp - Folds of ops with one operand ----------------------===//

#include "graph/Fold.h"
#include "graph/GraphUnary.h"

#include <cmath>

using namespace mlir;
using namespace phl::graph;

// Integer arithmetic wraps around in 64 bits here, and is cut to the width of
// the type afterwards.
static int64_t wrappingNeg(int64_t x) {
  return static_cast<int64_t>(-static_cast<uint64_t>(x));
}

static bool isUnsigned(Value value) {
  return typeOf(value).getElementType().isUnsignedInteger();
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (isUnsigned(getX()))
    return sameType(getX(), getY());
  return foldUnary(
      adaptor.getX(), [](int64_t x) { return x < 0 ? wrappingNeg(x) : x; },
      [](double x) { return std::fabs(x); });
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    if (OpFoldResult x = sameType(inner.getX(), getY()))
      return x;
  return foldUnary(adaptor.getX(), wrappingNeg, [](double x) { return -x; });
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  bool isUnsignedInteger = isUnsigned(getX());
  return foldUnary(
      adaptor.getX(),
      [=](int64_t x) -> int64_t {
        return isUnsignedInteger ? x != 0 : (x > 0) - (x < 0);
      },
      [](double x) { return x > 0   ? 1.0
                            : x < 0 ? -1.0
                                    : x; });
}

OpFoldResult ReciprocalOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getX(), {}, [](double x) { return 1 / x; });
}

OpFoldResult SqrtOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getX(), {}, [](double x) { return std::sqrt(x); });
}

OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getX(), {}, [](double x) { return std::floor(x); });
}

OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getX(), {}, [](double x) { return std::ceil(x); });
}

OpFoldResult RoundOp::fold(FoldAdaptor adaptor) {
  // Whatever the rounding mode of the process is.
  return foldUnary(adaptor.getX(), {}, [](double x) {
    APFloat value(x);
    value.roundToIntegral(APFloat::rmNearestTiesToEven);
    return value.convertToDouble();
  });
}

OpFoldResult IdentityOp::fold(FoldAdaptor adaptor) {
  if (Attribute x = adaptor.getX())
    return x;
  return sameType(getX(), getY());
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NotOp>())
    if (OpFoldResult x = sameType(inner.getX(), getY()))
      return x;
  return foldUnary(adaptor.getX(), [](int64_t x) -> int64_t { return !x; }, {});
}

OpFoldResult BitwiseNotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<BitwiseNotOp>())
    if (OpFoldResult x = sameType(inner.getX(), getY()))
      return x;
  return foldUnary(adaptor.getX(), [](int64_t x) { return ~x; }, {});
}

OpFoldResult ReluOp::fold(FoldAdaptor adaptor) {
  if (isUnsigned(getX()) || getX().getDefiningOp<ReluOp>())
    return sameType(getX(), getY());
  return foldUnary(
      adaptor.getX(), [](int64_t x) { return std::max<int64_t>(x, 0); },
      [](double x) { return x < 0 ? 0 : x; });
}

//===----------------------------------------------------------------------===//
// Elementary functions
//===----------------------------------------------------------------------===//

/// Computed in double precision and rounded once.
static Attribute foldFunction(Attribute x, double (*function)(double)) {
  return foldUnary(x, {}, function);
}

OpFoldResult ExpOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::exp);
}

OpFoldResult LogOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::log);
}

OpFoldResult ErfOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::erf);
}

OpFoldResult SinOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::sin);
}

OpFoldResult CosOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::cos);
}

OpFoldResult TanOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::tan);
}

OpFoldResult AsinOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::asin);
}

OpFoldResult AcosOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::acos);
}

OpFoldResult AtanOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::atan);
}

OpFoldResult SinhOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::sinh);
}

OpFoldResult CoshOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::cosh);
}

OpFoldResult TanhOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::tanh);
}

OpFoldResult AsinhOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::asinh);
}

OpFoldResult AcoshOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::acosh);
}

OpFoldResult AtanhOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(), std::atanh);
}

OpFoldResult SigmoidOp::fold(FoldAdaptor adaptor) {
  return foldFunction(adaptor.getX(),
                      [](double x) { return 1 / (1 + std::exp(-x)); });
}

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

/// True if a bound is known to be NaN.
static bool isNaN(Attribute bound) {
  auto reader = ElementReader::get(bound);
  return reader && reader->isFloat() && reader->size() == 1 &&
         std::isnan(reader->number(0));
}

OpFoldResult ClipOp::fold(FoldAdaptor adaptor) {
  // No bound at all: targets need not know of it.
  bool noMin = isNaN(adaptor.getMin()), noMax = isNaN(adaptor.getMax());
  if (noMin)
    getMinMutable().clear();
  if (noMax)
    getMaxMutable().clear();
  if (noMin || noMax)
    return getY();
  if (!getMin() && !getMax())
    return sameType(getX(), getY());
  auto x = ElementReader::get(adaptor.getX());
  auto least = ElementReader::get(adaptor.getMin());
  auto most = ElementReader::get(adaptor.getMax());
  auto missing = [](const std::optional<ElementReader> &bound, Value operand) {
    return operand && (!bound || bound->size() != 1);
  };
  if (!x || missing(least, getMin()) || missing(most, getMax()) ||
      x->elementType().isUnsignedInteger(64))
    return {};
  return foldUnary(
      adaptor.getX(),
      [&](int64_t value) {
        value = least ? std::max(value, least->integer(0)) : value;
        return most ? std::min(value, most->integer(0)) : value;
      },
      [&](double value) {
        value = least ? std::max(value, least->number(0)) : value;
        return most ? std::min(value, most->number(0)) : value;
      });
}

//===----------------------------------------------------------------------===//
// Cast
//===----------------------------------------------------------------------===//

/// The bits of an integer type that make its greatest value, and whether it has
/// negative values.
static std::pair<unsigned, bool> integerRange(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  bool isSigned = !type.isUnsignedInteger() && width > 1;
  return {isSigned ? width - 1 : width, isSigned};
}

/// True if each value of `from` is a value of `to`.
static bool isLossless(Type from, Type to) {
  if (from == to)
    return true;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat) {
    const llvm::fltSemantics &a = fromFloat.getFloatSemantics();
    const llvm::fltSemantics &b = toFloat.getFloatSemantics();
    // Only IEEE types: others have no infinities, or no negative zero.
    return APFloat::isIEEELikeFP(a) && APFloat::isIEEELikeFP(b) &&
           APFloat::semanticsPrecision(a) <= APFloat::semanticsPrecision(b) &&
           APFloat::semanticsMaxExponent(a) <=
               APFloat::semanticsMaxExponent(b) &&
           APFloat::semanticsMinExponent(a) >= APFloat::semanticsMinExponent(b);
  }
  if (fromFloat || !isa<IntegerType>(from))
    return false;
  auto [bits, isSigned] = integerRange(from);
  if (toFloat)
    return bits <= APFloat::semanticsPrecision(toFloat.getFloatSemantics()) &&
           static_cast<int>(bits) <=
               APFloat::semanticsMaxExponent(toFloat.getFloatSemantics());
  if (!isa<IntegerType>(to) || to.isInteger(1))
    return false;
  auto [room, holdsNegative] = integerRange(to);
  return bits <= room && (!isSigned || holdsNegative);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (typeOf(getX()).getElementType() == getTo()) {
    if (Attribute x = adaptor.getX())
      return x;
    return sameType(getX(), getY());
  }
  if (Attribute x = foldCast(adaptor.getX(), getTo()))
    return x;
  // Skip a cast in front that changes no value.
  auto inner = getX().getDefiningOp<CastOp>();
  if (inner && isLossless(typeOf(inner.getX()).getElementType(),
                          typeOf(getX()).getElementType())) {
    getXMutable().assign(inner.getX());
    return getY();
  }
  return {};
}
