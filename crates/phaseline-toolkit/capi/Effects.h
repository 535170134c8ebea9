//===- Effects.h - C API of effects on memory -------------------*- C++ -*-===//
//
// Effects of an operation on its operands, results and regions, by its
// interfaces. MLIR's C API has none of these.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_EFFECTS_H
#define PHL_CAPI_EFFECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of effects, as bits.
typedef enum PhlEffect {
  PHL_EFFECT_READ = 1,
  PHL_EFFECT_WRITE = 2,
  PHL_EFFECT_ALLOCATE = 4,
  PHL_EFFECT_FREE = 8,
  /// A write of each element, before any of them is read.
  PHL_EFFECT_WHOLE = 16,
  /// On something that is no memory of buffers, such as the state of a device.
  PHL_EFFECT_ELSEWHERE = 32,
} PhlEffect;

/// The knowledge about the effects of an operation, its regions aside.
typedef enum PhlEffects {
  /// The operation may do everything.
  PHL_EFFECTS_UNKNOWN = 0,
  /// The operation has the effects that were told.
  PHL_EFFECTS_KNOWN = 1,
} PhlEffects;

/// Told of each effect: its kinds, and the operand or the result that it is on,
/// both -1 for one on memory that is neither.
typedef void (*PhlEffectCallback)(unsigned kinds, intptr_t operand,
                                  intptr_t result, void *user_data);

/// Tells the effects of `op` by itself. Operations inside of its regions have
/// effects of their own.
MLIR_CAPI_EXPORTED PhlEffects phlForEachEffect(MlirOperation op,
                                               PhlEffectCallback callback,
                                               void *user_data);

/// The operand of which `op` gives a view, or -1.
MLIR_CAPI_EXPORTED intptr_t phlViewSource(MlirOperation op);

/// True if the view that `op` gives may leave out elements of what it is of.
MLIR_CAPI_EXPORTED bool phlViewIsPart(MlirOperation op);

/// The operands that `op` takes as destinations, in their order: the first one
/// and their number. False where there are none, or not in a row.
MLIR_CAPI_EXPORTED bool phlDestinations(MlirOperation op, intptr_t *first,
                                        intptr_t *count);

/// The operands that the loop `op` carries from one iteration to the next, as
/// phlDestinations tells destinations.
MLIR_CAPI_EXPORTED bool phlCarried(MlirOperation op, intptr_t *first,
                                   intptr_t *count);

/// Kinds of structured operations.
typedef enum PhlStructured {
  /// No structured operation.
  PHL_STRUCTURED_NONE = 0,
  PHL_STRUCTURED = 1,
  /// All loops of the operation are parallel.
  PHL_STRUCTURED_PARALLEL = 2,
} PhlStructured;

MLIR_CAPI_EXPORTED PhlStructured phlStructured(MlirOperation op);

/// The runs of a region in one run of its operation.
typedef enum PhlRuns {
  /// Any number, maybe several at once.
  PHL_RUNS_UNKNOWN = 0,
  /// At most one.
  PHL_RUNS_ONCE = 1,
  /// Any number, one after the other.
  PHL_RUNS_IN_ORDER = 2,
} PhlRuns;

MLIR_CAPI_EXPORTED PhlRuns phlRegionRuns(MlirOperation op, intptr_t region);

/// True if an operation is a constant, with the trait `ConstantLike`.
MLIR_CAPI_EXPORTED bool phlIsConstantLike(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_EFFECTS_H
