//===- Bufferization.cpp - Registration of one part of upstream -----------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"

using namespace mlir;

void phlUpstreamBufferization(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<bufferization::BufferizationDialect>();
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  bufferization::registerBufferizationPasses();
  registerConvertBufferizationToMemRefPass();
}
