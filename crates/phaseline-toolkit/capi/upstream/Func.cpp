//===- Func.cpp - Registration of one part of upstream --------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"

using namespace mlir;

void phlUpstreamFunc(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<func::FuncDialect>();
  func::registerInlinerExtension(registry);
  registerConvertFuncToLLVMInterface(registry);
  func::registerFuncPasses();
  registerConvertFuncToLLVMPass();
}
