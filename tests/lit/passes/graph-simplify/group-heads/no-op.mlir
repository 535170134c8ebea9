// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=group-heads}))' | FileCheck %s

// A mask with rows and no heads would be repeated instead of the keys.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: graph.expand
// CHECK: graph.matmul %{{.*}} -> tensor<1x4x3x5xf32>
func.func @rows(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x1x5x8xf32>, %v: tensor<1x2x1x5x8xf32>, %mask: tensor<3x5xf32>) -> tensor<1x4x3x8xf32> {
  %five = graph.constant dense<[1, 2, 2, 5, 8]> : tensor<5xi64>
  %four = graph.constant dense<[1, 4, 5, 8]> : tensor<4xi64>
  %half = graph.constant dense<5.0e-01> : tensor<f32>
  %0 = graph.expand %k, %five : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %1 = graph.reshape %0, %four : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %2 = graph.mul %1, %half : (tensor<1x4x5x8xf32>, tensor<f32>) -> tensor<1x4x5x8xf32>
  %3 = graph.transpose %2 perm = [0, 1, 3, 2] : (tensor<1x4x5x8xf32>) -> tensor<1x4x8x5xf32>
  %4 = graph.expand %v, %five : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %5 = graph.reshape %4, %four : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %6 = graph.matmul %q, %3 : (tensor<1x4x3x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x3x5xf32>
  %7 = graph.add %6, %mask : (tensor<1x4x3x5xf32>, tensor<3x5xf32>) -> tensor<1x4x3x5xf32>
  %8 = graph.softmax %7 axis = -1 : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %9 = graph.matmul %8, %5 : (tensor<1x4x3x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x3x8xf32>
  return %9 : tensor<1x4x3x8xf32>
}

// Each head has keys of its own.
// CHECK-LABEL: func.func @own
// CHECK-COUNT-2: graph.expand
// CHECK: graph.matmul %{{.*}} -> tensor<1x4x1x5xf32>
func.func @own(%q: tensor<1x4x1x8xf32>, %k: tensor<1x4x1x5x8xf32>, %v: tensor<1x4x1x5x8xf32>, %mask: tensor<1x1x1x5xf32>) -> tensor<1x4x1x8xf32> {
  %five = graph.constant dense<[1, 4, 1, 5, 8]> : tensor<5xi64>
  %four = graph.constant dense<[1, 4, 5, 8]> : tensor<4xi64>
  %half = graph.constant dense<5.0e-01> : tensor<f32>
  %0 = graph.expand %k, %five : (tensor<1x4x1x5x8xf32>, tensor<5xi64>) -> tensor<1x4x1x5x8xf32>
  %1 = graph.reshape %0, %four : (tensor<1x4x1x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %2 = graph.mul %1, %half : (tensor<1x4x5x8xf32>, tensor<f32>) -> tensor<1x4x5x8xf32>
  %3 = graph.transpose %2 perm = [0, 1, 3, 2] : (tensor<1x4x5x8xf32>) -> tensor<1x4x8x5xf32>
  %4 = graph.expand %v, %five : (tensor<1x4x1x5x8xf32>, tensor<5xi64>) -> tensor<1x4x1x5x8xf32>
  %5 = graph.reshape %4, %four : (tensor<1x4x1x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %6 = graph.matmul %q, %3 : (tensor<1x4x1x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x1x5xf32>
  %7 = graph.add %6, %mask : (tensor<1x4x1x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x4x1x5xf32>
  %8 = graph.softmax %7 axis = -1 : (tensor<1x4x1x5xf32>) -> tensor<1x4x1x5xf32>
  %9 = graph.matmul %8, %5 : (tensor<1x4x1x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x1x8xf32>
  return %9 : tensor<1x4x1x8xf32>
}
