//===- Body.cpp - C API of bodies of operations in Rust -------------------===//

#include "capi/Body.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

#include "mlir/Transforms/InliningUtils.h"

#include <atomic>

using namespace mlir;

static std::atomic<const PhlBodies *> known{nullptr};

void phlSetBodies(const PhlBodies *bodies) { known = bodies; }

bool phlBodyVerify(MlirOperation op, bool regions) {
  const PhlBodies *bodies = known;
  std::string reason;
  auto append = [](MlirStringRef text, void *to) {
    static_cast<std::string *>(to)->append(text.data, text.length);
  };
  if (!bodies || bodies->verify(op, regions, append, &reason))
    return true;
  unwrap(op)->emitOpError(reason);
  return false;
}

bool phlBodyFold(MlirOperation op, const MlirAttribute *operands,
                 intptr_t count, MlirAttribute *attribute, MlirValue *value) {
  const PhlBodies *bodies = known;
  return bodies && bodies->fold(op, operands, count, attribute, value);
}

void phlBodyPatterns(MlirRewritePatternSet patterns, MlirContext context,
                     MlirStringRef name) {
  if (const PhlBodies *bodies = known)
    bodies->patterns(patterns, context, name);
}

bool phlBodyInfer(MlirContext context, MlirLocation location,
                  MlirStringRef name, const MlirValue *operands, intptr_t count,
                  MlirAttribute attributes, PhlTypePush push, void *types) {
  const PhlBodies *bodies = known;
  std::string reason;
  auto append = [](MlirStringRef text, void *to) {
    static_cast<std::string *>(to)->append(text.data, text.length);
  };
  if (bodies && bodies->infer(context, name, operands, count, attributes, push,
                              types, append, &reason))
    return true;
  if (location.ptr)
    emitError(unwrap(location))
        << "'" << unwrap(name) << "' op "
        << (bodies ? reason : std::string("has no inference of types"));
  return false;
}

namespace {
/// Operations of a dialect go anywhere.
struct Inlined : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

/// Gives a dialect the interface when it is loaded.
struct InlineExtension : DialectExtensionBase {
  explicit InlineExtension(StringRef dialect) : DialectExtensionBase(dialect) {}
  void apply(MLIRContext *, MutableArrayRef<Dialect *> dialects) const final {
    for (Dialect *dialect : dialects)
      if (!dialect->getRegisteredInterface<DialectInlinerInterface>())
        dialect->addInterfaces<Inlined>();
  }
  std::unique_ptr<DialectExtensionBase> clone() const final {
    return std::make_unique<InlineExtension>(*this);
  }
};
} // namespace

void phlRegistryInline(MlirDialectRegistry registry, MlirStringRef dialect) {
  // The name lives as long as the dialect's code: one extension for each.
  unwrap(registry)->addExtension(
      TypeID::getFromOpaquePointer(dialect.data),
      std::make_unique<InlineExtension>(unwrap(dialect)));
}
