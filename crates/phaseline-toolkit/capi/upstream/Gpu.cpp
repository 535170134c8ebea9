//===- Gpu.cpp - Registration of one part of upstream ---------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/IR/ValueBoundsOpInterfaceImpl.h"

using namespace mlir;

void phlUpstreamGpu(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<gpu::GPUDialect>();
  gpu::registerValueBoundsOpInterfaceExternalModels(registry);
}
