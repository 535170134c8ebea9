//===- ConversionFunc.cpp - Conversion of signatures ----------------------===//
//
// Programs that convert no signatures do not link this.
//
//===----------------------------------------------------------------------===//

#include "capi/Conversion.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {

/// Converts arguments of the blocks of a function behind its first, whose own
/// are those of the signature.
struct BlocksPattern : public ConversionPattern {
  BlocksPattern(const TypeConverter &converter, StringRef function,
                MLIRContext *context)
      : ConversionPattern(converter, function, /*benefit=*/2, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange>,
                  ConversionPatternRewriter &rewriter) const override {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.isExternal())
      return failure();
    SmallVector<Block *> blocks;
    for (Block &block : llvm::drop_begin(function.getFunctionBody()))
      if (!typeConverter->isLegal(block.getArgumentTypes()))
        blocks.push_back(&block);
    if (blocks.empty())
      return failure();
    for (Block *block : blocks) {
      auto conversion = typeConverter->convertBlockSignature(block);
      if (!conversion)
        return rewriter.notifyMatchFailure(
            op, "the types of a block's arguments cannot be converted");
      rewriter.applySignatureConversion(block, *conversion, typeConverter);
    }
    rewriter.modifyOpInPlace(op, [] {});
    return success();
  }
};

} // namespace

void phlConversionAddSignatures(MlirRewritePatternSet rawPatterns,
                                PhlConversionTarget rawTarget,
                                PhlTypeConverter rawConverter,
                                MlirStringRef functions) {
  RewritePatternSet &patterns = *unwrap(rawPatterns);
  auto &target = *static_cast<ConversionTarget *>(rawTarget.ptr);
  auto &converter = *static_cast<TypeConverter *>(rawConverter.ptr);
  MLIRContext *context = patterns.getContext();
  populateFunctionOpInterfaceTypeConversionPattern(unwrap(functions), patterns,
                                                   converter);
  patterns.add<BlocksPattern>(converter, unwrap(functions), context);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  populateBranchOpInterfaceTypeConversionPattern(patterns, converter);
  target.addDynamicallyLegalOp(
      OperationName(unwrap(functions), context), [&](Operation *op) {
        auto function = dyn_cast<FunctionOpInterface>(op);
        return !function || (converter.isLegal(function.getArgumentTypes()) &&
                             converter.isLegal(function.getResultTypes()) &&
                             converter.isLegal(&function.getFunctionBody()));
      });
  target.addDynamicallyLegalOp<func::CallOp>(
      [&](func::CallOp op) { return converter.isLegal(op); });
  auto isLegal = [&](Operation *op) {
    return isLegalForReturnOpTypeConversionPattern(op, converter) ||
           isLegalForBranchOpInterfaceTypeConversionPattern(op, converter);
  };
  target.addDynamicallyLegalOp<func::ReturnOp>(isLegal);
  for (StringRef name : {"cf.br", "cf.cond_br", "cf.switch"})
    if (RegisteredOperationName::lookup(name, context))
      target.addDynamicallyLegalOp(OperationName(name, context), isLegal);
}
