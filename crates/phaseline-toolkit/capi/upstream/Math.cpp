//===- Math.cpp - Registration of one part of upstream --------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

using namespace mlir;

void phlUpstreamMath(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<math::MathDialect>();
  registerConvertMathToLLVMInterface(registry);
  math::registerMathPasses();
  registerConvertMathToLLVMPass();
  registerConvertMathToLibmPass();
}
