//===- Upstream.cpp - All of upstream's dialects and passes ---------------===//
//
// These calls link all of MLIR. Programs that take dialects one by one do not
// pull this file in.
//
//===----------------------------------------------------------------------===//

#include "capi/Upstream.h"

#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

void phlRegisterUpstreamDialects(MlirDialectRegistry raw) {
  DialectRegistry &registry = *unwrap(raw);
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
}

void phlRegisterUpstreamPasses(void) { registerAllPasses(); }
