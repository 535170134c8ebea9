//===- Driver.cpp - C API of the drivers and the parser -----------------===//

#include "capi/Driver.h"
#if PHL_HAVE_GRAPH
#include "graph/GraphDialect.h"
#endif
#include "phl/Phl.h"
#if PHL_HAVE_TIR
#include "tir/Tir.h"
#endif

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

static void fill(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
#if PHL_HAVE_GRAPH
  registry.insert<phl::graph::GraphDialect>();
#endif
  registry.insert<phl::PhlDialect>();
#if PHL_HAVE_TIR
  registry.insert<phl::tir::TirDialect>();
#endif
}

void phlRegisterDialects(MlirDialectRegistry registry) {
  fill(*unwrap(registry));
}

void phlRegisterUpstreamPasses(void) { registerAllPasses(); }

int phlOptMain(int argc, char **argv) {
  DialectRegistry registry;
  fill(registry);
  return asMainReturnCode(MlirOptMain(
      argc, argv, "Phaseline's pass driver (mlir-opt with its dialects)\n",
      registry));
}

int phlLspMain(int argc, char **argv) {
  DialectRegistry registry;
  fill(registry);
  return asMainReturnCode(MlirLspServerMain(argc, argv, registry));
}

MlirModule phlModuleParse(MlirContext context, MlirStringRef source,
                          MlirStringRef name) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      unwrap(source), ParserConfig(unwrap(context)), unwrap(name));
  return wrap(module.release());
}
