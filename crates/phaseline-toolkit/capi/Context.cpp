//===- Context.cpp - C API of contexts ------------------------------------===//

#include "capi/Context.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;

namespace {

/// Carrier of a context's data, attached to a dialect that each context has.
struct Carrier : public DialectInterface::Base<Carrier> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Carrier)

  explicit Carrier(Dialect *dialect) : Base(dialect) {}

  const void *user = nullptr;
};

/// Gives `user` to each context that gets the registry.
struct UserExtension : public DialectExtensionBase {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UserExtension)

  explicit UserExtension(const void *user)
      : DialectExtensionBase({"builtin"}), user(user) {}

  void apply(MLIRContext *context, MutableArrayRef<Dialect *>) const override {
    phlContextSetUser(wrap(context), user);
  }

  std::unique_ptr<DialectExtensionBase> clone() const override {
    return std::make_unique<UserExtension>(user);
  }

  const void *user;
};

} // namespace

void phlContextSetUser(MlirContext context, const void *user) {
  auto *builtin = unwrap(context)->getLoadedDialect<BuiltinDialect>();
  if (!builtin->getRegisteredInterface<Carrier>())
    builtin->addInterfaces<Carrier>();
  // The interface is const to those that ask; this is who owns it.
  const_cast<Carrier *>(builtin->getRegisteredInterface<Carrier>())->user =
      user;
}

const void *phlContextUser(MlirContext context) {
  auto *builtin = unwrap(context)->getLoadedDialect<BuiltinDialect>();
  auto *carrier = builtin->getRegisteredInterface<Carrier>();
  return carrier ? carrier->user : nullptr;
}

void phlRegistrySetUser(MlirDialectRegistry registry, const void *user) {
  unwrap(registry)->addExtension(TypeID::get<UserExtension>(),
                                 std::make_unique<UserExtension>(user));
}

void phlContextDialects(MlirContext context, MlirDialectRegistry registry) {
  unwrap(context)->getDialectRegistry().appendTo(*unwrap(registry));
}

MlirLlvmThreadPool phlThreadPoolCreate(unsigned threads) {
  return wrap(static_cast<llvm::ThreadPoolInterface *>(
      new llvm::DefaultThreadPool(llvm::hardware_concurrency(threads))));
}

MlirModule phlModuleParse(MlirContext context, MlirStringRef source,
                          MlirStringRef name) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      unwrap(source), ParserConfig(unwrap(context)), unwrap(name));
  return wrap(module.release());
}
