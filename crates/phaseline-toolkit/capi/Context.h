//===- Context.h - C API of contexts ----------------------------*- C -*-===//

#ifndef PHL_CAPI_CONTEXT_H
#define PHL_CAPI_CONTEXT_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Has a context carry `user`, which the caller keeps alive as long as the
/// context. Nothing of the context is in use meanwhile.
MLIR_CAPI_EXPORTED void phlContextSetUser(MlirContext context,
                                          const void *user);
/// The pointer that a context carries, or null. Any thread may ask.
MLIR_CAPI_EXPORTED const void *phlContextUser(MlirContext context);

/// Has each context that gets `registry` carry `user`.
MLIR_CAPI_EXPORTED void phlRegistrySetUser(MlirDialectRegistry registry,
                                           const void *user);

/// Adds to `registry` the dialects that were registered in a context.
MLIR_CAPI_EXPORTED void phlContextDialects(MlirContext context,
                                           MlirDialectRegistry registry);

/// A pool of so many threads, which mlirLlvmThreadPoolDestroy ends.
MLIR_CAPI_EXPORTED MlirLlvmThreadPool phlThreadPoolCreate(unsigned threads);

/// Parses a module from text or bytecode; `name` stands for the file in
/// locations. Operations outside of a `module` are put into one. The byte
/// behind `source` is zero. Null, after a diagnostic, when it is not valid.
MLIR_CAPI_EXPORTED MlirModule phlModuleParse(MlirContext context,
                                             MlirStringRef source,
                                             MlirStringRef name);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_CONTEXT_H
