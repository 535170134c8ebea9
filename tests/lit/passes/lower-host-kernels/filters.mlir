// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),lower-host-kernels{vector-bits=256})" | FileCheck %s

// Filters that are no constants are read as rows, tap by tap and channel by channel.
// CHECK-LABEL: func.func @filters
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8x2x3x3xf32>)
// CHECK: %[[ROWS:.*]] = graph.transpose %[[W]] perm = [2, 3, 1, 0]
// CHECK-SAME: -> tensor<3x3x2x8xf32>
// CHECK: tir.call_extern @[[K:k_conv_[0-9a-f]*]]({{.*}}) ins(%{{.*}}, %[[ROWS]]
func.func @filters(%x: tensor<1x4x9x9xf32>, %w: tensor<8x2x3x3xf32>) -> tensor<1x8x9x9xf32> {
  %0 = graph.conv %x, %w pads = [1, 1, 1, 1] group = 2 : (tensor<1x4x9x9xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x9x9xf32>
  return %0 : tensor<1x8x9x9xf32>
}

// CHECK-LABEL: func.func @depthwise
// CHECK: graph.transpose %{{.*}} perm = [2, 3, 1, 0]
// CHECK-SAME: -> tensor<3x3x1x8xf32>
// CHECK: tir.call_extern @k_depthwise_conv_{{[0-9a-f]*}}
func.func @depthwise(%x: tensor<1x8x9x9xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<1x8x7x7xf32> {
  %0 = graph.conv %x, %w group = 8 : (tensor<1x8x9x9xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x7x7xf32>
  return %0 : tensor<1x8x7x7xf32>
}
