// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),lower-host-kernels{vector-bits=128 winograd=2})" --split-input-file | FileCheck %s
// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout,graph-fuse-host),lower-host-kernels{vector-bits=128 winograd=1})" --split-input-file | FileCheck %s --check-prefix=TAPS

// Three taps of 1, 2, 4 become four products: of the points 0, 1, -1 and infinity. Each has a matrix of its own, and
// the second result is the memory that tasks work in.
// CHECK-LABEL: func.func @row
// CHECK: graph.constant dense<[-1.000000e+00, {{.*}}3.500000e+00, {{.*}}1.500000e+00, {{.*}}4.000000e+00
// CHECK: tir.call_extern @[[K:k_winograd_[0-9a-f]*]](%{{.*}} outs(%{{.*}}, %{{.*}} : tensor<1x8x4xf32>, tensor<{{[0-9]+x[0-9]+}}xf32>)
// CHECK: func.func private @[[K]]
// TAPS-LABEL: func.func @row
// TAPS: tir.call_extern @k_conv_
func.func @row(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %w = graph.constant dense<[[[1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
                             [[0.0, 0.0, 0.0], [1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
                             [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0], [0.0, 0.0, 0.0]],
                             [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0]]]> : tensor<4x4x3xf32>
  %0 = graph.conv %x, %w pads = [1, 1] : (tensor<1x4x8xf32>, tensor<4x4x3xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// -----

// Windows that see points one by one, and filters that are computed, have no tiles.
// CHECK-LABEL: func.func @no_tiles
// CHECK-NOT: k_winograd
func.func @no_tiles(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x6x6xf32>) {
  %p = graph.constant dense<0.5> : tensor<4x4x1x1xf32>
  %0 = graph.conv %x, %p : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.conv %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0, %1 : tensor<1x4x8x8xf32>, tensor<1x4x6x6xf32>
}
