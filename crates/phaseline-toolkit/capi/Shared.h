//===- Shared.h - What a program and its plugins share ----------*- C -*-===//
//
// The Rust of a plugin is a copy, with its own statics. What there has to be
// once is here, since a plugin's C++ is that of the program.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_CAPI_SHARED_H
#define PHL_CAPI_SHARED_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// State of a thread.
typedef struct PhlThread {
  /// Address of the operation that a pass is given; 0 if none.
  size_t run_on;
  /// Number of nested pipelines that run.
  size_t level;
  /// Access to the IR.
  unsigned char access;
  /// The thread reads MLIR's registry of passes.
  bool reads;
} PhlThread;

/// The state of this thread.
MLIR_CAPI_EXPORTED PhlThread *phlThread(void);

/// Values of a process.
typedef enum PhlShared {
  /// Passes that are registered.
  PHL_SHARED_PASSES = 0,
  /// Plugins that are loaded.
  PHL_SHARED_PLUGINS = 1,
  /// The allocator.
  PHL_SHARED_ALLOCATOR = 2,
} PhlShared;

/// A value of the process. Where there is none, `value` becomes it, which lives
/// for ever; null asks only.
MLIR_CAPI_EXPORTED const void *phlShare(PhlShared place, const void *value);

#ifdef __cplusplus
}
#endif

#endif // PHL_CAPI_SHARED_H
