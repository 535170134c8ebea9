//===- Pass.h - C API for passes written outside C++ ------------*- C -*-===//
//
// MLIR's C API can create an external pass but neither register it by name nor
// give it options. This file adds both, so that a pass written in Rust is an
// ordinary member of MLIR's pass registry: textual pipelines, --help,
// --dump-pass-pipeline, multi-threading and crash reproducers all work.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_PASS_H
#define PHL_CAPI_PASS_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The type of a pass option; MLIR parses and checks the text by it.
typedef enum PhlOptionKind {
  PHL_OPTION_STRING = 0,
  PHL_OPTION_INT = 1,
  PHL_OPTION_BOOL = 2,
} PhlOptionKind;

/// One option of a pass. All strings are NUL-terminated and live forever.
typedef struct PhlOptionDesc {
  const char *name;
  const char *description;
  const char *default_value;
  PhlOptionKind kind;
  /// The words that a string may be; null if it may be any.
  const char *const *choices;
  size_t num_choices;
} PhlOptionDesc;

/// A pass. All pointers live as long as the process, because MLIR's registry
/// does. `run` may be called from several threads at once, on different
/// operations; `values` holds the text of each option in order.
typedef struct PhlPassDesc {
  const char *argument;
  const char *description;
  /// Name of the operation that the pass runs on; empty for any.
  const char *op_name;
  const PhlOptionDesc *options;
  size_t num_options;
  /// Names of the dialects that the pass creates operations of.
  const char *const *dialects;
  size_t num_dialects;
  /// Returns false on failure, after it emitted a diagnostic.
  bool (*run)(MlirOperation op, const char *const *values, size_t num_values,
              const void *user);
  const void *user;
} PhlPassDesc;

/// Adds a pass to MLIR's registry. A name that is taken already is an error
/// of the caller (MLIR aborts), so the caller keeps the list of names.
MLIR_CAPI_EXPORTED void phlRegisterPass(const PhlPassDesc *desc);

/// Adds a pipeline to MLIR's registry, by a list of passes on builtin.module.
/// The strings are copied. The name is as new as that of a pass has to be.
MLIR_CAPI_EXPORTED void phlRegisterPipeline(MlirStringRef name,
                                            MlirStringRef description,
                                            MlirStringRef passes);

/// Emits a warning, or a remark.
MLIR_CAPI_EXPORTED void phlEmitWarning(MlirLocation location,
                                       MlirStringRef text);
MLIR_CAPI_EXPORTED void phlEmitRemark(MlirLocation location,
                                      MlirStringRef text);

/// Makes `pm` write `path` with the IR and the pipeline when a pass fails or
/// crashes. With `local` set, only the failing pass is reproduced.
MLIR_CAPI_EXPORTED void phlPassManagerEnableCrashReproducer(MlirPassManager pm,
                                                            MlirStringRef path,
                                                            bool local);

/// When `phlPassManagerWatch` calls.
typedef enum PhlPassEvent {
  PHL_PASS_BEFORE = 0,
  PHL_PASS_AFTER = 1,
  PHL_PASS_FAILED = 2,
} PhlPassEvent;

/// Calls `event` before and after every pass of `pm`, those of dynamic
/// pipelines too, on the thread that the pass runs on but never on two at once.
/// `pass` is the pass's name in pipelines. `user` outlives the manager.
MLIR_CAPI_EXPORTED void
phlPassManagerWatch(MlirPassManager pm,
                    void (*event)(PhlPassEvent event, MlirStringRef pass,
                                  MlirOperation op, void *user),
                    void *user);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_PASS_H
