//===- Infer.h - C API for result types that MLIR infers --------*- C -*-===//

#ifndef PHL_CAPI_INFER_H
#define PHL_CAPI_INFER_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Takes over an operation in no block, which has no results, and returns the
/// same with results of the types that MLIR infers, or null after it called
/// `fault` with a reason. An operation that says how it infers them may trust
/// what its declaration says of operands and attributes, so this is verified
/// first.
MLIR_CAPI_EXPORTED MlirOperation
phlOperationInferTypes(MlirOperation op, MlirStringCallback fault, void *user);

/// Gives results the types that MLIR infers of the operands where these say
/// more of a shape, and the operations that use them stay valid. Returns the
/// number of results that changed, or -1 after it called `fault` with a reason.
MLIR_CAPI_EXPORTED intptr_t phlOperationRefineTypes(MlirOperation op,
                                                    MlirStringCallback fault,
                                                    void *user);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_INFER_H
