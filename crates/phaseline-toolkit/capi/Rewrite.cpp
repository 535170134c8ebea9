//===- Rewrite.cpp - C API of rewriters -----------------------------------===//

#include "capi/Rewrite.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

void phlRewriterInserted(MlirRewriterBase rewriter, MlirOperation op) {
  if (OpBuilder::Listener *listener = unwrap(rewriter)->getListener())
    listener->notifyOperationInserted(unwrap(op), /*previous=*/{});
}

bool phlTryFold(MlirOperation op, MlirValue *results) {
  Operation *operation = unwrap(op);
  OpBuilder builder(operation);
  SmallVector<Value> values;
  if (failed(builder.tryFold(operation, values)) ||
      values.size() != operation->getNumResults() || values.empty())
    return false;
  for (auto [i, value] : llvm::enumerate(values))
    results[i] = wrap(value);
  return true;
}
