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

/// A run of a pass.
typedef struct PhlPassRun {
  void *ptr;
} PhlPassRun;

/// One option of a pass. All strings are NUL-terminated and live forever.
typedef struct PhlOptionDesc {
  const char *name;
  const char *description;
  const char *default_value;
  PhlOptionKind kind;
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
  /// Calls `fault` with a reason, and returns false, if an option cannot have a
  /// value.
  bool (*check)(size_t option, const char *value, MlirStringCallback fault,
                void *fault_user, const void *user);
  /// Makes the state of a pass before it runs, which clones for other threads
  /// share; null after a diagnostic. `release` is called once for each.
  void *(*make)(MlirContext context, const char *const *values,
                size_t num_values, const void *user);
  void (*release)(void *state, const void *user);
  /// Returns false on failure, after it emitted a diagnostic.
  bool (*run)(MlirOperation op, const char *const *values, size_t num_values,
              PhlPassRun run, void *state, const void *user);
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

/// A pipeline that was parsed.
typedef struct PhlPipeline {
  void *ptr;
} PhlPipeline;
/// Parses a list of passes for what the pass runs on; null after a reason.
MLIR_CAPI_EXPORTED PhlPipeline phlPassRunParse(PhlPassRun run,
                                               MlirStringRef passes,
                                               MlirStringCallback fault,
                                               void *user);
/// Runs a pipeline, which goes, on what the pass runs on.
MLIR_CAPI_EXPORTED bool phlPassRunPipeline(PhlPassRun run,
                                           PhlPipeline pipeline);
/// The place for what is known of the operation, which goes, by `drop`, where a
/// pass does not say that it keeps it. It holds null at first.
MLIR_CAPI_EXPORTED void **phlPassRunAnalyses(PhlPassRun run,
                                             void (*drop)(void *));
/// Says that all analyses, or those in that place, are as they were.
MLIR_CAPI_EXPORTED void phlPassRunPreserve(PhlPassRun run, bool all);

/// Calls `fault`, and returns false, if a text is no list of passes.
MLIR_CAPI_EXPORTED bool phlPipelineCheck(MlirStringRef passes,
                                         MlirStringCallback fault, void *user);

/// A note of a diagnostic.
typedef struct PhlNote {
  MlirLocation location;
  MlirStringRef text;
} PhlNote;

/// The severity of a diagnostic.
typedef enum PhlSeverity {
  PHL_SEVERITY_ERROR = 0,
  PHL_SEVERITY_WARNING = 1,
  PHL_SEVERITY_REMARK = 2,
} PhlSeverity;

/// Emits a diagnostic with notes.
MLIR_CAPI_EXPORTED void phlEmit(PhlSeverity severity, MlirLocation location,
                                MlirStringRef text, const PhlNote *notes,
                                size_t num_notes);

/// Asks `stop` before each pass, and before each pattern, of a context: where
/// it is true they are left out. Null asks nobody.
MLIR_CAPI_EXPORTED void phlContextSetStop(MlirContext context,
                                          bool (*stop)(void *user), void *user);

/// Makes `pm` write `path` with the IR and the pipeline when a pass fails or
/// crashes. With `local` set, only the failing pass is reproduced.
MLIR_CAPI_EXPORTED void phlPassManagerEnableCrashReproducer(MlirPassManager pm,
                                                            MlirStringRef path,
                                                            bool local);

/// Events for which `phlPassManagerWatch` calls.
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
