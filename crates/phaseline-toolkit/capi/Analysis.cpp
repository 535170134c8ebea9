//===- Analysis.cpp - C API of analyses and interfaces --------------------===//

#include "capi/Analysis.h"

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Analysis/Liveness.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

PhlDominance phlDominanceCreate(MlirOperation op, bool post) {
  if (post)
    return {new PostDominanceInfo(unwrap(op))};
  return {new DominanceInfo(unwrap(op))};
}

static DominanceInfo &before(PhlDominance dominance) {
  return *static_cast<DominanceInfo *>(dominance.ptr);
}

static PostDominanceInfo &behind(PhlDominance dominance) {
  return *static_cast<PostDominanceInfo *>(dominance.ptr);
}

void phlDominanceDestroy(PhlDominance dominance, bool post) {
  if (post)
    delete &behind(dominance);
  else
    delete &before(dominance);
}

bool phlDominates(PhlDominance dominance, bool post, MlirOperation a,
                  MlirOperation b) {
  if (post)
    return behind(dominance).postDominates(unwrap(a), unwrap(b));
  return before(dominance).dominates(unwrap(a), unwrap(b));
}

bool phlValueDominates(PhlDominance dominance, MlirValue value,
                       MlirOperation op) {
  return before(dominance).properlyDominates(unwrap(value), unwrap(op));
}

void phlLiveness(MlirOperation op, PhlLiveCallback live, void *user) {
  Liveness liveness(unwrap(op));
  unwrap(op)->walk([&](Block *block) {
    for (Value value : liveness.getLiveIn(block))
      live(wrap(block), wrap(value), false, user);
    for (Value value : liveness.getLiveOut(block))
      live(wrap(block), wrap(value), true, user);
  });
}

void phlCallGraph(MlirOperation op, PhlCallCallback call, void *user) {
  SymbolTableCollection symbols;
  unwrap(op)->walk([&](CallOpInterface inner) {
    Operation *callee = inner.resolveCallableInTable(&symbols);
    auto caller = inner->getParentOfType<CallableOpInterface>();
    call(wrap(caller ? caller.getOperation() : nullptr), wrap(inner),
         wrap(callee), user);
  });
}

/// True if an operation is valid by itself, so that its interfaces find the
/// operands and regions that they look for.
static bool isValid(Operation *op) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler quiet(op->getContext(), [&](Diagnostic &) {
    // Passes on other threads have diagnostics of their own.
    return success(llvm::get_threadid() == thread);
  });
  return succeeded(verify(op, /*verifyRecursively=*/false));
}

bool phlIsValid(MlirOperation op) { return isValid(unwrap(op)); }

/// The operation by an interface; null where it has not that one, or is not
/// valid.
template <typename Interface> static Interface valid(MlirOperation op) {
  auto found = dyn_cast<Interface>(unwrap(op));
  return found && isValid(unwrap(op)) ? found : Interface();
}

PhlAlias phlAlias(MlirOperation op, MlirValue a, MlirValue b) {
  AliasResult result = AliasAnalysis(unwrap(op)).alias(unwrap(a), unwrap(b));
  if (result.isNo())
    return PHL_ALIAS_NONE;
  if (result.isMust())
    return PHL_ALIAS_MUST;
  return result.isPartial() ? PHL_ALIAS_PARTIAL : PHL_ALIAS_MAY;
}

bool phlIsLoop(MlirOperation op) {
  return bool(valid<LoopLikeOpInterface>(op));
}

void phlLoopValues(MlirOperation op, PhlLoopPart part, PhlValueCallback push,
                   void *user) {
  auto loop = valid<LoopLikeOpInterface>(op);
  if (!loop)
    return;
  auto all = [&](auto range) {
    for (Value value : range)
      push(wrap(value), user);
  };
  switch (part) {
  case PHL_LOOP_INDUCTION:
    if (auto variables = loop.getLoopInductionVars())
      all(*variables);
    break;
  case PHL_LOOP_INITS:
    all(loop.getInits());
    break;
  case PHL_LOOP_CARRIED:
    all(loop.getRegionIterArgs());
    break;
  case PHL_LOOP_YIELDED:
    all(loop.getYieldedValues());
    break;
  }
}

bool phlLoopBounds(MlirOperation op, MlirValue values[3], int64_t numbers[3]) {
  auto loop = valid<LoopLikeOpInterface>(op);
  if (!loop)
    return false;
  auto low = loop.getLoopLowerBounds(), high = loop.getLoopUpperBounds(),
       step = loop.getLoopSteps();
  if (!low || !high || !step || low->size() != 1 || high->size() != 1 ||
      step->size() != 1)
    return false;
  OpFoldResult parts[] = {low->front(), high->front(), step->front()};
  for (auto [i, part] : llvm::enumerate(parts)) {
    values[i] = wrap(dyn_cast<Value>(part));
    auto number = getConstantIntValue(part);
    numbers[i] = number.value_or(0);
    if (number)
      values[i] = wrap(Value());
    else if (!isa<Value>(part))
      return false;
  }
  return true;
}

bool phlIsInvariant(MlirOperation op, MlirValue value) {
  auto loop = dyn_cast<LoopLikeOpInterface>(unwrap(op));
  return loop && loop.isDefinedOutsideOfLoop(unwrap(value));
}

bool phlCall(MlirOperation op, MlirAttribute *callee, MlirValue *called,
             intptr_t *first, intptr_t *count) {
  auto call = valid<CallOpInterface>(op);
  if (!call)
    return false;
  CallInterfaceCallable callable = call.getCallableForCallee();
  *callee = wrap(Attribute(dyn_cast<SymbolRefAttr>(callable)));
  *called = wrap(dyn_cast<Value>(callable));
  OperandRange arguments = call.getArgOperands();
  *first = arguments.empty() ? 0 : arguments.getBeginOperandIndex();
  *count = arguments.size();
  return true;
}

bool phlBranchOperands(MlirOperation op, intptr_t successor,
                       PhlValueCallback push, void *user) {
  auto branch = valid<BranchOpInterface>(op);
  if (!branch || successor < 0 ||
      successor >= intptr_t(unwrap(op)->getNumSuccessors()))
    return false;
  for (Value value :
       branch.getSuccessorOperands(successor).getForwardedOperands())
    push(wrap(value), user);
  return true;
}

bool phlIsPure(MlirOperation op) {
  return !unwrap(op)->hasTrait<OpTrait::IsTerminator>() &&
         isValid(unwrap(op)) && isPure(unwrap(op));
}
