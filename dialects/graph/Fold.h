//===- Fold.h - What the folders are made of --------------------*- C++ -*-===//
//
// Constants are folded only where the result is small, as it is in shape
// arithmetic; weights are left to the passes, which know what it costs.
//
//===----------------------------------------------------------------------===//

#ifndef PHASELINE_GRAPH_FOLD_H
#define PHASELINE_GRAPH_FOLD_H

#include "graph/Elements.h"
#include "graph/Infer.h"

#include "mlir/IR/OpDefinition.h"

namespace phl::graph {

/// The most elements that a constant made by folding has.
constexpr int64_t kFoldLimit = 4096;
/// The most elements that are read to make one.
constexpr int64_t kReadLimit = 1 << 16;

//===----------------------------------------------------------------------===//
// Replacing an op by a value
//===----------------------------------------------------------------------===//

/// `value`, if it may stand for `result`: it must have the very same type.
inline mlir::OpFoldResult sameType(mlir::Value value, mlir::Value result) {
  if (value && value.getType() == result.getType())
    return value;
  return {};
}

/// A constant for a scalar or list of integers that type inference knows all
/// elements of, such as a size picked from the shape of a tensor.
mlir::Attribute foldKnown(mlir::Value result);

/// True if all elements of a constant are `number`.
bool isFilledWith(mlir::Attribute value, double number);

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

/// Distances between neighbours along each dimension, in row-major order.
Shape stridesOf(llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with each position in `shape`, in row-major order.
void forEachPosition(llvm::ArrayRef<int64_t> shape,
                     llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// The constant of `shape` whose elements are those of x at the offsets that
/// `source` gives for their positions. Null if it is not small.
mlir::Attribute
pickElements(mlir::Attribute x, llvm::ArrayRef<int64_t> shape,
             llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> source);

/// For each element of `to`, the offset of the element of `from` that is
/// broadcast to it.
Int64s broadcastOffsets(llvm::ArrayRef<int64_t> from,
                        llvm::ArrayRef<int64_t> to);

//===----------------------------------------------------------------------===//
// Computing elements
//===----------------------------------------------------------------------===//

using IntUnary = llvm::function_ref<int64_t(int64_t)>;
using FloatUnary = llvm::function_ref<double(double)>;
/// Binary functions give nothing where the result is undefined.
using IntBinary = llvm::function_ref<std::optional<int64_t>(int64_t, int64_t)>;
using FloatBinary = llvm::function_ref<double(double, double)>;

/// Applies a function to each element. Results are cut or rounded to the
/// element type. Without a function for the element type: null.
mlir::Attribute foldUnary(mlir::Attribute x, IntUnary ints, FloatUnary floats);
/// The same for two constants that broadcast to one shape. `element` is the
/// type of the result, if it is not that of a.
mlir::Attribute foldBinary(mlir::Attribute a, mlir::Attribute b, IntBinary ints,
                           FloatBinary floats, mlir::Type element = {});

/// Combines elements over `axes` (empty: all), starting from `ints` or
/// `floats`; without a start from the first element.
struct Reduction {
  std::optional<double> start;
  IntBinary ints;
  FloatBinary floats;
  /// Applied to the result and the number of elements.
  bool mean = false;
};
mlir::Attribute foldReduce(mlir::Attribute x, llvm::ArrayRef<int64_t> axes,
                           bool keepDims, const Reduction &reduction);

/// Converts between element types, with the meaning of `graph.cast`. Null if
/// a value has no defined result.
mlir::Attribute foldCast(mlir::Attribute x, mlir::Type element);

} // namespace phl::graph

#endif // PHASELINE_GRAPH_FOLD_H
