//===- Elements.h - C API for the data of elements attributes ---*- C -*-===//
//
// MLIR's C API reads and makes elements attributes for a fixed list of element
// types, and always copies. Weights must not be copied, so this file gives
// access to the bytes, and changes the type of a blob in place of its data.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_ELEMENTS_H
#define PHL_CAPI_ELEMENTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The bytes of a `dense` or `dense_resource` attribute, in MLIR's storage: one
/// element only for a splat, and unspecified for `dense` of i1. Null when the
/// attribute is of another kind or a blob without data.
MLIR_CAPI_EXPORTED const void *phlElementsBytes(MlirAttribute attr,
                                                size_t *size);

/// The same bytes with another type, whose elements have the same width and
/// number. A blob is shared, not copied. Null for other kinds of attributes.
MLIR_CAPI_EXPORTED MlirAttribute phlElementsWithType(MlirAttribute attr,
                                                     MlirType type);

/// Calls `note` with the address of the data of each blob that an operation, or
/// one inside of it, names in its attributes, at least once.
MLIR_CAPI_EXPORTED void
phlOperationBlobs(MlirOperation op, void (*note)(void *user, const void *data),
                  void *user);

/// Frees the data of a `dense_resource` attribute, which then has none. Nobody
/// reads it.
MLIR_CAPI_EXPORTED void phlElementsFree(MlirAttribute attr);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_ELEMENTS_H
