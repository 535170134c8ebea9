//===- Cf.cpp - Registration of one part of upstream ----------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"

using namespace mlir;

void phlUpstreamCf(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<cf::ControlFlowDialect>();
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertControlFlowToLLVMPass();
}
