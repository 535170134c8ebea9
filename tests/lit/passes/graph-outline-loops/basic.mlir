// RUN: phaseline-opt %s --graph-outline-loops --split-input-file | FileCheck %s
// RUN: phaseline-opt %s --graph-outline-loops --graph-outline-loops --split-input-file | FileCheck %s

// A value that is yielded twice is returned once; one that is not used inside is not passed.
// CHECK-LABEL: func.func private @main_loop0(
// CHECK-SAME: %[[H:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-SAME: phl.piece
// CHECK-NEXT: %[[N:.*]] = graph.add %[[H]], %[[X]]
// CHECK-NEXT: return %[[N]]
// CHECK-LABEL: func.func @main
func.func @main(%h: tensor<4xf32>, %x: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK: graph.scan 8 states (%[[S:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) sequences (%[[ROW:.*]] = %{{.*}})
  // CHECK-NEXT: %[[C:.*]] = func.call @main_loop0(%[[S]], %[[ROW]])
  // CHECK-NEXT: graph.yield %[[C]], %[[S]], %[[C]]
  %r:3 = graph.scan 8 states (%s = %h, %old = %h) sequences (%row = %x) captures ()
      : (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) {
    %0 = graph.add %s, %row : tensor<4xf32>
    graph.yield %0, %s, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>
}

// -----

// Loops inside of loops.
// CHECK: func.func private @main_loop0
// CHECK: graph.mul
// CHECK: func.func private @main_loop1
// CHECK: graph.scan 3
// CHECK-NEXT: func.call @main_loop0
// CHECK: func.func @main
// CHECK: graph.scan 8
// CHECK-NEXT: func.call @main_loop1
func.func @main(%h: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.scan 8 states (%s = %h) sequences () captures () : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.scan 3 states (%t = %s) sequences () captures () : (tensor<4xf32>) -> tensor<4xf32> {
      %1 = graph.mul %t, %t : tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    graph.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
