//===- Transforms.cpp - Registration of one part of upstream --------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void phlUpstreamTransforms(MlirDialectRegistry) { registerTransformsPasses(); }
