// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(vanilla-pack-weights,vanilla-pack-weights))' | FileCheck %s

// The weights of 2 output channels and 1 input channel go to lanes 0 and 1 of one block; the
// packed operands come last, and only once.
// CHECK-LABEL: func.func @conv
// CHECK: %[[W:.*]] = graph.constant dense_resource<[[PACKED:.*]]> : tensor<1x1x16xf32>
// CHECK: %[[B:.*]] = graph.constant dense_resource<[[BIAS:.*]]> : tensor<2xf32>
// CHECK: graph.composite "vanilla.conv2d" target("vanilla") (%{{.*}} = %arg0, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %[[W]], %{{.*}} = %[[B]])
// CHECK-SAME: attributes {vanilla.packed}
// 1, 3, zeros; 2, 4, zeros. The biases 1 and 2 plus 0.5.
// CHECK-DAG: [[PACKED]]: "0x400000000000803F00004040000000000000000000000000000000000000000000000000000000400000804000000000
// CHECK-DAG: [[BIAS]]: "0x400000000000C03F00002040"
func.func @conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x3xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = graph.composite "vanilla.conv2d" target("vanilla") (%a = %x, %c = %w, %d = %b)
      : (tensor<1x1x4x4xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x2x4x3xf32> {
    %0 = graph.conv %a, %c, %d : (tensor<1x1x4x4xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x2x4x3xf32>
    %half = graph.constant dense<0.5> : tensor<1xf32>
    %1 = graph.add %0, %half : (tensor<1x2x4x3xf32>, tensor<1xf32>) -> tensor<1x2x4x3xf32>
    graph.yield %1 : tensor<1x2x4x3xf32>
  }
  return %y : tensor<1x2x4x3xf32>
}
