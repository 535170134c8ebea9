//===- Pass.cpp - C API for passes written outside C++ --------------------===//

#include "capi/Pass.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

#include <memory>
#include <vector>

using namespace mlir;

namespace {

/// Holds one option of whichever kind, and reads it back as text.
struct AnyOption {
  std::unique_ptr<Pass::Option<std::string>> text;
  std::unique_ptr<Pass::Option<int64_t>> integer;
  std::unique_ptr<Pass::Option<bool>> boolean;

  AnyOption(Pass &pass, const PhlOptionDesc &desc);
  std::string value() const;
};

/// A pass whose body is a C callback.
struct CallbackPass : public Pass {
  CallbackPass(const PhlPassDesc *desc, TypeID id)
      : Pass(id, desc->op_name && *desc->op_name
                     ? std::optional<StringRef>(desc->op_name)
                     : std::nullopt),
        desc(desc), id(id) {
    for (size_t i = 0; i < desc->num_options; ++i)
      values.emplace_back(*this, desc->options[i]);
  }

  StringRef getName() const override { return desc->argument; }
  StringRef getArgument() const override { return desc->argument; }
  StringRef getDescription() const override { return desc->description; }

  bool canScheduleOn(RegisteredOperationName name) const override {
    return !getOpName() || *getOpName() == name.getStringRef();
  }

  std::unique_ptr<Pass> clonePass() const override {
    return std::make_unique<CallbackPass>(desc, id);
  }

  /// Loading by name here, before any thread starts, stands in for
  /// getDependentDialects, which wants C++ types.
  LogicalResult initialize(MLIRContext *context) override {
    for (size_t i = 0; i < desc->num_dialects; ++i)
      context->getOrLoadDialect(desc->dialects[i]);
    return success();
  }

  LogicalResult
  initializeOptions(StringRef options,
                    function_ref<LogicalResult(const Twine &)> fault) override {
    if (failed(Pass::initializeOptions(options, fault)))
      return failure();
    for (size_t i = 0; i < desc->num_options; ++i) {
      const PhlOptionDesc &option = desc->options[i];
      ArrayRef<const char *> words(option.choices, option.num_choices);
      std::string value = values[i].value();
      bool isWord =
          llvm::any_of(words, [&](const char *word) { return value == word; });
      if (words.empty() || isWord || value == option.default_value)
        continue;
      return fault("option '" + Twine(option.name) + "' of " + desc->argument +
                   ": '" + value + "' is none of " + llvm::join(words, ", "));
    }
    return success();
  }

  void runOnOperation() override {
    std::vector<std::string> texts;
    for (const AnyOption &option : values)
      texts.push_back(option.value());
    std::vector<const char *> pointers;
    for (const std::string &text : texts)
      pointers.push_back(text.c_str());
    if (!desc->run(wrap(getOperation()), pointers.data(), pointers.size(),
                   desc->user))
      signalPassFailure();
  }

  const PhlPassDesc *desc;
  TypeID id;
  std::vector<AnyOption> values;
};

AnyOption::AnyOption(Pass &pass, const PhlOptionDesc &desc) {
  auto help = llvm::cl::desc(desc.description);
  StringRef initial(desc.default_value);
  switch (desc.kind) {
  case PHL_OPTION_INT: {
    int64_t number = 0;
    (void)initial.getAsInteger(10, number);
    integer = std::make_unique<Pass::Option<int64_t>>(pass, desc.name, help,
                                                      llvm::cl::init(number));
    break;
  }
  case PHL_OPTION_BOOL:
    boolean = std::make_unique<Pass::Option<bool>>(
        pass, desc.name, help, llvm::cl::init(initial == "true"));
    break;
  case PHL_OPTION_STRING:
    text = std::make_unique<Pass::Option<std::string>>(
        pass, desc.name, help, llvm::cl::init(initial.str()));
    break;
  }
}

std::string AnyOption::value() const {
  if (integer)
    return std::to_string(integer->getValue());
  if (boolean)
    return boolean->getValue() ? "true" : "false";
  return text->getValue();
}

} // namespace

void phlRegisterPass(const PhlPassDesc *desc) {
  // One id for all instances of the pass; it lives as long as the registry.
  auto *id = new SelfOwningTypeID();
  TypeID typeID = *id;
  registerPass([desc, typeID]() -> std::unique_ptr<Pass> {
    return std::make_unique<CallbackPass>(desc, typeID);
  });
}

void phlRegisterPipeline(MlirStringRef name, MlirStringRef description,
                         MlirStringRef passes) {
  std::string text = unwrap(passes).str();
  registerPassPipeline(
      unwrap(name), unwrap(description),
      [text](OpPassManager &manager, StringRef options,
             function_ref<LogicalResult(const Twine &)> fail) {
        if (!options.empty())
          return fail("the pipeline takes no options");
        std::string reason;
        llvm::raw_string_ostream stream(reason);
        if (failed(parsePassPipeline(text, manager, stream)))
          return fail(reason);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)>) {});
}

void phlEmitWarning(MlirLocation location, MlirStringRef text) {
  emitWarning(unwrap(location)) << unwrap(text);
}

void phlEmitRemark(MlirLocation location, MlirStringRef text) {
  emitRemark(unwrap(location)) << unwrap(text);
}

void phlPassManagerEnableCrashReproducer(MlirPassManager pm, MlirStringRef path,
                                         bool local) {
  unwrap(pm)->enableCrashReproducerGeneration(unwrap(path), local);
}

namespace {

struct Watch : public PassInstrumentation {
  using Event = void (*)(PhlPassEvent, MlirStringRef, MlirOperation, void *);

  Watch(Event event, void *user) : event(event), user(user) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    tell(PHL_PASS_BEFORE, pass, op);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    tell(PHL_PASS_AFTER, pass, op);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    tell(PHL_PASS_FAILED, pass, op);
  }

  void tell(PhlPassEvent when, Pass *pass, Operation *op) {
    // The managers of nested operations are passes without a name.
    if (!pass->getArgument().empty())
      event(when, wrap(pass->getArgument()), wrap(op), user);
  }

  Event event;
  void *user;
};

} // namespace

void phlPassManagerWatch(MlirPassManager pm,
                         void (*event)(PhlPassEvent, MlirStringRef,
                                       MlirOperation, void *),
                         void *user) {
  unwrap(pm)->addInstrumentation(std::make_unique<Watch>(event, user));
}
