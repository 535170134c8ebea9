//===- Driver.h - C API of the drivers -----------------------*- C -*-===//

#ifndef PHL_CAPI_DRIVER_H
#define PHL_CAPI_DRIVER_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// True if MLIR's parser may be given a text; fills the line, and what is
/// wrong, which lives forever, otherwise.
typedef bool (*PhlTextCheck)(MlirStringRef text, size_t *line,
                             MlirStringRef *reason);

/// True if a library is a plugin that this program can load, of dialects or of
/// passes; `callback` is given the reason otherwise.
MLIR_CAPI_EXPORTED bool phlPluginLoads(MlirStringRef path, bool dialects,
                                       MlirStringCallback callback, void *user);

/// The main function of a pass driver: mlir-opt with the dialects of
/// `registry`, and with input that `check` has accepted. `title` is the first
/// line of its help.
MLIR_CAPI_EXPORTED int phlOptMain(int argc, char **argv, MlirStringRef title,
                                  MlirDialectRegistry registry,
                                  PhlTextCheck check);

/// The main function of a language server for the dialects of `registry`.
MLIR_CAPI_EXPORTED int phlLspMain(int argc, char **argv,
                                  MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_DRIVER_H
