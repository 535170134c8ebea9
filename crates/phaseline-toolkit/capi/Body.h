//===- Body.h - C API of bodies of operations in Rust -----------*- C -*-===//
//
// Verifiers, folds and canonicalisation patterns that a dialect declares in ODS
// and a program gives in Rust. phaseline-build makes the C++ that calls these.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_BODY_H
#define PHL_CAPI_BODY_H

#include "mlir-c/IR.h"
#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The functions that know the bodies.
typedef struct PhlBodies {
  /// Calls `fault` with a reason, and returns false, if an operation is not
  /// valid.
  bool (*verify)(MlirOperation op, bool regions, MlirStringCallback fault,
                 void *user);
  /// Gives what the one result of an operation folds to, by its operands that
  /// are constant, the others null. False if it stays.
  bool (*fold)(MlirOperation op, const MlirAttribute *operands, intptr_t count,
               MlirAttribute *attribute, MlirValue *value);
  /// Adds the patterns of operations of a name.
  void (*patterns)(MlirRewritePatternSet patterns, MlirContext context,
                   MlirStringRef name);
} PhlBodies;

/// Says who knows the bodies, which lives as long as the process.
MLIR_CAPI_EXPORTED void phlSetBodies(const PhlBodies *bodies);

/// Verifies an operation, its regions if they are meant; false after an error.
MLIR_CAPI_EXPORTED bool phlBodyVerify(MlirOperation op, bool regions);
MLIR_CAPI_EXPORTED bool phlBodyFold(MlirOperation op,
                                    const MlirAttribute *operands,
                                    intptr_t count, MlirAttribute *attribute,
                                    MlirValue *value);
MLIR_CAPI_EXPORTED void phlBodyPatterns(MlirRewritePatternSet patterns,
                                        MlirContext context,
                                        MlirStringRef name);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_BODY_H
