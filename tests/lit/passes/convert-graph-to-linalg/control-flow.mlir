// RUN: phaseline-opt %s --convert-graph-to-linalg | FileCheck %s

// Operations in regions of control flow are lowered there, and take the lowered values of those
// around it.
// CHECK-LABEL: func.func @branches
// CHECK-NOT: graph.
// CHECK: %[[A:.*]] = linalg.generic
// CHECK: %[[B:.*]] = scf.if
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[A]] : tensor<4xf32>)
// CHECK: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[A]]
// CHECK-NOT: graph.
func.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.tanh %x : tensor<4xf32>
  %b = scf.if %c -> tensor<4xf32> {
    %r = graph.relu %a : tensor<4xf32>
    scf.yield %r : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  %d = graph.exp %b : tensor<4xf32>
  return %d : tensor<4xf32>
}

// Types with signs lose them in regions as well.
// CHECK-LABEL: func.func @signs
// CHECK: scf.if {{.*}} -> (tensor<4xi8>)
// CHECK-NOT: graph.
func.func @signs(%c: i1, %x: tensor<4xui8>) -> tensor<4xui8> {
  %b = scf.if %c -> tensor<4xui8> {
    %r = graph.add %x, %x : tensor<4xui8>
    scf.yield %r : tensor<4xui8>
  } else {
    scf.yield %x : tensor<4xui8>
  }
  return %b : tensor<4xui8>
}
