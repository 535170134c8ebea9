//===- Body.cpp - C API of bodies of operations in Rust -------------------===//

#include "capi/Body.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

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
