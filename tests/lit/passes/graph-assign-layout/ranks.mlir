// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout))" | FileCheck %s

// CHECK-LABEL: func.func @line
// CHECK: graph.transpose %arg0 perm = [0, 2, 1]
// CHECK: graph.composite "nhwc.conv"
// CHECK-SAME: -> tensor<1x8x4xf32>
// CHECK: graph.relu %{{.*}} : tensor<1x8x4xf32>
func.func @line(%x: tensor<1x3x8xf32>) -> tensor<1x4x8xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x8xf32>, tensor<4x3x1xf32>) -> tensor<1x4x8xf32>
  %1 = graph.relu %0 : tensor<1x4x8xf32>
  return %1 : tensor<1x4x8xf32>
}

// CHECK-LABEL: func.func @volume
// CHECK: graph.transpose %arg0 perm = [0, 2, 3, 4, 1]
// CHECK: graph.composite "nhwc.conv"
// CHECK: graph.composite "nhwc.max_pool"
// CHECK-SAME: -> tensor<1x2x2x2x4xf32>
func.func @volume(%x: tensor<1x3x4x4x4xf32>) -> tensor<1x4x2x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x1x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x4x4x4xf32>, tensor<4x3x1x1x1xf32>) -> tensor<1x4x4x4x4xf32>
  %1 = graph.max_pool %0 kernel_shape = [2, 2, 2] strides = [2, 2, 2]
      : (tensor<1x4x4x4x4xf32>) -> tensor<1x4x2x2x2xf32>
  return %1 : tensor<1x4x2x2x2xf32>
}

// Windows with many columns over the edge read an image with its padding.
// CHECK-LABEL: func.func @edges
// CHECK: %[[PADDED:.*]] = graph.pad
// CHECK-SAME: -> tensor<1x71x3xf32>
// CHECK: graph.composite "nhwc.conv" target("llvm") ({{.*}} = %[[PADDED]],
// CHECK: graph.conv {{.*}} pads = [0, 0]
func.func @edges(%x: tensor<1x3x40xf32>) -> tensor<1x4x40xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x32xf32>
  %0 = graph.conv %x, %w pads = [16, 15] : (tensor<1x3x40xf32>, tensor<4x3x32xf32>) -> tensor<1x4x40xf32>
  return %0 : tensor<1x4x40xf32>
}

// The four phases of a transposed convolution are channels of one, and then neighbours.
// CHECK-LABEL: func.func @phases
// CHECK: graph.composite "nhwc.conv"
// CHECK-SAME: -> tensor<1x8x8x16xf32>
// CHECK: graph.reshape
// CHECK-SAME: -> tensor<1x8x8x1x2x2x4xf32>
// CHECK: graph.transpose %{{.*}} perm = [0, 1, 4, 2, 5, 3, 6]
// CHECK: graph.reshape
// CHECK-SAME: -> tensor<1x16x16x4xf32>
// CHECK-NOT: graph.slice
func.func @phases(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x16x16xf32> {
  %w = graph.constant dense<0.5> : tensor<3x4x2x2xf32>
  %0 = graph.conv_transpose %x, %w strides = [2, 2]
      : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32>
  return %0 : tensor<1x4x16x16xf32>
}
