//===- TirConcat.cpp - tir.concat -------------------------------*- C++ -*-===//

#include "tir/Tir.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace phl::tir;

LogicalResult ConcatOp::verify() {
  auto whole = cast<RankedTensorType>(getOut().getType());
  int64_t rank = whole.getRank(), dim = getDim(), sum = 0;
  if (dim >= rank)
    return emitOpError() << "joins along dimension " << dim << " of " << whole;
  if (getResult().getType() != whole)
    return emitOpError() << "results in " << getResult().getType()
                         << " but writes to " << whole;
  for (auto [index, piece] : llvm::enumerate(getIns())) {
    auto type = cast<RankedTensorType>(piece.getType());
    bool fits = type.getRank() == rank &&
                type.getElementType() == whole.getElementType();
    for (int64_t i = 0; fits && i < rank; ++i)
      fits = i == dim || type.getDimSize(i) == whole.getDimSize(i);
    if (!fits)
      return emitOpError() << "ins operand #" << index << " of type " << type
                           << " is no part of " << whole << " along dimension "
                           << dim;
    sum += type.getDimSize(dim);
  }
  if (sum != whole.getDimSize(dim))
    return emitOpError() << "joins " << sum << " along dimension " << dim
                         << ", which has " << whole.getDimSize(dim) << " in "
                         << whole;
  return success();
}

bool ConcatOp::bufferizesToMemoryRead(OpOperand &operand,
                                      const AnalysisState &) {
  return !isDpsInit(&operand);
}

bool ConcatOp::bufferizesToMemoryWrite(OpOperand &operand,
                                       const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList ConcatOp::getAliasingValues(OpOperand &operand,
                                              const AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getResult(), BufferRelation::Equivalent}};
}

LogicalResult ConcatOp::bufferize(RewriterBase &rewriter,
                                  const BufferizationOptions &options,
                                  BufferizationState &state) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(*this);
  FailureOr<Value> whole = getBuffer(rewriter, getOut(), options, state);
  if (failed(whole))
    return failure();
  int64_t dim = getDim();
  size_t rank = cast<RankedTensorType>(getOut().getType()).getRank();
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  for (Value piece : getIns()) {
    FailureOr<Value> source = getBuffer(rewriter, piece, options, state);
    if (failed(source))
      return failure();
    ArrayRef<int64_t> sizes =
        cast<RankedTensorType>(piece.getType()).getShape();
    Value place = memref::SubViewOp::create(rewriter, getLoc(), *whole, offsets,
                                            sizes, strides);
    if (failed(options.createMemCpy(rewriter, getLoc(), *source, place)))
      return failure();
    offsets[dim] += sizes[dim];
  }
  replaceOpWithBufferizedValues(rewriter, *this, *whole);
  return success();
}
