// A failing pass of ours leaves a reproducer like one of upstream's.

// RUN: rm -f %t.mlir
// RUN: not phaseline-opt %s --mlir-pass-pipeline-crash-reproducer=%t.mlir --pass-pipeline='builtin.module(canonicalize,graph-partition{targets={vanila}})' 2> /dev/null
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK: pipeline: "builtin.module(canonicalize{{.*}}graph-partition{{{.*}}targets=vanila})"
// RUN: not phaseline-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY: error: there is no target 'vanila'

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
