//===- Driver.h - C API of the drivers and the parser ---------*- C -*-===//

#ifndef PHL_CAPI_DRIVER_H
#define PHL_CAPI_DRIVER_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Adds the upstream dialects, their extensions and ours to `registry`.
MLIR_CAPI_EXPORTED void phlRegisterDialects(MlirDialectRegistry registry);

/// Registers the passes of upstream MLIR, once per process.
MLIR_CAPI_EXPORTED void phlRegisterUpstreamPasses(void);

/// True if MLIR's parser may be given a text; fills the line, and what is
/// wrong, which lives forever, otherwise.
typedef bool (*PhlTextCheck)(MlirStringRef text, size_t *line,
                             MlirStringRef *reason);

/// The main function of `phaseline-opt`: mlir-opt with our dialects, and with
/// input that `check` has accepted.
MLIR_CAPI_EXPORTED int phlOptMain(int argc, char **argv, PhlTextCheck check);

/// The main function of `phaseline-lsp-server`.
MLIR_CAPI_EXPORTED int phlLspMain(int argc, char **argv);

/// Parses a module from text or bytecode; `name` stands for the file in
/// locations. Operations outside of a `module` are put into one. The byte
/// behind `source` is zero. Null, after a diagnostic, when it is not valid.
MLIR_CAPI_EXPORTED MlirModule phlModuleParse(MlirContext context,
                                             MlirStringRef source,
                                             MlirStringRef name);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_DRIVER_H
