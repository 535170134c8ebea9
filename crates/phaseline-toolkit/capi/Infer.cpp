//===- Infer.cpp - C API for result types that MLIR infers ----------------===//

#include "capi/Infer.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

/// The same operation with results of these types; takes its regions.
static Operation *withResults(Operation *op, TypeRange types) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(types);
  state.addAttributes(op->getAttrDictionary().getValue());
  state.addSuccessors(op->getSuccessors());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *made = Operation::create(state);
  op->destroy();
  return made;
}

/// Number of results in the declaration of an operation; 0 if any number.
static unsigned resultCount(OperationName name) {
  if (name.hasTrait<OpTrait::OneResult>())
    return 1;
  if (name.hasTrait<OpTrait::NResults<2>::Impl>())
    return 2;
  if (name.hasTrait<OpTrait::NResults<3>::Impl>())
    return 3;
  if (name.hasTrait<OpTrait::NResults<4>::Impl>())
    return 4;
  return 0;
}

/// True if a fault was found after operands and attributes had been verified:
/// what is declared of results is looked at next, and what relates values with
/// each other after that.
static bool isAboutResults(StringRef fault) {
  return fault.contains("op result #") || fault.contains("inferred type(s)") ||
         fault.contains("failed to verify that") ||
         fault.contains("requires the same");
}

/// Verifier error of an operation by itself; empty if none.
static std::string verified(Operation *op) {
  std::string fault;
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(
      op->getContext(), [&](Diagnostic &diagnostic) {
        // Passes on other threads have diagnostics of their own.
        if (llvm::get_threadid() != thread)
          return failure();
        if (fault.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          fault = diagnostic.str();
        return success();
      });
  if (succeeded(verify(op, /*verifyRecursively=*/false)))
    return "";
  return fault.empty() ? "it is not valid" : fault;
}

MlirOperation phlOperationInferTypes(MlirOperation raw, MlirStringCallback tell,
                                     void *user) {
  Operation *op = unwrap(raw);
  MLIRContext *context = op->getContext();
  auto fail = [&](StringRef reason) {
    tell(wrap(reason), user);
    op->destroy();
    return MlirOperation{nullptr};
  };
  auto *interface = op->getName().getInterface<InferTypeOpInterface>();
  if (!interface)
    return fail("MLIR infers no types for it");
  SmallVector<Type> types(resultCount(op->getName()), NoneType::get(context));
  if (!types.empty())
    op = withResults(op, types);
  std::string fault = verified(op);
  if (!fault.empty() && !isAboutResults(fault))
    return fail(fault);
  types.clear();
  if (failed(interface->inferReturnTypes(
          context, op->getLoc(), op->getOperands(), op->getAttrDictionary(),
          op->getPropertiesStorage(), op->getRegions(), types)))
    return fail("its operands and attributes do not fit together");
  return wrap(withResults(op, types));
}

/// True if an operation infers types and has none for its operands.
static bool refuses(Operation *op) {
  auto *interface = op->getName().getInterface<InferTypeOpInterface>();
  if (!interface)
    return false;
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  SmallVector<Type> types;
  return failed(interface->inferReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(),
      op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
      types));
}

/// True if a type has all that another one says of a shape, and more.
static bool saysMore(Type inferred, Type known) {
  auto more = dyn_cast<ShapedType>(inferred),
       less = dyn_cast<ShapedType>(known);
  if (!more || !less || inferred == known || !more.hasRank())
    return false;
  if (!less.hasRank())
    return true;
  for (auto [a, b] : llvm::zip(more.getShape(), less.getShape()))
    if (ShapedType::isDynamic(a) && !ShapedType::isDynamic(b))
      return false;
  return true;
}

intptr_t phlOperationRefineTypes(MlirOperation raw, MlirStringCallback tell,
                                 void *user) {
  Operation *op = unwrap(raw);
  auto *interface = op->getName().getInterface<InferTypeOpInterface>();
  if (!interface || op->getNumResults() == 0)
    return 0;
  auto fail = [&](const Twine &reason) {
    std::string text = reason.str();
    tell(wrap(StringRef(text)), user);
    return -1;
  };
  std::string fault = verified(op);
  if (!fault.empty() && !isAboutResults(fault))
    return fail(fault);
  SmallVector<Type> types;
  if (failed(interface->inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
          types)))
    return fail("its operands and attributes do not fit together");
  if (types.size() != op->getNumResults())
    return fail(
        "its inference gives another number of types than it has results");
  intptr_t changed = 0;
  for (auto [result, type] : llvm::zip(op->getResults(), types)) {
    Type known = result.getType();
    if (getElementTypeOrSelf(known) != getElementTypeOrSelf(type) ||
        failed(verifyCompatibleShape(known, type))) {
      std::string text;
      llvm::raw_string_ostream(text) << "a result has the type " << known
                                     << ", and its operands give it " << type;
      return fail(text);
    }
    if (!saysMore(type, known))
      continue;
    result.setType(type);
    // Users that take one type only keep it: a function's end, a call. Types
    // are facts, so that a user whose inference refuses them is at fault.
    bool fits = true;
    for (Operation *user : result.getUsers()) {
      std::string fault = verified(user);
      if (fault.empty() || isAboutResults(fault))
        continue;
      fits = false;
      if (!refuses(user))
        continue;
      std::string text;
      llvm::raw_string_ostream(text)
          << "a result has the type " << type << ", which its user '"
          << user->getName() << "' at " << user->getLoc()
          << " does not take: " << fault;
      return fail(text);
    }
    if (fits)
      ++changed;
    else
      result.setType(known);
  }
  return changed;
}
