//===- Infer.h - What type inference is made of -----------------*- C++ -*-===//
//
// Each op of the dialect states its shape rules once, in `inferTypes`. They run
// when an op is built without result types and again whenever it is verified,
// so what they reject is an invalid op. A dimension that is not known is never
// an error: it matches everything, and gives an unknown dimension.
//
//===----------------------------------------------------------------------===//

#ifndef PHASELINE_GRAPH_INFER_H
#define PHASELINE_GRAPH_INFER_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

#include <optional>

namespace phl::graph {

using Shape = llvm::SmallVector<int64_t, 6>;
using Types = llvm::SmallVectorImpl<mlir::Type>;
constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;

/// The storage of an op's attributes.
template <typename ConcreteOp>
using PropertiesOf =
    typename ConcreteOp::template InferredProperties<ConcreteOp>;

/// Checks the result types of an op against the inferred ones.
llvm::LogicalResult verifyInferred(mlir::Operation *op,
                                   mlir::TypeRange inferred);

/// The ops of this dialect whose result types follow from the operands. MLIR
/// checks the types by itself, but a wrong op would then have two errors.
template <typename ConcreteOp>
class InfersTypes : public mlir::OpTrait::TraitBase<ConcreteOp, InfersTypes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    llvm::SmallVector<mlir::Type> inferred;
    if (failed(ConcreteOp::inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
            op->getRegions(), inferred)))
      return mlir::failure();
    return verifyInferred(op, inferred);
  }
};

/// True if the declared types could be the inferred ones: the same but for
/// dimensions that only one of them knows.
bool compatibleTypes(mlir::TypeRange inferred, mlir::TypeRange declared);

/// A dimension as it is printed in a type.
std::string dimText(int64_t dim);

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

inline bool known(int64_t dim) { return dim != kDynamic; }

/// True if two dimensions can be equal.
inline bool mayEqual(int64_t a, int64_t b) {
  return a == b || !known(a) || !known(b);
}

/// The op whose types are inferred, to report errors on, and the rules that
/// several ops share.
class Infer {
public:
  Infer(mlir::MLIRContext *context, std::optional<mlir::Location> location,
        llvm::StringRef op)
      : ctx(context), location(location), op(op) {}

  mlir::MLIRContext *context() const { return ctx; }

  /// Reports an error on the op, if it has a location.
  template <typename... Args> llvm::LogicalResult fail(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", op, "' op ",
                                   std::forward<Args>(args)...);
  }

  /// Checks what `inferTypes` relies on: builders pass unverified operands.
  template <typename ConcreteOp>
  llvm::LogicalResult checkOperands(mlir::ValueRange operands) const {
    return checkOperandTypes(operands, countFits<ConcreteOp>(operands.size()));
  }

  template <typename ConcreteOp, typename Adaptor>
  llvm::LogicalResult checkAdaptor(Adaptor &adaptor,
                                   mlir::ValueRange operands) const {
    if constexpr (ConcreteOp::template hasTrait<
                      mlir::OpTrait::AttrSizedOperandSegments>())
      if (failed(checkSegments(
              adaptor.getProperties().operandSegmentSizes, operands.size(),
              requiredOperands<ConcreteOp>(std::make_index_sequence<9>()))))
        return mlir::failure();
    return adaptor.verify(location.value_or(mlir::UnknownLoc::get(ctx)));
  }

  /// `axis` counted from 0. It may count from the end if it is negative.
  llvm::FailureOr<int64_t> axis(int64_t axis, int64_t rank,
                                llvm::StringRef name = "axis") const;
  /// The same for a list, each of which may be named once only.
  llvm::FailureOr<Shape> axes(llvm::ArrayRef<int64_t> axes, int64_t rank,
                              llvm::StringRef name = "axes") const;

  llvm::LogicalResult rankIs(llvm::StringRef name, mlir::Value value,
                             int64_t rank) const;
  llvm::LogicalResult rankAtLeast(llvm::StringRef name, mlir::Value value,
                                  int64_t rank) const;
  /// A scalar, or a tensor of one element where the rank does not matter.
  llvm::LogicalResult oneElement(llvm::StringRef name, mlir::Value value) const;
  llvm::LogicalResult sameElementType(llvm::StringRef name, mlir::Value value,
                                      llvm::StringRef otherName,
                                      mlir::Value other) const;
  /// A one-dimensional operand with `size` elements; what `size` is, is told by
  /// `reason`.
  llvm::LogicalResult vectorOf(llvm::StringRef name, mlir::Value value,
                               int64_t size, llvm::StringRef reason) const;
  /// `shape` broadcasts to `target` without changing it.
  llvm::LogicalResult broadcastsTo(llvm::StringRef name,
                                   llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> target) const;

  /// The shape that the two broadcast to.
  llvm::FailureOr<Shape> broadcast(llvm::ArrayRef<int64_t> a,
                                   llvm::ArrayRef<int64_t> b) const;

