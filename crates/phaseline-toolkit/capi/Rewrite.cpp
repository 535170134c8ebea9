//===- Rewrite.cpp - C API of rewriters -----------------------------------===//

#include "capi/Rewrite.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Wrap.h"
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

bool phlPdlValues(MlirPDLValue range, PhlRangeValueCallback callback,
                  void *user) {
  if (unwrap(range)->getKind() != PDLValue::Kind::ValueRange)
    return false;
  for (Value value : unwrap(range)->cast<ValueRange>())
    callback(wrap(value), user);
  return true;
}

bool phlPdlTypes(MlirPDLValue range, PhlRangeTypeCallback callback,
                 void *user) {
  if (unwrap(range)->getKind() != PDLValue::Kind::TypeRange)
    return false;
  for (Type type : unwrap(range)->cast<TypeRange>())
    callback(wrap(type), user);
  return true;
}

void phlPdlPushValues(MlirPDLResultList results, intptr_t count,
                      const MlirValue *values) {
  SmallVector<Value> list;
  unwrapList(count, const_cast<MlirValue *>(values), list);
  unwrap(results)->push_back(ValueRange(list));
}

void phlPdlPushTypes(MlirPDLResultList results, intptr_t count,
                     const MlirType *types) {
  SmallVector<Type> list;
  unwrapList(count, const_cast<MlirType *>(types), list);
  unwrap(results)->push_back(TypeRange(list));
}
