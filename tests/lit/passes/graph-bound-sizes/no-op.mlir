// RUN: phaseline-opt %s --graph-bound-sizes | FileCheck %s

// Without ranges nothing changes.

// CHECK: module {
// CHECK: func.func @main(%{{.*}}: tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
