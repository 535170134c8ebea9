//===- Ub.cpp - Registration of one part of upstream ----------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

void phlUpstreamUb(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<ub::UBDialect>();
  ub::registerConvertUBToLLVMInterface(registry);
  registerUBToLLVMConversionPass();
}
