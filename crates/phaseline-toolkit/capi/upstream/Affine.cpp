//===- Affine.cpp - Registration of one part of upstream ------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"

using namespace mlir;

void phlUpstreamAffine(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<affine::AffineDialect>();
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  affine::registerAffinePasses();
  registerLowerAffinePass();
}
