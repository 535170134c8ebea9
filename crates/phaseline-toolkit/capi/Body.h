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

/// Takes the next type of a list.
typedef void (*PhlTypePush)(MlirType type, void *types);

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
  /// Gives the types of results, by operands and attributes; false, maybe after
  /// a call of `fault`, if these do not fit together.
  bool (*infer)(MlirContext context, MlirStringRef name,
                const MlirValue *operands, intptr_t count,
                MlirAttribute attributes, PhlTypePush push, void *types,
                MlirStringCallback fault, void *user);
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
/// Infers types of results; false after an error at `location`, which is null
/// where nobody is to be told.
MLIR_CAPI_EXPORTED bool phlBodyInfer(MlirContext context, MlirLocation location,
                                     MlirStringRef name,
                                     const MlirValue *operands, intptr_t count,
                                     MlirAttribute attributes, PhlTypePush push,
                                     void *types);

/// Has calls of functions with operations of a dialect inlined, if the dialect
/// itself says nothing of it.
MLIR_CAPI_EXPORTED void phlRegistryInline(MlirDialectRegistry registry,
                                          MlirStringRef dialect);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_BODY_H
