// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout))" --split-input-file | FileCheck %s

// Two convolutions with an activation between them: one transposition in, one out.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:.*]]: tensor<1x3x8x8xf32>
func.func @chain(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w0 = graph.constant dense<0.5> : tensor<4x3x3x3xf32>
  %w1 = graph.constant dense<0.25> : tensor<4x4x1x1xf32>
  // CHECK: %[[IN:.*]] = graph.transpose %[[X]] perm = [0, 2, 3, 1]
  // CHECK: %[[C0:.*]] = graph.composite "nhwc.conv" target("llvm")
  // CHECK-SAME: (%[[A:.*]] = %[[IN]], %{{.*}} = %{{.*}}) : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<1x8x8x4xf32>
  // CHECK: graph.transpose %[[A]] perm = [0, 3, 1, 2]
  // CHECK: graph.conv
  // CHECK: graph.transpose %{{.*}} perm = [0, 2, 3, 1]
  %0 = graph.conv %x, %w0 pads = [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: %[[R:.*]] = graph.relu %[[C0]] : tensor<1x8x8x4xf32>
  %1 = graph.relu %0 : tensor<1x4x8x8xf32>
  // CHECK: %[[C1:.*]] = graph.composite "nhwc.conv" target("llvm")
  // CHECK-SAME: = %[[R]]
  %2 = graph.conv %1, %w1 : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: %[[OUT:.*]] = graph.transpose %[[C1]] perm = [0, 3, 1, 2]
  // CHECK-NEXT: return %[[OUT]]
  return %2 : tensor<1x4x8x8xf32>
}

// -----

// Pools, sums, constants per channel, concatenation and reduction follow; after a global pool
// going back is no data movement.
// CHECK-LABEL: func.func @follow
func.func @follow(%x: tensor<1x4x8x8xf32>) -> (tensor<1x8x1x1xf32>, tensor<1x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<4x4x1x1xf32>
  %c = graph.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  // CHECK: graph.constant dense<{{.*}}> : tensor<1x1x1x4xf32>
  %0 = graph.conv %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: graph.add {{.*}} : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  %1 = graph.add %0, %c : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: graph.composite "nhwc.max_pool"
  %2 = graph.max_pool %1 kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: graph.concat {{.*}} axis = 3
  %3 = graph.concat %2, %2 axis = 1 : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: %[[G:.*]] = graph.composite "nhwc.global_average_pool"
  %4 = graph.global_average_pool %3 : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
  // CHECK: graph.reshape %[[G]]
  // CHECK: graph.reduce_mean {{.*}} axes = [1, 2] keepdims = false : (tensor<1x4x4x4xf32>) -> tensor<1x4xf32>
  %5 = graph.reduce_mean %2 axes = [2, 3] keepdims = false : (tensor<1x4x4x4xf32>) -> tensor<1x4xf32>
  // CHECK-NOT: graph.transpose
  return %4, %5 : tensor<1x8x1x1xf32>, tensor<1x4xf32>
}

// -----

// Models that transpose by themselves meet the kernels' layout halfway.
// CHECK-LABEL: func.func @already
// CHECK-SAME: %[[X:.*]]: tensor<1x8x8x4xf32>
func.func @already(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<4x4x1x1xf32>
  %0 = graph.transpose %x perm = [0, 3, 1, 2] : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  // CHECK-NOT: perm
  // CHECK: %[[C:.*]] = graph.composite "nhwc.conv" target("llvm"){{ *}}
  // CHECK-SAME: = %[[X]]
  %1 = graph.conv %0, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.transpose %1 perm = [0, 2, 3, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  // CHECK: return %[[C]]
  return %2 : tensor<1x8x8x4xf32>
}
