//===- Phl.h - C API of the phl dialect -------------------------*- C -*-===//

#ifndef PHL_CAPI_PHL_H
#define PHL_CAPI_PHL_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Phl, phl);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_PHL_H
