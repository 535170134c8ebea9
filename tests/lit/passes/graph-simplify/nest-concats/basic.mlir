// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=nest-concats}))' -split-input-file | FileCheck %s

// Each layer reads what all earlier ones computed.
// CHECK-LABEL: func.func @dense
// CHECK: %[[ONE:.*]] = graph.concat %arg0, %[[A:.*]] axis = 1
// CHECK: %[[TWO:.*]] = graph.concat %[[ONE]], %[[B:.*]] axis = -1 : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
// CHECK: graph.concat %[[TWO]], %{{.*}} axis = 1 : (tensor<4x24xf32>, tensor<4x8xf32>) -> tensor<4x32xf32>
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %v: tensor<24x8xf32>) -> tensor<4x32xf32> {
  %a = graph.relu %x : tensor<4x8xf32>
  %1 = graph.concat %x, %a axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %b = graph.matmul %1, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %2 = graph.concat %x, %a, %b axis = -1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  %c = graph.matmul %2, %v : (tensor<4x24xf32>, tensor<24x8xf32>) -> tensor<4x8xf32>
  %3 = graph.concat %x, %a, %b, %c axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x32xf32>
  return %3 : tensor<4x32xf32>
}

// -----

// The newest comes first.
// CHECK-LABEL: func.func @reversed
// CHECK: %[[ONE:.*]] = graph.concat %arg1, %arg0 axis = 0
// CHECK: graph.concat %arg2, %[[ONE]] axis = 0
func.func @reversed(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>) -> (tensor<5xf32>, tensor<9xf32>) {
  %0 = graph.concat %b, %a axis = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  %1 = graph.concat %c, %b, %a axis = 0 : (tensor<4xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<9xf32>
  return %0, %1 : tensor<5xf32>, tensor<9xf32>
}
