//===- Complex.cpp - Registration of one part of upstream -----------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

void phlUpstreamComplex(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registry.insert<complex::ComplexDialect>();
  registerConvertComplexToLLVMInterface(registry);
  registerConvertComplexToLLVMPass();
  registerConvertComplexToStandardPass();
}
