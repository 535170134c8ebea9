//===- Analysis.h - C API of analyses and interfaces ------------*- C -*-===//

#ifndef PHL_CAPI_ANALYSIS_H
#define PHL_CAPI_ANALYSIS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PhlDominance {
  void *ptr;
} PhlDominance;

/// The dominance of what is in `op`, from its entry, or towards its exit.
MLIR_CAPI_EXPORTED PhlDominance phlDominanceCreate(MlirOperation op, bool post);
MLIR_CAPI_EXPORTED void phlDominanceDestroy(PhlDominance dominance, bool post);
/// True if each way to `b` (from `b`, if post) goes through `a`, or they are
/// one.
MLIR_CAPI_EXPORTED bool phlDominates(PhlDominance dominance, bool post,
                                     MlirOperation a, MlirOperation b);
/// True if a value may be used by an operation.
MLIR_CAPI_EXPORTED bool phlValueDominates(PhlDominance dominance,
                                          MlirValue value, MlirOperation op);

/// Told of a value that is live where a block begins, or ends.
typedef void (*PhlLiveCallback)(MlirBlock block, MlirValue value, bool out,
                                void *user);
/// Tells all values that are live at the borders of blocks in `op`.
MLIR_CAPI_EXPORTED void phlLiveness(MlirOperation op, PhlLiveCallback live,
                                    void *user);

/// Told of a call in a function to another; no name is one that is not known.
typedef void (*PhlCallCallback)(MlirOperation caller, MlirOperation call,
                                MlirOperation callee, void *user);
/// Tells all calls in `op`. The callee is null where it is not known.
MLIR_CAPI_EXPORTED void phlCallGraph(MlirOperation op, PhlCallCallback call,
                                     void *user);

/// Alias relation of the memory at two addresses.
typedef enum PhlAlias {
  PHL_ALIAS_NONE = 0,
  PHL_ALIAS_MAY = 1,
  PHL_ALIAS_PARTIAL = 2,
  PHL_ALIAS_MUST = 3,
} PhlAlias;
/// Asks of two values in `op`.
MLIR_CAPI_EXPORTED PhlAlias phlAlias(MlirOperation op, MlirValue a,
                                     MlirValue b);

/// True if an operation is valid by itself; says nothing if not.
MLIR_CAPI_EXPORTED bool phlIsValid(MlirOperation op);

/// Takes a value of a list.
typedef void (*PhlValueCallback)(MlirValue value, void *user);
/// Parts of a loop that are values.
typedef enum PhlLoopPart {
  PHL_LOOP_INDUCTION = 0,
  PHL_LOOP_INITS = 1,
  PHL_LOOP_CARRIED = 2,
  PHL_LOOP_YIELDED = 3,
} PhlLoopPart;
/// True if `op` is like a loop.
MLIR_CAPI_EXPORTED bool phlIsLoop(MlirOperation op);
MLIR_CAPI_EXPORTED void phlLoopValues(MlirOperation op, PhlLoopPart part,
                                      PhlValueCallback push, void *user);
/// Gives bounds and step of a loop with one induction variable: `values` where
/// they are values, else `numbers`. False where there are none.
MLIR_CAPI_EXPORTED bool phlLoopBounds(MlirOperation op, MlirValue values[3],
                                      int64_t numbers[3]);
/// True if a value is the same in each iteration of a loop.
MLIR_CAPI_EXPORTED bool phlIsInvariant(MlirOperation op, MlirValue value);

/// True if `op` calls something. `callee` is the name, where that is a symbol,
/// `first` and `count` are the operands that are given on.
MLIR_CAPI_EXPORTED bool phlCall(MlirOperation op, MlirAttribute *callee,
                                MlirValue *called, intptr_t *first,
                                intptr_t *count);
/// Gives the operands that `op` passes on to a block that it names.
MLIR_CAPI_EXPORTED bool phlBranchOperands(MlirOperation op, intptr_t successor,
                                          PhlValueCallback push, void *user);
/// True if `op` may be moved to where it does not run, or runs more often.
MLIR_CAPI_EXPORTED bool phlIsPure(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_ANALYSIS_H
