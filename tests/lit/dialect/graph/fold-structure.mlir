// RUN: phaseline-opt %s --canonicalize --split-input-file | FileCheck %s

// Canonicalization inside of composites, and none across their borders.

// CHECK-LABEL: func.func @inside
func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.composite
  // CHECK-NEXT: %[[R:.*]] = graph.relu
  // CHECK-NEXT: graph.yield %[[R]]
  %y = graph.composite "a" target("t") (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.identity %a : tensor<4xf32>
    %1 = graph.relu %0 : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// Constants stay on the side they are on.
// CHECK-LABEL: func.func @border
func.func @border() -> tensor<2xi64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[3, 4]>
  // CHECK-NEXT: graph.composite {{.*}} (%[[A:.*]] = %[[C]])
  // CHECK-NEXT: %[[D:.*]] = graph.constant dense<2> : tensor<i64>
  // CHECK-NEXT: graph.mul %[[A]], %[[D]]
  %c = graph.constant dense<[3, 4]> : tensor<2xi64>
  %y = graph.composite "a" target("t") (%a = %c) : (tensor<2xi64>) -> tensor<2xi64> {
    %one = graph.constant dense<1> : tensor<i64>
    %two = graph.add %one, %one : tensor<i64>
    %0 = graph.mul %a, %two : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
    graph.yield %0 : tensor<2xi64>
  }
  return %y : tensor<2xi64>
}

// A composite of ops without effects has none itself.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<4xf32>) {
  // CHECK-NEXT: return
  %y = graph.composite "a" target("t") (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %a : tensor<4xf32>
  }
  return
}

// -----

// Loops. What is captured and constant is made inside; what nothing uses is left out; a state that
// stays is captured.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: (%[[H:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<4xf32>)
func.func @scan(%h: tensor<4xf32>, %x: tensor<8x4xf32>, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = graph.scan 8 states (%[[S:.*]] = %[[H]]) sequences (%[[ROW:.*]] = %[[X]]) captures (%[[C:.*]] = %[[K]])
  // CHECK-SAME: : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[TWO:.*]] = graph.constant dense<2.0
  // CHECK: %[[A:.*]] = graph.mul %[[S]], %[[TWO]]
  // CHECK: %[[B:.*]] = graph.add %[[A]], %[[ROW]]
  // CHECK: %[[D:.*]] = graph.add %[[B]], %[[C]]
  // CHECK: graph.yield %[[D]]
  // CHECK: return %[[R]], %[[K]]
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %r:4 = graph.scan 8 states (%s = %h, %same = %k, %unused = %h) sequences (%row = %x, %other = %x)
      captures (%c = %two, %d = %k, %e = %h)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) {
    %0 = graph.mul %s, %c : tensor<4xf32>
    %1 = graph.add %0, %row : tensor<4xf32>
    %2 = graph.add %1, %same : tensor<4xf32>
    graph.yield %2, %same, %2, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
