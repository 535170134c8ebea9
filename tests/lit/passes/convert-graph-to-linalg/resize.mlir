// RUN: phaseline-opt %s --convert-graph-to-linalg --canonicalize | FileCheck %s

// Resampling: positions and weights are computed at compile time.

// Whole factors repeat elements: no table.
// CHECK-LABEL: func.func @nearest_whole
func.func @nearest_whole(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32> {
  // CHECK: linalg.generic
  // CHECK: tensor.collapse_shape {{.*}} : tensor<1x2x3x2x4x2xf32> into tensor<1x2x6x8xf32>
  %s = graph.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = graph.resize %x scales %s {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  return %0 : tensor<1x2x6x8xf32>
}

// CHECK-LABEL: func.func @nearest
func.func @nearest(%x: tensor<1x1x4xui8>) -> tensor<1x1x3xui8> {
  // CHECK: arith.constant dense<[0, 1, 3]> : tensor<3xi64>
  // CHECK: tensor.extract %arg0
  %s = graph.constant dense<[1, 1, 3]> : tensor<3xi64>
  %0 = graph.resize %x sizes %s : (tensor<1x1x4xui8>, tensor<3xi64>) -> tensor<1x1x3xui8>
  return %0 : tensor<1x1x3xui8>
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  // CHECK-DAG: dense<{{\[\[}}0, 0], [0, 1], [0, 1], [1, 1]]> : tensor<4x2xi64>
  // CHECK-DAG: dense<{{\[\[}}2.500000e-01, 7.500000e-01], [7.500000e-01, 2.500000e-01], [2.500000e-01, 7.500000e-01], [7.500000e-01, 2.500000e-01]]> : tensor<4x2xf32>
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
  // CHECK-COUNT-2: tensor.extract %arg0
  %s = graph.constant dense<[1, 1, 4]> : tensor<3xi64>
  %0 = graph.resize %x sizes %s {mode = "linear"} : (tensor<1x1x2xf32>, tensor<3xi64>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// The wide kernel of antialiasing is a loop.
// CHECK-LABEL: func.func @antialias
func.func @antialias(%x: tensor<1x1x8xf32>) -> tensor<1x1x2xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  %s = graph.constant dense<[1, 1, 2]> : tensor<3xi64>
  %0 = graph.resize %x sizes %s {mode = "linear", antialias = true} : (tensor<1x1x8xf32>, tensor<3xi64>) -> tensor<1x1x2xf32>
  return %0 : tensor<1x1x2xf32>
}

// CHECK-LABEL: func.func @grid_sample
func.func @grid_sample(%x: tensor<1x2x4x5xf32>, %g: tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32> {
  // Positions of points are computed once for all channels: a place and a weight for each of two elements on two axes.
  // CHECK: %[[TAPS:.*]]:8 = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
  // CHECK: -> (tensor<1x3x3xi32>, tensor<1x3x3xf32>,
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  // CHECK-SAME: ins(%[[TAPS]]#0, %[[TAPS]]#1,
  // CHECK-COUNT-4: tensor.extract %{{.*}} : tensor<1x2x20xf32>
  %0 = graph.grid_sample %x, %g : (tensor<1x2x4x5xf32>, tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32>
  return %0 : tensor<1x2x3x3xf32>
}
