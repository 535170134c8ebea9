// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify{rules=nest-concats}))' -split-input-file | FileCheck %s

// Another axis, another order, operands that are not next to each other, and one that comes later.
// CHECK-LABEL: func.func @apart
// CHECK: graph.concat %arg0, %arg1 axis = 0
// CHECK: graph.concat %arg0, %arg1, %arg2 axis = 1
// CHECK: graph.concat %arg1, %arg0, %arg2 axis = 0
// CHECK: graph.concat %arg0, %arg2, %arg1 axis = 0
// CHECK: graph.concat %arg2, %arg0 axis = 0
func.func @apart(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>)
    -> (tensor<8x8xf32>, tensor<4x24xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8x8xf32>) {
  %0 = graph.concat %a, %b axis = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = graph.concat %a, %b, %c axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  %2 = graph.concat %b, %a, %c axis = 0 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<12x8xf32>
  %3 = graph.concat %a, %c, %b axis = 0 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<12x8xf32>
  %4 = graph.concat %c, %a axis = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3, %4 : tensor<8x8xf32>, tensor<4x24xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8x8xf32>
}

// -----

// A result that is said to be less than could be known.
// CHECK-LABEL: func.func @unknown
// CHECK: graph.concat %arg0, %arg1, %arg2 axis = 0 {{.*}} -> tensor<?xf32>
// CHECK-NEXT: return
func.func @unknown(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>) -> (tensor<5xf32>, tensor<?xf32>) {
  %0 = graph.concat %a, %b axis = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %1 = graph.concat %a, %b, %c axis = 0 : (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<5xf32>, tensor<?xf32>
}
