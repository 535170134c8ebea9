//===- plugin.cpp - A pass and a dialect that mlir-opt would load
//----------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

#ifndef VERSION
#define VERSION MLIR_PLUGIN_API_VERSION
#endif

namespace {

struct Mark : public PassWrapper<Mark, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Mark)

  StringRef getArgument() const override { return "plugin-mark"; }
  StringRef getDescription() const override { return "Mark a module"; }
  void runOnOperation() override {
    getOperation()->setAttr("builtin.mark", UnitAttr::get(&getContext()));
  }
};

struct Extra : public Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Extra)

  static StringRef getDialectNamespace() { return "extra"; }
  explicit Extra(MLIRContext *context)
      : Dialect("extra", context, TypeID::get<Extra>()) {
    allowUnknownOperations();
  }
};

} // namespace

extern "C" PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {VERSION, "Marks", "1", [] { PassRegistration<Mark>(); }};
}

extern "C" DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {VERSION, "Extra", "1",
          [](DialectRegistry *registry) { registry->insert<Extra>(); }};
}
