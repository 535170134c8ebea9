//===- Index.cpp - Registration of one part of upstream -------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"

using namespace mlir;

void phlUpstreamIndex(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<index::IndexDialect>();
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertIndexToLLVMPass();
}
