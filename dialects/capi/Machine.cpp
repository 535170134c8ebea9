//===- Machine.cpp - C API of what LLVM knows of processors ---------------===//

#include "capi/Machine.h"

#include "mlir/CAPI/Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <string>

static std::unique_ptr<llvm::MCSubtargetInfo>
subtargetOf(MlirStringRef text, llvm::StringRef cpu = "",
            llvm::StringRef features = "") {
  const llvm::Triple triple(unwrap(text));
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(triple, cpu, features));
}

void phlForEachCpu(MlirStringRef triple, MlirStringCallback callback,
                   void *user_data) {
  if (const auto subtarget = subtargetOf(triple))
    for (const auto &cpu : subtarget->getAllProcessorDescriptions())
      callback(mlirStringRefCreateFromCString(cpu.Key), user_data);
}

void phlForEachCpuFeature(MlirStringRef triple, MlirStringCallback callback,
                          void *user_data) {
  if (const auto subtarget = subtargetOf(triple))
    for (const auto &feature : subtarget->getAllProcessorFeatures())
      callback(mlirStringRefCreateFromCString(feature.Key), user_data);
}

bool phlCpuHasFeature(MlirStringRef triple, MlirStringRef cpu,
                      MlirStringRef features, MlirStringRef feature) {
  const auto known = subtargetOf(triple);
  if (!known)
    return false;
  // LLVM ignores unknown names, with a message on standard error.
  const llvm::StringRef name =
      known->isCPUStringValid(unwrap(cpu)) ? unwrap(cpu) : llvm::StringRef();
  llvm::SmallVector<llvm::StringRef> given;
  unwrap(features).split(given, ',', -1, /*KeepEmpty=*/false);
  llvm::erase_if(given, [&](llvm::StringRef one) {
    return llvm::none_of(
        known->getAllProcessorFeatures(),
        [&](const auto &row) { return one.drop_front() == row.Key; });
  });
  const auto subtarget = subtargetOf(triple, name, llvm::join(given, ","));
  return subtarget && subtarget->checkFeatures("+" + unwrap(feature).str());
}
