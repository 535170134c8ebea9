// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),lower-host-kernels)" --split-input-file | FileCheck %s

// Filters are packed, filters first within a block: [kernel row][kernel column][channel][filter].
// CHECK-LABEL: func.func @conv
// CHECK: graph.constant dense<[1.000000e+00, 3.000000e+00, 2.000000e+00, 4.000000e+00, 5.000000e+00, 7.000000e+00, 6.000000e+00, 8.000000e+00]>
// CHECK: tir.call_extern @[[K:k_conv_[0-9a-f]*]](%{{.*}} outs(%{{.*}} : tensor<1x4x4x2xf32>)
// CHECK: func.func private @[[K]]
func.func @conv(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[1.0, 5.0]], [[2.0, 6.0]]], [[[3.0, 7.0]], [[4.0, 8.0]]]]> : tensor<2x2x1x2xf32>
  %0 = graph.conv %x, %w pads = [0, 0, 0, 1] : (tensor<1x2x4x4xf32>, tensor<2x2x1x2xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK: tir.call_extern @[[D:k_depthwise_conv_[0-9a-f]*]]
// CHECK: tir.call_extern @[[P:k_max_pool_[0-9a-f]*]]
// CHECK: tir.call_extern @[[G:k_average_pool_[0-9a-f]*]]
// CHECK: func.func private @[[D]]
// CHECK: func.func private @[[P]]
// CHECK: func.func private @[[G]]
func.func @depthwise(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %0 = graph.conv %x, %w pads = [1, 1, 1, 1] group = 8 : (tensor<1x8x4x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.relu %0 : tensor<1x8x4x4xf32>
  %2 = graph.max_pool %1 kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>
  %3 = graph.global_average_pool %2 : (tensor<1x8x2x2xf32>) -> tensor<1x8x1x1xf32>
  return %3 : tensor<1x8x1x1xf32>
}

// -----

// Vectors of groups with few filters for one channel have channels of several groups: the elements that they see are
// repeated in registers.
// CHECK-LABEL: func.func @two_filters
// CHECK: func.func private @k_depthwise_conv_
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<4xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 0, 1, 1, 2, 2, 3, 3] : vector<4xf32>, vector<4xf32>
func.func @two_filters(%x: tensor<1x16x9x9xf32>) -> tensor<1x32x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<32x1x3x3xf32>
  %0 = graph.conv %x, %w group = 16 : (tensor<1x16x9x9xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x7x7xf32>
  return %0 : tensor<1x32x7x7xf32>
}
