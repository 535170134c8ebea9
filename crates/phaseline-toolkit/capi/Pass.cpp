//===- Pass.cpp - C API for passes written outside C++ --------------------===//

#include "capi/Pass.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

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

/// Analyses of an operation for passes written in another language.
struct Analyses {
  explicit Analyses(Operation *) {}
  ~Analyses() {
    if (drop && slot)
      drop(slot);
  }

  void *slot = nullptr;
  void (*drop)(void *) = nullptr;
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
    auto clone = std::make_unique<CallbackPass>(desc, id);
    clone->state = state;
    return clone;
  }

  /// Loading by name here, before any thread starts, stands in for
  /// getDependentDialects, which wants C++ types.
  LogicalResult initialize(MLIRContext *context) override {
    for (size_t i = 0; i < desc->num_dialects; ++i)
      context->getOrLoadDialect(desc->dialects[i]);
    if (!desc->make)
      return success();
    withValues([&](const char *const *values, size_t count) {
      const PhlPassDesc *desc = this->desc;
      state = std::shared_ptr<void>(
          desc->make(wrap(context), values, count, desc->user),
          [desc](void *state) {
            if (state)
              desc->release(state, desc->user);
          });
    });
    return success(state != nullptr);
  }

  LogicalResult
  initializeOptions(StringRef options,
                    function_ref<LogicalResult(const Twine &)> fault) override {
    if (failed(Pass::initializeOptions(options, fault)))
      return failure();
    for (size_t i = 0; i < desc->num_options; ++i) {
      std::string reason;
      if (!desc->check(i, values[i].value().c_str(), append, &reason,
                       desc->user))
        return fault(reason);
    }
    return success();
  }

  /// Appends text to a string.
  static void append(MlirStringRef text, void *to) {
    static_cast<std::string *>(to)->append(text.data, text.length);
  }

  /// Calls `use` with the texts of all options.
  template <typename Use> void withValues(Use use) {
    std::vector<std::string> texts;
    for (const AnyOption &option : values)
      texts.push_back(option.value());
    std::vector<const char *> pointers;
    for (const std::string &text : texts)
      pointers.push_back(text.c_str());
    use(pointers.data(), pointers.size());
  }

  void runOnOperation() override {
    withValues([&](const char *const *values, size_t count) {
      if (!desc->run(wrap(getOperation()), values, count, {this}, state.get(),
                     desc->user))
        signalPassFailure();
    });
  }

  void **analyses(void (*drop)(void *)) {
    auto &found = getAnalysis<Analyses>();
    found.drop = drop;
    return &found.slot;
  }

  void preserve(bool all) {
    if (all)
      markAllAnalysesPreserved();
    else
      markAnalysesPreserved<Analyses>();
  }

  OpPassManager *parse(StringRef passes, MlirStringCallback fault, void *user) {
    auto manager = std::make_unique<OpPassManager>(
        getOperation()->getName().getStringRef());
    std::string reason;
    llvm::raw_string_ostream stream(reason);
    if (succeeded(parsePassPipeline(passes, *manager, stream)))
      return manager.release();
    fault(wrap(StringRef(reason)), user);
    return nullptr;
  }

  bool runParsed(std::unique_ptr<OpPassManager> manager) {
    return succeeded(runPipeline(*manager, getOperation()));
  }

  const PhlPassDesc *desc;
  TypeID id;
  std::vector<AnyOption> values;
  std::shared_ptr<void> state;
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

static CallbackPass &unwrap(PhlPassRun run) {
  return *static_cast<CallbackPass *>(run.ptr);
}

PhlPipeline phlPassRunParse(PhlPassRun run, MlirStringRef passes,
                            MlirStringCallback fault, void *user) {
  return {unwrap(run).parse(unwrap(passes), fault, user)};
}

bool phlPassRunPipeline(PhlPassRun run, PhlPipeline pipeline) {
  return unwrap(run).runParsed(std::unique_ptr<OpPassManager>(
      static_cast<OpPassManager *>(pipeline.ptr)));
}

void **phlPassRunAnalyses(PhlPassRun run, void (*drop)(void *)) {
  return unwrap(run).analyses(drop);
}

void phlPassRunPreserve(PhlPassRun run, bool all) { unwrap(run).preserve(all); }

bool phlPipelineCheck(MlirStringRef passes, MlirStringCallback fault,
                      void *user) {
  OpPassManager manager;
  std::string reason;
  llvm::raw_string_ostream stream(reason);
  if (succeeded(parsePassPipeline(unwrap(passes), manager, stream)))
    return true;
  fault(wrap(StringRef(reason)), user);
  return false;
}

void phlEmit(PhlSeverity severity, MlirLocation location, MlirStringRef text,
             const PhlNote *notes, size_t num_notes) {
  InFlightDiagnostic diagnostic =
      severity == PHL_SEVERITY_ERROR     ? emitError(unwrap(location))
      : severity == PHL_SEVERITY_WARNING ? emitWarning(unwrap(location))
                                         : emitRemark(unwrap(location));
  diagnostic << unwrap(text);
  for (size_t i = 0; i < num_notes; ++i)
    diagnostic.attachNote(unwrap(notes[i].location)) << unwrap(notes[i].text);
}

void phlContextSetStop(MlirContext context, bool (*stop)(void *), void *user) {
  if (!stop)
    return unwrap(context)->registerActionHandler(nullptr);
  unwrap(context)->registerActionHandler(
      [=](llvm::function_ref<void()> action, const tracing::Action &) {
        if (!stop(user))
          action();
      });
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
