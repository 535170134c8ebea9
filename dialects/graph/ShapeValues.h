//===- ShapeValues.h - What is known of the integers in a value -*- C++ -*-===//
//
// Operands such as the shape of a reshape are values. They are often constants,
// or computed from the shapes of other values, of which some dimensions are
// known: [dim 0 of x, 768] says that the result is ?x768.
//
//===----------------------------------------------------------------------===//

#ifndef PHASELINE_GRAPH_SHAPE_VALUES_H
#define PHASELINE_GRAPH_SHAPE_VALUES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace phl::graph {

/// The elements of an integer tensor, as far as they are known.
using Integers = llvm::SmallVector<std::optional<int64_t>, 8>;

/// The value of a constant, or null.
mlir::ElementsAttr constantOf(mlir::Value value);

/// The elements of a scalar or one-dimensional integer tensor; nothing at all
/// if not even their number is known.
std::optional<Integers> knownIntegers(mlir::Value value);

/// The same, if every element is known.
std::optional<llvm::SmallVector<int64_t, 8>> allIntegers(mlir::Value value);

/// The element of a tensor that has one, if it is known.
std::optional<int64_t> knownInteger(mlir::Value value);

} // namespace phl::graph

#endif // PHASELINE_GRAPH_SHAPE_VALUES_H
