// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-split-patches{max-patches=2}))' | FileCheck %s

// Two windows, each with one row of the other half and the padding on its own side only.
// CHECK-LABEL: func.func @two_convolutions
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<0> : tensor<1xi64>
// CHECK: %[[X0:.*]] = graph.slice %arg0, {{.*}} -> tensor<1x2x10x16xf32>
// CHECK: %[[A0:.*]] = graph.conv %[[X0]], %arg1 pads = [1, 1, 0, 1] {{.*}} -> tensor<1x8x9x16xf32>
// CHECK: %[[B0:.*]] = graph.conv %[[A0]], %arg2 pads = [1, 1, 0, 1] {{.*}} -> tensor<1x2x8x16xf32>
// CHECK: %[[X1:.*]] = graph.slice %arg0, {{.*}} -> tensor<1x2x10x16xf32>
// CHECK: %[[A1:.*]] = graph.conv %[[X1]], %arg1 pads = [0, 1, 1, 1] {{.*}} -> tensor<1x8x9x16xf32>
// CHECK: %[[B1:.*]] = graph.conv %[[A1]], %arg2 pads = [0, 1, 1, 1] {{.*}} -> tensor<1x2x8x16xf32>
// CHECK: %[[B:.*]] = graph.concat %[[B0]], %[[B1]] axis = 2
// CHECK: return %[[B]]
func.func @two_convolutions(%x: tensor<1x2x16x16xf32>, %w: tensor<8x2x3x3xf32>, %v: tensor<2x8x3x3xf32>)
    -> tensor<1x2x16x16xf32> {
  %a = graph.conv %x, %w pads = [1, 1, 1, 1]
      : (tensor<1x2x16x16xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x16x16xf32>
  %b = graph.conv %a, %v pads = [1, 1, 1, 1]
      : (tensor<1x8x16x16xf32>, tensor<2x8x3x3xf32>) -> tensor<1x2x16x16xf32>
  return %b : tensor<1x2x16x16xf32>
}
