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
