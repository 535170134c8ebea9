// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches{max-patches=1}))' 2>&1 | FileCheck %s --check-prefix=PATCHES
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches{max-recompute=-1}))' 2>&1 | FileCheck %s --check-prefix=WORK

// PATCHES: invalid.mlir:[[#@LINE+2]]:{{.*}} option 'max-patches' is 1; it has to be 2 or more
// WORK: option 'max-recompute' is -1; it has to be 0 or more
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
