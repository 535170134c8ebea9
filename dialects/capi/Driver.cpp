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
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"

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

/// Reads the input and has it checked; null after a message.
static std::unique_ptr<llvm::MemoryBuffer> readInput(StringRef name,
                                                     PhlTextCheck check) {
  std::string message;
  auto file = openInputFile(name, &message);
  if (!file) {
    llvm::errs() << message << "\n";
    return nullptr;
  }
  size_t line = 0;
  MlirStringRef reason = {nullptr, 0};
  if (!check(wrap(file->getBuffer()), &line, &reason)) {
    llvm::errs() << name << ":" << line << ": error: " << unwrap(reason)
                 << "\n";
    return nullptr;
  }
  return file;
}

int phlOptMain(int argc, char **argv, PhlTextCheck check) {
  DialectRegistry registry;
  fill(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Phaseline's pass driver (mlir-opt with its dialects)\n",
      registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));

  llvm::InitLLVM init(argc, argv);
  if (input == "-" &&
      llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(reading from the terminal; Ctrl-D ends the input)\n";
  std::unique_ptr<llvm::MemoryBuffer> text = readInput(input, check);
  if (!text)
    return EXIT_FAILURE;
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << message << "\n";
    return EXIT_FAILURE;
  }
  if (failed(MlirOptMain(file->os(), std::move(text), registry, config)))
    return EXIT_FAILURE;
  file->keep();
  return EXIT_SUCCESS;
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
