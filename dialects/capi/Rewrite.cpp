//===- Rewrite.cpp - C API of rewriters -----------------------------------===//

#include "capi/Rewrite.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

void phlRewriterInserted(MlirRewriterBase rewriter, MlirOperation op) {
  if (OpBuilder::Listener *listener = unwrap(rewriter)->getListener())
    listener->notifyOperationInserted(unwrap(op), /*previous=*/{});
}