private:
  template <typename ConcreteOp, size_t... N>
  static bool countIsOneOf(size_t count, std::index_sequence<N...>) {
    return ((!ConcreteOp::template hasTrait<
                 mlir::OpTrait::NOperands<N + 2>::template Impl>() ||
             count == N + 2) &&
            ...) &&
           ((!ConcreteOp::template hasTrait<
                 mlir::OpTrait::AtLeastNOperands<N + 1>::template Impl>() ||
             count >= N + 1) &&
            ...);
  }

  template <typename ConcreteOp> static bool countFits(size_t count) {
    if (ConcreteOp::template hasTrait<mlir::OpTrait::ZeroOperands>())
      return count == 0;
    if (ConcreteOp::template hasTrait<mlir::OpTrait::OneOperand>())
      return count == 1;
    return countIsOneOf<ConcreteOp>(count, std::make_index_sequence<9>());
  }

  /// The number of operands that are not optional; those are the first ones.
  template <typename ConcreteOp, size_t... N>
  static size_t requiredOperands(std::index_sequence<N...>) {
    return ((ConcreteOp::template hasTrait<
                 mlir::OpTrait::AtLeastNOperands<N + 1>::template Impl>()
                 ? N + 1
                 : 0) +
            ...);
  }

  llvm::LogicalResult checkSegments(llvm::ArrayRef<int32_t> sizes,
                                    size_t operands, size_t required) const;

  llvm::LogicalResult checkOperandTypes(mlir::ValueRange operands,
                                        bool countFits) const;

  mlir::MLIRContext *ctx;
  std::optional<mlir::Location> location;
  llvm::StringRef op;
};

//===----------------------------------------------------------------------===//
// Rules of whole op families, named in the .td files
//===----------------------------------------------------------------------===//

/// One result with the type of `x`.
llvm::LogicalResult inferLike(mlir::Value x, Types &types);
/// One i1 result with the shape of `x`.
llvm::LogicalResult inferMask(mlir::Value x, Types &types);
/// The broadcast type of a and b, with the element type that both have.
llvm::LogicalResult inferBroadcast(Infer &infer, mlir::Value a, mlir::Value b,
                                   Types &types);
/// The same with i1 elements.
llvm::LogicalResult inferCompare(Infer &infer, mlir::Value a, mlir::Value b,
                                 Types &types);
/// x with `axes` removed, or of size 1 if they are kept. No axes are all.
llvm::FailureOr<Shape> reducedShape(Infer &infer, mlir::Value x,
                                    llvm::ArrayRef<int64_t> axes, bool keep);
llvm::LogicalResult inferReduce(Infer &infer, mlir::Value x,
                                llvm::ArrayRef<int64_t> axes, bool keep,
                                Types &types);
llvm::LogicalResult inferArg(Infer &infer, mlir::Value x, int64_t axis,
                             bool keep, Types &types);
/// The shape of a product as of numpy.matmul.
llvm::FailureOr<Shape> matmulShape(Infer &infer, mlir::Value a, mlir::Value b);
/// One result like x, which has the dimension `axis`.
llvm::LogicalResult inferAlongAxis(Infer &infer, mlir::Value x, int64_t axis,
                                   Types &types);

/// A window that slides over the spatial dimensions of a tensor.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, pads, dilations;
  bool ceilMode = false;

  int64_t stride(size_t i) const { return strides.empty() ? 1 : strides[i]; }
  int64_t dilation(size_t i) const {
    return dilations.empty() ? 1 : dilations[i];
  }
  int64_t padBegin(size_t i) const { return pads.empty() ? 0 : pads[i]; }
  int64_t padEnd(size_t i) const {
    return pads.empty() ? 0 : pads[i + pads.size() / 2];
  }
  /// From the first to the last element that one position covers.
  int64_t extent(size_t i) const {
    return known(kernel[i]) ? dilation(i) * (kernel[i] - 1) + 1 : kDynamic;
  }
};

/// Checks the lists of a window over `rank` spatial dimensions.
llvm::LogicalResult checkWindow(Infer &infer, const Window &window,
                                size_t rank);
/// Appends the number of positions along each spatial dimension.
llvm::LogicalResult slideWindow(Infer &infer, const Window &window,
                                llvm::ArrayRef<int64_t> spatial, Shape &shape);
/// The shape of a convolution of x with w.
llvm::FailureOr<Shape> convShape(Infer &infer, mlir::Value x, mlir::Value w,
                                 Window window, int64_t group);

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The elements that a slice of one dimension picks: `count` of them, the first
/// at `start`.
struct SliceRange {
  int64_t start, count;
};

/// Clamps the positions of an ONNX slice to a dimension of size `dim`. `step`
/// is not 0.
SliceRange clampSlice(int64_t start, int64_t end, int64_t step, int64_t dim);

/// The dimensions [first, second) that `graph.shape` gives of a tensor.
std::pair<int64_t, int64_t>
shapeRange(int64_t start, std::optional<int64_t> end, int64_t rank);

} // namespace phl::graph

#endif // PHASELINE_GRAPH_INFER_H
