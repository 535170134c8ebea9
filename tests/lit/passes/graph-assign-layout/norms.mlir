// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout))" --split-input-file | FileCheck %s

// Means of rows first, for each channel; the image stays on NHWC through the activation to the next convolution.
// CHECK-LABEL: func.func @instances
// CHECK: %[[X:.*]] = graph.composite "nhwc.conv"
// CHECK-NOT: graph.transpose %[[X]]
// CHECK: %[[ROWS:.*]] = graph.reduce_mean %[[X]] axes = [2] : (tensor<1x6x5x8xf32>) -> tensor<1x6x1x8xf32>
// CHECK: %[[MEAN:.*]] = graph.reduce_mean %[[ROWS]] axes = [1] : (tensor<1x6x1x8xf32>) -> tensor<1x1x1x8xf32>
// CHECK: %[[D:.*]] = graph.sub %[[MEAN]], %[[X]]
// CHECK: graph.mul %[[D]], %[[D]]
// CHECK: graph.reduce_mean
// CHECK: %[[VAR:.*]] = graph.reduce_mean
// CHECK: graph.add %[[VAR]], %{{.*}} : (tensor<1x1x1x8xf32>, tensor<f32>)
// CHECK: graph.sqrt
// CHECK: %[[F:.*]] = graph.div %arg2,
// CHECK: %[[C:.*]] = graph.sub %[[X]], %[[MEAN]]
// CHECK: %[[S:.*]] = graph.mul %[[C]], %[[F]]
// CHECK: %[[Y:.*]] = graph.add %[[S]], %arg3
// CHECK: %[[R:.*]] = graph.relu %[[Y]] : tensor<1x6x5x8xf32>
// CHECK: graph.composite "nhwc.conv" {{.*}} = %[[R]],
func.func @instances(%x: tensor<1x3x6x5xf32>, %w: tensor<8x3x1x1xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>, %v: tensor<4x8x1x1xf32>) -> tensor<1x4x6x5xf32> {
  %0 = graph.conv %x, %w : (tensor<1x3x6x5xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x5xf32>
  %1 = graph.instance_norm %0, %scale, %bias epsilon = 1.0e-3 : (tensor<1x8x6x5xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x5xf32>
  %2 = graph.relu %1 : tensor<1x8x6x5xf32>
  %3 = graph.conv %2, %v : (tensor<1x8x6x5xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x5xf32>
  return %3 : tensor<1x4x6x5xf32>
}

// -----

// The means of the channels of a group become one, which all of them get.
// CHECK-LABEL: func.func @groups
// CHECK: %[[M:.*]] = graph.reduce_mean %{{.*}} axes = [1] : (tensor<2x9x8xf32>) -> tensor<2x1x8xf32>
// CHECK: %[[G:.*]] = graph.reshape %[[M]], %{{.*}} -> tensor<2x2x4xf32>
// CHECK: %[[GM:.*]] = graph.reduce_mean %[[G]] axes = [2] : (tensor<2x2x4xf32>) -> tensor<2x2x1xf32>
// CHECK: %[[E:.*]] = graph.expand %[[GM]], %{{.*}} -> tensor<2x2x4xf32>
// CHECK: graph.reshape %[[E]], %{{.*}} -> tensor<2x1x8xf32>
func.func @groups(%x: tensor<2x3x9xf32>, %w: tensor<8x3x1xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<2x8x9xf32> {
  %0 = graph.conv %x, %w : (tensor<2x3x9xf32>, tensor<8x3x1xf32>) -> tensor<2x8x9xf32>
  %1 = graph.group_norm %0, %scale, %bias num_groups = 2 : (tensor<2x8x9xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x9xf32>
  return %1 : tensor<2x8x9xf32>
}

// -----

// Groups that were made channels, as exporters write them.
// CHECK-LABEL: func.func @reshaped
// CHECK: graph.expand %{{.*}} -> tensor<2x4xf32>
// CHECK: %[[M:.*]] = graph.reduce_mean %{{.*}} axes = [1] : (tensor<1x6x1x8xf32>) -> tensor<1x1x1x8xf32>
// CHECK: graph.reshape %[[M]], %{{.*}} -> tensor<1x2x4xf32>
// CHECK: %[[Y:.*]] = graph.add %{{.*}} : (tensor<1x6x5x8xf32>, tensor<8xf32>)
// CHECK: graph.mul %[[Y]], %{{.*}} -> tensor<1x6x5x8xf32>
func.func @reshaped(%x: tensor<1x3x6x5xf32>, %w: tensor<8x3x1x1xf32>, %scale: tensor<2xf32>, %bias: tensor<2xf32>) -> tensor<1x8x6x5xf32> {
  %to = graph.constant dense<[0, 2, -1]> : tensor<3xi64>
  %from = graph.constant dense<[1, 8, 6, 5]> : tensor<4xi64>
  %weights = graph.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]], [[8.0]]]> : tensor<8x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x3x6x5xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x6x5xf32>
  %1 = graph.reshape %0, %to : (tensor<1x8x6x5xf32>, tensor<3xi64>) -> tensor<1x2x120xf32>
  %2 = graph.instance_norm %1, %scale, %bias : (tensor<1x2x120xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x120xf32>
  %3 = graph.reshape %2, %from : (tensor<1x2x120xf32>, tensor<4xi64>) -> tensor<1x8x6x5xf32>
  %4 = graph.mul %3, %weights : (tensor<1x8x6x5xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x5xf32>
  return %4 : tensor<1x8x6x5xf32>
}

// -----

// An image with its channels first stays so.
// CHECK-LABEL: func.func @alone
// CHECK: graph.instance_norm %arg0
func.func @alone(%x: tensor<1x8x6x5xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<1x8x6x5xf32> {
  %0 = graph.instance_norm %x, %scale, %bias : (tensor<1x8x6x5xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x5xf32>
  return %0 : tensor<1x8x6x5xf32>
}
