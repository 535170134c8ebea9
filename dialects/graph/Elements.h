//===- Elements.h - Reading and making constants ----------------*- C++ -*-===//
//
// One view of dense and dense_resource constants of all element types, for the
// folders: integers as int64_t, floats as double, which holds every value of
// the narrower types exactly.
//
//===----------------------------------------------------------------------===//

#ifndef PHASELINE_GRAPH_ELEMENTS_H
#define PHASELINE_GRAPH_ELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace phl::graph {

using Int64s = llvm::SmallVector<int64_t>;
using Doubles = llvm::SmallVector<double>;

/// Random access to the elements of a constant.
class ElementReader {
public:
  /// Nothing for other attributes than tensor constants of static shape, for
  /// element types that are not numbers, and for resources that are missing or
  /// have another size than their type says.
  static std::optional<ElementReader> get(mlir::Attribute value);

  mlir::RankedTensorType type() const { return tensor; }
  mlir::Type elementType() const { return tensor.getElementType(); }
  int64_t size() const { return tensor.getNumElements(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(elementType()); }
  /// True if it is stored as one element that is repeated.
  bool isSplat() const { return dense && dense.isSplat(); }

  llvm::APInt bits(int64_t i) const;
  /// Signless integers are sign extended, unsigned ones are not; i1 is 0 or 1.
  int64_t integer(int64_t i) const;
  double number(int64_t i) const;

private:
  mlir::RankedTensorType tensor;
  mlir::DenseElementsAttr dense;
  llvm::ArrayRef<char> blob;
};

/// The elements of an integer constant of at most `limit` elements.
std::optional<Int64s> integerElements(mlir::Attribute value, int64_t limit);

/// The elements of a float constant of at most `limit` elements.
std::optional<Doubles> floatElements(mlir::Attribute value, int64_t limit);

/// The bytes that `count` elements take in a resource blob, or nothing for
/// types that no blob holds.
std::optional<int64_t> blobBytes(mlir::Type element, int64_t count);

/// Cuts an integer to the width of its type, as ElementReader gives it.
int64_t wrapInteger(int64_t value, mlir::Type element);

mlir::DenseElementsAttr makeIntegers(mlir::RankedTensorType type,
                                     llvm::ArrayRef<int64_t> values);
mlir::DenseElementsAttr makeFloats(mlir::RankedTensorType type,
                                   llvm::ArrayRef<double> values);
/// The reverse of ElementReader::bits.
mlir::DenseElementsAttr makeBits(mlir::RankedTensorType type,
                                 llvm::ArrayRef<llvm::APInt> values);

/// `value` with another shape of as many elements: the same blob for resources.
/// Null where that would copy many elements.
mlir::ElementsAttr reshapeConstant(mlir::Attribute value,
                                   llvm::ArrayRef<int64_t> shape);

} // namespace phl::graph

#endif // PHASELINE_GRAPH_ELEMENTS_H
