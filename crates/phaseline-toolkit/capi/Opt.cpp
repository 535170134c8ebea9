//===- Opt.cpp - C API of the pass driver ---------------------------------===//

#include "capi/Driver.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

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

bool phlPluginLoads(MlirStringRef path, bool dialects,
                    MlirStringCallback callback, void *user) {
  std::string name = unwrap(path).str();
  llvm::Error error = dialects ? DialectPlugin::load(name).takeError()
                               : PassPlugin::load(name).takeError();
  if (!error)
    return true;
  std::string reason = llvm::toString(std::move(error));
  callback(wrap(StringRef(reason)), user);
  return false;
}

int phlOptMain(int argc, char **argv, MlirStringRef title,
               MlirDialectRegistry rawRegistry, PhlTextCheck check) {
  DialectRegistry &registry = *unwrap(rawRegistry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, (unwrap(title) + "\n").str(), registry);
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
