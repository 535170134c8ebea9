//===- Phl.cpp - C API of the phl dialect ---------------------------------===//

#include "capi/Phl.h"

#include "phl/Phl.h"

#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Phl, phl, phl::PhlDialect)
