//===- ForTarget.cpp - The pass combinator that filters on a target -------===//
//
// `for-target{target=ID pipeline=...}` runs a pipeline on the operations that
// carry `phl.target = "ID"` and on no other. The pipeline is anchored on
// func.func or builtin.module. It is C++ because running a dynamic pipeline
// needs Pass::runPipeline, which the C API lacks.
//
//===----------------------------------------------------------------------===//

#include "capi/Native.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

/// True if a module has a target; set before any pass runs.
static bool (*targetCheck)(MlirOperation, MlirStringRef) = nullptr;

namespace {

struct ForTargetPass : public PassWrapper<ForTargetPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForTargetPass)

  ForTargetPass() = default;
  ForTargetPass(const ForTargetPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "for-target"; }
  StringRef getDescription() const final {
    return "Run a pipeline on the operations of one target";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(OpPassManager::Nesting::Explicit);
    if (succeeded(parse(pm, llvm::nulls())))
      pm.getDependentDialects(registry);
  }

  LogicalResult parse(OpPassManager &pm, raw_ostream &errors) const {
    FailureOr<OpPassManager> parsed =
        parsePassPipeline(StringRef(pipeline).trim(), errors);
    if (failed(parsed))
      return failure();
    pm = std::move(*parsed);
    return success();
  }

  LogicalResult initialize(MLIRContext *context) override {
    std::string text;
    llvm::raw_string_ostream errors(text);
    auto parsed = std::make_shared<OpPassManager>();
    if (failed(parse(*parsed, errors)))
      return emitError(UnknownLoc::get(context))
             << "for-target: the pipeline of target '" << target
             << "' is not valid: " << StringRef(text).trim();
    manager = parsed;
    return success();
  }

  void runOnOperation() override {
    std::optional<StringRef> anchor = manager->getOpName();
    SmallVector<Operation *> selected;
    for (Region &region : getOperation()->getRegions())
      for (Operation &op : region.getOps()) {
        auto attr = op.getAttrOfType<StringAttr>("phl.target");
        if (attr && attr.getValue() == StringRef(target) &&
            (!anchor || op.getName().getStringRef() == *anchor) &&
            !isDeclaration(&op))
          selected.push_back(&op);
      }
    if (selected.empty() && targetCheck && !getOperation()->getParentOp() &&
        !targetCheck(wrap(getOperation()), wrap(StringRef(target))))
      return signalPassFailure();
    for (Operation *op : selected) {
      OpPassManager copy = *manager;
      if (failed(runPipeline(copy, op)))
        return signalPassFailure();
    }
  }

  static bool isDeclaration(Operation *op) {
    return op->getNumRegions() == 1 && op->getRegion(0).empty();
  }

  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Id of the target instance")};
  Option<std::string> pipeline{
      *this, "pipeline",
      llvm::cl::desc("Pipeline, anchored on func.func or builtin.module")};
  std::shared_ptr<OpPassManager> manager;
};

} // namespace

void phlForTargetCheck(bool (*check)(MlirOperation, MlirStringRef)) {
  targetCheck = check;
}

void phlRegisterNativePasses(void) {
  PassRegistration<ForTargetPass>();
  phl::registerFuseElementwiseOpsPass();
}
