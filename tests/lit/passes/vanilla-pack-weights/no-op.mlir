// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-pack-weights))' | FileCheck %s

// Composites of other targets are left alone.
// CHECK-LABEL: func.func @other
// CHECK-NOT: vanilla.packed
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.composite "npu.relu" target("npu") (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.relu %a : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
