//===- FoldReduce.cpp - Folds of reductions -------------------------------===//

#include "graph/Fold.h"
#include "graph/GraphReduce.h"

#include <cmath>

using namespace mlir;
using namespace phl::graph;

/// A reduction of dimensions of size 1 changes nothing but perhaps the shape.
template <typename Op>
static OpFoldResult foldReduction(Op op, Attribute x,
                                  const Reduction &reduction) {
  RankedTensorType type = typeOf(op.getX());
  int64_t rank = type.getRank();
  auto isOne = [&](int64_t axis) {
    return type.getDimSize(axis < 0 ? axis + rank : axis) == 1;
  };
  ArrayRef<int64_t> axes = op.getAxes();
  bool ones = axes.empty() ? llvm::all_of(type.getShape(),
                                          [](int64_t dim) { return dim == 1; })
                           : llvm::all_of(axes, isOne);
  if (ones)
    if (OpFoldResult same = sameType(op.getX(), op.getY()))
      return same;
  return foldReduce(x, axes, op.getKeepdims(), reduction);
}

static std::optional<int64_t> plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

OpFoldResult ReduceSumOp::fold(FoldAdaptor adaptor) {
  return foldReduction(*this, adaptor.getX(), {0, plus, std::plus<>()});
}

OpFoldResult ReduceMeanOp::fold(FoldAdaptor adaptor) {
  return foldReduction(*this, adaptor.getX(),
                       {0, plus, std::plus<>(), /*mean=*/true});
}

OpFoldResult ReduceProdOp::fold(FoldAdaptor adaptor) {
  auto times = [](int64_t a, int64_t b) -> std::optional<int64_t> {
    return static_cast<int64_t>(static_cast<uint64_t>(a) *
                                static_cast<uint64_t>(b));
  };
  return foldReduction(*this, adaptor.getX(), {1, times, std::multiplies<>()});
}

/// Folds to the element that `wins` prefers to all others.
template <typename Op, typename Wins>
static OpFoldResult foldExtremum(Op op, Attribute x, Wins wins) {
  bool wide = typeOf(op.getX()).getElementType().isUnsignedInteger(64);
  auto integers = [=](int64_t a, int64_t b) -> std::optional<int64_t> {
    bool first = wide ? wins(static_cast<uint64_t>(a), static_cast<uint64_t>(b))
                      : wins(a, b);
    return first ? a : b;
  };
  auto floats = [=](double a, double b) {
    return std::isnan(a) || wins(a, b) ? a : b;
  };
  return foldReduction(op, x, {std::nullopt, integers, floats});
}

OpFoldResult ReduceMaxOp::fold(FoldAdaptor adaptor) {
  return foldExtremum(*this, adaptor.getX(), std::greater<>());
}

OpFoldResult ReduceMinOp::fold(FoldAdaptor adaptor) {
  return foldExtremum(*this, adaptor.getX(), std::less<>());
}
