//===- Dataflow.h - C API of dataflow analyses ------------------*- C -*-===//

#ifndef PHL_CAPI_DATAFLOW_H
#define PHL_CAPI_DATAFLOW_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The direction of an analysis, and what has a state in it.
typedef enum PhlDataflowKind {
  /// Values, from operands to results.
  PHL_DATAFLOW_FORWARD = 0,
  /// Values, from results to operands.
  PHL_DATAFLOW_BACKWARD = 1,
  /// Places between operations, in the order of execution.
  PHL_DATAFLOW_DENSE = 2,
} PhlDataflowKind;

/// An analysis whose states are the caller's. A state is an address that `make`
/// gave, and is given to `drop` once.
typedef struct PhlDataflow {
  PhlDataflowKind kind;
  /// The state of what nothing is known of.
  void *(*make)(void *user);
  void (*drop)(void *state, void *user);
  /// Joins `from` into a state; true if that changed it.
  bool (*join)(void *state, const void *from, void *user);
  /// Computes the states behind an operation, of values or of the place, which
  /// are as `make` gives them.
  void (*visit)(MlirOperation op, const void *const *before, intptr_t count,
                void *const *behind, intptr_t number, void *user);
  /// Computes the state where control enters (leaves, if backward) from
  /// elsewhere: of a value, or of a place where that is null.
  void (*border)(MlirValue value, void *state, void *user);
  /// Told of each state at the end: of a value, or behind an operation.
  void (*found)(MlirValue value, MlirOperation op, const void *state,
                void *user);
  void *user;
} PhlDataflow;

/// Runs an analysis on what is in `op`. False if states go on changing.
MLIR_CAPI_EXPORTED bool phlDataflowRun(MlirOperation op,
                                       const PhlDataflow *analysis);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_DATAFLOW_H
