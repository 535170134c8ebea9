// RUN: phaseline-opt %s | FileCheck %s

// Shapes that depend on data are known where the data is constant.

// CHECK-LABEL: func.func @counts
func.func @counts(%x: tensor<4x5xf32>, %i: tensor<3xi64>, %v: tensor<2xf32>) {
  %mask = graph.constant dense<[true, false, true, true]> : tensor<4xi1>
  // CHECK: graph.compress {{.*}} -> tensor<3x5xf32>
  %0 = graph.compress %x, %mask axis = 0 : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<3x5xf32>
  // CHECK: graph.compress {{.*}} -> tensor<3xf32>
  %1 = graph.compress %x, %mask : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<3xf32>
  // CHECK: graph.non_zero {{.*}} -> tensor<1x3xi64>
  %2 = graph.non_zero %mask : (tensor<4xi1>) -> tensor<1x3xi64>
  %depth = graph.constant dense<6.0> : tensor<f32>
  // CHECK: graph.one_hot {{.*}} -> tensor<3x6xf32>
  %3 = graph.one_hot %i, %depth, %v : (tensor<3xi64>, tensor<f32>, tensor<2xf32>) -> tensor<3x6xf32>
  return
}

