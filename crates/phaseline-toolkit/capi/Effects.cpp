//===- Effects.cpp - C API of effects on memory ---------------------------===//

#include "capi/Effects.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

/// True if a structured operation writes each element of an output. Its effects
/// say so of outputs whose indexing map leaves elements out, too.
static bool coversOutput(Operation *op, OpOperand *operand) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !operand)
    return true;
  return structured.getMatchingIndexingMap(operand).isProjectedPermutation();
}

static unsigned kindsOf(Operation *op,
                        const MemoryEffects::EffectInstance &effect) {
  if (effect.getResource() != SideEffects::DefaultResource::get() &&
      !effect.getValue())
    return PHL_EFFECT_ELSEWHERE;
  if (isa<MemoryEffects::Read>(effect.getEffect()))
    return PHL_EFFECT_READ;
  if (isa<MemoryEffects::Allocate>(effect.getEffect()))
    return PHL_EFFECT_ALLOCATE;
  if (isa<MemoryEffects::Free>(effect.getEffect()))
    return PHL_EFFECT_FREE;
  const bool whole = effect.getEffectOnFullRegion() &&
                     coversOutput(op, effect.getEffectValue<OpOperand *>());
  return PHL_EFFECT_WRITE | (whole ? PHL_EFFECT_WHOLE : 0u);
}

PhlEffects phlForEachEffect(MlirOperation raw, PhlEffectCallback callback,
                            void *user_data) {
  Operation *op = unwrap(raw);
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  // Without the interface, an operation may still say that it only has the
  // effects of what is inside of it.
  if (!interface)
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()
               ? PHL_EFFECTS_KNOWN
               : PHL_EFFECTS_UNKNOWN;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const auto &effect : effects) {
    const unsigned kinds = kindsOf(op, effect);
    if (auto *operand = effect.getEffectValue<OpOperand *>())
      callback(kinds, operand->getOperandNumber(), -1, user_data);
    else if (auto result = effect.getEffectValue<OpResult>())
      callback(kinds, -1, result.getResultNumber(), user_data);
    else
      callback(kinds, -1, -1, user_data);
  }
  return PHL_EFFECTS_KNOWN;
}

intptr_t phlViewSource(MlirOperation raw) {
  Operation *op = unwrap(raw);
  auto view = dyn_cast<ViewLikeOpInterface>(op);
  if (!view)
    return -1;
  const Value source = view.getViewSource();
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == source)
      return operand.getOperandNumber();
  return -1;
}

bool phlViewIsPart(MlirOperation raw) {
  return isa<OffsetSizeAndStrideOpInterface>(unwrap(raw));
}

bool phlDestinations(MlirOperation raw, intptr_t *first, intptr_t *count) {
  auto op = dyn_cast<DestinationStyleOpInterface>(unwrap(raw));
  if (!op || op.getNumDpsInits() == 0)
    return false;
  *first = op.getDpsInitOperand(0)->getOperandNumber();
  *count = op.getNumDpsInits();
  for (intptr_t place = 0; place < *count; ++place)
    if (op.getDpsInitOperand(place)->getOperandNumber() != *first + place)
      return false;
  return true;
}

bool phlCarried(MlirOperation raw, intptr_t *first, intptr_t *count) {
  auto loop = dyn_cast<LoopLikeOpInterface>(unwrap(raw));
  if (!loop)
    return false;
  const MutableArrayRef<OpOperand> carried = loop.getInitsMutable();
  if (carried.empty())
    return false;
  *first = carried.front().getOperandNumber();
  *count = carried.size();
  return true;
}

PhlStructured phlStructured(MlirOperation raw) {
  auto op = dyn_cast<linalg::LinalgOp>(unwrap(raw));
  if (!op)
    return PHL_STRUCTURED_NONE;
  return op.isAllParallelLoops() ? PHL_STRUCTURED_PARALLEL : PHL_STRUCTURED;
}

PhlRuns phlRegionRuns(MlirOperation raw, intptr_t region) {
  Operation *op = unwrap(raw);
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  const bool known = branch || isa<LoopLikeOpInterface>(op);
  if (!known || op->hasTrait<OpTrait::HasParallelRegion>())
    return PHL_RUNS_UNKNOWN;
  if (!branch)
    return PHL_RUNS_IN_ORDER;
  // A region that control does not come back to runs once at most.
  const auto place = static_cast<size_t>(region);
  if (place < op->getNumRegions() && !branch.isRepetitiveRegion(place))
    return PHL_RUNS_ONCE;
  return PHL_RUNS_IN_ORDER;
}

bool phlIsConstantLike(MlirOperation op) {
  return unwrap(op)->hasTrait<OpTrait::ConstantLike>();
}
